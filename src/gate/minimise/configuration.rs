//! Smaller configurations: what a scenario states and could leave out, and numbers that could be less.

use crate::scenario::syntax::{Content, Node, Value};

/// A way to make a scenario smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// The node, as places among children from the `scenario` node down.
    path: Vec<usize>,
    /// What is done to it.
    what: What,
}

/// What is done to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// It goes.
    Node,
    /// A property goes.
    Property(usize),
    /// The number of a property becomes less.
    OfProperty(usize),
    /// The number of an argument becomes less.
    OfArgument(usize),
}

/// What a number that is not stated comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// Nothing, or what every engine has: a scenario without it says less.
    Less,
    /// A default that may be more than what is stated, as turns and tokens of a workload have: it is made less instead.
    Default,
}

/// The parts of a scenario that are made smaller.
const PARTS: [&str; 4] = ["pins", "workload", "deployment", "simulate"];

/// Nodes that no smaller scenario lacks, and that tell nothing by being there.
const KEPT: [&str; 4] = ["trace", "engine", "workload", "deployment"];

/// Returns every way to make a scenario smaller by one thing less, outermost first, then every number.
pub(super) fn edits(scenario: &Node) -> Vec<Edit> {
    let mut all = Vec::new();
    for (place, part) in scenario.children.iter().enumerate() {
        let absence = match part.name.text.as_str() {
            "workload" => Absence::Default,
            _ => Absence::Less,
        };
        if PARTS.contains(&part.name.text.as_str()) {
            below(part, (&[place], absence), &mut all);
        }
    }
    // What goes altogether comes before what becomes less.
    all.sort_by_key(|edit| matches!(edit.what, What::OfProperty(_) | What::OfArgument(_)));
    all
}

/// Adds the edits of the children of a node.
fn below(node: &Node, (above, absence): (&[usize], Absence), all: &mut Vec<Edit>) {
    for (place, child) in node.children.iter().enumerate() {
        let path = [above, &[place]].concat();
        if !KEPT.contains(&child.name.text.as_str()) {
            all.push(Edit { path: path.clone(), what: What::Node });
        }
        for (at, prop) in child.props.iter().enumerate() {
            if prop.name.text == "sha256" || prop.name.text == "version" {
                continue;
            }
            let is_number = number(&prop.value).is_some();
            if !is_number || absence == Absence::Less {
                all.push(Edit { path: path.clone(), what: What::Property(at) });
            }
            if is_number {
                all.push(Edit { path: path.clone(), what: What::OfProperty(at) });
            }
        }
        for (at, _) in child.args.iter().enumerate().filter(|(_, arg)| number(arg).is_some()) {
            all.push(Edit { path: path.clone(), what: What::OfArgument(at) });
        }
        below(child, (&path, absence), all);
    }
}

/// Returns the whole number that a value is.
fn number(value: &Value) -> Option<u64> {
    match value.content {
        Content::Integer(number) => u64::try_from(number).ok(),
        Content::Real(number) if number.fract().abs() <= 0.0 && (0.0..1e9).contains(&number) =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, and from 0 to 1e9"
            )]
            Some(number as u64)
        }
        Content::Text(_) | Content::Real(_) | Content::Flag(_) | Content::Null => None,
    }
}

impl Edit {
    /// Returns the scenario with one thing less; `None` for a number, of which [`Edit::number`] tells.
    pub(super) fn without(&self, scenario: &Node) -> Option<Node> {
        let mut scenario = scenario.clone();
        match self.what {
            What::Node => {
                let (last, above) = self.path.split_last()?;
                let parent = at(&mut scenario, above)?;
                (*last < parent.children.len()).then(|| parent.children.remove(*last))?;
            }
            What::Property(prop) => {
                let node = at(&mut scenario, &self.path)?;
                (prop < node.props.len()).then(|| node.props.remove(prop))?;
            }
            What::OfProperty(_) | What::OfArgument(_) => return None,
        }
        Some(scenario)
    }

    /// Returns the number that could be less.
    pub(super) fn number(&self, scenario: &Node) -> Option<u64> {
        let mut scenario = scenario.clone();
        number(self.value(&mut scenario)?)
    }

    /// Returns the scenario with another number.
    pub(super) fn with_number(&self, scenario: &Node, new: u64) -> Option<Node> {
        let mut scenario = scenario.clone();
        let value = self.value(&mut scenario)?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "numbers of scenarios that are less than one that was there"
        )]
        let real = new as f64;
        (value.content, value.text) = match value.content {
            Content::Real(_) => (Content::Real(real), format!("{new}.0")),
            Content::Integer(_) | Content::Text(_) | Content::Flag(_) | Content::Null => {
                (Content::Integer(i128::from(new)), new.to_string())
            }
        };
        Some(scenario)
    }

    /// Returns the number's value.
    fn value<'n>(&self, scenario: &'n mut Node) -> Option<&'n mut Value> {
        let node = at(scenario, &self.path)?;
        match self.what {
            What::OfProperty(prop) => Some(&mut node.props.get_mut(prop)?.value),
            What::OfArgument(arg) => node.args.get_mut(arg),
            What::Node | What::Property(_) => None,
        }
    }
}

/// Returns the node at a path.
fn at<'n>(scenario: &'n mut Node, path: &[usize]) -> Option<&'n mut Node> {
    path.iter().try_fold(scenario, |node, place| node.children.get_mut(*place))
}

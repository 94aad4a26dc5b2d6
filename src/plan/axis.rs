//! Where the values of an axis go: paths into declarations, judged by the decoder's own table.

use std::collections::BTreeMap;

use crate::diag::{Bag, Code, Problem, Span};
use crate::scenario::model::Axis;
use crate::scenario::scalar::{self, Datum, nearest};
use crate::scenario::shape::{Field, Occurs, Shape, Type};
use crate::scenario::syntax::{Content, Node, Place, Property, Value, Word};
use crate::scenario::table::{DEPLOYMENT, WORKLOAD};

/// Which declaration an axis changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The deployment.
    Deployment,
    /// The workload.
    Workload,
}

/// Where the values of an axis go.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Which declaration.
    pub(super) side: Side,
    steps: Vec<Step>,
    /// The property, or `None` for the first argument of the last node.
    property: Option<&'static str>,
    /// What the place takes; `None` for the kind of a node.
    field: Option<&'static Field>,
}

/// A node on the way.
#[derive(Debug, Clone)]
struct Step {
    name: &'static str,
    /// The first argument, for nodes that stand several times.
    key: Option<String>,
}

/// A part of a path, and where it begins in it.
struct Part<'p> {
    text: &'p str,
    at: usize,
}

impl Target {
    /// Finds where the values of `axis` go.
    ///
    /// # Errors
    /// `scenario::vary_path` at the part that names nothing.
    pub(super) fn of(axis: &Axis) -> Result<Self, Problem> {
        let mut parts = parts(&axis.path).peekable();
        let mut side = Side::Deployment;
        if axis.path.starts_with("workload.") {
            side = Side::Workload;
            parts.next();
        }
        let mut shape = match side {
            Side::Deployment => &DEPLOYMENT,
            Side::Workload => &WORKLOAD,
        };
        let mut steps = Vec::new();
        while let Some(part) = parts.next() {
            if let Some(field) = shape.prop(part.text).filter(|_| parts.peek().is_none()) {
                return Ok(Self { side, steps, property: Some(field.name), field: Some(field) });
            }
            let Some(child) = shape.child(part.text) else {
                return Err(unknown_part(axis, &part, shape));
            };
            let key = if child.occurs == Occurs::Named || child.occurs == Occurs::NamedRequired {
                Some(key(axis, child, parts.next())?)
            } else {
                None
            };
            steps.push(Step { name: child.name, key });
            shape = child;
        }
        let keyed = steps.last().is_none_or(|step| step.key.is_some());
        if keyed || (shape.args.is_empty() && shape.kinds.is_empty()) {
            return Err(unfinished(axis, shape));
        }
        Ok(Self { side, steps, property: None, field: shape.args.first() })
    }

    /// Complains of values that are written differently and read as one: two jobs would have one key.
    pub(super) fn read_as_one(&self, axis: &Axis, findings: &mut Bag) {
        let Some(field) = self.field else { return };
        let mut known: BTreeMap<u64, &Value> = BTreeMap::new();
        for value in &axis.values {
            // What is wrong is complained of by each job; what is no number has one spelling.
            let Ok(Datum::Real(number)) = scalar::read(value, field) else { continue };
            let first = *known.entry(number.to_bits()).or_insert(value);
            if first.content.spelling() != value.content.spelling() {
                let message = format!("`{}` and `{}` are the same", first.text, value.text);
                let problem = value.place.problem(Code::ScenarioAxis, message, "given again");
                findings.push(first.place.also(problem, "first given here"));
            }
        }
    }

    /// Puts `value` in its place in a declaration; nodes that are absent are added.
    ///
    /// # Errors
    /// `scenario::vary_path` where a node of a role is absent, which only a person can write.
    pub(super) fn set(&self, node: &mut Node, axis: &Axis, value: &Value) -> Result<(), Problem> {
        let mut node = node;
        for step in &self.steps {
            node = step.descend(node, axis, &value.place)?;
        }
        match self.property {
            None if node.args.is_empty() => node.args.push(value.clone()),
            None => node.args[0] = value.clone(),
            Some(name) => match node.props.iter_mut().find(|prop| prop.name.text == name) {
                Some(prop) => prop.value = value.clone(),
                None => node.props.push(Property {
                    name: Word { text: name.to_owned(), place: value.place.clone() },
                    value: value.clone(),
                }),
            },
        }
        Ok(())
    }
}

impl Step {
    /// Returns the node of this step in the block of `parent`, adding it where it is absent.
    fn descend<'n>(
        &self,
        parent: &'n mut Node,
        axis: &Axis,
        place: &Place,
    ) -> Result<&'n mut Node, Problem> {
        let fits = |child: &Node| {
            child.name.text == self.name
                && self.key.as_deref().is_none_or(|key| child.first_text() == Some(key))
        };
        let index = match (parent.children.iter().position(fits), &self.key) {
            (Some(index), _) => index,
            (None, Some(key)) => {
                let owner =
                    format!("{} `{}`", parent.name.text, parent.first_text().unwrap_or("?"));
                let message = format!("{owner} has no {} \"{key}\"", self.name);
                let problem =
                    axis.place.problem(Code::ScenarioVaryPath, message, "names nothing there");
                return Err(parent.head().also(problem, "this one"));
            }
            (None, None) => {
                parent.children.push(Node {
                    name: Word { text: self.name.to_owned(), place: place.clone() },
                    args: Vec::new(),
                    props: Vec::new(),
                    children: Vec::new(),
                    place: place.clone(),
                });
                parent.children.len() - 1
            }
        };
        Ok(&mut parent.children[index])
    }
}

/// Splits a path at its dots.
fn parts(path: &str) -> impl Iterator<Item = Part<'_>> {
    let mut at = 0;
    path.split('.').map(move |text| {
        let part = Part { text, at };
        at += text.len() + 1;
        part
    })
}

/// Returns the place of a part inside the quotes of the path, or of the whole path where its spelling is not plain.
fn place(axis: &Axis, part: &Part<'_>) -> Place {
    let span = axis.place.span();
    let source = axis.place.source();
    let written = source.text().get(span.offset()..span.offset() + span.length());
    if written == Some(&format!("\"{}\"", axis.path)) && !part.text.is_empty() {
        return Place::new(source, Span::new(span.offset() + 1 + part.at, part.text.len()));
    }
    axis.place.clone()
}

/// Returns the first argument that follows a node which stands several times.
fn key(axis: &Axis, child: &'static Shape, part: Option<Part<'_>>) -> Result<String, Problem> {
    let words: &[&str] = match child.args.first().map(|field| field.kind) {
        Some(Type::Word(words)) => words,
        _ => &[],
    };
    let listed = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match part {
        Some(part) if words.contains(&part.text) => Ok(part.text.to_owned()),
        Some(part) => {
            let message = format!("`{}` has no `{}`", child.name, part.text);
            let problem =
                place(axis, &part).problem(Code::ScenarioVaryPath, message, "names nothing");
            let near = nearest(part.text, words.iter().copied());
            Err(problem.help(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("after `{}` comes one of {listed}", child.name),
            }))
        }
        None => {
            let message = format!("`{}` stands several times; the path says which", child.name);
            let problem = axis.place.problem(Code::ScenarioVaryPath, message, "ends too early");
            Err(problem.help(format!("go on with one of {listed}")))
        }
    }
}

/// Returns the problem of a part that names neither node nor property.
fn unknown_part(axis: &Axis, part: &Part<'_>, shape: &'static Shape) -> Problem {
    let known: Vec<&str> = names(shape).collect();
    let message = format!("`{}` has no `{}`", shape.name, part.text);
    let problem = place(axis, part).problem(Code::ScenarioVaryPath, message, "names nothing");
    problem.help(match nearest(part.text, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("the path ends with `{}`", shape.name),
        None => format!("`{}` has {}", shape.name, listed(&known)),
    })
}

/// Returns the problem of a path that ends with a node which has no argument to vary.
fn unfinished(axis: &Axis, shape: &'static Shape) -> Problem {
    let known: Vec<&str> = names(shape).collect();
    let message = format!("`{}` has no argument that could vary", shape.name);
    let problem = axis.place.problem(Code::ScenarioVaryPath, message, "ends too early");
    problem.help(format!("go on with one of {}", listed(&known)))
}

/// Returns the names that may follow a node.
fn names(shape: &'static Shape) -> impl Iterator<Item = &'static str> {
    shape.all_props().map(|field| field.name).chain(shape.all_children().map(|child| child.name))
}

/// Returns names in backticks.
fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns a value as job ids show it.
pub(super) fn shown(value: &Value) -> String {
    match &value.content {
        Content::Text(text) => text.clone(),
        Content::Integer(number) => number.to_string(),
        Content::Flag(flag) => flag.to_string(),
        Content::Real(_) | Content::Null => value.text.clone(),
    }
}

/// Returns the shortest suffix of each path that no other path ends with, in the order of `paths`.
pub(super) fn short_names(paths: &[&str]) -> Vec<String> {
    paths
        .iter()
        .map(|path| {
            let starts = path.rmatch_indices('.').map(|(at, _)| &path[at + 1..]);
            let mut suffixes = starts.chain([*path]);
            let unique = suffixes.find(|suffix| {
                let ends =
                    |other: &&&str| **other == *suffix || other.ends_with(&format!(".{suffix}"));
                paths.iter().filter(ends).count() == 1
            });
            unique.unwrap_or(path).to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_called_by_the_shortest_suffix_that_is_its_own() {
        let names = short_names(&[
            "worker.prefill.parallelism.replicas",
            "worker.decode.parallelism.replicas",
            "router",
            "workload.load.speedup",
            "worker.decode.scheduler.max-sequences",
        ]);
        assert_eq!(
            names,
            [
                "prefill.parallelism.replicas",
                "decode.parallelism.replicas",
                "router",
                "speedup",
                "max-sequences"
            ]
        );
    }

    #[test]
    fn a_path_that_another_ends_with_keeps_its_whole_name() {
        assert_eq!(short_names(&["backend", "worker.backend"]), ["backend", "worker.backend"]);
    }
}

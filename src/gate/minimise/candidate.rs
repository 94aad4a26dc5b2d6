//! A job that may be smaller: a scenario with one job, and the rows that it reads.

use crate::diag::{Bag, SourceFile};
use crate::digest::Sha256;
use crate::scenario::print::node_text;
use crate::scenario::syntax::{self, Node};

use super::Rows;

/// A job that may be smaller.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The `scenario` node; its one job is all that it plans.
    pub scenario: Node,
    /// The rows of its trace; `None` where its workload is not made of rows.
    pub rows: Option<Rows>,
}

impl Candidate {
    /// Returns the scenario's text.
    pub fn text(&self) -> String {
        node_text(&self.scenario, 0)
    }

    /// Returns what tells it from every other.
    pub(super) fn digest(&self) -> Sha256 {
        let rows = self.rows.as_ref().map(Rows::text).unwrap_or_default();
        let size = self.rows.as_ref().map_or(0, |rows| rows.block_size.get());
        Sha256::of(format!("{}\n{size}\n{rows}", self.text()).as_bytes())
    }
}

/// Returns the comment above a reproduction.
pub fn header(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("// {line}\n")).collect();
    lines.concat()
}

/// Returns the `scenario` node of a text.
///
/// # Errors
/// What KDL refuses.
pub fn scenario_of(text: &str) -> Result<Node, Bag> {
    let document = syntax::parse(&SourceFile::new("candidate.kdl", text))?;
    let node = document.nodes.into_iter().next();
    Ok(node.unwrap_or_else(|| panic!("bug: a scenario alone has a node")))
}

/// Returns a node of the language.
fn node(text: &str) -> Node {
    scenario_of(text).unwrap_or_else(|_| panic!("bug: `{text}` is KDL"))
}

/// Returns the scenario with the trace `name` of this digest in place of what its workload asks, and without a count to stop at.
#[must_use]
pub fn with_trace(scenario: &Node, name: &str, digest: &Sha256) -> Node {
    let mut scenario = scenario.clone();
    for child in &mut scenario.children {
        match child.name.text.as_str() {
            "pins" => {
                child.children.retain(|pin| pin.name.text != "trace");
                let pin = format!("trace \"{name}\" sha256=\"{}\"", digest.hex());
                child.children.insert(0, node(&pin));
            }
            "workload" => {
                let source = node(&format!("trace \"{name}\""));
                child.children.retain(|part| !SOURCES.contains(&part.name.text.as_str()));
                child.children.insert(0, source);
                stop_at_time_only(child);
            }
            _ => {}
        }
    }
    scenario
}

/// What a workload takes its requests from.
const SOURCES: [&str; 4] = ["trace", "synthetic", "synthetic-session", "graph"];

/// Takes the counts of a workload's `stop` away: a trace ends with its rows.
fn stop_at_time_only(workload: &mut Node) {
    for stop in workload.children.iter_mut().filter(|part| part.name.text == "stop") {
        stop.props.retain(|prop| prop.name.text == "virtual-time");
    }
    workload.children.retain(|part| part.name.text != "stop" || !part.props.is_empty());
}

/// Returns the scenario with a workload whose requests arrive when its trace says.
#[must_use]
pub fn load_by_timestamps(scenario: &Node) -> Node {
    let mut scenario = scenario.clone();
    for workload in scenario.children.iter_mut().filter(|child| child.name.text == "workload") {
        for load in workload.children.iter_mut().filter(|part| part.name.text == "load") {
            *load = node("load \"trace-timestamps\"");
        }
    }
    scenario
}

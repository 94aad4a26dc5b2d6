//! What a workload says of its pin, held against what the pin says.

use crate::diag::{Code, Problem};
use crate::scenario::syntax::{Node, Place};
use crate::workload::{Source, Workload};

use super::inputs::Inputs;

/// Returns the problem of a workload whose pin holds something else than the workload says; `node` is its declaration.
pub(super) fn misfit(workload: &Workload, node: &Node, inputs: &Inputs) -> Option<Problem> {
    match &workload.source {
        Source::Trace { pin } => {
            let format = inputs.trace(pin)?.graphs?.name();
            let message = format!("`{pin}` holds graphs in the format `{format}`, and no rows");
            let problem =
                source(node, "trace").problem(Code::ScenarioConflict, message, "is no trace");
            Some(problem.help(format!("write `graph \"{pin}\" format=\"{format}\"`")))
        }
        Source::Graph { pin, format } => {
            let found = inputs.trace(pin)?;
            if found.format == format {
                return None;
            }
            let message =
                format!("the pin `{pin}` has the format `{}`, found `{format}` here", found.format);
            let problem =
                source(node, "graph").problem(Code::ScenarioConflict, message, "another format");
            Some(problem.help(match found.graphs {
                Some(graphs) => format!("write `graph \"{pin}\" format=\"{}\"`", graphs.name()),
                None => format!("write `trace \"{pin}\"`: the pin holds no graphs"),
            }))
        }
        Source::Synthetic(_) | Source::SyntheticSession(_) | Source::Requests(_) => None,
    }
}

/// Returns where a workload states its source.
fn source(node: &Node, kind: &str) -> Place {
    let stated = node.children.iter().find(|child| child.name.text == kind);
    stated.map_or_else(|| node.head(), Node::head)
}

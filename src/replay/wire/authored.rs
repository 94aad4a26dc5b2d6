//! Graphs that somebody wrote: read from pinned files, and held against what a replay can do with them.

use std::collections::BTreeMap;

use crate::diag::{Bag, Code, Problem};
use crate::graph::{Endpoint, Graph, GraphSource, NodeIndex, read_dag, read_native};
use crate::pin::GraphFormat;
use crate::trace::TraceInput;
use crate::workload::live::{NvextContract, SessionRouting};

use super::plan::WirePlan;
use super::routing::Stated;

/// Reads the graphs of files, in their order, with warnings about them; `most` is the longest context that is selected.
///
/// # Errors
/// Everything that is wrong with the files (codes `trace::*` and `graph::*`), [`Code::GraphName`] where two graphs share a name, and
/// [`Code::ReplaySelection`] where contexts are bounded and a call does not say how long its own is.
pub(super) fn read(
    files: &[TraceInput],
    format: GraphFormat,
    most: Option<u64>,
) -> Result<(Vec<Graph>, Bag), Bag> {
    let (mut graphs, mut warnings, mut wrong) = (Vec::new(), Bag::new(), Bag::new());
    for file in files {
        let text = file.text()?;
        let read = match format {
            GraphFormat::Native => read_native(file.name(), &text),
            GraphFormat::DagJsonl => read_dag(file.name(), &text).map(|found| (found, Bag::new())),
        };
        match read {
            Ok((found, warned)) => {
                graphs.extend(found.into_iter().map(|graph| (graph, file.name())));
                warnings.extend(warned);
            }
            Err(problems) => wrong.extend(problems),
        }
    }
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (graph, file) in &graphs {
        if let Some(other) = names.insert(&graph.id, file) {
            let message = format!("`{other}` and `{file}` both hold a trace `{}`", graph.id);
            let help = "give each trace a name of its own";
            wrong.push(Problem::new(Code::GraphName, message).help(help));
        }
        if let Some(problem) = most.and_then(|most| without_length(graph, most)) {
            wrong.push(problem);
        }
    }
    if wrong.has_errors() {
        return Err(wrong);
    }
    Ok((graphs.into_iter().map(|(graph, _)| graph).collect(), warnings))
}

/// Returns the problem of a graph whose contexts are bounded, if one of its calls does not say how long its own is.
fn without_length(graph: &Graph, most: u64) -> Option<Problem> {
    let call = graph.nodes.iter().find(|node| node.expected.input.is_none())?;
    let message = format!(
        "call `{}` of trace `{}` does not state `input_tokens` in `expected`, and the workload selects contexts of at most {most} tokens",
        call.id, graph.id
    );
    let help = "state it at every call, or leave out `select max-context-tokens=`";
    Some(Problem::new(Code::ReplaySelection, message).help(help))
}

impl WirePlan {
    /// Holds graphs against what a replay can do with them; the bodies are planned.
    ///
    /// # Errors
    /// [`Code::ReplayGraph`] for a call that holds an answer where traces begin in their middle, and for sessions that several calls begin where
    /// one of them has to open it.
    pub(super) fn check_graphs(&self) -> Result<(), Bag> {
        let mut wrong = Bag::new();
        for trace in 0..self.graphs.len() {
            let found = [self.filled_in_the_middle(trace), self.opened_side_by_side(trace)];
            found.into_iter().flatten().for_each(|problem| wrong.push(problem));
        }
        if wrong.has_errors() { Err(wrong) } else { Ok(()) }
    }

    /// Says what becomes of headers that name sessions and that calls state themselves, a sentence each.
    pub(super) fn header_notes(&self) -> Vec<String> {
        let calls = self.graphs.iter().flat_map(|graph| &graph.nodes);
        let mut counted: BTreeMap<(Stated, String), usize> = BTreeMap::new();
        for (name, _) in calls.flat_map(|node| &node.overrides.headers) {
            let name = name.to_ascii_lowercase();
            *counted.entry((Stated::of(&self.settings.routing, &name), name)).or_default() += 1;
        }
        let told = counted.into_iter().filter_map(|((stated, name), calls)| match stated {
            Stated::Plain => None,
            Stated::Name => Some(format!(
                "calls that state the header `{name}`, with an end of each instance's own behind it: {calls}"
            )),
            Stated::LeftOut => Some(format!(
                "calls that state the header `{name}`, which is left out, since `session-routing` says whose a request is: {calls}"
            )),
        });
        told.collect()
    }

    /// A call behind the cut may hold the answer of one before it, which is never sent. Source: REPLAY.md §7.1.
    fn filled_in_the_middle(&self, trace: usize) -> Option<Problem> {
        self.settings.snapshot?;
        let holds = |node: &NodeIndex| !self.body(trace, *node).slots.is_empty();
        let (trace, node) = self.name(trace, self.nodes(trace).find(holds)?);
        let message = format!(
            "call `{node}` of trace `{trace}` holds the answer of an earlier one, and `snapshot` begins traces in their middle: what is before it is not sent"
        );
        Some(Problem::new(Code::ReplayGraph, message).help("remove `snapshot`"))
    }

    /// `open` is said by the first call of a session: of calls that begin it side by side, none is that.
    fn opened_side_by_side(&self, trace: usize) -> Option<Problem> {
        let graph = &self.graphs[trace];
        let opens = matches!(
            self.settings.routing,
            SessionRouting::DynamoNvext { contract: NvextContract::Open, .. }
        );
        if !opens || graph.source != GraphSource::Native {
            return None;
        }
        let follows = |node: NodeIndex| {
            graph.edges_to(node).any(|edge| matches!(edge.source, Endpoint::Node(_)))
        };
        let mut begin = self.nodes(trace).filter(|node| !follows(*node));
        let (one, other) = (begin.next()?, begin.next()?);
        let (one, other) = (&graph.node(one).id, &graph.node(other).id);
        let message = format!(
            "calls `{one}` and `{other}` of trace `{}` begin its session side by side, and `contract=\"open\"` has the first call open it",
            graph.id
        );
        let help = "write `contract=\"bind\"`, or let one of them wait for the other";
        Some(Problem::new(Code::ReplayGraph, message).help(help))
    }
}

//! Live traffic: what a `replay` and its workload mean together.

use crate::diag::{Code, Problem};
use crate::scenario::model::{Replay, Used};
use crate::scenario::syntax::{Node, Place};
use crate::workload::live::Warmup;
use crate::workload::{Load, RecordedLoad, Source, Workload};

/// Returns what is wrong about a workload in a replay that names it; nothing where they fit. `declared` is its declaration.
pub(super) fn misfits(
    replay: &Replay,
    (name, declared): (&Used, &Node),
    workload: &Workload,
) -> Vec<Problem> {
    let load = match recorded(workload) {
        Ok(load) => load,
        Err(problem) => return vec![name.place.also(problem, "named here")],
    };
    let mut found: Vec<Problem> = of_graph(workload, load, declared).into_iter().collect();
    if load.open_loop {
        found.extend(open_loop(replay, name));
    }
    if workload.stop.count.is_some() || workload.stop.virtual_time.is_some() {
        let message = format!("`stop` of workload `{}` bounds simulations alone", name.name);
        let label = "is sent live";
        let problem = name.place.problem(Code::ScenarioConflict, message, label);
        found.push(problem.help("write `duration`, `requests` or `sessions` in `replay` instead"));
    }
    found
}

/// Returns how a workload's recorded sessions are paced.
///
/// # Errors
/// [`Code::ReplayRecording`] where it has none: a replay sends recorded sessions and authored graphs alone.
pub fn recorded(workload: &Workload) -> Result<&RecordedLoad, Problem> {
    let refused = |found: &str, help: &str| {
        let message = format!("a replay sends sessions and graphs, and its workload {found}");
        Err(Problem::new(Code::ReplayRecording, message).help(help))
    };
    match (&workload.source, &workload.load) {
        (Source::Trace { .. } | Source::Graph { .. }, Load::Recorded(load)) => Ok(load),
        (Source::Trace { .. } | Source::Graph { .. }, other) => refused(
            &format!("has `load \"{}\"`", other.kind()),
            "write `load \"recorded\"`; how many sessions run side by side is `lanes` of `replay`",
        ),
        (Source::Synthetic(_) | Source::SyntheticSession(_) | Source::Requests(_), _) => {
            refused("is synthetic", "name a `trace` of Dynamo's or Weka's, or a `graph`")
        }
    }
}

/// Returns the problem of a load that paces what was recorded, where somebody wrote the pauses.
fn of_graph(workload: &Workload, load: &RecordedLoad, declared: &Node) -> Option<Problem> {
    let Source::Graph { pin, .. } = &workload.source else { return None };
    let (message, label, help) = if load.open_loop {
        (
            format!(
                "graph `{pin}` does not say when its traces begin, and an open loop starts them then"
            ),
            "is an open loop",
            "remove `open-loop=#true`: its calls wait for what the graph says",
        )
    } else if load.idle_gap_cap_ms.is_some() && load.idle_gap_scope != "system" {
        (
            format!("`idle-gap-cap` cuts recorded pauses, and those of graph `{pin}` are authored"),
            "cuts pauses of a trace",
            "remove it, or write `idle-gap-scope=\"system\"` to cut what nothing is in flight in",
        )
    } else {
        return None;
    };
    let stated = declared.children.iter().find(|child| child.name.text == "load");
    let place = stated.map_or_else(|| declared.head(), Node::head);
    Some(place.problem(Code::ScenarioConflict, message, label).help(help))
}

/// Returns the nodes that mean nothing where requests start at their recorded times.
fn open_loop(replay: &Replay, name: &Used) -> Vec<Problem> {
    let settings = &replay.settings;
    let ramps = settings.lanes.is_some_and(|lanes| lanes.ramp.get() > 0);
    let refused = [
        ("snapshot", settings.snapshot.is_some(), "an open loop begins every trace at its start"),
        ("warmup", settings.warmup != Warmup::None, "an open loop has no lanes to warm"),
        ("lanes", ramps, "an open loop has no ramp: its lanes only bound what is in flight"),
    ];
    let stated = refused.into_iter().filter(|(_, stated, _)| *stated);
    stated.map(|(node, _, why)| unfit(replay, node, name, why)).collect()
}

/// Returns the problem of a node that an open loop has no place for.
fn unfit(replay: &Replay, node: &str, workload: &Used, why: &str) -> Problem {
    let message = format!("`{node}` does not fit workload `{}`: {why}", workload.name);
    let place = replay.node.children.iter().find(|child| child.name.text == node);
    let place: Place = place.map_or_else(|| replay.place.clone(), Node::head);
    let problem = place.problem(Code::ScenarioConflict, message, "does not fit");
    let help = "remove it, or `open-loop=#true` from the workload's `load`";
    workload.place.also(problem, "the workload is an open loop").help(help)
}

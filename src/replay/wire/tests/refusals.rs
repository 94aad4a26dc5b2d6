//! What no plan is made of.

use super::support::{ALL, capture, fixture, planned, plans, settings, workload};
use crate::diag::{Bag, Code};
use crate::graph::{Graph, read_dag};
use crate::replay::wire::WirePlan;
use crate::units::Nanos;
use crate::workload::live::{Api, Lanes, ReplaySettings, SessionRouting};
use crate::workload::{CacheBust, Load, RecordedLoad, Sampling, Select};

/// Returns the settings of a replay of `chat`.
fn chat() -> ReplaySettings {
    settings(Api::Chat, SessionRouting::None)
}

/// Returns the graphs of the capture.
fn graphs() -> Vec<Graph> {
    capture(&fixture("graph/capture.jsonl.gz")).0
}

/// Returns the code of the first problem, and its message.
fn refused(plan: Result<WirePlan, Bag>) -> (Code, String) {
    let problems = plan.expect_err("it is refused").into_sorted();
    (problems[0].code(), problems[0].message().to_owned())
}

#[test]
fn a_selection_that_leaves_nothing_is_refused() {
    let select = Select { max_context_tokens: Some(10), ..ALL };
    let (code, message) = refused(planned(Vec::new(), 7, &chat(), Some(select)));
    assert_eq!((code, &*message), (Code::ReplaySelection, "the recording holds no trace"));
}

#[test]
fn more_lanes_than_traces_are_told_of_with_both_numbers() {
    let mut settings = chat();
    settings.lanes = Some(Lanes { count: 4, ramp: Nanos::ZERO });
    let (code, message) = refused(planned(graphs(), 7, &settings, None));
    assert_eq!(code, Code::ReplayWrap);
    assert!(message.starts_with("4 lanes exceed 3 distinct traces"), "{message}");
}

#[test]
fn an_open_loop_needs_to_know_when_traces_began() {
    let mut workload = workload(None);
    workload.load = Load::Recorded(RecordedLoad { open_loop: true, ..RecordedLoad::at(2.0) });
    let (code, _) = refused(plans(graphs(), None, (7, &workload), &chat()));
    assert_eq!(code, Code::ReplayTimes);
}

#[test]
fn arrivals_of_an_open_loop_are_recorded_times_whatever_the_speedup_in_the_order_of_instances() {
    let (graphs, began) = capture(&fixture("graph/capture.jsonl.gz"));
    let first = began.iter().min().copied().expect("three traces");
    let after: Vec<Nanos> =
        began.iter().map(|began| began.since(first).expect("the first is the least")).collect();
    for sampling in [Sampling::Sequential, Sampling::Shuffle, Sampling::Random] {
        let mut workload = workload(Some(Select { sampling, ..ALL }));
        workload.load = Load::Recorded(RecordedLoad { open_loop: true, ..RecordedLoad::at(2.0) });
        let plan = plans(graphs.clone(), Some(began.clone()), (7, &workload), &chat());
        let plan = plan.expect("a plan");
        let expected: Vec<Nanos> = (0..3).map(|instance| after[plan.trace(instance)]).collect();
        assert_eq!(plan.arrivals(), Some(&*expected), "{sampling:?}");
        assert_eq!(plan.lanes(), None, "nothing holds it back");
    }
}

#[test]
fn a_call_without_a_model_is_named_and_so_is_one_that_an_api_cannot_be_sent() {
    let text = fixture("graph/dag.jsonl.gz");
    let graphs = || read_dag("dag.jsonl", &text).expect("sessions");
    let (code, message) = refused(planned(graphs(), 7, &chat(), None));
    assert_eq!(code, Code::ReplayBody);
    assert!(message.ends_with("names no model"), "{message}");
    let spoken = "{\"session_id\":\"s\",\"turns\":[{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"x\"}]}]}";
    let graphs = read_dag("dag.jsonl", spoken).expect("a session");
    let marked = Select { cache_bust: CacheBust::FirstTurn, ..ALL };
    let (code, message) = refused(planned(graphs, 7, &chat(), Some(marked)));
    assert_eq!(code, Code::ReplayBody);
    assert!(message.contains("no text of the user's"), "{message}");
}

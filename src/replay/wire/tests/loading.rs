//! Plans from pins.

use tempfile::TempDir;

use super::support::{ALL, fixture, synthesis, workload};
use crate::digest::Sha256;
use crate::pin::Registry;
use crate::plan::TraceInput;
use crate::replay::wire::recording::SelectedTraces;
use crate::units::Nanos;
use crate::workload::{Select, Workload};

/// Returns a project with the capture as its pinned trace `agents`.
fn project() -> (TempDir, Registry, TraceInput) {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = folder.path().join("pins/traces");
    std::fs::create_dir_all(&traces).expect("writable");
    let text = fixture("graph/capture.jsonl.gz");
    let digest = Sha256::of(text.as_bytes()).hex();
    let pin = format!(
        "trace \"agents\" {{\n    about \"x\"\n    format \"dynamo\"\n    shard \"c.jsonl\" sha256=\"{digest}\" bytes={} content-sha256=\"{digest}\"\n    requests 28\n    origin \"x\" license=\"Apache-2.0\"\n}}\n",
        text.len()
    );
    std::fs::write(traces.join("agents.kdl"), pin).expect("writable");
    std::fs::write(traces.join("c.jsonl"), text).expect("writable");
    let registry = Registry::open(folder.path()).expect("a project");
    let digest = registry.trace("agents").expect("a pin").digest();
    (folder, registry, TraceInput { pin: "agents".to_owned(), digest })
}

/// Reads the traces that a workload selects, in memory or through files.
fn read(
    of: &(TempDir, Registry, TraceInput),
    workload: &Workload,
    in_memory: u64,
) -> SelectedTraces {
    let (_, registry, trace) = of;
    SelectedTraces::read((workload, trace), registry, &synthesis(7), in_memory).expect("traces")
}

#[test]
fn a_recording_that_goes_through_files_sends_the_same_bytes() {
    let project = project();
    let workload = workload(None);
    let (in_memory, through_files) =
        (read(&project, &workload, u64::MAX), read(&project, &workload, 0));
    assert_eq!(in_memory.store.digest(), through_files.store.digest());
    assert_eq!(in_memory.began, through_files.began);
    let one = in_memory.store.program(0, crate::graph::NodeIndex(1));
    assert_eq!(one, through_files.store.program(0, crate::graph::NodeIndex(1)));
}

#[test]
fn traces_are_filtered_by_their_longest_context_and_then_capped() {
    let project = project();
    let select = |entries, max_context_tokens| {
        let select = Select { entries, max_context_tokens, ..ALL };
        let traces = read(&project, &workload(Some(select)), u64::MAX);
        let names: Vec<String> = (0..traces.store.tree_count())
            .map(|tree| traces.store.tree_id(tree).to_owned())
            .collect();
        (names, traces.selection.too_long, traces.began.map(|began| began.len()))
    };
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(select(None, None), (named(&["root-a", "root-b", "root-c"]), 0, Some(3)));
    assert_eq!(select(Some(2), None), (named(&["root-a", "root-b"]), 0, Some(2)));
    // The longest contexts are 340, 209 and 153 tokens.
    assert_eq!(select(Some(1), Some(209)), (named(&["root-b"]), 1, Some(1)));
    assert_eq!(select(None, Some(208)), (named(&["root-c"]), 2, Some(1)));
    assert_eq!(select(None, Some(10)), (Vec::new(), 3, Some(0)));
}

#[test]
fn traces_began_when_the_capture_says() {
    let traces = read(&project(), &workload(None), u64::MAX);
    let unix = 1_760_000_000_000_000_000;
    let began = [0, 500_000_000, 900_000_000].map(|after| Nanos::new(unix + after));
    assert_eq!(traces.began.as_deref(), Some(&began[..]));
}

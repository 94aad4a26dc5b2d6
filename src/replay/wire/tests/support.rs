//! Captures, settings and plans that tests are about.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::Value as Json;

use crate::diag::Bag;
use crate::graph::content::{Synthesis, Tokenizer};
use crate::graph::store::Store;
use crate::graph::{Graph, IdleGapCap, LowerOptions, NodeIndex, lower};
use crate::replay::wire::{Selection, WireCall, WireInputs, WirePlan};
use crate::trace::{RecordedOptions, TraceInput, read_dynamo, read_weka};
use crate::units::Nanos;
use crate::workload::live::{
    Api, EndpointSettings, LiveStop, MockSettings, ReplaySettings, RequestSettings, SessionRouting,
    Target, Timeouts, TokenCounter, Warmup,
};
use crate::workload::{CacheBust, Load, RecordedLoad, Sampling, Select, Source, Stop, Workload};

/// Returns the unpacked text of a fixture.
pub(super) fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let packed = std::fs::read(folder.join(name)).expect("a fixture");
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("gzip");
    text
}

/// Returns the graphs of a capture at an idle-gap cap of 60 s, and when its trees began.
pub(super) fn capture(text: &str) -> (Vec<Graph>, Vec<Nanos>) {
    let (mut graphs, mut began) = (Vec::new(), Vec::new());
    let input = [TraceInput::bytes("capture.jsonl", text.as_bytes())];
    let options = LowerOptions { idle_gap_cap: IdleGapCap::DEFAULT };
    read_dynamo(&input, RecordedOptions::strict(), &mut |tree| {
        began.push(tree.zero);
        graphs.push(lower(&tree, options).0);
    })
    .expect("a capture");
    (graphs, began)
}

/// Returns the graphs of a corpus of Weka's, one trace a line, at an idle-gap cap of 60 s.
pub(super) fn weka(text: &str) -> Vec<Graph> {
    let mut graphs = Vec::new();
    let input = [TraceInput::bytes("weka.jsonl", text.as_bytes())];
    let options = LowerOptions { idle_gap_cap: IdleGapCap::DEFAULT };
    read_weka(&input, RecordedOptions::strict(), &mut |tree| {
        graphs.push(lower(&tree, options).0);
    })
    .expect("a corpus");
    graphs
}

/// Returns what words prompts are made of: one vocabulary for all tests.
pub(super) fn synthesis(seed: u64) -> Synthesis {
    static MADE: OnceLock<Synthesis> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        Synthesis::new(0, Arc::new(Tokenizer::builtin())).expect("the builtin vocabulary")
    });
    made.with_seed(seed)
}

/// Returns a replay of this API.
pub(super) fn settings(api: Api, routing: SessionRouting) -> ReplaySettings {
    let endpoint = EndpointSettings {
        target: Target::Mock(MockSettings::default()),
        request: RequestSettings::of(api),
        api_key_env: None,
        ca: None,
        client: None,
        proxy: None,
        headers: Vec::new(),
        timeouts: Timeouts { connect: None, first_byte: None, idle: None, total: None },
    };
    let stop = LiveStop { duration: None, requests: None, sessions: None, grace: Nanos::ZERO };
    ReplaySettings {
        endpoint,
        lanes: None,
        snapshot: None,
        stop,
        routing,
        warmup: Warmup::None,
        tokens: TokenCounter::Builtin,
        sla: None,
    }
}

/// Returns a recorded workload with this selection.
pub(super) fn workload(select: Option<Select>) -> Workload {
    Workload {
        source: Source::Trace { pin: "t".to_owned() },
        load: Load::Recorded(RecordedLoad::at(1.0)),
        select,
        stop: Stop::default(),
        stream: "w".to_owned(),
    }
}

/// A selection that keeps everything in order.
pub(super) const ALL: Select = Select {
    entries: None,
    max_context_tokens: None,
    sampling: Sampling::Sequential,
    wrap: false,
    cache_bust: CacheBust::None,
};

/// Plans graphs in a closed loop.
pub(super) fn planned(
    graphs: Vec<Graph>,
    seed: u64,
    settings: &ReplaySettings,
    select: Option<Select>,
) -> Result<WirePlan, Bag> {
    plans(graphs, None, (seed, &workload(select)), settings)
}

/// Plans graphs that began at these times.
pub(super) fn plans(
    graphs: Vec<Graph>,
    began: Option<Vec<Nanos>>,
    (seed, workload): (u64, &Workload),
    settings: &ReplaySettings,
) -> Result<WirePlan, Bag> {
    let prompts = Box::new(Store::of(&graphs, &synthesis(seed)));
    let selection = Selection::new(workload.select.as_ref());
    WirePlan::new(WireInputs { graphs, began, prompts, selection, seed, workload, settings })
}

/// Plans the capture.
pub(super) fn plan_of_capture(routing: SessionRouting) -> WirePlan {
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    planned(graphs, 7, &settings(Api::Chat, routing), None).expect("a plan")
}

/// A request of a plan, by trace and node: headers and body.
pub(super) type Sent = BTreeMap<(String, String), (BTreeMap<String, String>, Json)>;

/// Returns every request of the first pass.
pub(super) fn sent(plan: &WirePlan) -> Sent {
    let mut all = Sent::new();
    for instance in 0..plan.first_pass() {
        let trace = plan.trace(instance);
        for node in (0..plan.graphs()[trace].nodes.len()).map(NodeIndex) {
            let call = WireCall { instance, node, warmup: None };
            let request = plan.request(&call, &|_| None);
            let body = serde_json::from_slice(&request.body).expect("JSON");
            let (trace, node) = plan.name(trace, node);
            let headers = request.headers.into_iter().collect();
            all.insert((trace.to_owned(), node.to_owned()), (headers, body));
        }
    }
    all
}

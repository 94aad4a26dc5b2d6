//! Recordings, plans over them, and their runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::diag::SourceFile;
use crate::graph::content::{Synthesis, Tokenizer};
use crate::graph::store::Store;
use crate::graph::{Graph, LowerOptions, NodeIndex, lower, read_dag};
use crate::measure::live::LiveLaw;
use crate::mock::{Behaviour, MockServer, Script, Security};
use crate::record::{LiveRequest, LiveRun, Phase};
use crate::replay::http::{Client, Surroundings};
use crate::replay::wire::{Selection, WireInputs, WirePacing, WirePlan};
use crate::replay::{LiveEvent, LiveInputs, Wall};
use crate::trace::{RecordedOptions, TraceInput, read_dynamo};
use crate::units::Nanos;
use crate::workload::live::{
    Api, EndpointSettings, Lanes, LiveStop, MockSettings, ReplaySettings, RequestSettings,
    SessionRouting, Target, Timeouts, TokenCounter, Warmup,
};
use crate::workload::{Load, RecordedLoad, Select, Source, Stop, Workload};

use super::super::support::server_with;

/// A recorded call: its session, whose child that is, when it was sent and how long it took, both in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) session: &'static str,
    pub(super) parent: Option<&'static str>,
    pub(super) at: u64,
    pub(super) lasts: u64,
    /// When its first token came, from its sending.
    pub(super) first_token: Option<u64>,
}

/// A job, as far as tests differ in it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) load: RecordedLoad,
    pub(super) select: Option<Select>,
    pub(super) settings: ReplaySettings,
    recording: Recording,
}

/// What is replayed.
#[derive(Debug)]
enum Recording {
    Capture(String),
    Sessions(String),
}

/// Returns milliseconds.
pub(super) fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

/// Returns a call of a session of its own kind, which takes two milliseconds and is streamed.
pub(super) fn call(session: &'static str, at: u64) -> Call {
    Call { session, parent: None, at, lasts: 2, first_token: Some(1) }
}

/// Returns a job over a capture of these calls: 32 prompt tokens more with each, 4 output tokens.
pub(super) fn captured(calls: &[Call]) -> Job {
    let line = |(index, call): (usize, &Call)| {
        let start = 1_760_000_000_000 + call.at;
        let turn = calls[..index].iter().filter(|one| one.session == call.session).count();
        let parent = call.parent.map(|it| format!(r#","parent_session_id":"{it}""#));
        let token = call.first_token.map(|it| format!(r#","ttft_ms":{it}.0"#));
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"agent_context":{{"session_id":"{}"{}}},"request":{{"request_id":"r{index}","model":"m","input_tokens":{},"output_tokens":4,"cached_tokens":0,"request_received_ms":{start},"total_time_ms":{}.0{}}}}}"#,
            start + call.lasts,
            call.session,
            parent.unwrap_or_default(),
            32 * (turn + 1),
            call.lasts,
            token.unwrap_or_default(),
        )
    };
    let lines: Vec<String> = calls.iter().enumerate().map(line).collect();
    job(Recording::Capture(lines.join("\n")))
}

/// Returns a job over sessions as they are authored, one a line.
pub(super) fn authored(lines: &str) -> Job {
    let mut job = job(Recording::Sessions(lines.to_owned()));
    job.settings.endpoint.request.model = Some("m".to_owned());
    job
}

/// Returns a job in a closed loop of one lane.
fn job(recording: Recording) -> Job {
    let timeouts = Timeouts { connect: None, first_byte: None, idle: None, total: None };
    let endpoint = EndpointSettings {
        target: Target::Mock(MockSettings::default()),
        request: RequestSettings::of(Api::Chat),
        api_key_env: None,
        ca: None,
        client: None,
        proxy: None,
        headers: Vec::new(),
        timeouts,
    };
    let stop = LiveStop { duration: None, requests: None, sessions: None, grace: Nanos::ZERO };
    let settings = ReplaySettings {
        endpoint,
        lanes: None,
        snapshot: None,
        stop,
        routing: SessionRouting::None,
        warmup: Warmup::None,
        tokens: TokenCounter::Builtin,
        sla: None,
    };
    Job { load: RecordedLoad::at(1.0), select: None, settings, recording }
}

impl Job {
    /// Runs so many lanes, which open one after the other over a time.
    pub(super) fn with_lanes(mut self, count: u32, ramp: Nanos) -> Self {
        self.settings.lanes = Some(Lanes { count, ramp });
        self
    }

    /// Plans it.
    pub(super) fn plan(&self) -> WirePlan {
        let (graphs, began) = self.graphs();
        let workload = Workload {
            source: Source::Trace { pin: "t".to_owned() },
            load: Load::Recorded(self.load.clone()),
            select: self.select,
            stop: Stop::default(),
            stream: "w".to_owned(),
        };
        let inputs = WireInputs {
            prompts: Box::new(Store::of(&graphs, &synthesis())),
            graphs,
            began: Some(began),
            selection: Selection::new(self.select.as_ref()),
            seed: 7,
            workload: &workload,
            settings: &self.settings,
        };
        WirePlan::new(inputs).expect("a plan")
    }

    /// Returns the graphs, and when each began.
    fn graphs(&self) -> (Vec<Graph>, Vec<Nanos>) {
        let text = match &self.recording {
            Recording::Sessions(text) => {
                let graphs = read_dag("dag.jsonl", text).expect("sessions");
                let began = vec![Nanos::ZERO; graphs.len()];
                return (graphs, began);
            }
            Recording::Capture(text) => text,
        };
        let (mut graphs, mut began) = (Vec::new(), Vec::new());
        let options = LowerOptions { idle_gap_cap: WirePacing::of(&self.load).1 };
        let input = [TraceInput::bytes("capture.jsonl", text.as_bytes())];
        read_dynamo(&input, RecordedOptions::strict(), &mut |tree| {
            began.push(tree.zero);
            graphs.push(lower(&tree, options).0);
        })
        .expect("a capture");
        (graphs, began)
    }

    /// Plans it and sends it to a server with a script.
    pub(super) fn run(&self, script: &str) -> LiveRun {
        send(&self.plan(), &server(script), |_, _| false)
    }
}

/// Returns what words prompts are made of.
fn synthesis() -> Synthesis {
    static MADE: OnceLock<Synthesis> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        Synthesis::new(0, Arc::new(Tokenizer::builtin())).expect("the builtin vocabulary")
    });
    made.with_seed(7)
}

/// Starts a server with a script.
pub(super) fn server(script: &str) -> MockServer {
    let script = Script::read(&SourceFile::new("script.kdl", script)).expect("a script");
    server_with(Behaviour::Scripted(script), Security::Plain)
}

/// Sends a plan to a server. `stops` is asked at each event whether a signal comes, and told how many there were before it. Every law
/// of live runs holds: none is early.
pub(super) fn send(
    plan: &WirePlan,
    server: &MockServer,
    stops: impl FnMut(LiveEvent, usize) -> bool,
) -> LiveRun {
    send_to(plan, server.url(), stops)
}

/// Sends a plan to a URL; else as [`send`].
pub(super) fn send_to(
    plan: &WirePlan,
    url: String,
    mut stops: impl FnMut(LiveEvent, usize) -> bool,
) -> LiveRun {
    let target = Target::Url(url);
    let endpoint = EndpointSettings { target, ..plan.settings().endpoint.clone() };
    let surroundings = Surroundings { root: ".".into(), ssl_cert_file: None, api_key: None };
    let client = Client::new(&endpoint, &surroundings, Wall::start()).expect("a client");
    let (stop, mut told) = (AtomicBool::new(false), 0);
    let mut listener = |event| {
        if stops(event, told) {
            stop.store(true, Ordering::Relaxed);
        }
        told += 1;
    };
    let tokenizer = Tokenizer::builtin();
    let inputs = LiveInputs { plan, client, counter: Some(&tokenizer) };
    let run = inputs.run(&stop, &mut listener).expect("a thread");
    assert_eq!(LiveLaw::violations(&run), []);
    assert!(
        run.requests.iter().all(|request| request.scheduled >= request.intended),
        "never early"
    );
    run
}

/// Returns the requests that are measured as instance and call, in the order of sending.
pub(super) fn order(run: &LiveRun) -> Vec<(u64, usize)> {
    run.measured().map(|request| (request.instance, request.call)).collect()
}

/// Returns the measured request of a call.
pub(super) fn of(run: &LiveRun, instance: u64, call: usize) -> &LiveRequest {
    let is_it = |request: &&LiveRequest| (request.instance, request.call) == (instance, call);
    run.measured().find(is_it).expect("it was sent")
}

/// Returns the phases that began.
pub(super) fn phases(run: &LiveRun) -> Vec<Phase> {
    run.phases.iter().map(|(phase, _)| *phase).collect()
}

/// Returns when a call was to be sent, from the start of what is measured.
pub(super) fn due(run: &LiveRun, instance: u64, call: usize) -> Nanos {
    let began = run.began().expect("it was measured");
    of(run, instance, call).intended.since(began).expect("not before it began")
}

/// Returns the node of a call by its name.
pub(super) fn node(plan: &WirePlan, trace: usize, id: &str) -> NodeIndex {
    let nodes = &plan.graphs()[trace].nodes;
    NodeIndex(nodes.iter().position(|node| node.id == id).expect("a call of that name"))
}

/// Returns the rule of a script for one call of an instance.
pub(super) fn rule(plan: &WirePlan, (instance, id): (u64, &str), block: &str) -> String {
    let nonce = plan.identity(instance).nonce().to_owned();
    format!("answer header=\"x-request-id: {id}::{nonce}\" {{ {block} }}\n")
}

//! One line of a capture to an event.

use crate::diag::{Code, Problem};
use crate::trace::hash_ids::fitting_block_size;
use crate::trace::json::{Reading, Text, Value, whole};
use crate::trace::options::Strictness;
use crate::trace::recorded::{
    Place, RecordedCounts, RecordedEdge, RecordedRequest, RecordedTool, ToolMode,
};
use crate::units::{BlockSize, Nanos, Tokens};
use crate::workload::{EdgeRelation, EdgeTrigger};

use super::draft::{ContextDraft, EventDraft, ReplayDraft, RequestDraft, ToolDraft};

/// The only schema.
const SCHEMA: &str = "\"dynamo.request.trace.v1\"";

/// Power of ten from milliseconds to nanoseconds.
const MILLISECONDS: i64 = 6;

/// An event that is of use. Its times are Unix times.
#[derive(Debug)]
pub(super) struct Event {
    /// The session that it is of; absent where the record names none.
    pub(super) session: Option<SessionNames>,
    /// When it was written down.
    pub(super) at: Nanos,
    /// What it says.
    pub(super) kind: EventKind,
}

/// The session of an event.
#[derive(Debug)]
pub(super) struct SessionNames {
    pub(super) id: String,
    /// The parent that the record states, if not the session itself.
    pub(super) parent: Option<String>,
}

/// What an event says.
#[derive(Debug)]
pub(super) enum EventKind {
    /// A request ended; the block size of its hashes.
    Request(Box<RecordedRequest>, Option<BlockSize>),
    /// A tool ended.
    Tool(RecordedTool),
    /// A tool started: its end says all.
    ToolStart(Place),
}

/// What reading a line needs.
pub(super) struct LineReader<'r, 't> {
    pub(super) reading: &'r mut Reading<'t>,
    pub(super) counts: &'r mut RecordedCounts,
    pub(super) strictness: Strictness,
}

impl<'t> LineReader<'_, 't> {
    /// Returns the event of a line, or `None` where it holds none; what is wrong is kept in the reading.
    pub(super) fn event(&mut self) -> Option<Event> {
        let draft = match whole::<EventDraft<'_>>(self.reading) {
            Ok(draft) => draft,
            Err(error) => {
                let problem = self.reading.syntax(&error);
                self.reading.problems.push(problem);
                return None;
            }
        };
        // An envelope holds an event and has no schema of its own.
        let draft = match draft.event {
            Some(event) if draft.schema.is_none() => *event,
            Some(_) | None => draft,
        };
        let Some(schema) = draft.schema else {
            self.counts.markers += 1;
            return None;
        };
        if schema != SCHEMA {
            self.reading.refuse_value("schema", schema, "`\"dynamo.request.trace.v1\"`");
            return None;
        }
        self.record(draft, schema)
    }

    fn record(&mut self, draft: EventDraft<'t>, whole: Text<'t>) -> Option<Event> {
        let place = self.reading.place(whole);
        let at = self.required_ms("event_time_unix_ms", draft.event_time_unix_ms, whole);
        if let Some(source) = draft.event_source
            && !["\"dynamo\"", "\"harness\""].contains(&source)
        {
            self.reading.refuse_value("event_source", source, "`\"dynamo\"` or `\"harness\"`");
        }
        let context = self.object("agent_context", draft.agent_context, whole);
        let session = context.and_then(|context| self.session(context, whole));
        let kind = match draft.event_type {
            Some("\"request_end\"") => {
                let Some(request) = self.object("request", draft.request, whole) else {
                    self.reading.missing(
                        "request",
                        "an object, as the event is a `request_end`",
                        whole,
                    );
                    return None;
                };
                let (request, size) = self.request(request, at, (whole, place));
                EventKind::Request(Box::new(request), size)
            }
            Some("\"tool_end\"" | "\"tool_error\"") => {
                let Some(tool) = self.object("tool", draft.tool, whole) else {
                    self.reading.missing("tool", "an object, as the event ends a tool", whole);
                    return None;
                };
                EventKind::Tool(self.tool(tool, at, (whole, place)))
            }
            Some("\"tool_start\"") => EventKind::ToolStart(place),
            Some("\"request_payload\"") => {
                self.counts.unused_events += 1;
                return None;
            }
            Some(other) => {
                let expected =
                    "`request_end`, `tool_start`, `tool_end`, `tool_error` or `request_payload`";
                self.reading.refuse_value("event_type", other, expected);
                return None;
            }
            None => {
                self.reading.missing("event_type", "the kind of the event", whole);
                return None;
            }
        };
        Some(Event { session, at, kind })
    }

    /// Returns an object that may be absent.
    fn object<T>(&mut self, key: &str, value: Option<Value<T>>, whole: Text<'t>) -> Option<T> {
        if let Some(Value::Other) = value {
            let message = format!("`{key}` must be an object");
            self.reading.refuse(whole, Code::TraceField, message, "in this record");
        }
        value.and_then(Value::into_object)
    }

    /// Returns a text that must be there and not be empty.
    fn required(&mut self, key: &str, value: Option<Text<'t>>, whole: Text<'t>) -> String {
        let Some(part) = value else {
            self.reading.missing(key, "a text", whole);
            return String::new();
        };
        let Some(text) = self.reading.string(key, value) else { return String::new() };
        if text.trim().is_empty() {
            self.reading.refuse_value(key, part, "a text that is not empty");
        }
        text
    }

    /// Returns a Unix time in whole milliseconds that must be there.
    fn required_ms(&mut self, key: &str, value: Option<Text<'t>>, whole: Text<'t>) -> Nanos {
        if value.is_none() {
            self.reading.missing(key, "milliseconds since 1970", whole);
        }
        self.unix(key, value).unwrap_or(Nanos::new(0))
    }

    /// Returns a Unix time in whole milliseconds.
    fn unix(&mut self, key: &str, value: Option<Text<'t>>) -> Option<Nanos> {
        let ms = self.reading.count(key, value)?;
        let ns = ms.checked_mul(1_000_000).map(Nanos::new);
        if ns.is_none() {
            self.reading.refuse_value(key, value?, "milliseconds since 1970");
        }
        ns
    }

    fn session(&mut self, context: ContextDraft<'t>, whole: Text<'t>) -> Option<SessionNames> {
        let reading = &mut *self.reading;
        reading.string("trajectory_id", context.trajectory_id);
        reading.string("session_type_id", context.session_type_id);
        let trajectory = reading.string("parent_trajectory_id", context.parent_trajectory_id);
        let parent = reading.string("parent_session_id", context.parent_session_id);
        if let (Some(one), Some(other), Some(part)) =
            (&trajectory, &parent, context.parent_session_id)
            && one != other
        {
            if self.strictness == Strictness::Scenario {
                let message = format!("two parents, `{one}` and `{other}`");
                self.reading.refuse(part, Code::TraceSession, message, "names another one");
            } else {
                self.counts.conflicts += 1;
            }
        }
        let id = self.required("session_id", context.session_id, whole);
        let parent = trajectory.or(parent).filter(|parent| *parent != id);
        (!id.is_empty()).then_some(SessionNames { id, parent })
    }

    fn request(
        &mut self,
        draft: RequestDraft<'t>,
        at: Nanos,
        (whole, place): (Text<'t>, Place),
    ) -> (RecordedRequest, Option<BlockSize>) {
        let id = self.required("request_id", draft.request_id, whole);
        for (key, value) in &draft.other {
            self.check_number(key, value);
        }
        let worker = self.object("worker", draft.worker, whole);
        for (key, value) in worker.into_iter().flat_map(|worker| {
            [
                ("prefill_worker_id", worker.prefill_worker_id),
                ("prefill_dp_rank", worker.prefill_dp_rank),
                ("decode_worker_id", worker.decode_worker_id),
                ("decode_dp_rank", worker.decode_dp_rank),
            ]
        }) {
            self.reading.count(key, value);
        }
        let replay = self.object("replay", draft.replay, whole);
        let stated = self.reading.tokens("input_tokens", draft.input_tokens);
        let (replayed, size, hashes, edges) = self.replay(replay, whole);
        self.check_input(stated, replayed, draft.input_tokens);
        let duration = self.reading.time("total_time_ms", draft.total_time_ms, MILLISECONDS);
        let received = self.unix("request_received_ms", draft.request_received_ms);
        let request = RecordedRequest {
            id: Some(id),
            entry: 0,
            start: received.unwrap_or_else(|| before(at, duration)),
            duration,
            ended: Some(at),
            ttft: self.reading.time("ttft_ms", draft.ttft_ms, MILLISECONDS),
            streamed: Some(draft.ttft_ms.is_some()),
            model: self.reading.string("model", draft.model),
            input: replayed.or(stated),
            output: self.reading.tokens("output_tokens", draft.output_tokens),
            cached: self.reading.tokens("cached_tokens", draft.cached_tokens),
            hashes,
            think_time: None,
            stop: None,
            input_types: Vec::new(),
            output_types: Vec::new(),
            edges,
            place,
        };
        (request, size)
    }

    /// Checks that a number is one; JSON itself has no others than finite ones, and one beyond f64 is none.
    fn check_number(&mut self, key: &str, value: Text<'t>) {
        if !value.parse::<f64>().is_ok_and(f64::is_finite) {
            self.reading.refuse_value(key, value, "a finite number");
        }
    }

    /// Checks that the two keys for a prompt's length agree.
    fn check_input(
        &mut self,
        stated: Option<Tokens>,
        replayed: Option<Tokens>,
        part: Option<Text<'t>>,
    ) {
        if let (Some(stated), Some(replayed), Some(part)) = (stated, replayed, part)
            && stated != replayed
        {
            if self.strictness == Strictness::Scenario {
                let message =
                    format!("`input_tokens` is {stated} and `replay.input_length` is {replayed}");
                self.reading.refuse(part, Code::TraceField, message, "conflicts");
            } else {
                self.counts.conflicts += 1;
            }
        }
    }

    /// Returns the prompt's length, the block size, the hashes and the stated edges.
    fn replay(
        &mut self,
        draft: Option<ReplayDraft<'t>>,
        whole: Text<'t>,
    ) -> (Option<Tokens>, Option<BlockSize>, Option<Vec<u64>>, Vec<RecordedEdge>) {
        let Some(draft) = draft else { return (None, None, None, Vec::new()) };
        let size = self.reading.count("trace_block_size", draft.trace_block_size);
        let size = size.and_then(|size| u32::try_from(size).ok()).and_then(BlockSize::new);
        match (size, draft.trace_block_size) {
            (Some(_), _) => {}
            (None, Some(part)) => {
                self.reading.refuse_value("trace_block_size", part, "an integer from 1 on");
            }
            (None, None) => self.reading.missing("trace_block_size", "an integer from 1 on", whole),
        }
        let input = self.reading.tokens("input_length", draft.input_length);
        if draft.input_length.is_none() {
            self.reading.missing("input_length", "a number of tokens", whole);
        }
        let hashes = self.reading.hashes("input_sequence_hashes", draft.input_sequence_hashes);
        if draft.input_sequence_hashes.is_none() {
            self.reading.missing("input_sequence_hashes", "a list of hashes", whole);
        }
        if let (Some(input), Some(size), Some(hashes), Some(part)) =
            (input, size, &hashes, draft.input_sequence_hashes)
        {
            self.check_hashes((input, size), hashes.len(), part);
        }
        let edges = draft.dependencies.into_iter().map(|edge| RecordedEdge {
            request_id: self.required("request_id", edge.request_id, whole),
            relation: self.reading.word(
                "relation",
                edge.relation,
                EdgeRelation::ALL,
                EdgeRelation::name,
            ),
            trigger: self.reading.word(
                "trigger",
                edge.trigger,
                EdgeTrigger::ALL,
                EdgeTrigger::name,
            ),
        });
        let edges: Vec<RecordedEdge> = edges.collect();
        (input, size, hashes, edges)
    }

    /// Checks that hashes name the blocks of a prompt, the one that it ends in included.
    fn check_hashes(&mut self, (input, size): (Tokens, BlockSize), found: usize, part: Text<'t>) {
        let needed = input.blocks_ceil(size).get();
        if u64::try_from(found).is_ok_and(|found| found == needed) {
            return;
        }
        if self.strictness != Strictness::Scenario {
            self.counts.misfit_hashes += 1;
            return;
        }
        let message = format!("{found} hashes, but ceil({input}/{size}) = {needed}");
        let problem = self.reading.problem(part, Code::TraceHashIds, message, "these hashes");
        self.reading.problems.push(help(problem, input, found));
    }

    fn tool(
        &mut self,
        draft: ToolDraft<'t>,
        at: Nanos,
        (whole, place): (Text<'t>, Place),
    ) -> RecordedTool {
        let call_id = self.required("tool_call_id", draft.tool_call_id, whole);
        let class = self.required("tool_class", draft.tool_class, whole);
        self.reading.string("status", draft.status);
        let duration = self.reading.time("duration_ms", draft.duration_ms, MILLISECONDS);
        let end = self.unix("ended_at_unix_ms", draft.ended_at_unix_ms).unwrap_or(at);
        let started = self.unix("started_at_unix_ms", draft.started_at_unix_ms);
        let start = started.or_else(|| duration.map(|duration| before(end, Some(duration))));
        if let (Some(part), true) =
            (draft.started_at_unix_ms, start.is_some_and(|start| start > end))
        {
            let message = "the tool ends before it starts".to_owned();
            self.reading.refuse(part, Code::TraceArrival, message, "after the end");
        }
        let links = self.object("claude", draft.claude, whole);
        let links = links.unwrap_or_default();
        let reading = &mut *self.reading;
        let mode = match links.execution_mode {
            None => None,
            Some("\"blocking\"") => Some(ToolMode::Blocking),
            Some("\"background\"") => Some(ToolMode::Background),
            Some(other) => {
                reading.refuse_value("execution_mode", other, "`\"blocking\"` or `\"background\"`");
                None
            }
        };
        RecordedTool {
            session_id: String::new(),
            call_id,
            class,
            start,
            end,
            source_request: reading.string("source_request_id", links.source_request_id),
            consumer_request: reading.string("consumer_request_id", links.consumer_request_id),
            child_session: reading.string("child_session_id", links.child_session_id),
            mode,
            place,
        }
    }
}

/// Adds what may be meant to a problem with a number of hashes.
fn help(problem: Problem, input: Tokens, found: usize) -> Problem {
    match fitting_block_size(input, found) {
        Some(fit) => problem.help(format!("did you mean block size {fit}?")),
        None => {
            problem.help("hashes name every block of the prompt, the last perhaps partly filled")
        }
    }
}

/// Returns the time a duration of whole milliseconds before another one: clocks of captures count milliseconds.
fn before(at: Nanos, duration: Option<Nanos>) -> Nanos {
    let duration = duration.map_or(0, |duration| {
        u64::try_from(crate::units::div_half_even(u128::from(duration.get()), 1_000_000))
            .unwrap_or(u64::MAX)
            .saturating_mul(1_000_000)
    });
    Nanos::new(at.get().saturating_sub(duration))
}

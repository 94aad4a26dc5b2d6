//! A Weka trace to a tree of sessions.

use std::collections::BTreeSet;

use crate::diag::{Code, counted};
use crate::trace::hash_ids::{fitting_block_size, too_many};
use crate::trace::json::{Reading, Text};
use crate::trace::options::Strictness;
use crate::trace::recorded::{
    HashScope, Place, RecordedCounts, RecordedRequest, RecordedSession, RecordedSource,
    RecordedSpawn, RecordedTree, SpawnMode, TimestampBasis,
};
use crate::units::{BlockSize, Nanos, Tokens};

use super::draft::{EntryDraft, TraceDraft};

/// The largest difference, in nanoseconds, by which a time below a marker may lie before it: producers round.
pub(super) const ROUNDING_NS: u64 = 1_000;

/// Times of a trace are below this, in nanoseconds (292 years), so that none of their sums is beyond 64 bits.
const TIME_END: u64 = 1 << 63;

/// Powers of ten from a unit to nanoseconds.
const SECONDS: i64 = 9;
const MILLISECONDS: i64 = 6;

/// A tree in the making. What is wrong goes to the reading; the tree is of use only where nothing is.
pub(super) struct TreeBuilder<'r, 't> {
    pub(super) reading: &'r mut Reading<'t>,
    pub(super) counts: &'r mut RecordedCounts,
    pub(super) strictness: Strictness,
    /// Never [`TimestampBasis::Auto`].
    pub(super) basis: TimestampBasis,
    sessions: Vec<RecordedSession>,
    names: BTreeSet<String>,
    block_size: Option<BlockSize>,
}

/// Where a list of requests stands.
struct List {
    /// The session that it is of.
    session: usize,
    /// What is added to its times.
    origin: Nanos,
    /// The nearest request before it.
    before: Option<(usize, usize)>,
}

impl<'r, 't> TreeBuilder<'r, 't> {
    pub(super) fn new(
        reading: &'r mut Reading<'t>,
        counts: &'r mut RecordedCounts,
        strictness: Strictness,
        basis: TimestampBasis,
    ) -> Self {
        let (sessions, names) = (Vec::new(), BTreeSet::new());
        Self { reading, counts, strictness, basis, sessions, names, block_size: None }
    }

    /// Builds the tree of a trace.
    pub(super) fn build(mut self, draft: TraceDraft<'t>) -> RecordedTree {
        let text = self.reading.text();
        let whole = &text[..text.len().min(1)];
        let place = self.reading.place(draft.id.unwrap_or(whole));
        let id = self.name("id", draft.id, whole);
        let size = self.reading.count("block_size", draft.block_size);
        self.block_size = size.and_then(|size| u32::try_from(size).ok()).and_then(BlockSize::new);
        if self.block_size.is_none() {
            self.missing(draft.block_size, whole, "block_size", "an integer from 1 to 4294967295");
        }
        let hash_scope = self.scope(draft.hash_id_scope, whole);
        let models = self.reading.strings("models", draft.models);
        self.unused([("tool_tokens", draft.tool_tokens), ("system_tokens", draft.system_tokens)]);
        self.sessions.push(RecordedSession {
            id,
            parent_id: None,
            parent: None,
            spawn: None,
            requests: Vec::new(),
        });
        match draft.requests {
            None => self.missing(None, whole, "requests", "a list of requests"),
            Some(entries) => {
                let list = List { session: 0, origin: Nanos::new(0), before: None };
                self.add_list(entries, &list);
            }
        }
        if self.sessions.iter().all(|session| session.requests.is_empty()) {
            let message = "the trace holds no requests".to_owned();
            self.reading.refuse(whole, Code::TraceEmpty, message, "this trace");
        }
        RecordedTree {
            source: RecordedSource::Weka,
            zero: Nanos::new(0),
            block_size: self.block_size,
            hash_scope,
            models,
            sessions: self.sessions,
            tools: Vec::new(),
            place,
        }
    }

    /// Returns a name, which is not empty and of one session alone.
    fn name(&mut self, key: &str, value: Option<Text<'t>>, whole: Text<'t>) -> String {
        let Some(part) = value else {
            self.missing(None, whole, key, "a name");
            return String::new();
        };
        let name = self.reading.string(key, value).unwrap_or_default();
        if name.trim().is_empty() {
            self.reading.refuse_value(key, part, "a name that is not empty");
        } else if !self.names.insert(name.clone()) {
            let message = format!("the name `{name}` stands twice in one trace");
            self.reading.refuse(part, Code::TraceSession, message, "again here");
        }
        name
    }

    /// Checks and counts what changes nothing here: sums that producers write down.
    fn unused<const N: usize>(&mut self, keys: [(&str, Option<Text<'t>>); N]) {
        for (key, value) in keys {
            self.reading.count(key, value);
            self.reading.note_unused(key, value);
        }
    }

    fn scope(&mut self, value: Option<Text<'t>>, whole: Text<'t>) -> HashScope {
        match value {
            Some("\"local\"") => HashScope::Local,
            Some("\"global\"") => HashScope::Global,
            other => {
                self.missing(other, whole, "hash_id_scope", "`\"local\"` or `\"global\"`");
                HashScope::Local
            }
        }
    }

    /// Keeps a problem with a value that must be there.
    fn missing(&mut self, value: Option<Text<'t>>, whole: Text<'t>, key: &str, expected: &str) {
        if let Some(value) = value {
            self.reading.refuse_value(key, value, expected);
        } else {
            self.reading.missing(key, expected, whole);
        }
    }

    /// Adds the entries of a list: its requests to its session, its sub-agents as sessions.
    fn add_list(&mut self, entries: Vec<EntryDraft<'t>>, list: &List) {
        let mut before = list.before;
        let mut latest: Option<Nanos> = None;
        for (entry, draft) in entries.into_iter().enumerate() {
            let whole = draft.t.or(draft.kind).unwrap_or(&self.reading.text()[..0]);
            let place = self.reading.place(whole);
            let at = self.start(&draft, whole, list);
            match draft.kind {
                Some("\"n\"" | "\"s\"") => {
                    self.check_order(whole, at, &mut latest);
                    let request = self.request(&draft, whole, (entry, at, place));
                    self.check_end(draft.api_time.unwrap_or(whole), at, request.duration);
                    let requests = &mut self.sessions[list.session].requests;
                    requests.push(request);
                    before = Some((list.session, requests.len() - 1));
                }
                Some("\"subagent\"") => {
                    self.add_subagent(draft, whole, (entry, at, place), (list.session, before));
                }
                other => self.missing(other, whole, "type", "`\"n\"`, `\"s\"` or `\"subagent\"`"),
            }
        }
    }

    /// Returns the time of an entry from the trace's zero.
    fn start(&mut self, draft: &EntryDraft<'t>, whole: Text<'t>, list: &List) -> Nanos {
        let Some(t) = self.reading.time("t", draft.t, SECONDS) else {
            if draft.t.is_none() {
                self.missing(None, whole, "t", "a number of seconds");
            }
            return list.origin;
        };
        let is_nested = list.session != 0;
        match self.basis {
            TimestampBasis::Relative if is_nested => {
                Nanos::new(list.origin.get().saturating_add(t.get()))
            }
            TimestampBasis::Auto | TimestampBasis::Absolute | TimestampBasis::Relative => {
                if is_nested && t.get().saturating_add(ROUNDING_NS) < list.origin.get() {
                    let message = format!(
                        "a time below a sub-agent lies {} ns before its marker",
                        list.origin.get() - t.get()
                    );
                    let label = "counted from the trace's zero";
                    self.reading.refuse(whole, Code::TraceArrival, message, label);
                }
                // Rounding alone must not put a request before its marker.
                t.max(list.origin)
            }
        }
    }

    /// Checks that what starts at `at` ends at a time that can be counted on from; `part` says how long it took.
    fn check_end(&mut self, part: Text<'t>, at: Nanos, took: Option<Nanos>) {
        let end = at.get().saturating_add(took.map_or(0, Nanos::get));
        if end >= TIME_END {
            let message =
                format!("a time of the trace is {end} ns or more, which must be below 2^63");
            self.reading.refuse(part, Code::TraceArrival, message, "ends too late");
        }
    }

    /// Checks that requests do not go back in time.
    fn check_order(&mut self, part: Text<'t>, at: Nanos, latest: &mut Option<Nanos>) {
        if latest.is_some_and(|latest| at < latest) {
            if self.strictness == Strictness::Scenario {
                let message = "the request starts before the one above it".to_owned();
                self.reading.refuse(part, Code::TraceUnsorted, message, "goes back");
            } else {
                self.counts.unsorted += 1;
            }
        }
        *latest = Some(latest.map_or(at, |latest| latest.max(at)));
    }

    fn request(
        &mut self,
        draft: &EntryDraft<'t>,
        whole: Text<'t>,
        (entry, start, place): (usize, Nanos, Place),
    ) -> RecordedRequest {
        let reading = &mut *self.reading;
        let model = reading.string("model", draft.model);
        let input = reading.tokens("in", draft.input);
        let output = reading.tokens("out", draft.output);
        let hashes = reading.hashes("hash_ids", draft.hash_ids);
        let request = RecordedRequest {
            id: None,
            entry,
            start,
            duration: reading.time("api_time", draft.api_time, SECONDS),
            ended: None,
            ttft: reading.time("ttft", draft.ttft, SECONDS),
            streamed: Some(draft.kind == Some("\"s\"")),
            model,
            input,
            output,
            cached: None,
            hashes,
            think_time: reading.time("think_time", draft.think_time, SECONDS),
            stop: reading.string("stop", draft.stop),
            input_types: reading.strings("input_types", draft.input_types),
            output_types: reading.strings("output_types", draft.output_types),
            edges: Vec::new(),
            place,
        };
        if draft.output.is_none() {
            self.missing(None, whole, "out", "a number of tokens");
        }
        if request.model.as_ref().is_none_or(|model| model.trim().is_empty()) {
            self.missing(draft.model, whole, "model", "a name that is not empty");
        }
        match request.input {
            Some(input) if input > Tokens::ZERO => {
                self.check_hashes(draft, &request, input);
                self.check_made_up(draft, &request, input);
            }
            Some(_) | None => self.missing(draft.input, whole, "in", "an integer from 1 on"),
        }
        request
    }

    /// Checks that hashes name the full blocks of a prompt, or those and the block that it ends in.
    fn check_hashes(&mut self, draft: &EntryDraft<'t>, request: &RecordedRequest, input: Tokens) {
        let (Some(part), Some(hashes), Some(size)) =
            (draft.hash_ids, &request.hashes, self.block_size)
        else {
            return;
        };
        let found = u64::try_from(hashes.len()).unwrap_or(u64::MAX);
        let (full, all) = (input.blocks_full(size).get(), input.blocks_ceil(size).get());
        self.counts.partial_tails += u64::from(found == full && full < all);
        if found == 0 || found == full || found == all {
            return;
        }
        if self.strictness != Strictness::Scenario {
            self.counts.misfit_hashes += 1;
            return;
        }
        let message = format!(
            "{}, but {input} tokens hold {} of {size} and end in block {all}",
            counted(found, "hash id"),
            counted(full, "full block")
        );
        let problem = self.reading.problem(part, Code::TraceHashIds, message, "these ids");
        self.reading.problems.push(match fitting_block_size(input, hashes.len()) {
            Some(fit) => problem.help(format!("did you mean block size {fit}?")),
            None => problem.help("hash ids name the blocks of the prompt in order"),
        });
    }

    /// Checks that not too many blocks of a prompt are to be made up.
    fn check_made_up(&mut self, draft: &EntryDraft<'t>, request: &RecordedRequest, input: Tokens) {
        let (Some(part), Some(size)) = (draft.input, self.block_size) else { return };
        let named = request.hashes.as_ref().map_or(0, Vec::len);
        let named = u64::try_from(named).unwrap_or(u64::MAX);
        let made_up = input.blocks_ceil(size).get().saturating_sub(named);
        if let Some(message) = too_many(made_up, size) {
            self.reading.refuse(part, Code::TraceHashIds, message, "too long without names");
        }
    }

    fn add_subagent(
        &mut self,
        draft: EntryDraft<'t>,
        whole: Text<'t>,
        (entry, at, place): (usize, Nanos, Place),
        (parent, after): (usize, Option<(usize, usize)>),
    ) {
        let id = self.name("agent_id", draft.agent_id, whole);
        let kind = self.reading.string("subagent_type", draft.subagent_type);
        let duration = self.reading.time("duration_ms", draft.duration_ms, MILLISECONDS);
        self.check_end(draft.duration_ms.unwrap_or(whole), at, duration);
        self.unused([
            ("total_tokens", draft.total_tokens),
            ("tool_use_count", draft.tool_use_count),
            ("tool_tokens", draft.tool_tokens),
            ("system_tokens", draft.system_tokens),
        ]);
        self.reading.strings("models", draft.models);
        let mode = match draft.status {
            Some("\"completed\"") => SpawnMode::Blocking,
            Some("\"async_launched\"") => SpawnMode::Background,
            other => {
                self.missing(other, whole, "status", "`\"completed\"` or `\"async_launched\"`");
                SpawnMode::Blocking
            }
        };
        if draft.requests.is_none() {
            self.missing(None, whole, "requests", "a list of requests");
        }
        let spawn = RecordedSpawn { at, entry, after, mode, kind, duration, place };
        self.sessions.push(RecordedSession {
            id,
            parent_id: Some(self.sessions[parent].id.clone()),
            parent: Some(parent),
            spawn: Some(spawn),
            requests: Vec::new(),
        });
        let session = self.sessions.len() - 1;
        let list = List { session, origin: at, before: after };
        self.add_list(draft.requests.unwrap_or_default(), &list);
    }
}

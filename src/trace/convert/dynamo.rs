//! Traces of Weka as events of a capture.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::diag::{Bag, Code};
use crate::digest::Hasher;
use crate::trace::recorded::{
    HashScope, Place, RecordedRequest, RecordedSession, RecordedTree, SpawnMode,
};
use crate::units::{BlockSize, Nanos};

use super::lost::Lost;
use super::sink::Sink;
use super::weka::{decimal, text};

/// A millisecond, which clocks of captures count.
const MS: u64 = 1_000_000;

/// The names of the sessions of a corpus.
#[derive(Debug, Default)]
pub(super) struct SessionNames {
    known: BTreeSet<String>,
    /// Whether two sessions have one name.
    meet: bool,
}

impl SessionNames {
    /// Adds those of a trace. Once names meet, no more are kept.
    pub(super) fn add(&mut self, tree: &RecordedTree) {
        for session in &tree.sessions {
            if self.meet || !self.known.insert(session.id.clone()) {
                *self = Self { known: BTreeSet::new(), meet: true };
                return;
            }
        }
    }
}

/// Writes the events of a trace: its sessions' requests and what started them.
///
/// # Errors
/// `trace::convert` for sub-agents of sub-agents that asked nothing.
pub(super) fn write(
    tree: &RecordedTree,
    names: &SessionNames,
    sink: &mut Sink<'_>,
    lost: &mut Lost,
) -> Result<(), Bag> {
    let mut writer = Writer { tree, is_unique: !names.meet, problems: Bag::new(), sink };
    writer.tree(lost);
    if writer.problems.is_empty() { Ok(()) } else { Err(writer.problems) }
}

/// A trace on its way to events.
struct Writer<'t, 'w> {
    tree: &'t RecordedTree,
    /// Whether no two sessions of the corpus have one name.
    is_unique: bool,
    problems: Bag,
    sink: &'t mut Sink<'w>,
}

impl Writer<'_, '_> {
    fn tree(&mut self, lost: &mut Lost) {
        let tree = self.tree;
        let starts = tree.requests().map(|(_, request)| request.start);
        lost.note("lead-time", starts.min().is_some_and(|first| first > Nanos::ZERO));
        let asked: BTreeSet<&str> =
            tree.requests().filter_map(|(_, request)| request.model.as_deref()).collect();
        lost.add(
            "models",
            tree.models.iter().filter(|model| !asked.contains(model.as_str())).count() as u64,
        );
        for (index, session) in tree.sessions.iter().enumerate() {
            if session.parent.is_some_and(|parent| tree.sessions[parent].requests.is_empty()) {
                self.refuse(
                    &place(session),
                    "its parent asked nothing, so that a capture has no session to hang it on",
                );
            }
            if session.spawn.is_some() {
                self.spawn(index, lost);
            }
            let ends: Vec<u64> = session.requests.iter().map(ended).collect();
            lost.add("turn-order", ends.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64);
            for (turn, request) in session.requests.iter().enumerate() {
                self.request(index, turn, request, lost);
            }
        }
    }

    fn refuse(&mut self, place: &Place, why: &str) {
        self.problems.push(place.problem(Code::TraceConvert, why, "this one"));
    }

    /// Returns what a session is called: as in its trace, with that before it where names meet.
    fn name(&self, session: usize) -> String {
        let id = &self.tree.sessions[session].id;
        if session == 0 || self.is_unique { id.clone() } else { format!("{}/{id}", self.tree.id()) }
    }

    fn request_name(&self, (session, turn): (usize, usize)) -> String {
        format!("{}:{turn}", self.name(session))
    }

    /// Returns an event with the session that it is of.
    fn event(&self, kind: &str, session: usize, at_ms: u64, rest: &str) -> String {
        let parent = self.tree.sessions[session].parent.map(|parent| self.name(parent));
        let parent =
            parent.map_or(String::new(), |name| format!(",\"parent_session_id\":{}", text(&name)));
        format!(
            "{{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"{kind}\",\"event_time_unix_ms\":{at_ms},\"agent_context\":{{\"session_id\":{}{parent}}},{rest}}}",
            text(&self.name(session))
        )
    }

    /// Adds the tool that started a sub-agent.
    fn spawn(&mut self, index: usize, lost: &mut Lost) {
        let tree = self.tree;
        let session = &tree.sessions[index];
        let (Some(spawn), Some(parent)) = (&session.spawn, session.parent) else { return };
        let turns = &tree.sessions[parent].requests;
        let first = session.requests.first().map(|request| request.start);
        let told = first.and_then(|first| turns.iter().rposition(|turn| turn.start <= first));
        let is_told = told.is_some() && spawn.after == told.map(|turn| (parent, turn));
        lost.note("spawn-order", !is_told);
        lost.note("sub-millisecond", !spawn.at.get().is_multiple_of(MS));
        if tree.sessions[parent].requests.is_empty() {
            return; // refused, or nothing to hang a tool on
        }
        let latest_end = session.requests.iter().map(ended).max().unwrap_or(0);
        let stated = spawn.duration.map(|took| (spawn.at.get() + took.get()).div_ceil(MS));
        let start_ms = spawn.at.get() / MS;
        let end_ms = stated.unwrap_or(latest_end).max(start_ms);
        let source = spawn.after.filter(|(session, _)| *session == parent);
        let source = source.map_or(String::new(), |after| {
            format!("\"source_request_id\":{},", text(&self.request_name(after)))
        });
        let mode = match spawn.mode {
            SpawnMode::Blocking => "blocking",
            SpawnMode::Background => "background",
        };
        let name = self.name(index);
        let tool = format!(
            "\"tool\":{{\"tool_call_id\":{},\"tool_class\":{},\"started_at_unix_ms\":{start_ms},\"ended_at_unix_ms\":{end_ms},\"claude\":{{{source}\"child_session_id\":{},\"execution_mode\":\"{mode}\"}}}}",
            text(&format!("spawn:{name}")),
            text(spawn.kind.as_deref().filter(|kind| !kind.trim().is_empty()).unwrap_or("agent")),
            text(&name),
        );
        let line = self.event("tool_end", parent, end_ms, &tool);
        self.sink.line(&line);
    }

    fn request(&mut self, session: usize, turn: usize, request: &RecordedRequest, lost: &mut Lost) {
        lost.add_request(request, &["streaming", "ttft"]);
        let is_streamed = request.streamed == Some(true);
        lost.note("streaming", is_streamed && request.ttft.is_none());
        // An event has an end: it says of a request that states none that it took no time.
        lost.note("unrecorded-end", request.duration.is_none());
        lost.note("ttft", !is_streamed && request.ttft.is_some());
        lost.note("sub-millisecond", !request.start.get().is_multiple_of(MS));
        let mut fields = format!(
            "\"request\":{{\"request_id\":{},\"request_received_ms\":{}",
            text(&self.request_name((session, turn))),
            request.start.get() / MS
        );
        let mut add = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                write!(fields, ",\"{key}\":{value}").expect("a String takes every write");
            }
        };
        add("model", request.model.as_deref().map(text));
        add("output_tokens", request.output.as_ref().map(ToString::to_string));
        add("total_time_ms", request.duration.map(|took| decimal(took, 6)));
        add("ttft_ms", request.ttft.filter(|_| is_streamed).map(|ttft| decimal(ttft, 6)));
        let replay = self.replay(session, turn, request);
        lost.note("hash-ids", replay.is_none() && request.hashes.is_some());
        let input = request.input.filter(|_| replay.is_none()).as_ref().map(ToString::to_string);
        add("input_tokens", input);
        add("replay", replay);
        fields.push('}');
        let line = self.event("request_end", session, ended(request), &fields);
        self.sink.line(&line);
    }

    /// Returns the blocks of a prompt, the one that it ends in included; nothing where the trace names none.
    fn replay(&self, session: usize, turn: usize, request: &RecordedRequest) -> Option<String> {
        let size: BlockSize = self.tree.block_size?;
        let (input, hashes) = (request.input?, request.hashes.as_ref()?);
        let (full, all) = (input.blocks_full(size).get(), input.blocks_ceil(size).get());
        let count = hashes.len() as u64;
        if count != full && count != all {
            return None;
        }
        let mut names: Vec<u64> = hashes.iter().map(|hash| self.hash(*hash)).collect();
        if count < all {
            // The block that a prompt ends in is its own: nothing says that its text was seen before.
            names.push(self.own(session, turn));
        }
        let names: Vec<String> = names.iter().map(u64::to_string).collect();
        Some(format!(
            "{{\"trace_block_size\":{size},\"input_length\":{input},\"input_sequence_hashes\":[{}]}}",
            names.join(",")
        ))
    }

    /// Returns a name of a block that is one of the whole capture.
    fn hash(&self, hash: u64) -> u64 {
        match self.tree.hash_scope {
            HashScope::Global => hash,
            HashScope::Local => digest(&[self.tree.id().as_bytes(), &hash.to_le_bytes()]),
        }
    }

    /// Returns a name that no other block has.
    fn own(&self, session: usize, turn: usize) -> u64 {
        digest(&[self.tree.id().as_bytes(), b"tail", self.request_name((session, turn)).as_bytes()])
    }
}

/// Returns when a request ended, in milliseconds: no earlier than it did, and when it started where nobody says.
fn ended(request: &RecordedRequest) -> u64 {
    (request.start.get() + request.duration.map_or(0, Nanos::get)).div_ceil(MS)
}

fn place(session: &RecordedSession) -> Place {
    let spawn = session.spawn.as_ref().map(|spawn| spawn.place.clone());
    spawn.unwrap_or_else(|| session.requests[0].place.clone())
}

/// Returns 64 bits of the digest of parts.
fn digest(parts: &[&[u8]]) -> u64 {
    let mut hasher = Hasher::new();
    hasher.update(b"touchstone.trace.convert/1\0");
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let sha256 = hasher.finish();
    let bytes = sha256.bytes();
    u64::from_le_bytes(bytes[..8].try_into().expect("a digest has 32 bytes"))
}

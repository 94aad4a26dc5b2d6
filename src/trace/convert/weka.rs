//! Recorded trees as Weka's traces.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::diag::{Bag, Code};
use crate::trace::recorded::{Place, RecordedRequest, RecordedTree, SpawnMode, ToolMode};
use crate::units::Nanos;

use super::lost::Lost;
use super::sink::Sink;

/// Tokens of a block where no request names any. Source: spec/REPLAY.md §1.4.
const DEFAULT_BLOCK: u32 = 16;

/// What requests of the format say beside their lengths and blocks.
const KEPT: [&str; 6] = ["input-types", "output-types", "stop", "streaming", "think-time", "ttft"];

/// Writes a tree of a capture as one line.
///
/// # Errors
/// `trace::convert` for what the format asks for and a capture leaves open, and for turns that are not in the order of their starts.
pub(super) fn write(tree: &RecordedTree, sink: &mut Sink<'_>, lost: &mut Lost) -> Result<(), Bag> {
    let mut writer = Writer { tree, problems: Bag::new(), slots: BTreeMap::new() };
    writer.place_children();
    let requests = writer.list(0, lost);
    let models: BTreeSet<&str> =
        tree.requests().filter_map(|(_, request)| request.model.as_deref()).collect();
    if writer.problems.has_errors() {
        return Err(writer.problems);
    }
    lost.note("clock", tree.zero > Nanos::ZERO);
    lost.add("tools", tree.tools.len() as u64);
    let size = tree.block_size.map_or(DEFAULT_BLOCK, crate::units::BlockSize::get);
    let models: Vec<String> = models.into_iter().map(text).collect();
    let line = format!(
        "{{\"id\":{},\"models\":[{}],\"block_size\":{size},\"hash_id_scope\":\"{}\",\"requests\":[{}]}}",
        text(tree.id()),
        models.join(","),
        tree.hash_scope.name(),
        requests
    );
    sink.line(&line);
    Ok(())
}

/// A tree on its way to a line.
struct Writer<'t> {
    tree: &'t RecordedTree,
    problems: Bag,
    /// The sub-agents that stand before each turn: session and turn to sessions, by their starts.
    slots: BTreeMap<(usize, usize), Vec<usize>>,
}

impl Writer<'_> {
    fn refuse(&mut self, place: &Place, message: String) {
        self.problems.push(place.problem(Code::TraceConvert, message, "this record"));
    }

    /// Puts each sub-agent behind the last turn of its parent that had started, which is what brought it about.
    fn place_children(&mut self) {
        let mut children: Vec<(Nanos, usize)> = Vec::new();
        for (index, session) in self.tree.sessions.iter().enumerate().skip(1) {
            children.push((session.requests[0].start, index));
        }
        children.sort();
        for (start, index) in children {
            let session = &self.tree.sessions[index];
            let parent = session.parent.expect("only the root has no parent");
            let turns = &self.tree.sessions[parent].requests;
            let slot =
                turns.iter().rposition(|turn| turn.start <= start).map_or(0, |turn| turn + 1);
            if slot == 0 && parent != 0 {
                let message =
                    format!("session `{}` starts before every request of its parent", session.id);
                self.refuse(&session.requests[0].place, message);
            }
            self.slots.entry((parent, slot)).or_default().push(index);
        }
    }

    /// Returns the entries of a session.
    fn list(&mut self, session: usize, lost: &mut Lost) -> String {
        let tree = self.tree;
        let requests = &tree.sessions[session].requests;
        let mut entries = Vec::new();
        for turn in 0..=requests.len() {
            for child in self.slots.get(&(session, turn)).cloned().unwrap_or_default() {
                let entry = self.marker(child, lost);
                entries.push(entry);
            }
            let Some(request) = requests.get(turn) else { continue };
            if turn > 0 && request.start < requests[turn - 1].start {
                let message =
                    "the turn starts before the one above it, which a list of requests cannot say";
                self.refuse(&request.place, message.to_owned());
            }
            let entry = self.request(request, lost);
            entries.push(entry);
        }
        entries.join(",")
    }

    /// Returns the marker of a sub-agent with its requests.
    fn marker(&mut self, session: usize, lost: &mut Lost) -> String {
        let tree = self.tree;
        let id = &tree.sessions[session].id;
        let is_background = tree.tools.iter().any(|tool| {
            tool.mode == Some(ToolMode::Background) && tool.child_session.as_ref() == Some(id)
        });
        let mode = if is_background { SpawnMode::Background } else { SpawnMode::Blocking };
        // What is below a marker starts no earlier.
        let below =
            tree.requests().filter(|(index, _)| tree.lineage(*index).any(|at| at == session));
        let start = below.map(|(_, request)| request.start).min().unwrap_or(Nanos::ZERO);
        let requests = self.list(session, lost);
        format!(
            "{{\"t\":{},\"type\":\"subagent\",\"agent_id\":{},\"subagent_type\":\"session\",\"status\":\"{}\",\"requests\":[{requests}]}}",
            decimal(start, 9),
            text(id),
            mode.status()
        )
    }

    fn request(&mut self, request: &RecordedRequest, lost: &mut Lost) -> String {
        lost.add_request(request, &KEPT);
        lost.note("request-id", request.id.is_some());
        lost.note("stated-edges", !request.edges.is_empty());
        let took = took(request);
        let end = Nanos::new(request.start.get() + took.map_or(0, Nanos::get));
        lost.note("event-time", request.ended.is_some_and(|ended| ended != end));
        let (Some(model), Some(input), Some(output)) =
            (&request.model, request.input.filter(|input| input.get() > 0), request.output)
        else {
            let message =
                "the format needs `model`, `output_tokens` and a prompt of a token at least";
            self.refuse(&request.place, message.to_owned());
            return String::new();
        };
        let kind = if request.streamed == Some(true) { "s" } else { "n" };
        let mut entry = format!(
            "{{\"t\":{},\"type\":\"{kind}\",\"model\":{},\"in\":{input},\"out\":{output}",
            decimal(request.start, 9),
            text(model)
        );
        let mut add = |key: &str, value: String| {
            write!(entry, ",\"{key}\":{value}").expect("a String takes every write");
        };
        if let Some(hashes) = &request.hashes {
            let hashes: Vec<String> = hashes.iter().map(u64::to_string).collect();
            add("hash_ids", format!("[{}]", hashes.join(",")));
        }
        for (key, time) in [("api_time", took), ("ttft", request.ttft)] {
            if let Some(time) = time {
                add(key, decimal(time, 9));
            }
        }
        entry.push('}');
        entry
    }
}

/// Returns how long a request took: as it says, else until it was written down.
fn took(request: &RecordedRequest) -> Option<Nanos> {
    request.duration.or_else(|| request.ended?.since(request.start))
}

/// Returns a JSON text.
pub(super) fn text(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// Returns nanoseconds as a decimal number of units of `10^digits` of them, exactly.
pub(super) fn decimal(time: Nanos, digits: usize) -> String {
    let all = format!("{:0>width$}", time.get(), width = digits + 1);
    let (whole, part) = all.split_at(all.len() - digits);
    let part = part.trim_end_matches('0');
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}

//! A Dynamo capture to plays: turns follow one another, children are spawned and joined.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Bag, Code, Problem};
use crate::trace::dynamo::Alone;
use crate::trace::recorded::{Place, RecordedRequest, RecordedTool, RecordedTree};
use crate::units::{Nanos, Tokens};
use crate::workload::{Corpus, CorpusRow, EdgeRelation, EdgeTrigger, SessionName};

use super::build::{PlayRow, Unscheduled, Wait};

/// A request with what lowering asks of it.
struct Entry<'r> {
    request: &'r RecordedRequest,
    session: &'r str,
    /// Whole milliseconds of Unix time.
    start_ms: u64,
    end_ms: u64,
}

impl Entry<'_> {
    fn id(&self) -> &str {
        self.request.id.as_deref().unwrap_or_default()
    }
}

/// All requests of a capture, and what each waits for.
struct Lowering<'r> {
    /// By start, end and name.
    entries: Vec<Entry<'r>>,
    by_id: BTreeMap<&'r str, usize>,
    by_session: BTreeMap<&'r str, Vec<usize>>,
    waits: Vec<Vec<Wait>>,
    problems: Bag,
}

/// Returns the rows of a capture's trees.
///
/// # Errors
/// Edges and tools that name what is not there, or lead back in time.
pub(super) fn lower(trees: &[RecordedTree]) -> Result<Vec<PlayRow>, Bag> {
    let mut lowering = Lowering::new(trees);
    lowering.sequences();
    let tools = lowering.tools(trees);
    let linked = lowering.stated_edges();
    for tree in trees {
        for session in &tree.sessions {
            if let Some(parent) = session.parent {
                let parent = tree.sessions[parent].id.as_str();
                lowering.child(&session.id, parent, &tools, &linked);
            }
        }
    }
    lowering.rows()
}

impl<'r> Lowering<'r> {
    fn new(trees: &'r [RecordedTree]) -> Self {
        let mut entries: Vec<Entry<'r>> = trees
            .iter()
            .flat_map(|tree| {
                tree.requests().map(move |(session, request)| {
                    let start_ms = (tree.zero.get() + request.start.get()) / 1_000_000;
                    Entry {
                        request,
                        session: &tree.sessions[session].id,
                        start_ms,
                        end_ms: end_ms(tree, request, start_ms),
                    }
                })
            })
            .collect();
        entries.sort_by(|a, b| (a.start_ms, a.end_ms, a.id()).cmp(&(b.start_ms, b.end_ms, b.id())));
        let mut by_session: BTreeMap<&'r str, Vec<usize>> = BTreeMap::new();
        let mut by_id = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            by_session.entry(entry.session).or_default().push(at);
            by_id.insert(entry.request.id.as_deref().unwrap_or_default(), at);
        }
        let waits = vec![Vec::new(); entries.len()];
        Self { entries, by_id, by_session, waits, problems: Bag::new() }
    }

    /// Lets the request at `target` wait for the one at `source`, for as long as was recorded; the first such edge counts.
    fn wait(
        &mut self,
        source: usize,
        target: usize,
        (trigger, relation): (EdgeTrigger, EdgeRelation),
    ) {
        let from = &self.entries[source];
        let at_ms = match trigger {
            EdgeTrigger::Dispatch => from.start_ms,
            EdgeTrigger::Completion => from.end_ms,
        };
        let delay = self.entries[target].start_ms.saturating_sub(at_ms);
        let request_id = from.id().to_owned();
        let waits = &mut self.waits[target];
        if !waits.iter().any(|wait| wait.request_id == request_id && wait.trigger == trigger) {
            waits.push(Wait { request_id, trigger, relation, delay_ms: milliseconds(delay) });
        }
    }

    /// Lets each turn of a session wait for the one before.
    fn sequences(&mut self) {
        let pairs: Vec<(usize, usize)> = self
            .by_session
            .values()
            .flat_map(|turns| turns.windows(2).map(|pair| (pair[0], pair[1])))
            .collect();
        for (before, after) in pairs {
            self.wait(before, after, (EdgeTrigger::Completion, EdgeRelation::Sequence));
        }
    }

    fn refuse(&mut self, place: &Place, message: String) {
        self.problems.push(place.problem(Code::TraceSession, message, "this record"));
    }

    /// Returns the tool that started each session, where one says so.
    fn tools(&mut self, trees: &'r [RecordedTree]) -> BTreeMap<&'r str, &'r RecordedTool> {
        let mut tools: BTreeMap<&'r str, &'r RecordedTool> = BTreeMap::new();
        for tool in trees.iter().flat_map(|tree| &tree.tools) {
            for id in [&tool.source_request, &tool.consumer_request].into_iter().flatten() {
                let session = self.by_id.get(id.as_str()).map(|at| self.entries[*at].session);
                if session != Some(tool.session_id.as_str()) {
                    let message = format!(
                        "tool `{}` of session `{}` names the request `{id}`, which is not of that session",
                        tool.call_id, tool.session_id
                    );
                    self.refuse(&tool.place, message);
                }
            }
            let Some(child) = tool.child_session.as_deref() else { continue };
            if self.by_session.contains_key(child) && tools.insert(child, tool).is_some() {
                let message = format!("more than one tool started session `{child}`");
                self.refuse(&tool.place, message);
            }
        }
        tools
    }

    /// Adds the edges that requests state; returns the pairs of sessions that they link.
    fn stated_edges(&mut self) -> BTreeSet<(&'r str, &'r str)> {
        let mut linked = BTreeSet::new();
        for target in 0..self.entries.len() {
            let request = self.entries[target].request;
            for edge in &request.edges {
                let Some(source) = self.by_id.get(edge.request_id.as_str()).copied() else {
                    let message = format!("waits for the unknown request `{}`", edge.request_id);
                    self.refuse(&request.place, message);
                    continue;
                };
                if self.entries[source].start_ms > self.entries[target].start_ms {
                    let message = format!("waits for the later request `{}`", edge.request_id);
                    self.refuse(&request.place, message);
                }
                let (one, other) = (self.entries[source].session, self.entries[target].session);
                if one != other {
                    linked.extend([(one, other), (other, one)]);
                }
                self.wait(source, target, (edge.trigger, edge.relation));
            }
        }
        linked
    }

    /// Hangs a session on its parent: by the tool that started it, by what requests state, or else by times.
    fn child(
        &mut self,
        child: &'r str,
        parent: &'r str,
        tools: &BTreeMap<&'r str, &'r RecordedTool>,
        linked: &BTreeSet<(&'r str, &'r str)>,
    ) {
        let (turns, parents) = (self.by_session[child].clone(), self.by_session[parent].clone());
        let key = |at: &usize| {
            let entry = &self.entries[*at];
            (entry.end_ms, entry.start_ms, entry.id())
        };
        let first = turns[0];
        let last = turns.iter().copied().max_by(|a, b| key(a).cmp(&key(b))).expect("it has turns");
        let spawn = (EdgeTrigger::Dispatch, EdgeRelation::Spawn);
        let join = (EdgeTrigger::Completion, EdgeRelation::Join);
        if let Some(tool) = tools.get(child) {
            let named = |id: &Option<String>| {
                let at = self.by_id.get(id.as_deref()?).copied()?;
                parents.contains(&at).then_some(at)
            };
            let (source, consumer) = (named(&tool.source_request), named(&tool.consumer_request));
            if let Some(consumer) = consumer {
                let before = self.entries[consumer].start_ms;
                let ended = turns.iter().copied().filter(|at| self.entries[*at].end_ms <= before);
                if let Some(joined) = ended.max_by(|a, b| key(a).cmp(&key(b))) {
                    self.wait(joined, consumer, join);
                }
            }
            if let Some(source) = source {
                self.wait(source, first, spawn);
            } else {
                let message = format!(
                    "tool `{}` started session `{child}` and no request of its parent `{parent}` called it",
                    tool.call_id
                );
                self.refuse(&tool.place, message);
            }
            return;
        }
        if linked.contains(&(child, parent)) {
            return;
        }
        let (start, end) = (self.entries[first].start_ms, self.entries[last].end_ms);
        let before = parents.iter().copied().filter(|at| self.entries[*at].start_ms <= start);
        // Of equal starts the last by end and name is the spawner, the first the joiner: parents are in that order.
        let spawner = before.max_by_key(|at| self.entries[*at].start_ms);
        let after = parents.iter().copied().filter(|at| self.entries[*at].start_ms >= end);
        let joiner = after.min_by_key(|at| self.entries[*at].start_ms);
        if let Some(spawner) = spawner {
            self.wait(spawner, first, spawn);
        }
        if let Some(joiner) = joiner {
            self.wait(last, joiner, join);
        }
    }

    /// Returns the rows: plays are what edges connect, called after their first root.
    fn rows(mut self) -> Result<Vec<PlayRow>, Bag> {
        let origin = self.entries.iter().map(|entry| entry.start_ms).min().unwrap_or(0);
        let mut rows = Vec::with_capacity(self.entries.len());
        for (entry, waits) in self.entries.iter().zip(std::mem::take(&mut self.waits)) {
            let request = entry.request;
            let (Some(input), Some(output), Some(hashes)) =
                (request.input, request.output, &request.hashes)
            else {
                let message = "simulation needs `output_tokens` and `replay` of every request";
                let problem = request.place.problem(Code::TraceField, message, "this record");
                self.problems.push(problem);
                continue;
            };
            let start = milliseconds(entry.start_ms - origin);
            rows.push(PlayRow {
                place: request.place.clone(),
                request_id: entry.id().to_owned(),
                play_id: String::new(),
                ordinal: None,
                session: SessionName::Named(entry.session.to_owned()),
                model: request.model.clone().unwrap_or_else(|| "unknown".to_owned()),
                input,
                output,
                hashes: hashes.clone(),
                taped: None,
                counted: 0..0,
                not_before_ms: if waits.is_empty() { start } else { 0.0 },
                recorded_ms: (start, Some(milliseconds(entry.end_ms.saturating_sub(origin)))),
                waits,
                unscheduled: Unscheduled::default(),
            });
        }
        if self.problems.has_errors() {
            return Err(self.problems);
        }
        name_components(&mut rows, "dynamo-play");
        Ok(rows)
    }
}

/// Returns when a request ended: its start and how long it took where both are known, else when its record was written.
fn end_ms(tree: &RecordedTree, request: &RecordedRequest, start_ms: u64) -> u64 {
    match (request.duration, request.ended) {
        (Some(took), _) => start_ms + whole_ms(took),
        (None, Some(ended)) => (tree.zero.get() + ended.get()) / 1_000_000,
        (None, None) => start_ms,
    }
}

/// Returns a duration in whole milliseconds, rounded half to even: clocks of captures count those.
fn whole_ms(took: Nanos) -> u64 {
    u64::try_from(crate::units::div_half_even(u128::from(took.get()), 1_000_000))
        .expect("a part of 64 bits fits 64 bits")
}

/// Returns whole milliseconds as a number of them.
#[expect(clippy::cast_precision_loss, reason = "differences of recorded times are below 2^53")]
fn milliseconds(count: u64) -> f64 {
    count as f64
}

/// Calls plays `prefix:NAME` by what waits connect: the name of the root that starts first.
pub(super) fn name_components(rows: &mut [PlayRow], prefix: &str) {
    let by_id: BTreeMap<String, usize> =
        rows.iter().enumerate().map(|(at, row)| (row.request_id.clone(), at)).collect();
    let mut parent: Vec<usize> = (0..rows.len()).collect();
    for (at, row) in rows.iter().enumerate() {
        for source in row.waits.iter().filter_map(|wait| by_id.get(&wait.request_id)) {
            let (one, other) = (find(&mut parent, at), find(&mut parent, *source));
            parent[one] = other;
        }
    }
    let mut roots: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.waits.is_empty()) {
        let component = find(&mut parent, at);
        let known = roots.entry(component).or_insert(at);
        let order = |row: &PlayRow, other: &PlayRow| {
            row.not_before_ms
                .total_cmp(&other.not_before_ms)
                .then_with(|| row.request_id.cmp(&other.request_id))
        };
        if order(row, &rows[*known]).is_lt() {
            *known = at;
        }
    }
    for at in 0..rows.len() {
        let component = find(&mut parent, at);
        // Where all wait in a circle there is no root: the builder refuses them.
        let label = roots.get(&component).copied().unwrap_or(component);
        rows[at].play_id = format!("{prefix}:{}", rows[label].request_id);
    }
}

/// Returns what stands for the component of `at`, and shortens the way there.
fn find(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

/// Returns the rows of requests without sessions, each alone, by start, end and name.
///
/// # Errors
/// For requests of which length, output or blocks are not known.
pub(super) fn standard(requests: &Alone, corpus: &mut Corpus) -> Result<(), Bag> {
    let mut problems = Bag::new();
    let ms = |request: &RecordedRequest| request.start.get() / 1_000_000;
    let end = |request: &RecordedRequest| {
        request.duration.map_or(request.ended.map_or(0, |at| at.get() / 1_000_000), |took| {
            ms(request) + whole_ms(took)
        })
    };
    let mut order = Vec::with_capacity(requests.len());
    requests.each(|request| order.push((ms(&request), end(&request), request.id, order.len())));
    order.sort();
    let origin = order.first().map_or(0, |(ms, ..)| *ms);
    let mut number = 0;
    requests.each_of(order.iter().map(|(.., place)| *place), |request| {
        number += 1;
        let (Some(input), Some(output), Some(hashes)) =
            (request.input, request.output, &request.hashes)
        else {
            let message = "simulation needs `output_tokens` and `replay` of every request";
            problems.push(request.place.problem(Code::TraceField, message, "this record"));
            return;
        };
        if input == Tokens::ZERO {
            let problem: Problem =
                request.place.problem(Code::TraceField, "the prompt is empty", "this record");
            problems.push(problem);
        }
        let session = corpus.add_session(SessionName::Named(format!("request_{number}")));
        let row = CorpusRow {
            line: request.place.line,
            arrival_ms: Some(milliseconds(ms(&request) - origin)),
            input,
            output,
            session,
            delay_ms: 0.0,
            request_id: request.id.clone(),
        };
        corpus.add_row(&row, hashes);
    });
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

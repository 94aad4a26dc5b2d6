//! One trace to the rows of one play.

use std::collections::BTreeMap;

use crate::diag::{Bag, Code};
use crate::digest::blake3_name;
use crate::trace::recorded::{RecordedTree, SpawnMode};
use crate::units::{BlockSize, Nanos};
use crate::workload::{EdgeRelation, EdgeTrigger, SessionName};

use super::super::build::{PlayRow, Unscheduled, Wait};
use super::Hashes;
use super::barrier::barriers;
use super::chain::{chains, split_preamble};
use super::stream::{Entry, Stream, TOLERANCE_NS};

/// A trace while it is pulled apart.
struct Trace<'r> {
    tree: &'r RecordedTree,
    /// What the corpus calls it.
    source: String,
    namespace: String,
    streams: Vec<Stream<'r>>,
    /// The sub-agents of each session.
    children: Vec<Vec<usize>>,
    /// How many scopes there are.
    scopes: usize,
    /// Requests that used what a sub-agent said, and the last requests of its conversations.
    joins: Vec<(String, Vec<String>)>,
    problems: Bag,
}

/// Returns the rows of a trace; `source` is what the corpus calls it, `ordinal` its place.
///
/// # Errors
/// A trace or a sub-agent that its parent waited for without requests, and a sub-agent before any request.
pub(in super::super) fn lower(
    tree: &RecordedTree,
    (source, ordinal): (&str, u64),
    hashes: &mut Hashes,
) -> Result<Vec<PlayRow>, Bag> {
    let namespace = format!("weka:{}", blake3_name(source.as_bytes()));
    let mut trace = Trace {
        tree,
        source: source.to_owned(),
        namespace,
        streams: Vec::new(),
        children: children(tree),
        scopes: 0,
        joins: Vec::new(),
        problems: Bag::new(),
    };
    trace.scope(0, "root", "outer:");
    if trace.problems.has_errors() {
        return Err(trace.problems);
    }
    let waits = trace.waits();
    Ok(trace.rows(waits, ordinal, hashes))
}

/// Returns the sub-agents of each session, in their order.
fn children(tree: &RecordedTree) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); tree.sessions.len()];
    for (session, recorded) in tree.sessions.iter().enumerate() {
        if let Some(parent) = recorded.parent {
            children[parent].push(session);
        }
    }
    children
}

impl<'r> Trace<'r> {
    /// Adds the conversations of a session and, below it, of its sub-agents; returns where they begin.
    ///
    /// `prefix` names its conversations, `path` is what the names of its requests begin with.
    fn scope(&mut self, session: usize, prefix: &str, path: &str) -> usize {
        let entries: Vec<Entry<'r>> = self.tree.sessions[session]
            .requests
            .iter()
            .map(|request| Entry { source: format!("{path}{}", request.entry), request })
            .collect();
        let begin = self.streams.len();
        if session == 0 && entries.is_empty() {
            let problem = self.tree.place.problem(
                Code::TraceSession,
                "the trace has no requests of its own",
                "this trace",
            );
            self.problems.push(problem);
            return begin;
        }
        let scope = self.scopes;
        self.scopes += 1;
        if !entries.is_empty() {
            self.add_streams(entries, scope, prefix);
        }
        let own = begin..self.streams.len();
        for child in std::mem::take(&mut self.children[session]) {
            self.subagent(child, (prefix, path), own.clone());
        }
        begin
    }

    fn add_streams(&mut self, entries: Vec<Entry<'r>>, scope: usize, prefix: &str) {
        let (preamble, rest) = split_preamble(entries);
        let found = chains(rest);
        let mut main = found.main.entries;
        main.extend(preamble);
        main.sort_by(Entry::order);
        let session = format!("{}:session:{prefix}", self.namespace);
        let fork = found.main.fork.and_then(|fork| fork.source);
        self.streams.push(Stream { session: session.clone(), entries: main, fork, scope });
        for (worker, chain) in found.workers.into_iter().enumerate() {
            self.streams.push(Stream {
                session: format!("{session}:worker:{worker}"),
                entries: chain.entries,
                fork: chain.fork.and_then(|fork| fork.source),
                scope,
            });
        }
    }

    /// Adds a sub-agent; `own` are the conversations of its parent.
    fn subagent(
        &mut self,
        child: usize,
        (prefix, path): (&str, &str),
        own: std::ops::Range<usize>,
    ) {
        let session = &self.tree.sessions[child];
        let Some(spawn) = &session.spawn else { return };
        let mode = spawn.mode;
        if mode == SpawnMode::Blocking && session.requests.is_empty() {
            let message = format!(
                "its parent waited for sub-agent `{}`, which has no requests: how long is not simulated",
                session.id
            );
            self.problems.push(spawn.place.problem(Code::TraceSession, message, "this sub-agent"));
            return;
        }
        let before = own
            .clone()
            .filter_map(|stream| {
                let entries = self.streams[stream].entries.iter();
                let before = entries.filter(|entry| entry.request.entry < spawn.entry);
                before.max_by_key(|entry| entry.request.entry).map(|entry| (stream, entry))
            })
            .max_by_key(|(_, entry)| entry.request.entry);
        let Some((owner, spawner)) = before.map(|(stream, entry)| (stream, entry.source.clone()))
        else {
            let message = format!("no request precedes sub-agent `{}` in its list", session.id);
            self.problems.push(spawn.place.problem(Code::TraceSession, message, "this sub-agent"));
            return;
        };
        let below = match prefix {
            "root" => format!("subagent:{}:{}", spawn.entry, session.id),
            prefix => format!("{prefix}:subagent:{}:{}", spawn.entry, session.id),
        };
        let inner = format!("{path}{}:inner:", spawn.entry);
        let begin = self.scope(child, &below, &inner);
        if begin == self.streams.len() {
            return;
        }
        self.streams[begin].fork = Some(spawner);
        if mode == SpawnMode::Background {
            return;
        }
        let end = self.end(child);
        let joiner = self.streams[owner].entries.iter().filter(|entry| {
            entry.request.entry > spawn.entry && entry.start() + TOLERANCE_NS >= end
        });
        if let Some(joiner) = joiner.min_by_key(|entry| entry.request.entry) {
            let scope = self.streams[begin].scope;
            let own = self.streams[begin..].iter().filter(|stream| stream.scope == scope);
            let last = own.filter_map(|stream| stream.entries.last());
            let last = last.map(|entry| entry.source.clone()).collect();
            self.joins.push((joiner.source.clone(), last));
        }
    }

    /// Returns when a sub-agent ended: after the duration of its marker, else with its last request.
    fn end(&self, child: usize) -> u64 {
        let session = &self.tree.sessions[child];
        let Some(spawn) = &session.spawn else { return 0 };
        let requests = session.requests.iter();
        let last =
            requests.map(|request| request.start.get() + request.duration.map_or(0, Nanos::get));
        match spawn.duration {
            Some(took) => spawn.at.get() + took.get(),
            None => last.max().unwrap_or(0).max(spawn.at.get()),
        }
    }

    fn name(&self, source: &str) -> String {
        format!("{}:request:{source}", self.namespace)
    }

    /// Returns what each request waits for, by its name in the trace.
    fn waits(&self) -> BTreeMap<String, Vec<Wait>> {
        let mut waits = Waits { trace: self, found: BTreeMap::new() };
        let entries = self.streams.iter().flat_map(|stream| &stream.entries);
        let by_source: BTreeMap<&str, &Entry<'r>> =
            entries.map(|entry| (entry.source.as_str(), entry)).collect();
        for stream in &self.streams {
            for pair in stream.entries.windows(2) {
                waits.after(&pair[0], &pair[1], EdgeRelation::Sequence);
            }
        }
        for stream in &self.streams {
            let fork = stream.fork.as_ref().and_then(|source| by_source.get(source.as_str()));
            if let (Some(parent), Some(first)) = (fork, stream.entries.first()) {
                if first.start() < parent.end() {
                    waits.with(parent, first);
                } else {
                    waits.after(parent, first, EdgeRelation::Spawn);
                }
            }
        }
        for (target, ended) in barriers(&self.streams) {
            for entry in ended {
                waits.add(target, entry, (EdgeTrigger::Completion, EdgeRelation::ReplayBarrier), 0);
            }
        }
        for (joiner, ends) in &self.joins {
            for end in ends {
                waits.after(
                    by_source[end.as_str()],
                    by_source[joiner.as_str()],
                    EdgeRelation::Join,
                );
            }
        }
        // What nothing started hangs on the dispatch of the trace's first request: there is one cause, and no invented end.
        let root = &self.streams[0].entries[0];
        for first in self.streams.iter().filter_map(|stream| stream.entries.first()) {
            if first.source != root.source && !waits.found.contains_key(&first.source) {
                waits.with(root, first);
            }
        }
        waits.found
    }

    fn rows(
        self,
        mut waits: BTreeMap<String, Vec<Wait>>,
        ordinal: u64,
        hashes: &mut Hashes,
    ) -> Vec<PlayRow> {
        let play_id = format!("{}:play:{}", self.namespace, self.tree.id());
        let size = self.tree.block_size.unwrap_or(BlockSize::new(1).expect("one is above zero"));
        let entries = || self.streams.iter().flat_map(|stream| &stream.entries);
        let root = entries().map(Entry::start).min().unwrap_or(0);
        hashes.begin(self.tree.hash_scope, &self.source);
        let mut rows = Vec::new();
        for stream in &self.streams {
            for entry in &stream.entries {
                let request = entry.request;
                let start = milliseconds(entry.start() - root);
                let took = request.duration.map(|took| milliseconds(took.get()));
                let request_id = self.name(&entry.source);
                let (names, counted) = hashes.of(request, &request_id, size);
                rows.push(PlayRow {
                    place: request.place.clone(),
                    request_id,
                    play_id: play_id.clone(),
                    ordinal: Some(ordinal),
                    session: SessionName::Named(stream.session.clone()),
                    model: entry.model().to_owned(),
                    input: request.input.unwrap_or_default(),
                    output: request.output.unwrap_or_default(),
                    hashes: names,
                    taped: None,
                    counted,
                    not_before_ms: start,
                    recorded_ms: (start, took.map(|took| start + took)),
                    waits: waits.remove(&entry.source).unwrap_or_default(),
                    unscheduled: Unscheduled { api_ms: took, ..Unscheduled::default() },
                });
            }
        }
        rows
    }
}

/// What requests wait for, while it is gathered.
struct Waits<'t, 'r> {
    trace: &'t Trace<'r>,
    found: BTreeMap<String, Vec<Wait>>,
}

impl<'r> Waits<'_, 'r> {
    /// Lets `target` wait for the end of `source`.
    fn after(&mut self, source: &Entry<'r>, target: &Entry<'r>, relation: EdgeRelation) {
        let delay = target.start().saturating_sub(source.end());
        self.add(target, source, (EdgeTrigger::Completion, relation), delay);
    }

    /// Lets `target`, which `source` started, wait for its dispatch.
    fn with(&mut self, source: &Entry<'r>, target: &Entry<'r>) {
        let delay = target.start().saturating_sub(source.start());
        self.add(target, source, (EdgeTrigger::Dispatch, EdgeRelation::Spawn), delay);
    }

    fn add(
        &mut self,
        target: &Entry<'r>,
        source: &Entry<'r>,
        (trigger, relation): (EdgeTrigger, EdgeRelation),
        nanoseconds: u64,
    ) {
        let request_id = self.trace.name(&source.source);
        let delay_ms = milliseconds(nanoseconds);
        let waits = self.found.entry(target.source.clone()).or_default();
        let is_known = |wait: &Wait| {
            wait.request_id == request_id && wait.trigger == trigger && wait.relation == relation
        };
        if !waits.iter().any(is_known) {
            waits.push(Wait { request_id, trigger, relation, delay_ms });
        }
    }
}

/// Returns nanoseconds as milliseconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "recorded spans are below 2^53 ns, which are 104 days"
)]
fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

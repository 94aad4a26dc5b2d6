//! Events to session trees.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Bag, Code, Problem};
use crate::trace::hash_ids::{MADE_UP_MAX, too_many};
use crate::trace::options::Strictness;
use crate::trace::recorded::{
    HashScope, Place, RecordedCounts, RecordedOptions, RecordedRequest, RecordedSession,
    RecordedSource, RecordedTool, RecordedTree,
};
use crate::units::{BlockSize, Nanos, Tokens};

use super::event::{Event, EventKind, SessionNames};
use super::kept::{Alone, Kept, KeptReader, KeptRequests};
use super::names::RequestNames;
use super::read::DynamoRead;

/// How many sessions of a cycle are named at the most.
const SHOWN: usize = 16;

/// Tokens of a block where no request names any. Source: spec/REPLAY.md §1.4.
const DEFAULT_BLOCK: u32 = 16;

/// A capture in the making.
pub(super) struct Capture {
    strictness: Strictness,
    stated_block_size: Option<BlockSize>,
    pub(super) counts: RecordedCounts,
    pub(super) problems: Bag,
    sessions: BTreeMap<String, Session>,
    without_session: Vec<Kept>,
    names: RequestNames,
    block_size: Option<(BlockSize, Place)>,
    requests: u64,
    /// Prompts of sessions whose blocks have no names, and where they stand; those that are too long at any block size.
    unnamed: Vec<(Tokens, Place)>,
    kept: KeptRequests,
}

/// A session in the making: requests and tools with the time at which they were written down.
#[derive(Default)]
struct Session {
    parent: Option<(String, Place)>,
    requests: Vec<(Nanos, Kept)>,
    tools: Vec<RecordedTool>,
}

impl Capture {
    /// Returns a capture without events.
    pub(super) fn new(options: RecordedOptions) -> Self {
        Self {
            strictness: options.strictness,
            stated_block_size: options.block_size,
            counts: RecordedCounts::default(),
            problems: Bag::new(),
            sessions: BTreeMap::new(),
            without_session: Vec::new(),
            names: RequestNames::default(),
            block_size: None,
            requests: 0,
            unnamed: Vec::new(),
            kept: KeptRequests::default(),
        }
    }

    /// Returns whether no request was added.
    pub(super) fn is_empty(&self) -> bool {
        self.requests == 0
    }

    /// Adds an event.
    pub(super) fn add(&mut self, event: Event) {
        let Event { session, at, kind } = event;
        let place = match &kind {
            EventKind::Request(request, _) => request.place.clone(),
            EventKind::Tool(tool) => tool.place.clone(),
            EventKind::ToolStart(place) => place.clone(),
        };
        if let Some(names) = &session {
            self.add_parent(names, &place);
        }
        match kind {
            EventKind::Request(request, size) => {
                self.requests += 1;
                self.check_block_size(size, &request.place);
                if self.is_repeated(session.as_ref(), &request) {
                    return;
                }
                let kept = self.kept.keep(&request);
                if let Some(names) = session {
                    let input = request.input.filter(|_| request.hashes.is_none());
                    if let Some(input) = input.filter(|input| input.get() > MADE_UP_MAX) {
                        self.unnamed.push((input, request.place));
                    }
                    self.session(names.id).requests.push((at, kept));
                } else {
                    self.counts.without_session += 1;
                    self.without_session.push(kept);
                }
            }
            EventKind::Tool(mut tool) => {
                let Some(names) = session else {
                    self.counts.without_session += 1;
                    return;
                };
                tool.session_id.clone_from(&names.id);
                self.session(names.id).tools.push(tool);
            }
            EventKind::ToolStart(_) => self.counts.unused_events += 1,
        }
    }

    fn session(&mut self, id: String) -> &mut Session {
        self.sessions.entry(id).or_default()
    }

    /// Notes the parent that a record states; the first that a session states counts.
    fn add_parent(&mut self, names: &SessionNames, place: &Place) {
        let Some(parent) = &names.parent else { return };
        let strict = self.strictness == Strictness::Scenario;
        let session = self.sessions.entry(names.id.clone()).or_default();
        match &session.parent {
            None => session.parent = Some((parent.clone(), place.clone())),
            Some((known, _)) if known != parent && !strict => self.counts.conflicts += 1,
            Some((known, at)) if known != parent => {
                let message = format!(
                    "session `{}` has the parent `{parent}`, at {at} it has `{known}`",
                    names.id
                );
                self.problems.push(place.problem(Code::TraceSession, message, "this record"));
            }
            Some(_) => {}
        }
    }

    /// Returns whether a request stands above already, which is refused or counted.
    fn is_repeated(&mut self, session: Option<&SessionNames>, request: &RecordedRequest) -> bool {
        let Some(id) = request.id.as_deref().filter(|id| !id.is_empty()) else { return false };
        // Strict: a name is one of the whole capture. Else: the same record may be written down twice, names meet by chance.
        let strict = self.strictness != Strictness::Lenient;
        let scope = session.filter(|_| !strict).map(|names| names.id.as_str());
        let Some(first) = self.names.first(scope, id, &request.place) else { return false };
        if strict {
            let message = format!("the request `{id}` stands at {first} as well");
            let problem = request.place.problem(Code::TraceSession, message, "again here");
            self.problems.push(problem);
        } else {
            self.counts.repeated += 1;
        }
        true
    }

    /// Checks that a capture has one block size.
    fn check_block_size(&mut self, size: Option<BlockSize>, place: &Place) {
        let Some(found) = size else { return };
        let (expected, of) = match (&self.block_size, self.stated_block_size) {
            (_, Some(stated)) => (stated, "what was asked for".to_owned()),
            (Some((first, at)), None) => (*first, format!("that of {at}")),
            (None, None) => (found, String::new()),
        };
        if self.block_size.is_none() {
            self.block_size = Some((found, place.clone()));
        }
        if found != expected {
            let message = format!(
                "mixed replay trace_block_size values are not supported: {found}, and {of} is {expected}"
            );
            self.problems.push(place.problem(Code::TraceBlockSize, message, "this record"));
        }
    }

    /// Hands over the trees, where all is well.
    pub(super) fn finish(mut self, take: &mut dyn FnMut(RecordedTree)) -> Result<DynamoRead, Bag> {
        // Sessions that only ran tools have no turns; what they ran is kept with the tree of their parent, if any.
        let turns: BTreeSet<String> = self
            .sessions
            .iter()
            .filter(|(_, session)| !session.requests.is_empty())
            .map(|(id, _)| id.clone())
            .collect();
        self.check_made_up();
        let (roots, children) = self.families(&turns);
        let mut kept = std::mem::take(&mut self.kept);
        if let Some(error) = kept.failure() {
            let message = format!("requests go to a temporary file, and that failed: {error}");
            self.problems.push(Problem::new(Code::TraceRead, message));
        }
        if self.problems.has_errors() {
            return Err(self.problems);
        }
        let mut reader = kept.reader();
        for root in roots {
            let tree = self.tree(&root, &children, &mut reader);
            self.counts.add_tree(&tree);
            take(tree);
        }
        Ok(DynamoRead {
            counts: self.counts,
            without_session: Alone { kept: self.without_session, requests: kept },
            block_size: self.block_size.map(|(size, _)| size),
        })
    }

    /// Checks that not too many blocks of a prompt are to be made up.
    fn check_made_up(&mut self) {
        let size = self.block_size.as_ref().map(|(size, _)| *size);
        let size = size.unwrap_or(BlockSize::new(DEFAULT_BLOCK).expect("16 is no zero"));
        for (input, place) in &self.unnamed {
            if let Some(message) = too_many(input.blocks_ceil(size).get(), size) {
                let problem = place.problem(Code::TraceHashIds, message, "this record");
                self.problems.push(problem);
            }
        }
    }

    /// Returns the names of the roots, and the children of each session, both by name.
    fn families(
        &mut self,
        turns: &BTreeSet<String>,
    ) -> (Vec<String>, BTreeMap<String, Vec<String>>) {
        let mut roots = Vec::new();
        let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for id in turns {
            match &self.sessions[id].parent {
                Some((parent, _)) if turns.contains(parent) => {
                    children.entry(parent.clone()).or_default().push(id.clone());
                }
                Some((parent, place)) => {
                    if self.strictness == Strictness::Lenient {
                        self.counts.orphans += 1;
                    } else {
                        let message = format!(
                            "the parent `{parent}` of session `{id}` has no requests in this capture"
                        );
                        let problem = place.problem(Code::TraceSession, message, "names it");
                        self.problems.push(problem.help(
                            "add the files that hold it, or state `lenient=#true` in the pin: the session is then a root",
                        ));
                    }
                    roots.push(id.clone());
                }
                None => roots.push(id.clone()),
            }
        }
        self.check_cycles(turns, &roots, &children);
        (roots, children)
    }

    /// Refuses sessions that no root reaches: their parents go in a circle.
    fn check_cycles(
        &mut self,
        turns: &BTreeSet<String>,
        roots: &[String],
        children: &BTreeMap<String, Vec<String>>,
    ) {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = roots.iter().map(String::as_str).collect();
        while let Some(id) = open.pop() {
            reached.insert(id);
            open.extend(children.get(id).into_iter().flatten().map(String::as_str));
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for start in turns.iter().filter(|id| !reached.contains(id.as_str())) {
            let (mut path, mut places): (Vec<&str>, BTreeMap<&str, usize>) = Default::default();
            let mut at = start.as_str();
            while !places.contains_key(at) && !seen.contains(at) {
                places.insert(at, path.len());
                path.push(at);
                let parent = self.sessions[at].parent.as_ref();
                at = parent.map(|(parent, _)| parent.as_str()).expect("no root has no parent");
            }
            let cycle = places.get(at).map(|from| shown(&path[*from..]));
            let found = cycle.map(|cycle| (cycle, at.to_owned()));
            seen.extend(path.into_iter().map(str::to_owned));
            if let Some((path, at)) = found {
                let (_, place) = self.sessions[&at].parent.as_ref().expect("it is on a cycle");
                let message = format!("parent_link cycle detected: {path} -> {at}");
                self.problems.push(place.problem(Code::TraceSession, message, "closes it"));
            }
        }
    }

    /// Takes the tree of a root out of the capture.
    fn tree(
        &mut self,
        root: &str,
        children: &BTreeMap<String, Vec<String>>,
        reader: &mut KeptReader<'_>,
    ) -> RecordedTree {
        let mut sessions: Vec<RecordedSession> = Vec::new();
        let mut tools: Vec<RecordedTool> = Vec::new();
        let mut open: Vec<(String, Option<usize>)> = vec![(root.to_owned(), None)];
        while let Some((id, parent)) = open.pop() {
            let mut session = self.sessions.remove(&id).expect("each session is in one tree");
            session.requests.sort_by_key(|(at, _)| *at);
            tools.append(&mut session.tools);
            let index = sessions.len();
            let below = children.get(&id).into_iter().flatten().rev();
            open.extend(below.map(|child| (child.clone(), Some(index))));
            let requests = session.requests.into_iter().enumerate();
            sessions.push(RecordedSession {
                id,
                parent_id: session.parent.map(|(parent, _)| parent),
                parent,
                spawn: None,
                requests: requests
                    .map(|(entry, (_, kept))| RecordedRequest { entry, ..reader.whole(kept) })
                    .collect(),
            });
        }
        let starts = sessions.iter().flat_map(|session| &session.requests);
        let zero = starts.map(|request| request.start).min().unwrap_or(Nanos::new(0));
        let since = |at: Nanos| Nanos::new(at.get().saturating_sub(zero.get()));
        for request in sessions.iter_mut().flat_map(|session| &mut session.requests) {
            request.start = since(request.start);
            request.ended = request.ended.map(since);
        }
        tools.sort_by(|a, b| {
            (a.end, &a.session_id, &a.call_id).cmp(&(b.end, &b.session_id, &b.call_id))
        });
        let place = sessions[0].requests[0].place.clone();
        RecordedTree {
            source: RecordedSource::Dynamo,
            zero,
            block_size: self.block_size.as_ref().map(|(size, _)| *size),
            hash_scope: HashScope::Global,
            models: Vec::new(),
            sessions,
            tools,
            place,
        }
    }
}

/// Returns the names on a cycle in order; of a long one the first and how many there are.
fn shown(cycle: &[&str]) -> String {
    if cycle.len() <= SHOWN {
        return cycle.join(" -> ");
    }
    format!("{} -> ... ({} sessions)", cycle[..SHOWN].join(" -> "), cycle.len())
}

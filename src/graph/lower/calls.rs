//! The calls of a tree, in the order of their starts.

use std::collections::BTreeSet;

use crate::graph::blocks::{BlockList, Counted};
use crate::trace::{RecordedRequest, RecordedSource, RecordedTree, SpawnMode, ToolMode};
use crate::units::{BlockSize, Nanos, Tokens};

/// Tokens of a block where no request of the tree names any. Source: spec/REPLAY.md §1.4.
const DEFAULT_BLOCK: u32 = 16;

/// One call, as recorded.
#[derive(Debug, Clone)]
pub(super) struct Call<'t> {
    /// The index of its session.
    pub(super) session: usize,
    /// Its index in the session.
    pub(super) turn: usize,
    /// When it was sent.
    pub(super) start: Nanos,
    /// When it ended.
    pub(super) end: Nanos,
    /// What else was recorded.
    pub(super) request: &'t RecordedRequest,
    /// Prompt tokens; 1 where the recording does not say.
    pub(super) input: Tokens,
    /// The full blocks of its prompt.
    pub(super) blocks: BlockList<'t>,
    /// The call that brought it about: the turn before it, or the one that started its session.
    pub(super) cause: Option<usize>,
}

/// The calls of a tree and what joins its sessions.
#[derive(Debug)]
pub(super) struct Calls<'t> {
    /// The calls, by start, then session, then turn.
    pub(super) list: Vec<Call<'t>>,
    /// The index of each session's parent.
    pub(super) parents: Vec<Option<usize>>,
    /// How many sessions of its lineage, itself counted, were started without being waited for.
    pub(super) background: Vec<usize>,
    /// Tokens of a block.
    pub(super) block_size: BlockSize,
}

impl<'t> Calls<'t> {
    /// Derives the calls of a tree.
    pub(super) fn of(tree: &'t RecordedTree) -> Self {
        let default = BlockSize::new(DEFAULT_BLOCK).expect("16 is no zero");
        let block_size = tree.block_size.unwrap_or(default);
        let mut calls = derive(tree, block_size);
        calls.sort_by(|a, b| {
            let key = |call: &Call<'_>| (call.start, &tree.sessions[call.session].id, call.turn);
            key(a).cmp(&key(b))
        });
        let mut at = tree.sessions.iter().map(|s| vec![0; s.requests.len()]).collect::<Vec<_>>();
        for (index, call) in calls.iter().enumerate() {
            at[call.session][call.turn] = index;
        }
        for call in &mut calls {
            call.cause = cause(tree, call).map(|(session, turn)| at[session][turn]);
        }
        let parents = tree.sessions.iter().map(|session| session.parent).collect();
        Self { list: calls, parents, background: background(tree), block_size }
    }
}

/// Returns the calls session by session, without their causes.
fn derive(tree: &RecordedTree, block_size: BlockSize) -> Vec<Call<'_>> {
    let mut fresh = 1;
    let mut calls = Vec::new();
    for (session, recorded) in tree.sessions.iter().enumerate() {
        let mut made_up = Counted::default();
        for (turn, request) in recorded.requests.iter().enumerate() {
            let input = match request.input {
                Some(input) if input.get() > 0 => input,
                Some(_) | None => Tokens::new(1),
            };
            let full = usize::try_from(input.blocks_full(block_size).get()).unwrap_or(usize::MAX);
            let blocks = if let Some(hashes) = &request.hashes {
                BlockList::Recorded(&hashes[..full.min(hashes.len())])
            } else {
                made_up.resize(full, &mut fresh);
                BlockList::Virtual(made_up.clone())
            };
            let (start, end) = (request.start, end(request));
            calls.push(Call { session, turn, start, end, request, input, blocks, cause: None });
        }
    }
    calls
}

/// Returns when a request ended: by its duration, else as the recording says, else at once.
fn end(request: &RecordedRequest) -> Nanos {
    let by_duration = request.duration.map(|duration| later(request.start, duration));
    let end = by_duration.or(request.ended).unwrap_or(request.start);
    end.max(request.start)
}

/// Returns the instant `span` after another.
pub(super) fn later(at: Nanos, span: Nanos) -> Nanos {
    Nanos::new(at.get().saturating_add(span.get()))
}

/// Returns the call that brought another one about: session and turn.
fn cause(tree: &RecordedTree, call: &Call<'_>) -> Option<(usize, usize)> {
    if call.turn > 0 {
        return Some((call.session, call.turn - 1));
    }
    let session = &tree.sessions[call.session];
    match (tree.source, &session.spawn) {
        (_, Some(spawn)) => spawn.after,
        (RecordedSource::Weka, None) => None,
        (RecordedSource::Dynamo, None) => {
            let parent = session.parent?;
            let turns = &tree.sessions[parent].requests;
            let turn = turns.iter().rposition(|turn| turn.start <= call.start)?;
            Some((parent, turn))
        }
    }
}

/// Returns how many sessions of each one's lineage were started without being waited for.
fn background(tree: &RecordedTree) -> Vec<usize> {
    let by_tool: BTreeSet<&str> = tree
        .tools
        .iter()
        .filter(|tool| tool.mode == Some(ToolMode::Background))
        .filter_map(|tool| tool.child_session.as_deref())
        .collect();
    let mut counts: Vec<usize> = Vec::with_capacity(tree.sessions.len());
    for session in &tree.sessions {
        let marked = session.spawn.as_ref().is_some_and(|s| s.mode == SpawnMode::Background);
        let is_background = marked || by_tool.contains(session.id.as_str());
        // A session stands after its parent.
        let above = session.parent.map_or(0, |parent| counts[parent]);
        counts.push(above + usize::from(is_background));
    }
    counts
}

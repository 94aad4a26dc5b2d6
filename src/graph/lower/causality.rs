//! What each call waited for: the calls that had ended before it, without those that others of them waited for.

use crate::units::Nanos;

use super::calls::Calls;

/// What one call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// Nothing of the tree.
    Start,
    /// The end of these calls, in the order of their starts.
    Ends(Vec<usize>),
    /// The dispatch of this call, which was still running.
    Dispatch(usize),
}

/// The start and the place in the order of starts of a call.
type Latest = Option<(Nanos, usize)>;

/// The calls of one session by their ends.
#[derive(Debug, Default)]
struct ByEnd {
    /// End and call.
    ends: Vec<(Nanos, usize)>,
    /// The latest start among the calls up to each.
    latest: Vec<(Nanos, usize)>,
}

/// The tree, prepared for asking what each call waited for.
#[derive(Debug)]
pub(super) struct Causality<'c, 't> {
    calls: &'c Calls<'t>,
    /// The place of each call in an order in which every call comes after what it can wait for.
    ranks: Vec<usize>,
    by_end: Vec<ByEnd>,
    children: Vec<Vec<usize>>,
}

impl<'c, 't> Causality<'c, 't> {
    /// Prepares a tree.
    pub(super) fn of(calls: &'c Calls<'t>) -> Self {
        let ranks = ranks(calls);
        let mut by_end: Vec<ByEnd> = calls.parents.iter().map(|_| ByEnd::default()).collect();
        for (index, call) in calls.list.iter().enumerate() {
            by_end[call.session].ends.push((call.end, index));
        }
        for list in &mut by_end {
            list.ends.sort_unstable_by_key(|(end, call)| (*end, ranks[*call]));
            let mut latest: Latest = None;
            for (_, index) in &list.ends {
                let own = (calls.list[*index].start, ranks[*index]);
                let now = latest.map_or(own, |before| before.max(own));
                list.latest.push(now);
                latest = Some(now);
            }
        }
        let mut children = vec![Vec::new(); calls.parents.len()];
        for (session, parent) in calls.parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(session);
            }
        }
        Self { calls, ranks, by_end, children }
    }

    /// Returns what a call waits for.
    ///
    /// A call that started while the one that brought it about was running waits for its dispatch alone. Any other waits for the
    /// ends of the calls of its lineage that ended before it: its own session's, those of sessions above, and those of sessions below that are
    /// waited for. Of two of them of which the second could have waited for the first, the first is left out.
    /// Source: spec/REPLAY.md §4.3, but for siblings.
    pub(super) fn cause(&self, index: usize) -> Cause {
        let call = &self.calls.list[index];
        if let Some(cause) = call.cause {
            let by = &self.calls.list[cause];
            if by.start <= call.start && call.start < by.end {
                return Cause::Dispatch(cause);
            }
        }
        let frontier = self.frontier(index);
        if frontier.is_empty() { Cause::Start } else { Cause::Ends(frontier) }
    }

    /// Returns the calls that ended before a call and that no other of them waited for, in the order of their starts.
    fn frontier(&self, index: usize) -> Vec<usize> {
        let session = self.calls.list[index].session;
        let above = self.above(session);
        let below = self.below(session);
        let count = self.calls.parents.len();
        let mut under: Vec<Latest> = vec![None; count];
        for at in below.iter().rev() {
            let own = self.latest(*at, index);
            let children = self.children[*at].iter().map(|child| under[*child]);
            under[*at] = children.fold(own, Latest::max);
        }
        for pair in above.windows(2) {
            under[pair[1]] = self.latest(pair[1], index).max(under[pair[0]]);
        }
        let mut frontier = Vec::new();
        let mut over: Vec<Latest> = vec![None; count];
        for at in above.iter().rev().chain(below.iter().skip(1)) {
            over[*at] = self.over(*at, index, &over);
            self.add_open(*at, index, over[*at].max(under[*at]), &mut frontier);
        }
        frontier.sort_unstable_by_key(|call| self.ranks[*call]);
        frontier
    }

    /// Returns the session and those above it, up to the root.
    fn above(&self, session: usize) -> Vec<usize> {
        std::iter::successors(Some(session), |at| self.calls.parents[*at]).collect()
    }

    /// Returns the session and those below it that are waited for, each after its parent.
    fn below(&self, session: usize) -> Vec<usize> {
        let mut found = vec![session];
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            let is_waited_for =
                |child: &&usize| self.calls.background[**child] == self.calls.background[session];
            found.extend(self.children[parent].iter().filter(is_waited_for));
            at += 1;
        }
        found
    }

    /// Returns the latest start among the calls of the sessions above that could have waited for a call of `session`.
    fn over(&self, session: usize, index: usize, over: &[Latest]) -> Latest {
        let parent = self.calls.parents[session]?;
        if self.calls.background[parent] != self.calls.background[session] {
            return None; // nobody above waits for it
        }
        self.latest(parent, index).max(over[parent])
    }

    /// Returns how many calls of a session, by their ends, had ended before a call.
    fn ended(&self, session: usize, index: usize) -> usize {
        let (start, rank) = (self.calls.list[index].start, self.ranks[index]);
        let before = |(end, call): &(Nanos, usize)| {
            *end < start || (*end == start && self.ranks[*call] < rank)
        };
        self.by_end[session].ends.partition_point(before)
    }

    /// Returns the latest start among the calls of a session that had ended before a call.
    fn latest(&self, session: usize, index: usize) -> Latest {
        let ended = self.ended(session, index).checked_sub(1)?;
        Some(self.by_end[session].latest[ended])
    }

    /// Adds those calls of a session that had ended before a call, and after whose end none of the others started.
    fn add_open(&self, session: usize, index: usize, latest: Latest, frontier: &mut Vec<usize>) {
        let Some((start, last)) = latest else { return };
        let ended = &self.by_end[session].ends[..self.ended(session, index)];
        for (end, call) in ended.iter().rev() {
            if *end < start {
                return; // so did all before it
            }
            if *end > start || self.ranks[*call] >= last {
                frontier.push(*call);
            }
        }
    }
}

/// Returns the place of each call in the order of starts; of those that start together, causes come before what they brought about, and
/// what takes less time before what takes more.
fn ranks(calls: &Calls<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..calls.list.len()).collect();
    order.sort_by_cached_key(|index| {
        let call = &calls.list[*index];
        let cause = |at: &usize| calls.list[*at].cause;
        let together = std::iter::successors(call.cause, cause)
            .take_while(|cause| calls.list[*cause].start == call.start);
        (call.start, together.count(), call.end, *index)
    });
    let mut ranks = vec![0; order.len()];
    for (rank, call) in order.iter().enumerate() {
        ranks[*call] = rank;
    }
    ranks
}

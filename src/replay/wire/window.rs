//! Where in its trace the first instance of a lane begins.

use std::collections::BTreeMap;

use crate::digest::{Purpose, Seed};
use crate::graph::{Graph, NodeIndex};
use crate::units::Nanos;
use crate::workload::live::{Burst, Snapshot};

/// Where in its trace an instance begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireWindow {
    /// Calls that were sent before it, from the start of the trace, are left out.
    pub cut: Nanos,
    /// What becomes the start of the trace: the cut, or the first call behind it where all lanes start at once.
    pub origin: Nanos,
}

impl WireWindow {
    /// Draws the window of a lane's first instance: a share of the time to the trace's last call, uniform between two bounds.
    ///
    /// Each lane and trace has a stream of its own; whole nanoseconds, rounded down. Source: REPLAY.md §8.3, whose draws are numpy's.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share from 0 to 1 of a time is a time; the last bits of a share that was drawn decide nothing"
    )]
    pub(super) fn draw(
        snapshot: Snapshot,
        graph: &Graph,
        lane: usize,
        (seed, stream): (u64, &str),
    ) -> Self {
        let name = format!("{stream}/{}/{lane}", graph.id);
        let drawn = Seed::derive(seed, &name, Purpose::Snapshot).stream().uniform();
        let share = snapshot.from + (snapshot.to - snapshot.from) * drawn;
        let duration = graph.nodes.iter().map(|node| node.arrival).max().unwrap_or_default();
        let cut = Nanos::new((duration.get() as f64 * share) as u64).min(duration);
        let behind = graph.nodes.iter().map(|node| node.arrival).filter(|at| *at >= cut).min();
        let origin = match snapshot.burst {
            Burst::Together => behind.unwrap_or(cut),
            Burst::Spread => cut,
        };
        Self { cut, origin }
    }

    /// Returns the first turn of a call's conversation that is sent: the primer where there is one, else the first behind the cut.
    pub(super) fn opening(self, graph: &Graph, node: NodeIndex, primes: bool) -> usize {
        let turn = &graph.node(node).session;
        self.openings(graph, primes).get(turn.session.as_str()).copied().unwrap_or(turn.turn)
    }

    /// Returns the first turn that is sent of each conversation that has one behind the cut, as [`WireWindow::opening`].
    pub(super) fn openings(self, graph: &Graph, primes: bool) -> BTreeMap<&str, usize> {
        let mut turns: BTreeMap<&str, (Option<usize>, Option<usize>)> = BTreeMap::new();
        for node in &graph.nodes {
            let (before, behind) = turns.entry(&node.session.session).or_default();
            let turn = node.session.turn;
            if node.arrival < self.cut {
                *before = Some(before.map_or(turn, |known| known.max(turn)));
            } else {
                *behind = Some(behind.map_or(turn, |known| known.min(turn)));
            }
        }
        let first = |(session, (before, behind)): (_, (Option<usize>, Option<usize>))| {
            let first = behind?;
            Some((session, before.filter(|_| primes).unwrap_or(first)))
        };
        turns.into_iter().filter_map(first).collect()
    }

    /// Returns the calls of a graph that prime caches for it, as [`WireWindow::primers`].
    pub(super) fn primers_of(self, graph: &Graph) -> Vec<NodeIndex> {
        let calls = graph.nodes.iter().enumerate();
        self.primers(
            calls.map(|(at, node)| (NodeIndex(at), node.session.session.as_str(), node.arrival)),
        )
    }

    /// Returns the calls that prime caches for it: of each conversation that has calls on both sides of the cut the last one before.
    ///
    /// Calls come with their conversation and their time, and go in order of ordinals. Source: REPLAY.md §8.3; conversations are told by
    /// their name, not by how it is spelt.
    pub(in crate::replay) fn primers<S: Ord>(
        self,
        calls: impl Iterator<Item = (NodeIndex, S, Nanos)>,
    ) -> Vec<NodeIndex> {
        let mut sides: BTreeMap<S, (Option<NodeIndex>, bool)> = BTreeMap::new();
        for (node, session, arrival) in calls {
            let (last, goes_on) = sides.entry(session).or_default();
            if arrival < self.cut {
                *last = Some(node);
            } else {
                *goes_on = true;
            }
        }
        let live = sides.into_values().filter(|(_, goes_on)| *goes_on);
        let mut found: Vec<NodeIndex> = live.filter_map(|(last, _)| last).collect();
        found.sort_unstable();
        found
    }
}

//! Where in its trace the first instance of a lane begins.

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
        let session = &graph.node(node).session.session;
        let turns = || graph.nodes.iter().filter(|other| other.session.session == *session);
        let behind = turns().filter(|turn| turn.arrival >= self.cut).map(|turn| turn.session.turn);
        let before = turns().filter(|turn| turn.arrival < self.cut).map(|turn| turn.session.turn);
        match (before.max(), behind.min()) {
            (Some(last), Some(_)) if primes => last,
            (_, Some(first)) => first,
            (_, None) => graph.node(node).session.turn,
        }
    }
}

//! Instances that begin in the middle of their trace, and the calls that prime caches for them.

use crate::graph::NodeIndex;
use crate::units::Nanos;

use super::instance::Instance;
use super::rules::Window;
use super::topology::Topology;

impl Window {
    /// Returns the window that begins at a share of a trace's duration, which is the time to its last call.
    ///
    /// Whole nanoseconds, rounded down. With `together`, the first call behind the cut is the start of the trace.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share from 0 to 1 of a time is a time; the last bits of a share that was drawn decide nothing"
    )]
    pub(crate) fn at(topology: &Topology, share: f64, is_together: bool) -> Self {
        let duration = topology.duration();
        let cut = Nanos::new((duration.get() as f64 * share) as u64).min(duration);
        let behind = topology.steps().map(|(_, step)| step.arrival).filter(|at| *at >= cut).min();
        let origin = behind.filter(|_| is_together).unwrap_or(cut);
        Self { cut, origin }
    }
}

impl Instance {
    /// Makes the instance begin at a window: calls before it are left out.
    pub(super) fn begin_at(&mut self, window: Window, topology: &Topology) {
        self.window = Some(window);
        for (node, step) in topology.steps() {
            if step.arrival < window.cut {
                self.mark_mut(node).is_left_out = true;
                self.open -= 1;
            }
        }
    }
}

/// Returns the calls that prime caches for a window: of each conversation that has calls on both sides of it the last one before.
///
/// In order of ordinals. Source: REPLAY.md §8.3; conversations are told by their name, not by how it is spelt.
pub(super) fn primers(window: Window, topology: &Topology) -> Vec<NodeIndex> {
    let mut last = vec![None; topology.sessions()];
    let mut goes_on = vec![false; topology.sessions()];
    for (node, step) in topology.steps() {
        if step.arrival < window.cut {
            last[step.session] = Some(node);
        } else {
            goes_on[step.session] = true;
        }
    }
    let live = last.into_iter().zip(goes_on).filter(|(_, goes_on)| *goes_on);
    let mut found: Vec<NodeIndex> = live.filter_map(|(node, _)| node).collect();
    found.sort_unstable();
    found
}

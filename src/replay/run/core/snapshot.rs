//! Instances that begin in the middle of their trace, and the calls that prime caches for them.

use crate::graph::NodeIndex;
use crate::replay::wire::WireWindow;

use super::instance::Instance;
use super::topology::Topology;

impl Instance {
    /// Makes the instance begin at a window: calls before it are left out.
    pub(super) fn begin_at(&mut self, window: WireWindow, topology: &Topology) {
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
pub(super) fn primers(window: WireWindow, topology: &Topology) -> Vec<NodeIndex> {
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

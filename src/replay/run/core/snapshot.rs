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

/// Returns the calls that prime caches for a window, in order of ordinals.
pub(super) fn primers(window: WireWindow, topology: &Topology) -> Vec<NodeIndex> {
    window.primers(topology.steps().map(|(node, step)| (node, step.session, step.arrival)))
}

//! Actions that wait to be carried out.

use std::collections::{BTreeMap, VecDeque};

use super::Action;

/// Actions that wait to be carried out: in order, save those that wait for the end of a pass.
#[derive(Debug, Default)]
pub(super) struct Queue {
    due: VecDeque<(u64, Action)>,
    /// By pool and rank, in order.
    waiting: BTreeMap<(usize, usize), Vec<(u64, Action)>>,
}

impl Queue {
    /// Adds an action of a request.
    pub(super) fn push(&mut self, request: u64, action: Action) {
        self.due.push_back((request, action));
    }

    /// Takes the next.
    pub(super) fn pop(&mut self) -> Option<(u64, Action)> {
        self.due.pop_front()
    }

    /// Lets an action wait for the end of the pass of a rank's worker.
    pub(super) fn wait_for(&mut self, (pool, rank): (usize, usize), request: u64, action: Action) {
        self.waiting.entry((pool, rank)).or_default().push((request, action));
    }

    /// Notes the end of the pass of a rank's worker.
    pub(super) fn wake(&mut self, (pool, rank): (usize, usize)) {
        if self.waiting.is_empty() {
            return;
        }
        self.due.extend(self.waiting.remove(&(pool, rank)).unwrap_or_default());
    }
}

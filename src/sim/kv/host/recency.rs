//! Blocks from least to most recently used.

use std::collections::BTreeMap;

use super::HostKey;

/// Blocks from least to most recently used. Who owns a block keeps its place, so that it can be found again.
#[derive(Debug, Default)]
pub(crate) struct Recency {
    next: u64,
    order: BTreeMap<u64, HostKey>,
}

impl Recency {
    /// Makes a block the newest; `place` is where it was, and where it is from now on.
    pub(crate) fn touch(&mut self, place: &mut Option<u64>, key: HostKey) {
        self.remove(place);
        self.order.insert(self.next, key);
        *place = Some(self.next);
        self.next += 1;
    }

    /// Takes a block out, if it is in.
    pub(crate) fn remove(&mut self, place: &mut Option<u64>) {
        if let Some(place) = place.take() {
            self.order.remove(&place);
        }
    }

    /// Returns the blocks whose place is behind `place`, oldest first; all where there is none.
    pub(crate) fn oldest_after(
        &self,
        place: Option<u64>,
    ) -> impl Iterator<Item = (u64, HostKey)> + '_ {
        let from = place.map_or(0, |place| place + 1);
        self.order.range(from..).map(|(place, key)| (*place, *key))
    }

    /// Returns the `count` oldest blocks that may go, fewer where there are fewer.
    pub(crate) fn victims(
        &self,
        count: usize,
        mut may_go: impl FnMut(HostKey) -> bool,
    ) -> Vec<HostKey> {
        self.order.values().copied().filter(|key| may_go(*key)).take(count).collect()
    }
}

//! Memory that groups of layers share by the byte: each keeps pages of its own size, of the whole context or of a window of it.

use crate::deployment::CacheGroup;

/// The bytes of a rank, shared by all its groups of layers.
#[derive(Debug)]
pub(crate) struct GroupedPool {
    groups: Box<[CacheGroup]>,
    capacity: u64,
    used: u64,
}

impl GroupedPool {
    /// Returns a pool of which nothing is used.
    pub(crate) fn new(groups: &[CacheGroup], capacity: u64) -> Self {
        Self { groups: groups.into(), capacity, used: 0 }
    }

    /// Returns how many bytes there are.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns how many bytes nobody holds.
    pub(crate) fn free(&self) -> u64 {
        self.capacity - self.used
    }

    /// Returns the bytes a request holds while it computes the tokens from `before` to `after`: in each group every page that the
    /// first of them looks back on, and those of all new tokens. What cannot be counted is more than any pool has.
    pub(crate) fn needed(&self, before: u64, after: u64) -> u64 {
        let pages = |group: &CacheGroup| {
            let block = u64::from(group.block_size.get());
            let reach = |window: u32| before.saturating_sub(u64::from(window) - 1) / block;
            let first = group.sliding_window.map_or(0, reach);
            (after.div_ceil(block) - first).saturating_mul(group.page_bytes)
        };
        self.groups.iter().map(pages).fold(0, u64::saturating_add)
    }

    /// Makes a request that holds `held` bytes hold what it needs from `before` to `after`, all or nothing; returns whether it does.
    pub(crate) fn resize(&mut self, held: &mut u64, before: u64, after: u64) -> bool {
        let needed = self.needed(before, after);
        let others = self.used - *held;
        if needed > self.capacity - others {
            return false;
        }
        self.used = others + needed;
        *held = needed;
        true
    }

    /// Takes back all that a request holds.
    pub(crate) fn release(&mut self, held: u64) {
        self.used -= held;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BlockSize;

    fn group(block: u32, page_bytes: u64, sliding_window: Option<u32>) -> CacheGroup {
        let block_size = BlockSize::new(block).expect("blocks hold tokens");
        CacheGroup { name: "layers".to_owned(), block_size, page_bytes, sliding_window }
    }

    /// Blocks of 4 and 3 tokens; token 10 looks back to token 6 with a window of 5.
    #[test]
    fn a_window_keeps_the_pages_that_the_first_new_token_looks_back_on() {
        let pool = GroupedPool::new(&[group(4, 10, None), group(3, 7, Some(5))], 1000);
        assert_eq!(pool.needed(0, 10), 3 * 10 + 4 * 7);
        assert_eq!(pool.needed(10, 11), 3 * 10 + (4 - 2) * 7);
        assert_eq!(pool.needed(9, 9), 3 * 10 + (3 - 1) * 7);
    }

    #[test]
    fn a_request_that_does_not_fit_keeps_what_it_has() {
        let mut pool = GroupedPool::new(&[group(4, 10, None)], 40);
        let (mut first, mut second) = (0, 0);
        assert!(pool.resize(&mut first, 0, 9) && !pool.resize(&mut second, 0, 5));
        assert!(pool.resize(&mut second, 0, 4) && !pool.resize(&mut first, 9, 13));
        assert_eq!((first, second, pool.free()), (30, 10, 0));
        pool.release(second);
        assert!(pool.resize(&mut first, 9, 13));
        assert_eq!((first, pool.free()), (40, 0));
    }

    #[test]
    fn more_bytes_than_can_be_counted_never_fit() {
        let pool = GroupedPool::new(&[group(1, u64::MAX / 2, None)], 1 << 53);
        assert_eq!(pool.needed(0, 3), u64::MAX);
    }
}

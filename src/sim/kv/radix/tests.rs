//! Matching, sharing, locking and evicting.

use crate::workload::{Content, Run, Symbol};

use super::{NodeId, Pages, RadixCache, Refresh};

fn content(ids: &[(u64, u32)]) -> Content {
    let run = |(id, length): &(u64, u32)| Run {
        symbol: Symbol::Repeated(*id),
        start: 0,
        length: *length,
    };
    Content::new(ids.iter().map(run), 0)
}

/// Caches the first `pages` pages of a content that nobody holds.
fn cache_all(cache: &mut RadixCache, content: &Content, pages: u64) -> u64 {
    cache.make_room(pages);
    cache.take(pages);
    let (_, fresh) = cache.insert(NodeId::ROOT, content, Pages { from: 0, to: pages });
    cache.give(pages - fresh);
    fresh
}

#[test]
fn a_prefix_matches_in_whole_pages_whatever_its_runs() {
    let mut cache = RadixCache::new(64, 4, Refresh::Part);
    cache_all(&mut cache, &content(&[(1, 6), (2, 10)]), 4);
    assert_eq!(cache.matched(&content(&[(1, 6), (2, 10)]), 4), 4);
    assert_eq!(cache.matched(&content(&[(1, 6), (2, 3), (3, 7)]), 4), 2, "9 tokens are 2 pages");
    assert_eq!(cache.matched(&content(&[(1, 6), (2, 10)]), 3), 3, "as far as asked");
    assert_eq!(cache.matched(&content(&[(2, 16)]), 4), 0);
}

#[test]
fn what_two_requests_computed_is_kept_once() {
    let mut cache = RadixCache::new(64, 1, Refresh::Part);
    assert_eq!(cache_all(&mut cache, &content(&[(1, 8), (2, 8)]), 16), 16);
    assert_eq!(cache_all(&mut cache, &content(&[(1, 8), (3, 8)]), 16), 8);
    assert_eq!((cache.free(), cache.held(), cache.census().cached), (40, 0, 24));
    assert_eq!(cache.matched(&content(&[(1, 8), (2, 8)]), 16), 16);
    assert_eq!(cache.matched(&content(&[(1, 8), (3, 8)]), 16), 16);
}

#[test]
fn the_leaf_used_longest_ago_is_evicted_page_by_page_from_its_end() {
    let mut cache = RadixCache::new(16, 1, Refresh::Part);
    cache_all(&mut cache, &content(&[(1, 8)]), 8);
    cache_all(&mut cache, &content(&[(2, 8)]), 8);
    cache.make_room(3);
    assert_eq!(cache.matched(&content(&[(1, 8)]), 8), 5);
    assert_eq!(cache.matched(&content(&[(2, 8)]), 8), 8);
    cache.make_room(10);
    assert_eq!(cache.matched(&content(&[(1, 8)]), 8), 0);
    assert_eq!(cache.matched(&content(&[(2, 8)]), 8), 6);
}

#[test]
fn a_locked_prefix_is_never_evicted_and_an_edge_is_split_where_it_ends() {
    let mut cache = RadixCache::new(8, 1, Refresh::Part);
    cache_all(&mut cache, &content(&[(1, 8)]), 8);
    let (pages, node) = cache.lock_prefix(&content(&[(1, 3), (2, 5)]), 8);
    assert_eq!((pages, cache.held(), cache.reachable()), (3, 3, 5));
    cache.make_room(8);
    assert_eq!(cache.matched(&content(&[(1, 8)]), 8), 3);
    cache.unlock(node);
    cache.make_room(8);
    assert_eq!((cache.free(), cache.matched(&content(&[(1, 8)]), 8)), (8, 0));
}

#[test]
fn a_parent_becomes_a_leaf_when_its_last_child_is_evicted() {
    let mut cache = RadixCache::new(16, 1, Refresh::Part);
    cache_all(&mut cache, &content(&[(1, 4), (2, 4)]), 8);
    cache_all(&mut cache, &content(&[(1, 4), (3, 4)]), 8);
    assert_eq!(cache.free(), 4);
    cache.make_room(8);
    assert_eq!(cache.matched(&content(&[(1, 4), (2, 4)]), 8), 4, "the older branch went");
    assert_eq!(cache.matched(&content(&[(1, 4), (3, 4)]), 8), 8);
    cache.make_room(13);
    assert_eq!(cache.matched(&content(&[(1, 4), (3, 4)]), 8), 3, "then the other, then the stem");
}

#[test]
fn a_partial_match_counts_as_a_use_from_nightly_87_on() {
    for (refresh, left) in [(Refresh::Whole, 0), (Refresh::Part, 4)] {
        let mut cache = RadixCache::new(16, 1, refresh);
        cache_all(&mut cache, &content(&[(1, 8)]), 8);
        cache_all(&mut cache, &content(&[(2, 8)]), 8);
        let (_, node) = cache.lock_prefix(&content(&[(1, 4), (9, 4)]), 8);
        cache.unlock(node);
        cache.make_room(8);
        let kept = cache.matched(&content(&[(1, 8)]), 8);
        assert_eq!(kept.saturating_sub(4), left, "{refresh:?}");
    }
}

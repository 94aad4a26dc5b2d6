//! Caching what a request computed.

use crate::workload::{Content, RunCursor};

use super::cache::{Node, NodeId, RadixCache, Refresh};
use super::edge::Edge;

/// The pages of a request that are to be cached: those from `from` to `to` of its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages {
    /// The first of them: what is before it is cached already, and ends at the request's node.
    pub(crate) from: u64,
    /// The one behind the last.
    pub(crate) to: u64,
}

impl RadixCache {
    /// Caches pages of a request whose cached prefix ends at `node`; returns where they end and how many were not cached yet.
    ///
    /// What was cached already by another request stays, and the request's own copies of it become free.
    pub(crate) fn insert(
        &mut self,
        node: NodeId,
        content: &Content,
        pages: Pages,
    ) -> (NodeId, u64) {
        if pages.from == pages.to && self.refresh == Refresh::Whole {
            return (node, 0);
        }
        let used = self.tick();
        self.touch_path(node, used);
        let size = u64::from(self.page);
        let (mut at, mut place) = (node, pages.from);
        let mut cursor = content.seek(place * size);
        while place < pages.to {
            let left = pages.to - place;
            if self.may_extend(at, node) {
                self.extend(at, content, &mut cursor, left);
                return (at, left);
            }
            let before = cursor;
            let Some(child) = self.child(at, content, cursor) else {
                return (self.add_child(at, content, cursor, left), left);
            };
            let common = self.common_pages(child, content, &mut cursor, left);
            if self.refresh == Refresh::Part || common == self.node(child).pages {
                self.touch(child, used);
            }
            place += common;
            if common == self.node(child).pages {
                at = child;
                continue;
            }
            if common == 0 {
                debug_assert!(false, "a page's hash names another page at {before:?}");
                return (at, 0);
            }
            let middle = self.split(child, common);
            if place == pages.to {
                return (middle, 0);
            }
            let cursor = content.seek(place * size);
            let left = pages.to - place;
            return (self.add_child(middle, content, cursor, left), left);
        }
        (at, 0)
    }

    /// Returns whether an edge may grow at its end: a leaf that nobody locks, or the request's own that nobody else locks.
    fn may_extend(&self, at: NodeId, own: NodeId) -> bool {
        let node = self.node(at);
        at != NodeId::ROOT
            && node.children == 0
            && (node.locks == 0 || (at == own && node.locks == 1))
    }

    /// Adds pages to the end of a leaf.
    fn extend(&mut self, at: NodeId, content: &Content, cursor: &mut RunCursor, pages: u64) {
        let tokens = pages * u64::from(self.page);
        let node = self.node_mut(at);
        node.edge.append(content, cursor, tokens);
        node.pages += pages;
        if node.locks == 0 {
            self.evictable += pages;
        }
    }

    /// Adds a leaf of `pages` pages below a node.
    fn add_child(
        &mut self,
        parent: NodeId,
        content: &Content,
        cursor: RunCursor,
        pages: u64,
    ) -> NodeId {
        let used = self.tick();
        let edge = Edge::of(content, cursor, pages * u64::from(self.page));
        let key = Self::key(parent, edge.first_page(self.page));
        self.unlist(parent);
        self.node_mut(parent).children += 1;
        let id = self.attach(Node { parent, key, edge, pages, children: 0, locks: 0, used });
        self.evictable += pages;
        self.list(id);
        id
    }
}

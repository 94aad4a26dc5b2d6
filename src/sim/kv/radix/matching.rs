//! Finding the longest cached prefix.

use crate::workload::{Content, RunCursor};

use super::cache::{Node, NodeId, RadixCache, Refresh};
use super::edge::page_at;

impl RadixCache {
    /// Returns how many of the first `pages` pages of a content are cached, without using them.
    pub(crate) fn matched(&self, content: &Content, pages: u64) -> u64 {
        let (mut node, mut matched, mut cursor) = (NodeId::ROOT, 0, RunCursor::default());
        while matched < pages {
            let Some(child) = self.child(node, content, cursor) else { break };
            let common = self.common_pages(child, content, &mut cursor, pages - matched);
            matched += common;
            if common < self.node(child).pages {
                break;
            }
            node = child;
        }
        matched
    }

    /// Locks the cached prefix of the first `pages` pages of a content, which counts as a use; returns its pages and its node.
    ///
    /// An edge that matches in part is split, so that the node ends where the prefix does.
    pub(crate) fn lock_prefix(&mut self, content: &Content, pages: u64) -> (u64, NodeId) {
        let used = self.tick();
        let (mut node, mut matched, mut cursor) = (NodeId::ROOT, 0, RunCursor::default());
        while matched < pages {
            let Some(child) = self.child(node, content, cursor) else { break };
            let common = self.common_pages(child, content, &mut cursor, pages - matched);
            matched += common;
            if common < self.node(child).pages {
                if common > 0 {
                    if self.refresh == Refresh::Part {
                        self.touch(child, used);
                    }
                    node = self.split(child, common);
                }
                break;
            }
            self.touch(child, used);
            node = child;
        }
        self.lock(node);
        (matched, node)
    }

    /// Returns the child of a node that begins with the page of a content at `cursor`.
    pub(super) fn child(
        &self,
        node: NodeId,
        content: &Content,
        cursor: RunCursor,
    ) -> Option<NodeId> {
        if self.node(node).children == 0 {
            return None;
        }
        let page = page_at(content, cursor, self.page);
        self.index.get(&Self::key(node, page)).copied()
    }

    /// Returns how many whole pages an edge and the next `limit` pages of a content have in common.
    ///
    /// The cursor stands behind the edge where the whole edge matches, and somewhere else otherwise.
    pub(super) fn common_pages(
        &self,
        node: NodeId,
        content: &Content,
        cursor: &mut RunCursor,
        limit: u64,
    ) -> u64 {
        let page = u64::from(self.page);
        self.node(node).edge.common(content, cursor, limit * page) / page
    }

    /// Splits an edge behind its first `pages` pages and returns the new node that ends there; the old one keeps the rest.
    pub(super) fn split(&mut self, id: NodeId, pages: u64) -> NodeId {
        let page = self.page;
        let node = self.node_mut(id);
        let rest = node.edge.split_off(pages * u64::from(page));
        let first = std::mem::replace(&mut node.edge, rest);
        let page_hash = node.edge.first_page(page);
        let upper = Node { edge: first, pages, children: 1, ..node.clone_without_edge() };
        node.pages -= pages;
        let middle = self.attach(upper);
        let key = Self::key(middle, page_hash);
        let node = self.node_mut(id);
        node.parent = middle;
        node.key = key;
        self.index.insert(key, id);
        middle
    }
}

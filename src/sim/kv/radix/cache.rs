//! The tree, its pages and its locks.

use std::collections::BTreeSet;
use std::hash::BuildHasherDefault;

use hashbrown::HashMap;

use crate::sim::kv::block_pool::{Census, Mixed};

use super::edge::Edge;

/// A node of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

/// What counts as a use of a node, beyond matching it whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refresh {
    /// Nothing: the reference's 0.13.0.
    Whole,
    /// Matching a part of it, and caching again what is cached: the reference's nightly 87.
    Part,
}

/// A node: an edge and what hangs below it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: NodeId,
    /// Its place in the index: parent and first page.
    pub(super) key: u64,
    pub(super) edge: Edge,
    /// Pages of the edge.
    pub(super) pages: u64,
    pub(super) children: u32,
    /// Requests that hold this node or one below it.
    pub(super) locks: u64,
    /// When it was last used, in uses of the tree.
    pub(super) used: u64,
}

/// The radix cache of one rank, with all its pages.
#[derive(Debug)]
pub(crate) struct RadixCache {
    /// Tokens a page.
    pub(super) page: u32,
    pub(super) refresh: Refresh,
    capacity: u64,
    pub(super) free: u64,
    pub(super) nodes: Vec<Node>,
    vacant: Vec<NodeId>,
    pub(super) index: HashMap<u64, NodeId, BuildHasherDefault<Mixed>>,
    /// Leaves that no request locks, by last use.
    pub(super) leaves: BTreeSet<(u64, NodeId)>,
    /// Pages in nodes that no request locks.
    pub(super) evictable: u64,
    clock: u64,
    peak_held: u64,
}

impl Node {
    /// Returns a copy of everything but the edge and what hangs below.
    pub(super) fn clone_without_edge(&self) -> Self {
        Self { edge: Edge::default(), ..*self }
    }
}

impl NodeId {
    /// The root: an empty edge that nobody locks.
    pub(crate) const ROOT: Self = Self(0);
}

impl RadixCache {
    /// Returns an empty cache of `capacity` pages of `page` tokens.
    pub(crate) fn new(capacity: u64, page: u32, refresh: Refresh) -> Self {
        let root = Node {
            parent: NodeId::ROOT,
            key: 0,
            edge: Edge::default(),
            pages: 0,
            children: 0,
            locks: 0,
            used: 0,
        };
        Self {
            page,
            refresh,
            capacity,
            free: capacity,
            nodes: vec![root],
            vacant: Vec::new(),
            index: HashMap::default(),
            leaves: BTreeSet::new(),
            evictable: 0,
            clock: 0,
            peak_held: 0,
        }
    }

    /// Returns how many pages there are.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns how many pages hold nothing.
    pub(crate) fn free(&self) -> u64 {
        self.free
    }

    /// Returns how many pages are free or could be evicted.
    pub(crate) fn reachable(&self) -> u64 {
        self.free + self.evictable
    }

    /// Returns how many pages requests hold.
    pub(crate) fn held(&self) -> u64 {
        self.capacity - self.reachable()
    }

    /// Returns the most pages that requests held at any time.
    pub(crate) fn peak_held(&self) -> u64 {
        self.peak_held
    }

    /// Counts the pages.
    pub(crate) fn census(&self) -> Census {
        Census { held: self.held(), cached: self.evictable, free: self.free }
    }

    /// Takes free pages for a request; the caller has made sure that they are there.
    pub(crate) fn take(&mut self, pages: u64) {
        debug_assert!(pages <= self.free, "the caller made room");
        self.free -= pages;
        self.peak_held = self.peak_held.max(self.held());
    }

    /// Gives a request's own pages back.
    pub(crate) fn give(&mut self, pages: u64) {
        self.free += pages;
    }

    /// Locks the path from a node to the root.
    pub(crate) fn lock(&mut self, node: NodeId) {
        let mut at = node;
        while at != NodeId::ROOT {
            self.unlist(at);
            let node = self.node_mut(at);
            node.locks += 1;
            let (is_first, pages, parent) = (node.locks == 1, node.pages, node.parent);
            if is_first {
                self.evictable -= pages;
            }
            at = parent;
        }
        self.peak_held = self.peak_held.max(self.held());
    }

    /// Unlocks the path from a node to the root.
    pub(crate) fn unlock(&mut self, node: NodeId) {
        let mut at = node;
        while at != NodeId::ROOT {
            let node = self.node_mut(at);
            debug_assert!(node.locks > 0, "a path is unlocked as often as it was locked");
            node.locks -= 1;
            let (is_last, pages, parent) = (node.locks == 0, node.pages, node.parent);
            if is_last {
                self.evictable += pages;
                self.list(at);
            }
            at = parent;
        }
    }

    /// Returns the next use of the tree.
    pub(super) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Notes a use of a node.
    pub(super) fn touch(&mut self, node: NodeId, used: u64) {
        self.unlist(node);
        self.node_mut(node).used = used;
        self.list(node);
    }

    /// Notes a use of a node and of all above it.
    pub(super) fn touch_path(&mut self, node: NodeId, used: u64) {
        let mut at = node;
        while at != NodeId::ROOT {
            self.touch(at, used);
            at = self.node(at).parent;
        }
    }

    /// Adds a node to the list of leaves that may be evicted, if it is one.
    pub(super) fn list(&mut self, id: NodeId) {
        let node = self.node(id);
        if id != NodeId::ROOT && node.locks == 0 && node.children == 0 {
            let used = node.used;
            self.leaves.insert((used, id));
        }
    }

    /// Takes a node out of the list of leaves that may be evicted.
    pub(super) fn unlist(&mut self, id: NodeId) {
        let node = self.node(id);
        if node.locks == 0 && node.children == 0 {
            let used = node.used;
            self.leaves.remove(&(used, id));
        }
    }

    /// Returns a node.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Returns a node, to change.
    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    /// Puts a node below its parent and into the index.
    pub(super) fn attach(&mut self, node: Node) -> NodeId {
        let key = node.key;
        let id = if let Some(id) = self.vacant.pop() {
            self.nodes[id.0 as usize] = node;
            id
        } else {
            let id = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes are cached");
            self.nodes.push(node);
            NodeId(id)
        };
        self.index.insert(key, id);
        id
    }

    /// Takes a node without children out of the tree.
    pub(super) fn detach(&mut self, id: NodeId) -> NodeId {
        let node = self.node_mut(id);
        let (key, parent) = (node.key, node.parent);
        node.edge = Edge::default();
        self.index.remove(&key);
        self.vacant.push(id);
        self.node_mut(parent).children -= 1;
        parent
    }

    /// Returns the place in the index of the child of `parent` that begins with a page of this hash.
    pub(super) fn key(parent: NodeId, page: u64) -> u64 {
        let spread = u128::from(page ^ 0x517c_c1b7_2722_0a95)
            * u128::from((u64::from(parent.0) << 1 | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let low = u64::try_from(spread & u128::from(u64::MAX)).unwrap_or(0);
        low ^ u64::try_from(spread >> 64).unwrap_or(0)
    }
}

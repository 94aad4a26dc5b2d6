//! Trees: records that belong together, joined step by step.

use std::collections::BTreeMap;

use crate::trace::options::TraceFormat;

use super::record::{Name, Nested, Part, Record};

/// What belongs together.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// What it is called; rows that stand alone are called by their place.
    pub name: String,
    /// When its first request starts, in milliseconds, where the trace has one clock.
    pub start_ms: Option<f64>,
    /// Records.
    pub records: u64,
    /// Requests.
    pub requests: u64,
    /// The place of the play in its source.
    pub(super) ordinal: Option<u64>,
    /// What its records show of their times below sub-agents.
    pub(super) nested: Nested,
}

/// The records of a trace while it is read: of each no more than what tells its tree.
#[derive(Debug, Default)]
pub(super) struct Forest {
    /// The group of each record, and the record without its names.
    records: Vec<(usize, Record)>,
    /// What each group leads to; a root leads to itself.
    up: Vec<usize>,
    names: Vec<Option<String>>,
    by_name: BTreeMap<Name, usize>,
    /// Which group names which parent.
    parents: Vec<(usize, Name)>,
    /// Which group waits for which request.
    waits: Vec<(usize, Name)>,
}

impl Forest {
    /// Returns whether there is no record.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a record.
    pub(super) fn add(&mut self, mut record: Record) {
        let Part { name, request, parent, waits } = std::mem::take(&mut record.part);
        let group = match name {
            None => self.group(None),
            Some(name) => self.named(name),
        };
        if let Some(request) = request {
            // The first of two of one name is what others wait for.
            self.by_name.entry(request).or_insert(group);
        }
        self.parents.extend(parent.map(|parent| (group, parent)));
        self.waits.extend(waits.into_iter().map(|wait| (group, wait)));
        self.records.push((group, record));
    }

    fn group(&mut self, name: Option<String>) -> usize {
        self.up.push(self.up.len());
        self.names.push(name);
        self.up.len() - 1
    }

    fn named(&mut self, name: Name) -> usize {
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        let group = self.group(Some(name.text().to_owned()));
        self.by_name.insert(name, group);
        group
    }

    /// Returns the tree of each record, and the trees in the order of their first records. What a capture says of sessions that asked
    /// nothing is of no tree, as its reader has it.
    pub(super) fn trees(mut self, format: TraceFormat) -> (Vec<Option<usize>>, Vec<Tree>) {
        self.link();
        let asks = self.asking(format);
        let (mut trees, mut index): (Vec<Tree>, BTreeMap<usize, usize>) = Default::default();
        let mut tree_of = Vec::with_capacity(self.records.len());
        for (place, (group, record)) in std::mem::take(&mut self.records).into_iter().enumerate() {
            let root = self.root(group);
            if !asks[root] {
                tree_of.push(None);
                continue;
            }
            let at = *index.entry(root).or_insert_with(|| {
                let name = self.names[root].clone().unwrap_or_else(|| format!("row {}", place + 1));
                trees.push(Tree::new(name, record.ordinal));
                trees.len() - 1
            });
            trees[at].add(&record);
            tree_of.push(Some(at));
        }
        (tree_of, trees)
    }

    /// Links groups of which one names the other.
    fn link(&mut self) {
        // Groups are linked when all are known: a parent that is not there leaves its session a root. Parents come first, because the
        // root of the parents names a tree.
        let parents = std::mem::take(&mut self.parents);
        let links = parents.into_iter().chain(std::mem::take(&mut self.waits));
        for (own, other) in links {
            let Some(other) = self.by_name.get(&other).copied() else { continue };
            let (own, other) = (self.root(own), self.root(other));
            self.up[own] = other;
        }
    }

    /// Returns of each root whether it stands for a tree.
    fn asking(&mut self, format: TraceFormat) -> Vec<bool> {
        let mut asks = vec![format != TraceFormat::Dynamo; self.up.len()];
        for at in 0..self.records.len() {
            let (group, requests) = (self.records[at].0, self.records[at].1.requests);
            let root = self.root(group);
            asks[root] |= requests > 0;
        }
        asks
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.up[at] != at {
            self.up[at] = self.up[self.up[at]];
            at = self.up[at];
        }
        at
    }
}

impl Tree {
    fn new(name: String, ordinal: Option<u64>) -> Self {
        let nested = Nested::Absent;
        Self { name, start_ms: None, records: 0, requests: 0, ordinal, nested }
    }

    fn add(&mut self, record: &Record) {
        self.records += 1;
        self.requests += record.requests;
        self.nested = self.nested.max(record.nested);
        self.start_ms = match (self.start_ms, record.start_ms) {
            (Some(known), Some(start)) => Some(known.min(start)),
            (known, start) => known.or(start),
        };
    }
}

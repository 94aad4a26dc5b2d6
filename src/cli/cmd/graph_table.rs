//! Graphs as a table: what each holds, and what a prefix cache that forgets nothing would serve.

use std::collections::BTreeSet;

use crate::cli::{Align, columns};
use crate::graph::{Ceiling, CorpusCeiling, Graph};
use crate::trace::HashScope;

use super::trace::percent;

/// What the columns are called.
const HEADER: [&str; 7] =
    ["graph", "sessions", "calls", "edges", "full blocks", "reusable", "ceiling"];

/// What a graph holds.
pub(super) struct Row {
    id: String,
    sessions: usize,
    calls: usize,
    edges: usize,
    ceiling: Ceiling,
    /// The graph itself where other graphs can have the same blocks.
    shared: Option<Graph>,
}

/// The graphs so far.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    sessions: usize,
    calls: usize,
    edges: usize,
    corpus: CorpusCeiling,
}

impl Row {
    /// Returns the row of a graph.
    pub(super) fn of(graph: Graph) -> Self {
        let sessions: BTreeSet<&str> =
            graph.nodes.iter().map(|node| node.session.session.as_str()).collect();
        Self {
            id: graph.id.clone(),
            sessions: sessions.len(),
            calls: graph.nodes.len(),
            edges: graph.edges.len(),
            ceiling: Ceiling::of(&graph),
            shared: (graph.hash_scope == HashScope::Global).then_some(graph),
        }
    }
}

impl Table {
    /// Adds a graph.
    pub(super) fn add(&mut self, row: Row) {
        match &row.shared {
            Some(graph) => self.corpus.add(graph),
            None => self.corpus.add_local(row.ceiling),
        }
        self.sessions += row.sessions;
        self.calls += row.calls;
        self.edges += row.edges;
        let counts = [row.sessions, row.calls, row.edges].map(|count| count.to_string());
        self.rows.push([vec![row.id], counts.to_vec(), blocks(row.ceiling)].concat());
    }

    /// Returns the table: a line a graph, then all of them, each with a cache of its own and with one for all.
    pub(super) fn text(self) -> String {
        let totals = [self.sessions, self.calls, self.edges].map(|count| count.to_string());
        let none = vec![String::new(); totals.len()];
        let sums = [
            ("each alone", totals.to_vec(), self.corpus.alone()),
            ("one cache", none, self.corpus.shared()),
        ];
        let sums = sums
            .into_iter()
            .map(|(name, counts, sum)| [vec![name.to_owned()], counts, blocks(sum)].concat());
        let rows: Vec<Vec<String>> =
            [HEADER.map(str::to_owned).to_vec()].into_iter().chain(self.rows).chain(sums).collect();
        columns(&rows, &[Align::Left, Align::Right])
    }
}

/// Returns the cells of a ceiling.
fn blocks(ceiling: Ceiling) -> Vec<String> {
    let share = ceiling.share().map_or("-".to_owned(), percent);
    vec![ceiling.full_blocks.to_string(), ceiling.reusable_blocks.to_string(), share]
}

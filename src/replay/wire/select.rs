//! Which traces of a recording are replayed: filter, then cap.

use crate::graph::Graph;
use crate::trace::RecordedTree;
use crate::workload::Select;

/// Which traces of a recording are replayed.
///
/// Traces are looked at in their order; whoever offers them may stop as soon as [`Selection::is_full`]. Source: REPLAY.md §1.5.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    entries: Option<u64>,
    max_context: Option<u64>,
    /// How many were kept.
    pub kept: u64,
    /// How many were left out, since they grow too long.
    pub too_long: u64,
}

impl Selection {
    /// Returns a selection that has seen nothing.
    pub fn new(select: Option<&Select>) -> Self {
        Self {
            entries: select.and_then(|select| select.entries),
            max_context: select.and_then(|select| select.max_context_tokens),
            kept: 0,
            too_long: 0,
        }
    }

    /// Returns whether no further trace can be kept.
    pub fn is_full(&self) -> bool {
        self.entries.is_some_and(|entries| self.kept >= entries)
    }

    /// Returns the most traces that are kept.
    pub const fn entries(&self) -> Option<u64> {
        self.entries
    }

    /// Returns the longest context that is kept.
    pub const fn max_context(&self) -> Option<u64> {
        self.max_context
    }

    /// Looks at the longest context of a trace and returns whether it is kept.
    pub fn keeps(&mut self, peak: u64) -> bool {
        if self.is_full() {
            return false;
        }
        let fits = self.max_context.is_none_or(|most| peak <= most);
        if fits {
            self.kept += 1;
        } else {
            self.too_long += 1;
        }
        fits
    }
}

/// Returns the most tokens, prompt and output, that a call of a recorded tree has.
pub fn peak_of_tree(tree: &RecordedTree) -> u64 {
    let calls = tree.requests().map(|(_, request)| (request.input, request.output));
    calls.map(peak).max().unwrap_or(0)
}

/// Returns the most tokens, prompt and output, that a call of a graph has, as far as it says.
pub fn peak_of_graph(graph: &Graph) -> u64 {
    let calls = graph.nodes.iter().filter(|node| node.expected.input.is_some());
    calls
        .map(|node| peak((node.expected.input, node.expected.output.or(node.max_tokens))))
        .max()
        .unwrap_or(0)
}

/// Returns the tokens of a call: a prompt of nothing counts as one token.
fn peak((input, output): (Option<crate::units::Tokens>, Option<crate::units::Tokens>)) -> u64 {
    let input = input.map_or(1, |input| input.get().max(1));
    input.saturating_add(output.map_or(0, crate::units::Tokens::get))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{CacheBust, Sampling};

    /// Telling case 41: filter, then cap; the scan ends at the cap.
    #[test]
    fn traces_are_filtered_and_then_capped_and_the_scan_ends_there() {
        let select = Select {
            entries: Some(2),
            max_context_tokens: Some(10),
            sampling: Sampling::Sequential,
            wrap: false,
            cache_bust: CacheBust::None,
        };
        let mut selection = Selection::new(Some(&select));
        let peaks = [11, 10, 12, 3, 99, 1];
        let scanned = peaks.iter().take_while(|peak| {
            let go_on = !selection.is_full();
            if go_on {
                selection.keeps(**peak);
            }
            go_on
        });
        assert_eq!(scanned.count(), 4);
        assert_eq!((selection.kept, selection.too_long), (2, 2));
    }
}

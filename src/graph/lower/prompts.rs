//! Whose words the blocks of each prompt are.

use crate::graph::prompt::{MessageRole, Run};

use super::calls::Calls;
use super::radix::{Lineage, Radix};

/// The prompt of a call: what it inherits, and whose words its own blocks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tagged {
    /// What it goes on from.
    pub(super) lineage: Lineage,
    /// Its own blocks.
    pub(super) runs: Vec<Run>,
}

/// Tags the prompts of all calls.
///
/// What a prompt adds to the one that it goes on from is first the answer to that one, as many blocks as its output fills, then the user's
/// words; the last block added is always the user's, and so is the last block of any prompt. Source: spec/REPLAY.md §4.4.
pub(super) fn tagged(calls: &Calls<'_>) -> Vec<Tagged> {
    let mut radix = Radix::new();
    let lineages: Vec<Lineage> =
        (0..calls.list.len()).map(|index| radix.add(&calls.list, index)).collect();
    let caps = caps(calls, &lineages);
    let tag = |(index, lineage): (usize, &Lineage)| {
        let added = calls.list[index].blocks.len() - lineage.inherited;
        let answer = answer(calls, lineage).min(added).min(caps[index].unwrap_or(usize::MAX));
        let answer = if answer == added { answer.saturating_sub(1) } else { answer };
        let runs = [(MessageRole::Assistant, answer), (MessageRole::User, added - answer)];
        let runs = runs.iter().filter(|(_, blocks)| *blocks > 0);
        let runs = runs.map(|(role, blocks)| Run { role: *role, blocks: *blocks }).collect();
        Tagged { lineage: *lineage, runs }
    };
    lineages.iter().enumerate().map(tag).collect()
}

/// Returns how many blocks the answer to the prompt fills that another goes on from.
fn answer(calls: &Calls<'_>, lineage: &Lineage) -> usize {
    let Some(parent) = lineage.parent.filter(|_| lineage.inherited > 0) else { return 0 };
    let output = calls.list[parent].request.output.unwrap_or_default();
    usize::try_from(output.blocks_ceil(calls.block_size).get()).unwrap_or(usize::MAX)
}

/// Returns how many answer blocks each call may add at most, so that no prompt which adds nothing ends with an answer.
fn caps(calls: &Calls<'_>, lineages: &[Lineage]) -> Vec<Option<usize>> {
    let mut caps: Vec<Option<usize>> = vec![None; lineages.len()];
    for (index, lineage) in lineages.iter().enumerate() {
        let call = &calls.list[index];
        let full = call.input.blocks_full(calls.block_size).get();
        let names_all = u64::try_from(call.blocks.len()).is_ok_and(|named| named >= full);
        if call.blocks.len() > lineage.inherited || lineage.inherited == 0 || !names_all {
            continue;
        }
        let last = lineage.inherited - 1;
        let owner = owner(lineages, index, last);
        let before = lineages[owner];
        if let (Some(_), Some(cap)) = (before.parent, last.checked_sub(before.inherited)) {
            caps[owner] = Some(caps[owner].map_or(cap, |known| known.min(cap)));
        }
    }
    caps
}

/// Returns the call that added a block of a prompt.
fn owner(lineages: &[Lineage], index: usize, block: usize) -> usize {
    let mut at = index;
    while let Some(parent) = lineages[at].parent.filter(|_| block < lineages[at].inherited) {
        at = parent;
    }
    at
}

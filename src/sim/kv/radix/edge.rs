//! The tokens of an edge, as runs.

use crate::workload::{Content, Run, RunCursor, hash_of};

/// The tokens of an edge; no run continues the one before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Edge {
    runs: Vec<Run>,
}

impl Edge {
    /// Returns the `tokens` tokens of a content at `cursor`.
    pub(super) fn of(content: &Content, mut cursor: RunCursor, tokens: u64) -> Self {
        let mut edge = Self::default();
        edge.append(content, &mut cursor, tokens);
        edge
    }

    /// Adds the `tokens` tokens of a content at `cursor`.
    pub(super) fn append(&mut self, content: &Content, cursor: &mut RunCursor, tokens: u64) {
        let mut left = tokens;
        while left > 0 {
            let run = content.take(cursor, narrow(left));
            left -= u64::from(run.length);
            match self.runs.last_mut() {
                Some(last) if last.continues_into(run) => last.length += run.length,
                Some(_) | None => self.runs.push(run),
            }
        }
    }

    /// Returns how many tokens the edge and the next `limit` tokens of a content at `cursor` have in common.
    ///
    /// The cursor stands behind the edge where the whole edge matches, and somewhere else otherwise.
    pub(super) fn common(&self, content: &Content, cursor: &mut RunCursor, limit: u64) -> u64 {
        let mut common = 0;
        for run in &self.runs {
            let mut rest = *run;
            while rest.length > 0 {
                let room = narrow(limit - common).min(rest.length);
                if room == 0 {
                    return common;
                }
                let piece = content.take(cursor, room);
                if !piece.begins_as(rest) {
                    return common;
                }
                common += u64::from(piece.length);
                rest = rest.behind(piece.length);
            }
        }
        common
    }

    /// Keeps the first `tokens` tokens and returns the rest.
    pub(super) fn split_off(&mut self, tokens: u64) -> Self {
        let mut before = 0;
        let at = self.runs.iter().position(|run| {
            before += u64::from(run.length);
            before > tokens
        });
        let Some(at) = at else { return Self::default() };
        let kept = self.runs[at].length - narrow(before - tokens);
        let mut rest = self.runs.split_off(at);
        if kept > 0 {
            self.runs.push(Run { length: kept, ..rest[0] });
            rest[0] = rest[0].behind(kept);
        }
        Self { runs: rest }
    }

    /// Returns a hash of the first `tokens` tokens.
    pub(super) fn first_page(&self, tokens: u32) -> u64 {
        let mut left = tokens;
        hash_of(self.runs.iter().map_while(|run| {
            let length = run.length.min(left);
            left -= length;
            (length > 0).then_some(Run { length, ..*run })
        }))
    }
}

/// Returns a hash of the page of a content at `cursor`.
pub(super) fn page_at(content: &Content, mut cursor: RunCursor, page: u32) -> u64 {
    let mut left = page;
    hash_of(std::iter::from_fn(|| {
        let run = (left > 0).then(|| content.take(&mut cursor, left))?;
        left -= run.length;
        Some(run)
    }))
}

/// Returns a count of tokens as 32 bits, or the most that fits.
fn narrow(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

//! The tokens of a request as they become visible.

use crate::record::{Gap, Gaps};
use crate::units::SimTime;

/// When the tokens of a request became visible.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    pub(crate) first: Option<SimTime>,
    pub(crate) second: Option<SimTime>,
    pub(crate) last: Option<SimTime>,
    /// The gaps between them, where they are kept by request.
    gaps: Option<Vec<(Gap, u64)>>,
}

impl Visible {
    /// Returns no tokens, with a place for their gaps: needed where the run may be cut before the request ends.
    pub(crate) fn keeping_gaps() -> Self {
        Self { gaps: Some(Vec::new()), ..Self::default() }
    }

    /// Records that the token of this number, from 1, becomes visible at `at`; returns when the one before it did.
    pub(crate) fn emit(&mut self, number: u64, at: SimTime) -> Option<SimTime> {
        match number {
            1 => self.first = Some(at),
            2 => self.second = Some(at),
            _ => {}
        }
        self.last.replace(at)
    }

    /// Keeps a gap, or adds it to those of all requests where they are not kept by request.
    pub(crate) fn note_gap(&mut self, gap: Gap, pooled: &mut Gaps) {
        match &mut self.gaps {
            Some(gaps) => match gaps.last_mut() {
                Some((last, count)) if *last == gap => *count += 1,
                Some(_) | None => gaps.push((gap, 1)),
            },
            None => pooled.add(gap, 1),
        }
    }

    /// Takes the gaps that were kept.
    pub(crate) fn take_gaps(&mut self) -> Vec<(Gap, u64)> {
        self.gaps.take().unwrap_or_default()
    }
}

//! What a search found.

use super::Probe;

/// What a search found, and how it came to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bisection<D> {
    /// The versions that were asked, in the order of asking.
    pub steps: Vec<Step<D>>,
    /// Where the answers change.
    pub bound: Bound,
}

impl<D> Bisection<D> {
    /// Returns the places of versions before the last that was seen to answer as the good one, and that were not asked themselves: halving
    /// takes it for granted that they answer alike. Of a search that found no change, those before the last that was asked.
    pub fn skipped(&self) -> Vec<usize> {
        let last = match self.bound {
            Bound::Changed { same, .. } | Bound::NoBad { same } => same,
            Bound::Unchanged => self.steps.iter().map(|step| step.place).max().unwrap_or(0),
            Bound::NoGood => 0,
        };
        let is_asked = |place: &usize| self.steps.iter().any(|step| step.place == *place);
        (0..last).filter(|place| !is_asked(place)).collect()
    }
}

/// A version that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<D> {
    /// Its place among the versions.
    pub place: usize,
    /// What it said.
    pub probe: Probe<D>,
}

/// Where the answers change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Behind `same`, and at `other` at the latest: versions between them cannot be asked.
    Changed {
        /// The last version that answers as the good one.
        same: usize,
        /// The first that was seen to answer otherwise.
        other: usize,
    },
    /// The bad version answers as the good one.
    Unchanged,
    /// The good version cannot be asked.
    NoGood,
    /// No version was seen to answer otherwise, and the bad one cannot be asked.
    NoBad {
        /// The last version that answers as the good one.
        same: usize,
    },
}

impl Bound {
    /// Returns the places between the two that bound the change; empty where it is known to one version.
    pub fn unknown(self) -> std::ops::Range<usize> {
        match self {
            Self::Changed { same, other } => same + 1..other,
            Self::Unchanged | Self::NoGood | Self::NoBad { .. } => 0..0,
        }
    }
}

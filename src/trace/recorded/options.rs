//! How recordings are read.

use crate::trace::options::{ReadOptions, Strictness};
use crate::units::BlockSize;

/// How recordings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedOptions {
    /// What is let through.
    pub strictness: Strictness,
    /// What times below a sub-agent's marker are counted from.
    pub basis: TimestampBasis,
    /// The block size that the recording must state; any where absent.
    pub block_size: Option<BlockSize>,
}

/// What times below the marker of a sub-agent are counted from; one rule for a whole corpus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimestampBasis {
    /// The marker, where any time of the corpus would else lie before its marker; the trace's zero otherwise.
    #[default]
    Auto,
    /// The trace's zero.
    Absolute,
    /// The marker.
    Relative,
}

impl RecordedOptions {
    /// Returns how a pin says that its recording is read.
    pub fn of(options: &ReadOptions) -> Self {
        Self {
            strictness: options.strictness,
            basis: options.basis,
            block_size: options.is_block_size_stated.then_some(options.block_size),
        }
    }

    /// Returns the options of a scenario: strict, with the basis that the corpus shows.
    pub const fn strict() -> Self {
        Self { strictness: Strictness::Scenario, basis: TimestampBasis::Auto, block_size: None }
    }
}

impl TimestampBasis {
    /// Every basis.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Absolute, Self::Relative];

    /// Returns the word of pins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Absolute => "absolute",
            Self::Relative => "relative",
        }
    }
}

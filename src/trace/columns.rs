//! Which columns of a table say what.

use super::options::TimeUnit;

/// Which columns of a table say what, by the names in its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// When a request arrives, and how that is written; without one, only loads that make their own times can use the trace.
    pub timestamp: Option<(String, ColumnTime)>,
    /// Tokens of the prompt.
    pub input: String,
    /// Tokens of the answer.
    pub output: String,
}

/// How a column writes times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnTime {
    /// As a number.
    Number(TimeUnit),
    /// As `YYYY-MM-DD HH:MM:SS`, perhaps with a fraction; read as UTC.
    Calendar,
}

impl ColumnTime {
    /// Returns the word of pins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number(unit) => unit.name(),
            Self::Calendar => "calendar",
        }
    }

    /// Returns what a word of pins means.
    pub fn of(word: &str) -> Option<Self> {
        let unit = TimeUnit::ALL.iter().find(|unit| unit.name() == word);
        unit.map(|unit| Self::Number(*unit)).or((word == "calendar").then_some(Self::Calendar))
    }
}

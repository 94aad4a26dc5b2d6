//! What a change says of a metric.

use std::cmp::Ordering;

use crate::gate::DiffRow;
use crate::measure::{Family, MetricName};

/// What a change says of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate::upgrade) struct Expected {
    /// A metric, or a family of them.
    pub(super) metric: Named,
    /// Which way it goes.
    pub(super) direction: Way,
    /// What it was, where that is stated.
    pub(super) from: Option<String>,
    /// What it becomes, where that is stated.
    pub(super) to: Option<String>,
}

/// One metric, or all statistics of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// This one.
    Metric(MetricName),
    /// Each of these.
    Family(Family),
}

/// Which way a figure goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It grows.
    Up,
    /// It shrinks.
    Down,
    /// Either.
    Either,
}

impl Named {
    /// Returns what a name stands for: a metric first, else a family.
    pub(super) fn of(text: &str) -> Option<Self> {
        let family = || Family::ALL.iter().copied().find(|family| family.name() == text);
        text.parse().ok().map(Self::Metric).or_else(|| family().map(Self::Family))
    }

    /// Returns whether a figure is meant.
    fn is(self, metric: &str) -> bool {
        let Ok(name) = metric.parse::<MetricName>() else { return false };
        match self {
            Self::Metric(meant) => meant == name,
            Self::Family(family) => family == name.family(),
        }
    }

    /// Returns the name.
    fn text(self) -> String {
        match self {
            Self::Metric(name) => name.to_string(),
            Self::Family(family) => family.name().to_owned(),
        }
    }
}

impl Way {
    /// Every way by its word.
    pub(super) const WORDS: [(&'static str, Self); 3] =
        [("up", Self::Up), ("down", Self::Down), ("either", Self::Either)];

    /// Returns the word.
    const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Either => "either way",
        }
    }

    /// Returns whether a movement goes this way; a figure that appears or goes away moves neither up nor down.
    fn takes(self, movement: Option<Ordering>) -> bool {
        match self {
            Self::Up => movement == Some(Ordering::Greater),
            Self::Down => movement == Some(Ordering::Less),
            Self::Either => true,
        }
    }
}

impl Expected {
    /// Returns whether a figure that differs is as declared: `None` where this speaks of another, an error with what was declared
    /// where it differs otherwise.
    pub(in crate::gate::upgrade) fn covers(&self, row: &DiffRow) -> Option<Result<(), String>> {
        if !self.metric.is(&row.metric) {
            return None;
        }
        let is_left = self.from.as_ref().is_none_or(|from| *from == row.left);
        let is_right = self.to.as_ref().is_none_or(|to| *to == row.right);
        let is_so = self.direction.takes(row.movement()) && is_left && is_right;
        Some(if is_so { Ok(()) } else { Err(self.declared()) })
    }

    /// Returns what is declared and did not happen; `None` where a figure that it speaks of differs.
    pub(super) fn absent(&self, rows: &[DiffRow]) -> Option<String> {
        if rows.iter().any(|row| self.metric.is(&row.metric)) {
            return None;
        }
        Some(format!("{} goes {}, and it is unchanged", self.metric.text(), self.declared()))
    }

    /// Returns what is declared, in words.
    fn declared(&self) -> String {
        let mut words = self.direction.name().to_owned();
        for (preposition, figure) in [("from", &self.from), ("to", &self.to)] {
            if let Some(figure) = figure {
                words = format!("{words} {preposition} {figure}");
            }
        }
        words
    }
}

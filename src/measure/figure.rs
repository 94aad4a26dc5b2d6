//! The value of a metric, with its unit.

use std::fmt;

use crate::digest::canonical::Value;
use crate::units::{Micros6, Nanos, Ppm};

/// The value of a metric, with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// A number of things.
    Count(u64),
    /// A time.
    Time(Nanos),
    /// A share.
    Share(Ppm),
    /// A rate a second.
    Rate(Micros6),
}

impl From<Figure> for Value {
    fn from(figure: Figure) -> Self {
        match figure {
            Figure::Count(count) => Self::count(count),
            Figure::Time(time) => time.into(),
            Figure::Share(share) => share.into(),
            Figure::Rate(rate) => rate.into(),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Time(time) => time.get().fmt(f),
            Self::Share(share) => share.get().fmt(f),
            Self::Rate(rate) => rate.fmt(f),
        }
    }
}

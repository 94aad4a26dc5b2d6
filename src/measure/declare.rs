//! How a list of metrics becomes a type, and how figures are named by it.

use std::fmt;

use super::{Direction, Percentile, Shape, Statistic};

/// A set of metrics, or of families that differ in their statistic. `families!` writes its implementations.
pub trait MetricFamily: Copy + 'static {
    /// Every family, in the order of docs/metrics.md.
    const EVERY: &'static [Self];

    /// Returns the name in reports; its last part is the unit.
    fn name(self) -> &'static str;

    /// Returns whether it is one figure or several.
    fn shape(self) -> Shape;

    /// Returns which direction is better.
    fn direction(self) -> Direction;
}

/// Declares a set of families: what it is, its type, and of each family the variant, name, anchor in docs/metrics.md, shape, direction, and one line.
macro_rules! families {
    ($(#[$what:meta])+ $families:ident; $($variant:ident $name:literal $anchor:literal $shape:ident $direction:ident $line:literal;)+) => {
        $(#[$what])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $families {
            $(#[doc = $line] $variant,)+
        }

        impl $families {
            /// Every family, in the order of docs/metrics.md.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name in reports; its last part is the unit.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns the heading of docs/metrics.md that defines it.
            pub const fn anchor(self) -> &'static str {
                match self { $(Self::$variant => $anchor,)+ }
            }

            /// Returns whether it is one figure or several.
            pub const fn shape(self) -> $crate::measure::Shape {
                match self { $(Self::$variant => $crate::measure::Shape::$shape,)+ }
            }

            /// Returns which direction is better.
            pub const fn direction(self) -> $crate::measure::Direction {
                match self { $(Self::$variant => $crate::measure::Direction::$direction,)+ }
            }

            /// Returns what it is, in one line.
            pub const fn line(self) -> &'static str {
                match self { $(Self::$variant => $line,)+ }
            }
        }

        impl $crate::measure::MetricFamily for $families {
            const EVERY: &'static [Self] = Self::ALL;

            fn name(self) -> &'static str {
                Self::name(self)
            }

            fn shape(self) -> $crate::measure::Shape {
                Self::shape(self)
            }

            fn direction(self) -> $crate::measure::Direction {
                Self::direction(self)
            }
        }
    };
}

pub(super) use families;

/// The name of one figure of a set of families: a family, and a statistic where it has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FigureName<F> {
    family: F,
    statistic: Option<Statistic>,
}

impl<F: MetricFamily> FigureName<F> {
    /// Returns the name of a family's only figure.
    pub const fn single(family: F) -> Self {
        Self { family, statistic: None }
    }

    /// Returns the name of one statistic of a family.
    pub const fn of(family: F, statistic: Statistic) -> Self {
        Self { family, statistic: Some(statistic) }
    }

    /// Returns the name of a percentile of a family.
    pub const fn at(family: F, percentile: Percentile) -> Self {
        Self::of(family, Statistic::At(percentile))
    }

    /// Returns the family.
    pub const fn family(self) -> F {
        self.family
    }

    /// Returns the statistic; none of a family's only figure.
    pub const fn statistic(self) -> Option<Statistic> {
        self.statistic
    }

    /// Returns which direction is better; a number of samples has none.
    pub fn direction(self) -> Direction {
        match self.statistic {
            Some(Statistic::Count) => Direction::Neutral,
            Some(Statistic::Mean | Statistic::Min | Statistic::At(_) | Statistic::Max) | None => {
                self.family.direction()
            }
        }
    }

    /// Returns every name that a report may hold.
    pub fn all() -> impl Iterator<Item = Self> {
        F::EVERY.iter().flat_map(|family| match family.shape() {
            Shape::Single => vec![Self::single(*family)],
            Shape::Distribution => {
                Statistic::ALL.iter().map(|statistic| Self::of(*family, *statistic)).collect()
            }
        })
    }
}

impl<F: MetricFamily> fmt::Display for FigureName<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family.name())?;
        self.statistic.map_or(Ok(()), |statistic| write!(f, "_{}", statistic.name()))
    }
}

impl<F: MetricFamily> std::str::FromStr for FigureName<F> {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all().find(|name| name.to_string() == text).ok_or(())
    }
}

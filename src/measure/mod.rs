//! What a run means: pure functions of a [`crate::record::RunRecord`].
//!
//! Owns every metric's definition (`docs/metrics.md` quotes by link), the percentile rule, the numbered invariants and the verdict
//! whether a run may be compared at all. Reads no file, knows no report. Times are integer nanoseconds from here on.

mod bounds;
mod cache;
mod counts;
mod declare;
mod distribution;
mod family;
mod figure;
mod goodput;
mod invariant;
mod latency;
pub mod live;
mod metrics;
mod percentile;
#[cfg(test)]
pub(crate) mod sample;
mod throughput;
mod unserved;
mod validity;

pub use bounds::Bounds;
pub use cache::{CeilingPrompt, PrefixTree};
pub use counts::Counts;
pub use declare::{FigureName, MetricFamily};
pub use distribution::{Distribution, Statistic};
pub use family::{DEFINITION, Direction, Family, MetricName, Shape};
pub use figure::Figure;
pub use goodput::is_good;
pub use invariant::{Invariant, Limits, Offered, Violation};
pub use latency::{e2e, queue, tpot, ttft, ttst};
pub use metrics::{Absence, Ceiling, Metrics};
pub use percentile::Percentile;
pub use unserved::Unserved;
pub use validity::{Failure, Validity};

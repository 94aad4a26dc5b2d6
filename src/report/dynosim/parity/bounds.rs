//! How far two answers may be apart.

/// How far two answers may be apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    /// Times of a request, in milliseconds.
    pub(crate) time_ms: f64,
    /// Every number, relative to it, beside what else holds: the error of a timing table.
    pub(crate) priced: f64,
    /// Numbers of the summary, relative.
    pub(crate) summary: f64,
    /// Percentiles that the reference takes from a sketch, relative.
    pub(crate) sketched: f64,
}

/// Distributions whose percentiles the reference takes from a sketch.
const SKETCHED: [&str; 2] = ["itl_ms", "output_token_throughput_per_user"];

impl Bounds {
    /// The reference's own arithmetic: a microsecond, and a part in a million.
    pub(crate) const EXACT: Self =
        Self { time_ms: 1e-3, priced: 0.0, summary: 1e-6, sketched: 2e-3 };
    /// The same where passes are priced from a pinned table.
    pub(crate) const PRICED: Self = Self { priced: 5e-3, ..Self::EXACT };

    /// Returns how far a time of a request may be off.
    pub(super) fn of_time(self, recorded: f64) -> f64 {
        self.time_ms + self.priced * recorded.abs()
    }

    /// Returns how far a number of the summary may be off; `mean` is that of a spread.
    pub(super) fn of_summary(self, name: &str, recorded: f64, mean: f64) -> f64 {
        let is_percentile = name.starts_with('p') || name.starts_with("median");
        let is_sketched = is_percentile && SKETCHED.iter().any(|part| name.contains(part));
        let relative = if is_sketched { self.sketched } else { self.summary } + self.priced;
        let absolute = if name.ends_with("_ms") { self.time_ms } else { 1e-9 };
        relative * recorded.abs().max(1e-9) + absolute + self.priced * mean.abs()
    }
}

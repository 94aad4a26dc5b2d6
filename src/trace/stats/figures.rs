//! All figures of a trace.

use crate::digest::canonical::{Value, object};
use crate::trace::ReadCounts;
use crate::units::{Micros6, Nanos};
use crate::workload::Corpus;

use super::{Distribution, PrefixHit, Ties};

/// What is in a trace. An absent figure has no samples.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceStats {
    /// What was read and let through.
    pub counts: ReadCounts,
    /// From the first arrival to the last.
    pub duration: Option<Nanos>,
    /// Rows a second over the duration.
    pub rate: Option<Micros6>,
    /// Prompt tokens.
    pub input: Option<Distribution>,
    /// Requested output tokens.
    pub output: Option<Distribution>,
    /// What an infinite cache would serve; absent without hash ids.
    pub prefix: Option<PrefixHit>,
    /// How arrivals coincide.
    pub ties: Ties,
}

impl TraceStats {
    /// Returns the figures of a corpus and of how it was read.
    pub fn of(corpus: &Corpus, counts: ReadCounts) -> Self {
        let duration = counts.span.as_ref().and_then(|span| Nanos::from_ms(span.length_ms()).ok());
        let reader = corpus.reader();
        Self {
            duration,
            rate: duration
                .and_then(|duration| Micros6::per_second(u128::from(counts.rows), duration.get())),
            input: Distribution::of(reader.rows().map(|row| row.input)),
            output: Distribution::of(reader.rows().map(|row| row.output)),
            prefix: PrefixHit::of(corpus),
            ties: Ties::of(corpus),
            counts,
        }
    }

    /// Returns the figures as one value; absent figures are left out.
    pub fn canonical(&self) -> Value {
        let figures = [
            ("duration_ns", self.duration.map(Value::from)),
            ("input_tokens", self.input.map(Distribution::canonical)),
            ("output_tokens", self.output.map(Distribution::canonical)),
            ("prefix_hit_ppm", self.prefix.map(PrefixHit::canonical)),
            ("read", Some(self.counts.canonical())),
            ("rows_per_second", self.rate.map(Value::from)),
            ("ties", Some(self.ties.canonical())),
        ];
        present(figures)
    }
}

impl Distribution {
    /// Returns the distribution as one value.
    fn canonical(self) -> Value {
        object([("mean", self.mean.into()), ("p50", self.p50.into()), ("p99", self.p99.into())])
    }
}

impl PrefixHit {
    /// Returns the shares as one value; absent ones are left out.
    fn canonical(self) -> Value {
        present([
            ("full_blocks", self.full_blocks.map(Value::from)),
            ("ids", self.ids.map(Value::from)),
            ("tokens", self.tokens.map(Value::from)),
        ])
    }
}

impl Ties {
    /// Returns the ties as one value.
    fn canonical(self) -> Value {
        object([
            ("distinct_arrivals", Value::count(self.distinct)),
            ("largest", Value::count(self.largest)),
            ("rows", Value::count(self.rows)),
        ])
    }
}

/// Returns an object of what is present.
fn present<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(fields.collect())
}

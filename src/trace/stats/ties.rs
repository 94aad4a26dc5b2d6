//! Equal arrivals: where file order decides.

use crate::workload::Corpus;

/// How arrivals coincide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ties {
    /// Rows with the arrival of the row before.
    pub rows: u64,
    /// Different arrivals.
    pub distinct: u64,
    /// The most rows of one arrival.
    pub largest: u64,
}

impl Ties {
    /// Returns the ties of a corpus; rows without an arrival tie with nothing.
    pub fn of(corpus: &Corpus) -> Self {
        let arrivals: Vec<Option<f64>> = corpus.reader().rows().map(|row| row.arrival_ms).collect();
        let same = |pair: &&[Option<f64>]| pair[0].is_some() && bits(pair[0]) == bits(pair[1]);
        let mut sorted: Vec<f64> = arrivals.iter().copied().flatten().collect();
        sorted.sort_by(f64::total_cmp);
        let groups = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq());
        let (distinct, largest) = groups.fold((0, 0_usize), |(distinct, largest), group| {
            (distinct + 1, largest.max(group.len()))
        });
        Self {
            rows: arrivals.windows(2).filter(same).fold(0, |count, _| count + 1),
            distinct,
            largest: u64::try_from(largest).unwrap_or(u64::MAX),
        }
    }
}

/// Returns the bits of an arrival; readers never yield -0.
fn bits(arrival: Option<f64>) -> Option<u64> {
    arrival.map(f64::to_bits)
}

//! Could the client have measured what it says?

use std::fmt;

use crate::measure::{Distribution, Percentile, Statistic};
use crate::record::LiveRun;
use crate::units::{Nanos, Ppm};

use super::latency::lateness;

/// A sign that the client, not the server, decided what was measured. Source: cases LOAD L2 and L3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientLimit {
    /// The loop that reads and sends came late to its wakings: first tokens were read late as well. The 99th percentile.
    LoopLag(Nanos),
    /// Requests were taken up late. The 99th percentile; absent lanes are not counted, see [`ClientLimit::of`].
    Lateness(Nanos),
    /// The thread that reads and sends was never idle. Its share of time on a processor.
    Busy(Ppm),
    /// That thread was ready and had no processor. Its share of time.
    Starved(Ppm),
}

/// From here on a lag of the loop or a late start shows in first tokens.
const LATE: Nanos = Nanos::new(5_000_000);
/// From here on a thread has no time left to be on time.
const BUSY: u64 = 900_000;
/// From here on other programs decide when the thread runs.
const STARVED: u64 = 100_000;

impl ClientLimit {
    /// Returns every sign that the client was the limit; none means that its times can be trusted.
    ///
    /// Lateness is the client's only where nothing else holds requests back: `is_held_back` says that lanes keep an open loop waiting.
    pub fn of(run: &LiveRun, is_held_back: bool) -> Vec<Self> {
        let mut found = Vec::new();
        let lag = p99(run.client.loop_lags.iter().copied());
        found.extend(lag.filter(|lag| *lag > LATE).map(Self::LoopLag));
        if !is_held_back {
            let late = p99(run.measured().filter_map(lateness));
            found.extend(late.filter(|late| *late > LATE).map(Self::Lateness));
        }
        let share = |span: Option<Nanos>| Ppm::of(span?.get(), run.client.observed.get());
        let over = |share: Option<Ppm>, limit| share.filter(|share| share.get() >= limit);
        found.extend(over(share(run.client.busy), BUSY).map(Self::Busy));
        found.extend(over(share(run.client.waited), STARVED).map(Self::Starved));
        found
    }
}

/// Returns the 99th percentile of times, however few.
fn p99(times: impl IntoIterator<Item = Nanos>) -> Option<Nanos> {
    let distribution = Distribution::of(times)?;
    let wanted = Statistic::At(Percentile::P99);
    distribution.times().find(|(statistic, _)| *statistic == wanted).map(|(_, time)| time)
}

impl fmt::Display for ClientLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: Ppm| share.get() / 10_000;
        match *self {
            Self::LoopLag(lag) => {
                write!(f, "the client came {} ms late to what it was to read (p99)", lag.in_ms())
            }
            Self::Lateness(late) => {
                write!(f, "requests were taken up {} ms late (p99)", late.in_ms())
            }
            Self::Busy(share) => {
                write!(f, "the client's thread was busy {} % of the time", percent(share))
            }
            Self::Starved(share) => {
                write!(
                    f,
                    "the client's thread waited for a processor {} % of the time",
                    percent(share)
                )
            }
        }
    }
}

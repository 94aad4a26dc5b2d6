//! Wall time: the one place that reads a clock. It reaches stderr, `provenance.json` and measurements of the program itself,
//! never a report.

use std::time::{Duration, Instant, SystemTime};

/// Measures how long something of ours takes on this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    started: Instant,
}

impl Stopwatch {
    /// Starts.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the monotonic clock")]
    pub(crate) fn start() -> Self {
        Self { started: Instant::now() }
    }

    /// Returns the wall time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Returns the CPU time that this process's first thread has taken so far, where the system tells.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst: the first number of `schedstat` is nanoseconds on a CPU.
pub(crate) fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns the CPU time that all threads of this process have taken, where the system tells; it counts in steps of ten milliseconds.
pub(crate) fn process_cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold spaces. The 12th and 13th fields behind it count hundredths of a second.
    let (_, fields) = text.rsplit_once(')')?;
    let ticks = fields.split_ascii_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks = ticks.sum::<Result<u64, _>>().ok()?;
    Some(Duration::from_millis(10 * ticks))
}

/// Returns the calendar time.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the calendar clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns whether a file was last written more than a day ago: nothing of ours writes for that long.
pub(crate) fn is_older_than_a_day(file: &std::fs::Metadata) -> bool {
    let age = file.modified().ok().and_then(|modified| now().duration_since(modified).ok());
    age.is_some_and(|age| age > Duration::from_hours(24))
}

/// Returns the time in UTC as RFC 3339 writes it.
pub(crate) fn timestamp() -> String {
    jiff::Timestamp::try_from(now()).map_or_else(|_| "-".to_owned(), |time| time.to_string())
}

/// Returns the date in UTC.
pub(crate) fn date() -> String {
    timestamp().chars().take(10).collect()
}

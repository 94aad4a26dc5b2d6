//! What the client itself was like: how late its loop was, and how busy its thread.

use crate::record::ClientHealth;
use crate::replay::Wall;
use crate::units::Nanos;

/// How many lags are kept at the most; from then on every second one is, and so on.
const MOST_LAGS: usize = 1 << 16;

/// Watches the thread that it is made on.
#[derive(Debug)]
pub(super) struct Watch {
    wall: Wall,
    began: Nanos,
    times: Option<ThreadTimes>,
    lags: Vec<Nanos>,
    /// One of so many lags is kept.
    every: usize,
    seen: usize,
}

/// What the system says of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadTimes {
    /// Time on a processor.
    busy: Nanos,
    /// Time in which it was ready and had none.
    waited: Nanos,
}

impl Watch {
    /// Begins to watch the thread that asks.
    pub(super) fn begin(wall: Wall) -> Self {
        let (began, times) = (wall.now(), ThreadTimes::now());
        Self { wall, began, times, lags: Vec::new(), every: 1, seen: 0 }
    }

    /// Takes in how long the loop took to come to a waking.
    pub(super) fn lag(&mut self, lag: Nanos) {
        if self.seen.is_multiple_of(self.every) {
            self.lags.push(lag);
        }
        self.seen += 1;
        if self.lags.len() >= MOST_LAGS {
            let mut keeps = false;
            self.lags.retain(|_| {
                keeps = !keeps;
                keeps
            });
            self.every *= 2;
        }
    }

    /// Returns what was seen.
    pub(super) fn end(self) -> ClientHealth {
        let observed = self.wall.now().since(self.began).unwrap_or_default();
        let times = self.times.zip(ThreadTimes::now());
        let span = |of: fn(ThreadTimes) -> Nanos| {
            times.and_then(|(before, after)| of(after).since(of(before)))
        };
        ClientHealth {
            loop_lags: self.lags,
            observed,
            busy: span(|times| times.busy),
            waited: span(|times| times.waited),
        }
    }
}

impl ThreadTimes {
    /// Returns those of the thread that asks; `None` where the system does not tell.
    ///
    /// Source: Linux, `/proc/thread-self/schedstat`: nanoseconds on a processor, nanoseconds waiting for one, slices.
    fn now() -> Option<Self> {
        Self::read(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
    }

    /// Reads what the system says.
    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(|word| word.parse().ok().map(Nanos::new));
        Some(Self { busy: numbers.next()??, waited: numbers.next()?? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_thread_are_read_as_the_system_writes_them() {
        let (busy, waited) = (Nanos::new(120), Nanos::new(7));
        assert_eq!(ThreadTimes::read("120 7 3\n"), Some(ThreadTimes { busy, waited }));
        assert_eq!(ThreadTimes::read(""), None);
        assert_eq!(ThreadTimes::read("1 x 2"), None);
    }

    #[test]
    fn lags_are_thinned_out_evenly_and_memory_is_bounded() {
        let mut watch = Watch::begin(Wall::start());
        for lag in 0..200_000 {
            watch.lag(Nanos::new(lag));
        }
        let lags = watch.end().loop_lags;
        assert!(lags.len() < MOST_LAGS && lags.len() > MOST_LAGS / 4);
        assert!(lags.is_sorted());
        let steps: Vec<u64> = lags.windows(2).map(|two| two[1].get() - two[0].get()).collect();
        assert!(steps.iter().all(|step| *step == steps[0]), "every n-th of all");
    }
}

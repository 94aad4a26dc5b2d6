//! How many requests were in flight at once: as asked, and as the wire had them.

use crate::record::{LiveRequest, LiveRun};
use crate::units::Nanos;

/// How many requests were in flight at once, at the most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Given to the client and not ended.
    pub asked: u64,
    /// On a connection that stood and not ended.
    pub observed: u64,
}

impl InFlight {
    /// Returns the peaks of what is measured.
    pub fn of(run: &LiveRun) -> Self {
        let asked = |request: &LiveRequest| Some(request.scheduled);
        let observed = |request: &LiveRequest| request.exchange.sent;
        Self { asked: peak(run, asked), observed: peak(run, observed) }
    }
}

/// Returns the most requests at once, from an instant of theirs to their end. One that ends makes room for one that starts then.
fn peak(run: &LiveRun, start: impl Fn(&LiveRequest) -> Option<Nanos>) -> u64 {
    let mut steps: Vec<(Nanos, i64)> = Vec::new();
    for request in run.measured() {
        if let Some(start) = start(request) {
            // A request without any duration has been there all the same.
            let end = Nanos::new(request.exchange.end.get().max(start.get() + 1));
            steps.extend([(start, 1), (end, -1)]);
        }
    }
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    u64::try_from(most).expect("as many end as start")
}

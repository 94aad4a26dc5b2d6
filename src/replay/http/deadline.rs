//! How long an exchange may go on, limit by limit.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::record::Limit;
use crate::replay::Wall;
use crate::units::Nanos;
use crate::workload::live::Timeouts;

/// Where an exchange stands, for its limits.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stage {
    /// No connection stands; one is being opened since this instant.
    Connecting(Nanos),
    /// The request is on its way since this last write, and nothing has come.
    Waiting(Nanos),
    /// Bytes come; the last did at this instant.
    Reading(Nanos),
}

/// The limits of an exchange. One timer serves all of them: it is set to the earliest instant at which any limit could be broken and
/// looks at the clock then, so that a read costs nothing.
#[derive(Debug)]
pub(super) struct Deadline {
    limits: Timeouts,
    begun: Nanos,
    wall: Wall,
    timer: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Deadline {
    /// Returns the limits of an exchange that begins.
    pub(super) fn new(limits: Timeouts, begun: Nanos, wall: Wall) -> Self {
        Self { limits, begun, wall, timer: None }
    }

    /// Returns the limit that is broken, once one is.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, stage: Stage) -> Poll<Limit> {
        loop {
            if let Some(timer) = &mut self.timer
                && timer.as_mut().poll(cx).is_pending()
            {
                return Poll::Pending;
            }
            let now = self.wall.now();
            let Some((due, limit)) = self.next(stage) else { return Poll::Pending };
            if now >= due {
                return Poll::Ready(limit);
            }
            // A later stage may have an earlier end, which lies at least its own limit ahead.
            let wake = due.min(plus(now, self.shortest()));
            let wait = Duration::from_nanos(wake.since(now).unwrap_or_default().get());
            self.timer = Some(Box::pin(tokio::time::sleep(wait)));
        }
    }

    /// Returns the limit that is broken first at this stage, and when.
    fn next(&self, stage: Stage) -> Option<(Nanos, Limit)> {
        let (limit, since, name) = match stage {
            Stage::Connecting(since) => (self.limits.connect, since, Limit::Connect),
            Stage::Waiting(sent) => (self.limits.first_byte, sent, Limit::FirstByte),
            Stage::Reading(read) => (self.limits.idle, read, Limit::Idle),
        };
        let total = self.limits.total.map(|limit| (plus(self.begun, limit), Limit::Total));
        let of_stage = limit.map(|limit| (plus(since, limit), name));
        total.into_iter().chain(of_stage).min_by_key(|(due, _)| *due)
    }

    /// Returns the shortest limit.
    fn shortest(&self) -> Nanos {
        let limits = &self.limits;
        let all = [limits.connect, limits.first_byte, limits.idle, limits.total];
        all.into_iter().flatten().min().unwrap_or_default()
    }
}

/// Returns a later instant.
fn plus(instant: Nanos, span: Nanos) -> Nanos {
    Nanos::new(instant.get().saturating_add(span.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_counts_from_its_own_beginning_and_the_earliest_end_counts() {
        let ns = Nanos::new;
        let limits = Timeouts {
            connect: Some(ns(10)),
            first_byte: Some(ns(20)),
            idle: Some(ns(30)),
            total: Some(ns(1000)),
        };
        let deadline = Deadline::new(limits, ns(5), Wall::start());
        let next = |stage| deadline.next(stage).expect("there are limits");
        // A connection that replaces a stale one has all of its time.
        assert_eq!(next(Stage::Connecting(ns(700))), (ns(710), Limit::Connect));
        assert_eq!(next(Stage::Waiting(ns(700))), (ns(720), Limit::FirstByte));
        assert_eq!(next(Stage::Reading(ns(700))), (ns(730), Limit::Idle));
        assert_eq!(next(Stage::Reading(ns(990))), (ns(1005), Limit::Total));
        let none = Timeouts { connect: None, first_byte: None, idle: None, total: None };
        assert_eq!(Deadline::new(none, ns(5), Wall::start()).next(Stage::Waiting(ns(7))), None);
    }
}

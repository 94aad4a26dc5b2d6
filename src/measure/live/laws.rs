//! Laws that every live run obeys. A broken one is a bug of this program.

use crate::record::{LiveOutcome, LiveRequest, LiveRun};
use crate::units::{Nanos, Tokens};

use super::latency::{chunk_gaps, e2e, ttft};

/// A law of live runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiveLaw {
    /// No request is given to the client before it was intended.
    NeverEarly,
    /// The instants of a request are in order.
    InOrder,
    /// TTFT and the gaps of a request add up to the time to its last output, and there is one gap less than messages with output.
    GapsAddUp,
    /// A call of an instance is sent once in a phase.
    SentOnce,
    /// A completed request brought output, or the server counts output that has no text.
    CompletedHasOutput,
}

/// A broken law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveViolation {
    /// Which.
    pub law: LiveLaw,
    /// Where: an index of the run's requests.
    pub request: usize,
}

impl LiveLaw {
    /// Every law.
    pub const ALL: [Self; 5] = [
        Self::NeverEarly,
        Self::InOrder,
        Self::GapsAddUp,
        Self::SentOnce,
        Self::CompletedHasOutput,
    ];

    /// Returns its name, which docs/metrics.md explains.
    pub const fn id(self) -> &'static str {
        match self {
            Self::NeverEarly => "LIVE-1",
            Self::InOrder => "LIVE-2",
            Self::GapsAddUp => "LIVE-3",
            Self::SentOnce => "LIVE-4",
            Self::CompletedHasOutput => "LIVE-5",
        }
    }

    /// Returns every broken law, the first place of each.
    pub fn violations(run: &LiveRun) -> Vec<LiveViolation> {
        let broken = |law: Self| {
            let at = match law {
                Self::NeverEarly => run.requests.iter().position(|it| it.scheduled < it.intended),
                Self::InOrder => run.requests.iter().position(|it| !instants(it).is_sorted()),
                Self::GapsAddUp => run.requests.iter().position(|it| !gaps_add_up(it)),
                Self::SentOnce => sent_twice(run),
                Self::CompletedHasOutput => run
                    .requests
                    .iter()
                    .position(|it| it.outcome() == LiveOutcome::Completed && !has_output(it)),
            };
            at.map(|request| LiveViolation { law, request })
        };
        Self::ALL.into_iter().filter_map(broken).collect()
    }
}

/// Returns the instants of a request in the order that they should be in.
fn instants(request: &LiveRequest) -> Vec<Nanos> {
    let exchange = &request.exchange;
    let mut all = vec![request.scheduled, exchange.begun];
    all.extend([exchange.sent, exchange.first_byte, exchange.headers].into_iter().flatten());
    all.extend(exchange.events.iter().map(|event| event.at));
    all.push(exchange.end);
    all
}

/// Returns whether gaps and messages of a request fit one another.
fn gaps_add_up(request: &LiveRequest) -> bool {
    let (Some(ttft), Some(e2e)) = (ttft(request), e2e(request)) else { return true };
    let gaps: Vec<Nanos> = chunk_gaps(request).collect();
    let sum: u64 = gaps.iter().map(|gap| gap.get()).sum();
    gaps.len() + 1 == request.exchange.outputs().count() && ttft.get() + sum == e2e.get()
}

/// Returns whether a request brought output, or stopped and the server counts tokens of it: the end of a text can be all there is.
fn has_output(request: &LiveRequest) -> bool {
    let exchange = &request.exchange;
    let counted = exchange.usage.and_then(|usage| usage.output).unwrap_or_default();
    exchange.outputs().next().is_some()
        || exchange.finish_reason.is_some() && counted > Tokens::ZERO
}

/// Returns a request whose call had been sent before.
fn sent_twice(run: &LiveRun) -> Option<usize> {
    let mut seen = std::collections::BTreeSet::new();
    let is_new = |it: &LiveRequest| (it.instance, it.call, it.phase);
    run.requests.iter().position(|request| !seen.insert(is_new(request)))
}

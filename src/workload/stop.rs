//! When a run ends.

use crate::digest::canonical::{Value, object};
use crate::units::SimTime;

use super::Load;

/// When a run ends: after a count, at a virtual time, or both.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stop {
    /// After how many requests (sessions, for a session source).
    pub count: Option<StopCount>,
    /// The soft cut: events at this instant run, the first one after it ends the run.
    pub virtual_time: Option<SimTime>,
}

/// How many requests or sessions there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopCount {
    /// This many requests.
    Requests(u64),
    /// This many sessions.
    Sessions(u64),
    /// This many requests for each unit of load (a concurrent request, or an arrival a second).
    RequestsPerLoadUnit(f64),
    /// This many sessions for each unit of load.
    SessionsPerLoadUnit(f64),
}

impl StopCount {
    /// Returns the count under `load`, or `None` where a relative count meets a load without a unit.
    ///
    /// Relative counts round half to even and are at least 1. Source: spec/PREDICT.md §2.3, oracle case 019.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturating is right for a count"
    )]
    pub fn resolve(self, load: &Load) -> Option<u64> {
        match self {
            Self::Requests(count) | Self::Sessions(count) => Some(count),
            Self::RequestsPerLoadUnit(each) | Self::SessionsPerLoadUnit(each) => {
                load.units().map(|units| ((each * units).round_ties_even() as u64).max(1))
            }
        }
    }
}

impl Stop {
    /// Returns the canonical description.
    pub(crate) fn canonical(&self) -> Value {
        let count = match self.count {
            None => Value::Null,
            Some(StopCount::Requests(count)) => object([("requests", Value::count(count))]),
            Some(StopCount::Sessions(count)) => object([("sessions", Value::count(count))]),
            Some(StopCount::RequestsPerLoadUnit(each)) => {
                object([("requests_per_load_unit", Value::real(each))])
            }
            Some(StopCount::SessionsPerLoadUnit(each)) => {
                object([("sessions_per_load_unit", Value::real(each))])
            }
        };
        let time = self.virtual_time.map_or(Value::Null, |time| Value::real(time.as_ms()));
        object([("count", count), ("virtual_time_ms", time)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_counts_round_half_to_even_and_are_at_least_one() {
        let load = |concurrency| Load::Concurrency { concurrency };
        assert_eq!(StopCount::RequestsPerLoadUnit(2.5).resolve(&load(5)), Some(12));
        assert_eq!(StopCount::RequestsPerLoadUnit(3.5).resolve(&load(1)), Some(4));
        assert_eq!(StopCount::SessionsPerLoadUnit(0.01).resolve(&load(3)), Some(1));
        assert_eq!(
            StopCount::RequestsPerLoadUnit(1.0).resolve(&Load::TraceTimestamps { speedup: 1.0 }),
            None
        );
    }
}

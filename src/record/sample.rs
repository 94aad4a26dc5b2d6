//! A record for tests of this layer.

use crate::units::{SimTime, Tokens};
use crate::workload::SessionName;

use super::{Admission, Outcome, RequestRecord};

/// Returns a time in milliseconds.
pub(super) fn time(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("a time")
}

/// Returns a completed request of two tokens.
pub(super) fn request(index: u64, arrival_ms: f64) -> RequestRecord {
    RequestRecord {
        index,
        session: SessionName::Synthetic(index),
        turn: 0,
        line: Some(index + 1),
        request_id: None,
        arrival: time(arrival_ms),
        input: Tokens::new(64),
        requested_output: Tokens::new(2),
        output: Tokens::new(2),
        rank: Some(0),
        admissions: vec![Admission {
            at: time(arrival_ms),
            reused: Tokens::new(16),
            from_host: None,
        }],
        handoff: None,
        first_token: Some(time(arrival_ms + 5.0)),
        second_token: Some(time(arrival_ms + 7.0)),
        last_token: Some(time(arrival_ms + 7.0)),
        terminal: Some(time(arrival_ms + 7.0)),
        outcome: Some(Outcome::Completed),
        refusal: None,
    }
}

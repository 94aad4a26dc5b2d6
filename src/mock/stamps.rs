//! When the server wrote what, on the machine's monotonic clock: the truth that a client's stamps are held against.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::replay::Wall;
use crate::units::Nanos;

/// How many instants are kept at the most; those of later answers are counted and dropped.
const MOST_INSTANTS: usize = 1 << 22;

/// When the server wrote one answer. Instants count from the epoch of [`Stamps::wall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerStamps {
    /// The request's number, from 1, in the order in which requests reached the server.
    pub number: u64,
    /// The request's `X-Request-ID`.
    pub request_id: Option<String>,
    /// When the request was there as a whole.
    pub taken: Nanos,
    /// When each message that holds output was given to the connection, which writes it at once.
    pub outputs: Vec<Nanos>,
    /// When nothing of the answer was left.
    pub end: Nanos,
}

/// What a server has written and counted so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamps {
    /// The clock: an instant of it on the machine's own clock is the epoch and the instant.
    pub wall: Wall,
    /// The answers that ended, in that order.
    pub answers: Vec<AnswerStamps>,
    /// Answers whose instants were too many to be kept.
    pub dropped: u64,
    /// Connections that were accepted.
    pub connections: u64,
    /// Requests that arrived.
    pub requests: u64,
    /// The most requests that were in flight at one time.
    pub most_in_flight: u64,
}

/// Keeps the stamps of a server.
#[derive(Debug)]
pub(crate) struct StampLog {
    wall: Wall,
    kept: Mutex<Kept>,
}

/// What is kept.
#[derive(Debug, Default)]
struct Kept {
    answers: Vec<AnswerStamps>,
    instants: usize,
    dropped: u64,
    connections: u64,
    requests: u64,
    in_flight: u64,
    most_in_flight: u64,
    first: Option<Nanos>,
}

impl StampLog {
    /// Returns an empty log over a clock.
    pub(crate) fn new(wall: Wall) -> Self {
        Self { wall, kept: Mutex::default() }
    }

    /// Returns the clock.
    pub(crate) fn wall(&self) -> Wall {
        self.wall
    }

    /// Counts a connection.
    pub(crate) fn connect(&self) {
        self.lock().connections += 1;
    }

    /// Counts a request that arrived at `at`; returns its number and when the first of all arrived.
    pub(crate) fn arrive(&self, at: Nanos) -> (u64, Nanos) {
        let mut kept = self.lock();
        kept.requests += 1;
        kept.in_flight += 1;
        kept.most_in_flight = kept.most_in_flight.max(kept.in_flight);
        (kept.requests, *kept.first.get_or_insert(at))
    }

    /// Notes an answer that has ended, or whose client has gone.
    pub(crate) fn end(&self, answer: AnswerStamps) {
        let mut kept = self.lock();
        kept.in_flight -= 1;
        if kept.instants + answer.outputs.len() > MOST_INSTANTS {
            kept.dropped += 1;
            return;
        }
        // An answer without output takes room too.
        kept.instants += answer.outputs.len() + 1;
        kept.answers.push(answer);
    }

    /// Takes the answers that have ended since the last call.
    pub(crate) fn take(&self) -> Stamps {
        let mut kept = self.lock();
        kept.instants = 0;
        Stamps {
            wall: self.wall,
            answers: std::mem::take(&mut kept.answers),
            dropped: std::mem::take(&mut kept.dropped),
            connections: kept.connections,
            requests: kept.requests,
            most_in_flight: kept.most_in_flight,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

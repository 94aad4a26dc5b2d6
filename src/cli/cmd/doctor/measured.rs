//! What was measured, and what of it can be trusted.

use std::net::SocketAddr;

use crate::cli::args::{DoctorArgs, Format};
use crate::cli::cmd::served::Served;
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Code, Problem};
use crate::mock::proof::{Load, Pace, Ran, Spread, Truth, run as run_load, truth, wakeups};
use crate::units::{Micros6, Nanos};

/// The script: the first output, and the gap between others.
const SCRIPT: (Nanos, Nanos) = (Nanos::new(50_000_000), Nanos::new(10_000_000));
/// Tokens of an answer.
const TOKENS: u64 = 50;
/// Requests in flight.
const LEVELS: [u64; 3] = [1, 32, 256];
/// How many answers follow each other in each place.
const ANSWERS_IN_TURN: u64 = 4;
/// Requests a second.
const RATES: [u64; 4] = [100, 250, 500, 1000];
/// How long each rate is sent.
const RATE_SECONDS: u64 = 2;
/// How often it is measured how late the timer wakes a loop, and how far its instants are apart.
const WAKEUPS: (u64, Nanos) = (500, Nanos::new(1_000_000));
/// What a median and a 99th percentile of a time may be off by.
pub(super) const OFF: (Nanos, Nanos) = (Nanos::new(300_000), Nanos::new(3_000_000));
/// How late the 99th percentile of requests may be sent.
pub(super) const LATE: Nanos = Nanos::new(2_000_000);

/// What came of so many in flight, or of so many a second.
#[derive(Debug)]
pub(super) struct Row {
    /// How many were asked for.
    pub(super) asked: u64,
    /// How many were in flight at most.
    pub(super) reached: u64,
    /// Requests a second by the script.
    pub(super) planned: Option<Micros6>,
    /// Requests a second as measured.
    pub(super) rate: Option<Micros6>,
    /// The client's stamps against the server's.
    pub(super) truth: Truth,
}

/// All that was measured.
#[derive(Debug)]
pub(super) struct Found {
    /// How late the timer wakes a loop that does nothing else.
    pub(super) wakeup: Option<Spread>,
    /// So many in flight.
    pub(super) levels: Vec<Row>,
    /// So many a second.
    pub(super) rates: Vec<Row>,
}

/// Runs the command.
pub(in crate::cli::cmd) fn run(args: &DoctorArgs, context: &Context) -> Result<Exit, Failure> {
    context.detail("measuring how late the timer wakes a loop");
    let wakeup = wakeups(WAKEUPS.0, WAKEUPS.1).map_err(|error| failed(&error))?;
    let served = Served::start(&["--first-token", "50ms", "--gap", "10ms"])?;
    let level = |in_flight: &u64| {
        context.detail(&format!("measuring {in_flight} in flight"));
        Row::of_level(served.address(), *in_flight)
    };
    let (in_flight, per_second) = asked(args);
    let levels = in_flight.iter().map(level).collect::<Result<_, _>>()?;
    let rate = |asked: &u64| {
        context.detail(&format!("measuring {asked} requests a second"));
        Row::of_rate(served.address(), *asked)
    };
    let rates = per_second.iter().map(rate).collect::<Result<_, _>>()?;
    let found = Found { wakeup, levels, rates };
    print(match args.format {
        Format::Table => found.table().into_bytes(),
        Format::Json => found.json().to_document(),
    })?;
    Ok(if args.strict && !found.is_all_safe() { Exit::Drift } else { Exit::Success })
}

/// Returns how many in flight and a second are measured: what is asked for, or all of the usual.
fn asked(args: &DoctorArgs) -> (Vec<u64>, Vec<u64>) {
    if args.in_flight.is_empty() && args.per_second.is_empty() {
        return (LEVELS.to_vec(), RATES.to_vec());
    }
    (args.in_flight.clone(), args.per_second.clone())
}

/// Returns the failure of a measurement.
fn failed(error: &std::io::Error) -> Failure {
    let message = format!("cannot measure against the mock server: {error}");
    Failure::new(Exit::JobFailed, Problem::new(Code::MockStart, message))
}

/// Runs a load.
fn measure(address: SocketAddr, pace: Pace, requests: u64, tokens: u64) -> Result<Ran, Failure> {
    run_load(&Load { address, pace, requests, tokens }).map_err(|error| failed(&error))
}

/// Returns whether times are off by so little that they can be trusted.
fn is_close(spread: Option<Spread>) -> bool {
    spread.is_none_or(|spread| spread.p50 <= OFF.0 && spread.p99 <= OFF.1)
}

impl Row {
    /// Measures so many in flight.
    fn of_level(address: SocketAddr, in_flight: u64) -> Result<Self, Failure> {
        let requests = in_flight * ANSWERS_IN_TURN;
        let ran = measure(address, Pace::InFlight(in_flight), requests, TOKENS)?;
        let lasts = SCRIPT.0.get() + SCRIPT.1.get() * (TOKENS - 1);
        Ok(Self {
            asked: in_flight,
            reached: ran.most_in_flight(),
            planned: Micros6::per_second(u128::from(in_flight), lasts),
            rate: ran.per_second(requests),
            truth: truth(&ran, SCRIPT.0, SCRIPT.1),
        })
    }

    /// Measures so many a second.
    fn of_rate(address: SocketAddr, asked: u64) -> Result<Self, Failure> {
        let gap = Nanos::new(1_000_000_000 / asked);
        let ran = measure(address, Pace::Every(gap), asked * RATE_SECONDS, 1)?;
        Ok(Self {
            asked,
            reached: ran.most_in_flight(),
            planned: Micros6::per_second(u128::from(asked), 1_000_000_000),
            rate: ran.begun_per_second(),
            truth: truth(&ran, SCRIPT.0, SCRIPT.1),
        })
    }

    /// Returns how far the rate is from the script's, in thousandths of the script's.
    pub(super) fn rate_off(&self) -> Option<u128> {
        let (planned, rate) = (self.planned?.millionths(), self.rate?.millionths());
        (planned.abs_diff(rate) * 1000).checked_div(planned)
    }

    /// Returns whether what is measured with so many in flight can be trusted.
    pub(super) fn is_level_safe(&self) -> bool {
        let truth = &self.truth;
        let is_whole = truth.matched > 0 && truth.lost == 0 && self.reached >= self.asked;
        is_whole && is_close(truth.first) && is_close(truth.gaps)
    }

    /// Returns whether requests at this rate are sent when they are to be, and their times can be trusted.
    pub(super) fn is_rate_safe(&self) -> bool {
        let is_timely = self.truth.lateness.is_some_and(|spread| spread.p99 <= LATE);
        self.truth.lost == 0 && is_timely && is_close(self.truth.first)
    }
}

impl Found {
    /// Returns the most in flight that is safe, whatever fewer were; nothing where none is.
    pub(super) fn safe_level(&self) -> Option<u64> {
        self.levels.iter().filter(|row| row.is_level_safe()).map(|row| row.asked).max()
    }

    /// Returns the highest rate that is safe, whatever lower ones were; nothing where none is.
    pub(super) fn safe_rate(&self) -> Option<u64> {
        self.rates.iter().filter(|row| row.is_rate_safe()).map(|row| row.asked).max()
    }

    /// Returns whether every row is safe.
    fn is_all_safe(&self) -> bool {
        self.levels.iter().all(Row::is_level_safe) && self.rates.iter().all(Row::is_rate_safe)
    }
}

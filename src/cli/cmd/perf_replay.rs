//! `bench perf replay`: what live traffic must be measured with, against the bars.

use super::doctor::{both, spread_json, whole};
use super::perf_first;
use super::served::Served;
use crate::cli::args::{Format, PerfReplayArgs};
use crate::cli::{Align, Context, Exit, Failure, columns, print};
use crate::diag::{Code, Problem};
use crate::digest::canonical::{Value, object};
use crate::mock::proof::{
    Load, Pace, Planned, Ran, Spread, Truth, run as run_load, run_planned, truth,
};
use crate::units::Nanos;

/// What a median and a 99th percentile may be off by at 256 streams.
const OFF: (Nanos, Nanos) = (Nanos::new(300_000), Nanos::new(3_000_000));
/// How late the 99th percentile of requests may be sent at 500 a second.
const LATE: Nanos = Nanos::new(2_000_000);
/// Answers of one token a second, at the least.
const ANSWERS_A_SECOND: u64 = 2_500;
/// Messages of streams a second, at the least.
const MESSAGES_A_SECOND: u64 = 60_000;
/// Bytes that the process may hold at the most.
const MOST_BYTES: u64 = 100 << 20;

/// How long it may take from a command to its first request.
const FIRST: Nanos = Nanos::new(500_000_000);

/// A figure and its bar.
struct Bar {
    name: &'static str,
    found: String,
    limit: String,
    holds: bool,
    value: Value,
}

/// Runs the command.
pub(super) fn run(args: &PerfReplayArgs, _context: &Context) -> Result<Exit, Failure> {
    let (first, gap) = (Nanos::new(50_000_000), Nanos::new(10_000_000));
    let mut bars = Vec::new();
    {
        let served = Served::start(&["--first-token", "50ms", "--gap", "10ms"])?;
        let streams = measure(&served, Pace::InFlight(256), 1024, 50)?;
        let held = super::predict::peak_gb();
        let found = truth(&streams, first, gap);
        bars.push(off("TTFT off at 256 streams, ms p50 / p99", found.first, &found));
        bars.push(off("gap off at 256 streams, ms p50 / p99", found.gaps, &found));
        bars.extend(held.map(memory));
        let paced = measure(&served, Pace::Every(Nanos::new(2_000_000)), 2000, 1)?;
        bars.push(late(&truth(&paced, first, gap)));
        let run = late(&truth(&planned(&served)?, first, gap));
        bars.push(Bar { name: "the same as a job runs it, ms p50 / p99", ..run });
    }
    let served = Served::start(&["--fast"])?;
    // What counts is what the server wrote and the client read.
    let answers = measure(&served, Pace::InFlight(64), 20_000, 1)?;
    let found = truth(&answers, Nanos::ZERO, Nanos::ZERO);
    bars.push(speed("answers of one token a second", found.matched, &answers, ANSWERS_A_SECOND));
    let streams = measure(&served, Pace::InFlight(32), 800, 500)?;
    let found = truth(&streams, Nanos::ZERO, Nanos::ZERO);
    bars.push(speed("streamed messages a second", found.outputs, &streams, MESSAGES_A_SECOND));
    bars.push(begun(perf_first::first_request(&served)?));
    print(match args.format {
        Format::Table => table(&bars).into_bytes(),
        Format::Json => json(&bars).to_document(),
    })?;
    let misses = bars.iter().any(|bar| !bar.holds);
    Ok(if args.strict && misses { Exit::Drift } else { Exit::Success })
}

/// Runs a load against a server.
fn measure(served: &Served, pace: Pace, requests: u64, tokens: u64) -> Result<Ran, Failure> {
    let load = Load { address: served.address(), pace, requests, tokens };
    run_load(&load).map_err(|error| unmeasured(&error))
}

/// Runs a job of 500 requests a second against a server.
fn planned(served: &Served) -> Result<Ran, Failure> {
    let (address, gap) = (served.address(), Nanos::new(2_000_000));
    let load = Planned { address, gap, requests: 2000, tokens: 1 };
    run_planned(&load).map_err(|error| unmeasured(&error))
}

/// Returns the failure of a load that nothing is known of.
fn unmeasured(error: &std::io::Error) -> Failure {
    let message = format!("cannot measure against the mock server: {error}");
    Failure::new(Exit::JobFailed, Problem::new(Code::MockStart, message))
}

/// Returns the bar of what times are off by.
fn off(name: &'static str, spread: Option<Spread>, truth: &Truth) -> Bar {
    let is_close = spread.is_some_and(|spread| spread.p50 <= OFF.0 && spread.p99 <= OFF.1);
    Bar {
        name,
        found: both(spread).join(" / "),
        limit: format!("{:.1} / {:.1}", OFF.0.as_ms(), OFF.1.as_ms()),
        holds: is_close && truth.lost == 0,
        value: spread_json(spread),
    }
}

/// Returns the bar of how late requests are sent.
fn late(truth: &Truth) -> Bar {
    Bar {
        name: "late at 500 requests a second, ms p50 / p99",
        found: both(truth.lateness).join(" / "),
        limit: format!("- / {:.1}", LATE.as_ms()),
        holds: truth.lateness.is_some_and(|spread| spread.p99 <= LATE) && truth.lost == 0,
        value: spread_json(truth.lateness),
    }
}

/// Returns the bar of memory.
fn memory(gigabytes: f64) -> Bar {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a process holds less than 2^53 bytes"
    )]
    let bytes = (gigabytes * 1e9).round() as u64;
    Bar {
        name: "most memory held at 256 streams, MiB",
        found: (bytes >> 20).to_string(),
        limit: (MOST_BYTES >> 20).to_string(),
        holds: bytes <= MOST_BYTES,
        value: Value::count(bytes),
    }
}

/// Returns the bar of a speed.
fn speed(name: &'static str, count: u64, ran: &Ran, least: u64) -> Bar {
    let each = ran.per_second(count);
    Bar {
        name,
        found: whole(each),
        limit: format!("at least {least}"),
        holds: each.is_some_and(|each| each.millionths() >= u128::from(least) * 1_000_000),
        value: each.map_or(Value::Null, Value::from),
    }
}

/// Returns the bar of the time from a command to its first request.
fn begun(found: Nanos) -> Bar {
    Bar {
        name: "from command to first request, ms",
        found: format!("{:.3}", found.as_ms()),
        limit: format!("{:.0}", FIRST.as_ms()),
        holds: found <= FIRST,
        value: Value::count(found.get()),
    }
}

/// Returns the figures as a table.
fn table(bars: &[Bar]) -> String {
    let mut rows = vec![["bar", "found", "limit", "holds"].map(str::to_owned).to_vec()];
    for bar in bars {
        let holds = if bar.holds { "yes" } else { "no" };
        rows.push(vec![
            bar.name.to_owned(),
            bar.found.clone(),
            bar.limit.clone(),
            holds.to_owned(),
        ]);
    }
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns the figures as JSON.
fn json(bars: &[Bar]) -> Value {
    let one = |bar: &Bar| {
        object([
            ("bar", Value::text(bar.name)),
            ("found", bar.value.clone()),
            ("holds", Value::Bool(bar.holds)),
            ("limit", Value::text(&bar.limit)),
        ])
    };
    object([("bars", Value::List(bars.iter().map(one).collect()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a truth whose times are all off by this median and 99th percentile.
    fn found(p50: Nanos, p99: Nanos, lost: u64) -> Truth {
        let spread = Some(Spread { count: 1, p50, p99, max: p99 });
        Truth {
            first: spread,
            gaps: spread,
            first_of_script: spread,
            gaps_of_script: spread,
            lateness: spread,
            matched: 1,
            lost,
            outputs: 1,
        }
    }

    #[test]
    fn a_bar_holds_at_its_limit_and_not_beyond_it_nor_where_answers_are_lost() {
        let over = |limit: Nanos| Nanos::new(limit.get() + 1);
        for (p50, p99, lost, holds) in [
            (OFF.0, OFF.1, 0, true),
            (over(OFF.0), OFF.1, 0, false),
            (OFF.0, over(OFF.1), 0, false),
            (OFF.0, OFF.1, 1, false),
        ] {
            let found = found(p50, p99, lost);
            assert_eq!(off("", found.first, &found).holds, holds, "{found:?}");
        }
        assert!(late(&found(LATE, LATE, 0)).holds && !late(&found(LATE, over(LATE), 0)).holds);
        assert!(!late(&Truth { lateness: None, ..found(LATE, LATE, 0) }).holds);
        assert!(begun(FIRST).holds && !begun(over(FIRST)).holds);
        assert!(memory(0.104_857_6).holds && !memory(0.104_857_601).holds);
    }

    #[test]
    fn bars_are_told_as_a_table_and_as_json_with_what_was_found() {
        let found = found(OFF.0, LATE, 0);
        let bars = [off("TTFT off", found.first, &found), late(&found)];
        assert!(table(&bars).contains("0.300 / 2.000  0.3 / 3.0    yes"), "{}", table(&bars));
        let json: serde_json::Value =
            serde_json::from_slice(&json(&bars).to_document()).expect("JSON");
        assert_eq!(json["bars"][0]["found"]["p99_ns"], 2_000_000);
        assert_eq!(json["bars"][1]["holds"], true);
    }
}

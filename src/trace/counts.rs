//! What a reader saw and let through.

use std::collections::BTreeMap;

use crate::diag::{Code, Problem, agreed, counted};
use crate::digest::canonical::{Value, object};
use crate::units::{Micros6, Nanos};

use super::tolerated::{
    CONFLICT, MISFIT, NO_HASHES, NO_OUTPUT, NO_TIMESTAMP, ORPHAN, REPEATED, SURPLUS, UNSORTED,
};

/// A shorter span than this, in milliseconds, is most likely one in the wrong unit.
const SHORT_SPAN_MS: f64 = 1_000.0;
/// A longer span than this, in milliseconds (seven days), is most likely one in the wrong unit.
const LONG_SPAN_MS: f64 = 604_800_000.0;

/// How a span is shown that is longer than a clock of nanoseconds can count.
pub const TOO_LONG: &str = "more than 2^64 ns";

/// What a reader saw and let through. Only counts; each is of the rows that were kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadCounts {
    /// Rows kept.
    pub rows: u64,
    /// Sessions; a row that stands alone is one.
    pub sessions: u64,
    /// Blank lines skipped.
    pub blank_lines: u64,
    /// Rows with a key that the format does not know, by key.
    pub unknown_keys: BTreeMap<String, u64>,
    /// Rows with a key that the format knows and that changes nothing here (priorities), by key.
    pub unused_keys: BTreeMap<String, u64>,
    /// Sessions that arrive before the session above them.
    pub unsorted_rows: u64,
    /// Sessions without an arrival.
    pub missing_timestamps: u64,
    /// Rows without hash ids where ids are expected: their prompts are unique.
    pub missing_hash_ids: u64,
    /// Rows with more hash ids than their prompt has blocks.
    pub extra_hash_ids: u64,
    /// Rows whose hash ids are there and ignored, because the pin says that there are none.
    pub ignored_hash_ids: u64,
    /// Rows of requests that failed, as their output of 0 says, where they are let through.
    pub without_output: u64,
    /// Rows and records in which two fields contradict each other, where they are let through: the first counts.
    pub conflicts: u64,
    /// Records that repeat one above and were left out, where that is let through.
    pub repeated: u64,
    /// Sessions whose parent is not in the recording, where that is let through: they are roots.
    pub orphans: u64,
    /// Requests whose hashes do not fit their prompt, where that is let through.
    pub misfit_hashes: u64,
    /// Rows with the arrival of the row before.
    pub ties: u64,
    /// From the first arrival to the last.
    pub span: Option<ArrivalSpan>,
}

/// The first and last arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivalSpan {
    /// The earliest arrival as the file says it: what runs subtract. Text for calendar times, else milliseconds.
    pub origin: String,
    /// The earliest arrival, in the corpus's milliseconds.
    pub first_ms: f64,
    /// The latest arrival, in the corpus's milliseconds.
    pub last_ms: f64,
}

impl ArrivalSpan {
    /// Returns how long arrivals go on, in milliseconds.
    pub fn length_ms(&self) -> f64 {
        self.last_ms - self.first_ms
    }

    /// Begins it at 0, where rows without a timestamp arrive.
    pub(super) fn begin_at_zero(&mut self) {
        self.first_ms = 0.0;
        "0 ms".clone_into(&mut self.origin);
    }
}

impl ReadCounts {
    /// Returns what a person should look at: rows that were given a meaning, and a span that hints at a wrong unit.
    pub fn warnings(&self, trace: &str) -> Vec<Problem> {
        let tolerated = [
            (self.unsorted_rows, UNSORTED),
            (self.missing_timestamps, NO_TIMESTAMP),
            (self.missing_hash_ids, NO_HASHES),
            (self.extra_hash_ids, SURPLUS),
            (self.without_output, NO_OUTPUT),
            (self.conflicts, CONFLICT),
            (self.repeated, REPEATED),
            (self.orphans, ORPHAN),
            (self.misfit_hashes, MISFIT),
        ];
        tolerated
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, [one, many])| {
                let (of, what) = (counted(self.rows, "row"), agreed(count, one, many));
                Problem::new(Code::TraceTolerated, format!("{trace}: {count} of {of} {what}"))
            })
            .chain(self.time_scale_warning(trace))
            .collect()
    }

    /// Counts one more row with keys that change nothing, and with keys that the format does not know.
    pub(super) fn count_keys(&mut self, unused: &[String], unknown: &[String]) {
        for (keys, found) in [(&mut self.unused_keys, unused), (&mut self.unknown_keys, unknown)] {
            for key in found {
                match keys.get_mut(key) {
                    Some(count) => *count += 1,
                    None => drop(keys.insert(key.clone(), 1)),
                }
            }
        }
    }

    /// Returns what was read in one line: how many rows from when, over what time, at what rate.
    pub fn summary(&self, trace: &str) -> String {
        let rows = counted(self.rows, "row");
        let Some(span) = &self.span else {
            return format!("{trace}: {rows} without arrivals");
        };
        let Ok(length) = Nanos::from_ms(span.length_ms()).map(Nanos::get) else {
            return format!("{trace}: {rows} from {} over {TOO_LONG}", span.origin);
        };
        let seconds = Micros6::ratio(u128::from(length), 1_000_000_000);
        let seconds = seconds.map_or(String::new(), |seconds| seconds.to_places(3));
        let rate = Micros6::per_second(u128::from(self.rows), length);
        let rate =
            rate.map_or(String::new(), |rate| format!(", {} rows a second", rate.to_places(2)));
        format!("{trace}: {rows} from {} over {seconds} s{rate}", span.origin)
    }

    /// Returns a warning where the span of arrivals hints at a wrong unit. Source: cases/TRACES.md T3.
    fn time_scale_warning(&self, trace: &str) -> Option<Problem> {
        let span = self.span.as_ref().filter(|_| self.rows > 1)?;
        let ms = span.length_ms();
        let how = if ms < SHORT_SPAN_MS {
            "less than a second"
        } else if ms > LONG_SPAN_MS {
            "more than seven days"
        } else {
            return None;
        };
        let text = format!("{trace}: {} rows arrive within {ms} ms, {how}", self.rows);
        Some(Problem::new(Code::TraceTimeScale, text).help(
            "check `timestamps unit=` in the trace's pin: `ms` and `s` differ by a factor of 1000",
        ))
    }

    /// Returns the counts for a report: those that are not zero, and the origin.
    pub fn canonical(&self) -> Value {
        let by_key = |keys: &BTreeMap<String, u64>| {
            Value::Object(keys.iter().map(|(k, n)| (k.clone(), Value::count(*n))).collect())
        };
        let mut fields: BTreeMap<String, Value> = [
            ("blank_lines", self.blank_lines),
            ("conflicts", self.conflicts),
            ("extra_hash_ids", self.extra_hash_ids),
            ("ignored_hash_ids", self.ignored_hash_ids),
            ("misfit_hashes", self.misfit_hashes),
            ("missing_hash_ids", self.missing_hash_ids),
            ("missing_timestamps", self.missing_timestamps),
            ("orphans", self.orphans),
            ("repeated", self.repeated),
            ("ties", self.ties),
            ("unsorted_rows", self.unsorted_rows),
            ("without_output", self.without_output),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name.to_owned(), Value::count(count)))
        .collect();
        fields.insert("rows".to_owned(), Value::count(self.rows));
        fields.insert("sessions".to_owned(), Value::count(self.sessions));
        for (name, keys) in
            [("unknown_keys", &self.unknown_keys), ("unused_keys", &self.unused_keys)]
        {
            if !keys.is_empty() {
                fields.insert(name.to_owned(), by_key(keys));
            }
        }
        if let Some(span) = &self.span {
            fields.insert("span".to_owned(), span.canonical());
        }
        Value::Object(fields)
    }
}

impl ArrivalSpan {
    /// Returns the span for a report: nanoseconds as digits in a text, for clocks that count from 1970 exceed 2^53; null beyond
    /// what a clock can hold, which no run gets past.
    fn canonical(&self) -> Value {
        let ns = |ms: f64| Nanos::from_ms(ms).map_or(Value::Null, |ns| Value::wide(ns.get()));
        object([
            ("first_ns", ns(self.first_ms)),
            ("last_ns", ns(self.last_ms)),
            ("origin", Value::text(&self.origin)),
        ])
    }
}

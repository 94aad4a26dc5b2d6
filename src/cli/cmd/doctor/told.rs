//! What is told of it: tables, advice, JSON.

use super::measured::{Found, LATE, OFF, Row};
use crate::cli::{Align, columns};
use crate::digest::canonical::{Value, object};
use crate::mock::proof::{Spread, Truth};
use crate::units::{Micros6, Nanos};

/// The columns of so many in flight.
const LEVEL_HEAD: [&str; 14] = [
    "in flight",
    "reached",
    "requests/s",
    "off %",
    "TTFT off p50",
    "p99",
    "script p50",
    "p99",
    "gap off p50",
    "p99",
    "script p50",
    "p99",
    "lost",
    "verdict",
];
/// The columns of so many a second.
const RATE_HEAD: [&str; 9] =
    ["requests/s", "sent/s", "off %", "late p50", "p99", "TTFT off p50", "p99", "lost", "verdict"];

impl Found {
    /// Returns the figures as tables, and the advice.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        let head = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        if !self.levels.is_empty() {
            let mut rows = vec![head(&LEVEL_HEAD)];
            rows.extend(self.levels.iter().map(level));
            text.push_str(&columns(&rows, &[Align::Right]));
            text.push('\n');
        }
        if !self.rates.is_empty() {
            let mut rows = vec![head(&RATE_HEAD)];
            rows.extend(self.rates.iter().map(rate));
            text.push_str(&columns(&rows, &[Align::Right]));
            text.push('\n');
        }
        let [p50, p99] = both(self.wakeup);
        let woken =
            format!("the timer wakes a loop that does nothing else {p50} ms late (p99 {p99} ms)\n");
        text.push_str(&woken);
        text.push_str(&self.advice());
        text
    }

    /// Returns what is safe here, in words.
    fn advice(&self) -> String {
        let told = |most: Option<u64>, what: &str| match most {
            Some(most) => format!("safe here: {most} {what}\n"),
            None => format!("not safe here: any number of {what} that was measured\n"),
        };
        let [off, far, late] = [OFF.0, OFF.1, LATE].map(|time| format!("{:.1}", time.as_ms()));
        let mut text = String::new();
        if !self.levels.is_empty() {
            text.push_str(&told(self.safe_level(), "requests in flight"));
        }
        if !self.rates.is_empty() {
            text.push_str(&told(self.safe_rate(), "requests a second"));
        }
        if self.is_mended() {
            text.push_str("a smaller number was not safe, so the machine was busy with something else: measure again\n");
        }
        let rule = format!(
            "safe: times off by {off} ms at most (p99 {far} ms) from the server's own stamps, sent {late} ms late at most (p99), nothing lost;\nelse a live run measures its client (`client-limited`). Times in ms; `script`: against what the server was to write\n"
        );
        text.push_str(&rule);
        text
    }

    /// Returns whether something is safe though less of it is not.
    fn is_mended(&self) -> bool {
        let below = |rows: &[Row], safe: Option<u64>, is_safe: fn(&Row) -> bool| {
            rows.iter().any(|row| safe.is_some_and(|safe| row.asked < safe) && !is_safe(row))
        };
        below(&self.levels, self.safe_level(), Row::is_level_safe)
            || below(&self.rates, self.safe_rate(), Row::is_rate_safe)
    }

    /// Returns the figures as JSON.
    pub(super) fn json(&self) -> Value {
        let row = |row: &Row, is_safe: bool| {
            object([
                ("asked", Value::count(row.asked)),
                ("reached_in_flight", Value::count(row.reached)),
                ("requests_per_second", row.rate.map_or(Value::Null, Value::from)),
                ("requests_per_second_of_script", row.planned.map_or(Value::Null, Value::from)),
                ("truth", truth_json(&row.truth)),
                ("verdict", Value::text(verdict(is_safe))),
            ])
        };
        let level = |one: &Row| row(one, one.is_level_safe());
        let rate = |one: &Row| row(one, one.is_rate_safe());
        let safe = |most: Option<u64>| most.map_or(Value::Null, Value::count);
        object([
            ("in_flight", Value::List(self.levels.iter().map(level).collect())),
            ("per_second", Value::List(self.rates.iter().map(rate).collect())),
            (
                "safe",
                object([
                    ("in_flight", safe(self.safe_level())),
                    ("per_second", safe(self.safe_rate())),
                ]),
            ),
            ("wakeup", spread_json(self.wakeup)),
        ])
    }
}

/// Returns the row of so many in flight.
fn level(row: &Row) -> Vec<String> {
    let truth = &row.truth;
    let mut cells = vec![row.asked.to_string(), row.reached.to_string()];
    cells.extend([whole(row.rate), percent(row.rate_off())]);
    let spreads = [truth.first, truth.first_of_script, truth.gaps, truth.gaps_of_script];
    cells.extend(spreads.into_iter().flat_map(both));
    cells.extend([truth.lost.to_string(), verdict(row.is_level_safe()).to_owned()]);
    cells
}

/// Returns the row of so many a second.
fn rate(row: &Row) -> Vec<String> {
    let mut cells = vec![row.asked.to_string(), whole(row.rate), percent(row.rate_off())];
    cells.extend([row.truth.lateness, row.truth.first].into_iter().flat_map(both));
    cells.extend([row.truth.lost.to_string(), verdict(row.is_rate_safe()).to_owned()]);
    cells
}

/// Returns what a client says that measures the server, or itself.
fn verdict(is_safe: bool) -> &'static str {
    if is_safe { "safe" } else { "client-limited" }
}

/// Returns a rate as a whole number.
pub(in crate::cli::cmd) fn whole(rate: Option<Micros6>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| (rate.millionths() / 1_000_000).to_string())
}

/// Returns thousandths as percent.
fn percent(thousandths: Option<u128>) -> String {
    thousandths.map_or_else(|| "-".to_owned(), |off| format!("{}.{}", off / 10, off % 10))
}

/// Returns median and 99th percentile in milliseconds.
pub(in crate::cli::cmd) fn both(spread: Option<Spread>) -> [String; 2] {
    let ms = |time: Option<Nanos>| {
        time.map_or_else(|| "-".to_owned(), |time| format!("{:.3}", time.as_ms()))
    };
    [ms(spread.map(|spread| spread.p50)), ms(spread.map(|spread| spread.p99))]
}

/// Returns how far what a client saw is from what was written.
fn truth_json(truth: &Truth) -> Value {
    object([
        ("gap_off", spread_json(truth.gaps)),
        ("gap_off_script", spread_json(truth.gaps_of_script)),
        ("lateness", spread_json(truth.lateness)),
        ("lost", Value::count(truth.lost)),
        ("matched", Value::count(truth.matched)),
        ("ttft_off", spread_json(truth.first)),
        ("ttft_off_script", spread_json(truth.first_of_script)),
    ])
}

/// Returns how times spread; null where there are none.
pub(in crate::cli::cmd) fn spread_json(spread: Option<Spread>) -> Value {
    spread.map_or(Value::Null, |spread| {
        object([
            ("count", Value::count(spread.count)),
            ("max_ns", spread.max.into()),
            ("p50_ns", spread.p50.into()),
            ("p99_ns", spread.p99.into()),
        ])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a row whose times are all off by so many microseconds.
    fn row(asked: u64, micros: u64) -> Row {
        let time = Nanos::new(micros * 1000);
        let spread = Some(Spread { count: 1, p50: time, p99: time, max: time });
        let truth = Truth {
            first: spread,
            gaps: spread,
            first_of_script: spread,
            gaps_of_script: spread,
            lateness: spread,
            matched: 1,
            lost: 0,
            outputs: 1,
        };
        let planned = Micros6::per_second(u128::from(asked), 1_000_000_000);
        Row { asked, reached: asked, planned, rate: planned, truth }
    }

    fn found(levels: Vec<Row>, rates: Vec<Row>) -> Found {
        Found { wakeup: None, levels, rates }
    }

    #[test]
    fn the_greatest_safe_number_counts_whatever_a_smaller_one_was() {
        let found = found(
            vec![row(1, 900), row(32, 100), row(256, 900)],
            vec![row(100, 100), row(500, 100)],
        );
        assert_eq!((found.safe_level(), found.safe_rate()), (Some(32), Some(500)));
        let advice = found.advice();
        assert!(advice.starts_with(
            "safe here: 32 requests in flight\nsafe here: 500 requests a second\na smaller number"
        ));
    }

    #[test]
    fn where_nothing_is_safe_that_is_said() {
        let found = found(vec![row(1, 900)], vec![row(100, 900)]);
        assert_eq!((found.safe_level(), found.safe_rate()), (None, None));
        let advice = found.advice();
        assert!(advice.starts_with("not safe here: any number of requests in flight"), "{advice}");
        assert!(!advice.contains("a smaller number"));
    }

    #[test]
    fn what_is_lost_not_reached_or_late_is_not_safe() {
        assert!(row(8, 100).is_level_safe() && row(8, 100).is_rate_safe());
        let mut lost = row(8, 100);
        lost.truth.lost = 1;
        assert!(!lost.is_level_safe() && !lost.is_rate_safe());
        let short = Row { reached: 7, ..row(8, 100) };
        assert!(!short.is_level_safe());
        let mut late = row(8, 100);
        let spread = late.truth.lateness.as_mut().expect("a row has it");
        spread.p99 = Nanos::new(LATE.get() + 1);
        assert!(late.is_level_safe() && !late.is_rate_safe());
    }

    #[test]
    fn how_far_a_rate_is_off_is_told_in_percent() {
        let slow = Row { rate: Micros6::per_second(985, 10_000_000_000), ..row(100, 100) };
        assert_eq!(slow.rate_off(), Some(15));
        assert!(found(vec![], vec![slow]).table().contains("1.5"));
    }

    #[test]
    fn the_json_has_each_row_with_its_verdict_and_what_is_safe() {
        let found = found(vec![row(1, 100), row(32, 900)], vec![row(100, 100)]);
        let bytes = found.json().to_document();
        let json: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(json["safe"], serde_json::json!({"in_flight": 1, "per_second": 100}));
        assert_eq!(json["in_flight"][1]["verdict"], "client-limited");
        assert_eq!(json["per_second"][0]["truth"]["lateness"]["p99_ns"], 100_000);
    }
}

//! What came of a job on both engines, and the table of all.

use serde_json::{Value, json};

use crate::cli::render::{Align, columns};
use crate::gate::parity::{Apart, Parity};

/// What came of a job on both engines.
#[derive(Debug)]
pub(super) struct Sides {
    name: String,
    outcome: Outcome,
}

/// How the two sides stand to each other.
#[derive(Debug)]
enum Outcome {
    /// Both ran it.
    Compared(Parity),
    /// Neither brought it to an end.
    BothFailed,
    /// One alone did; why the other did not.
    OneFailed(String),
    /// One of them cannot run it: this.
    NotComparable(String),
}

impl Sides {
    /// Returns a job that both ran.
    pub(super) fn compared(name: &str, parity: Parity) -> Self {
        Self { name: name.to_owned(), outcome: Outcome::Compared(parity) }
    }

    /// Returns a job that one of the two cannot run.
    pub(super) fn not_comparable(name: &str, what: String) -> Self {
        Self { name: name.to_owned(), outcome: Outcome::NotComparable(what) }
    }

    /// Returns a job that at least one of the two did not bring to an end; `why` of each that did not.
    pub(super) fn ended(name: &str, why: (Option<String>, Option<String>)) -> Self {
        let outcome = match why {
            (Some(_), Some(_)) => Outcome::BothFailed,
            (Some(why), None) => Outcome::OneFailed(format!("native: {why}")),
            (None, Some(why)) => Outcome::OneFailed(format!("upstream: {why}")),
            (None, None) => Outcome::OneFailed("neither says why".to_owned()),
        };
        Self { name: name.to_owned(), outcome }
    }

    /// Returns whether the sides agree, or `None` where they could not be asked.
    pub(super) fn agrees(&self) -> Option<bool> {
        match &self.outcome {
            Outcome::Compared(parity) => Some(parity.holds()),
            Outcome::BothFailed => Some(true),
            Outcome::OneFailed(_) => Some(false),
            Outcome::NotComparable(_) => None,
        }
    }

    /// Returns the rows of the table: one for a job, and one more for each further metric that differs.
    fn rows(&self) -> Vec<Vec<String>> {
        let word = match self.agrees() {
            Some(true) => "agrees",
            Some(false) => "differs",
            None => "not comparable",
        };
        let row = |requests: String, metric: String, what: String| {
            vec![self.name.clone(), word.to_owned(), requests, metric, what]
        };
        match &self.outcome {
            Outcome::Compared(parity) => {
                let requests = format!("{}/{}", parity.agreeing, parity.requests);
                let first = parity.first.as_ref().map(|first| {
                    let (metric, (one, other)) = (first.metric, said(first.apart));
                    format!("request {}: {metric} {one}, upstream {other}", first.request)
                });
                let mut metrics = parity.worst.iter().map(|(metric, apart)| shown(metric, *apart));
                let worst = metrics.next().unwrap_or_else(|| "0 ns".to_owned());
                let more = metrics.map(|metric| {
                    vec![String::new(), String::new(), String::new(), metric, String::new()]
                });
                std::iter::once(row(requests, worst, first.unwrap_or_default()))
                    .chain(more)
                    .collect()
            }
            Outcome::BothFailed => vec![row(String::new(), String::new(), "both fail".to_owned())],
            Outcome::OneFailed(what) | Outcome::NotComparable(what) => {
                let line = what.lines().next().unwrap_or_default().to_owned();
                vec![row(String::new(), String::new(), line)]
            }
        }
    }

    fn json(&self) -> Value {
        let apart = |apart: &Apart| json!({"request": apart.request, "native": apart.one, "upstream": apart.other});
        let what = match &self.outcome {
            Outcome::Compared(parity) => json!({
                "requests": parity.requests,
                "agreeing": parity.agreeing,
                "unmatched": parity.unmatched,
                "worst": parity.worst.iter()
                    .map(|(metric, worst)| ((*metric).to_owned(), apart(worst)))
                    .collect::<serde_json::Map<String, Value>>(),
                "first": parity.first.as_ref().map(|first| json!({
                    "request": first.request,
                    "arrival_ns": first.arrival.get(),
                    "metric": first.metric,
                    "native": first.apart.one,
                    "upstream": first.apart.other,
                })),
            }),
            Outcome::BothFailed => json!("both fail"),
            Outcome::OneFailed(what) | Outcome::NotComparable(what) => json!(what),
        };
        json!({"job": self.name, "agrees": self.agrees(), "what": what})
    }
}

/// Returns what both sides say, with a dash for silence.
fn said(apart: Apart) -> (String, String) {
    let text = |said: Option<u64>| said.map_or_else(|| "-".to_owned(), |said| said.to_string());
    (text(apart.one), text(apart.other))
}

/// Returns a metric with how far it is apart at the most.
fn shown(metric: &str, apart: Apart) -> String {
    if let Some(difference) = apart.difference() {
        return format!("{difference} {metric}");
    }
    let (one, other) = said(apart);
    format!("{metric} {one}, upstream {other}")
}

/// Returns the table, with what agrees in the last line.
pub(super) fn text(sides: &[Sides]) -> String {
    let head = ["job", "verdict", "requests", "largest differences", "first request that differs"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(sides.iter().flat_map(Sides::rows));
    let aligns = [Align::Left, Align::Left, Align::Right, Align::Left, Align::Left];
    let count = |wanted: Option<bool>| sides.iter().filter(|side| side.agrees() == wanted).count();
    format!(
        "{}\n{} agree, {} differ, {} not comparable\n",
        columns(&rows, &aligns),
        count(Some(true)),
        count(Some(false)),
        count(None)
    )
}

/// Returns the same as JSON.
pub(super) fn document(sides: &[Sides]) -> String {
    let jobs: Vec<Value> = sides.iter().map(Sides::json).collect();
    let document = json!({"schema": "touchstone.parity/1", "jobs": jobs});
    format!("{document:#}\n")
}

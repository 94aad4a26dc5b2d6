//! What came of a job on both engines, and the table of all.

use serde_json::{Value, json};

use crate::cli::render::{Align, columns};
use crate::gate::parity::{Apart, Parity};
use crate::pin::{AcceptedParting, Parting};

/// What came of a job on both engines.
#[derive(Debug)]
pub(super) struct Sides {
    name: String,
    outcome: Outcome,
    accepted: Option<Known>,
}

/// What was known of a job before it was compared.
#[derive(Debug)]
struct Known {
    /// The name of the node that says so.
    name: String,
    /// Whether it came as it says.
    came: bool,
}

/// Why an engine has no record of a job.
#[derive(Debug)]
pub(super) enum End {
    /// It says that the job cannot be run, or comes to no end: an answer.
    Refused(String),
    /// Its runner cannot be asked such a job, which shows only when that is made ready.
    Unasked(String),
    /// It broke, or could not be asked: no answer at all.
    Broken(String),
}

/// How the two sides stand to each other.
#[derive(Debug)]
enum Outcome {
    /// Both ran it.
    Compared(Parity),
    /// Both say that it comes to no end.
    BothRefuse,
    /// One alone says so: why.
    OneRefuses(String),
    /// One of them cannot run it: this.
    NotComparable(String),
    /// One of them broke, so that nobody knows: how.
    Broken(String),
}

/// How the two sides stand to each other, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Both say the same.
    Agrees,
    /// They do not.
    Differs,
    /// They do not, or could not be asked, and that is known.
    Accepted,
    /// That was known of them, and it is not so.
    Stale,
    /// They could not be asked the same.
    NotComparable,
    /// One of them broke.
    Broken,
}

impl Standing {
    /// Every one, in the order of the last line.
    const ALL: [Self; 6] = [
        Self::Agrees,
        Self::Differs,
        Self::NotComparable,
        Self::Accepted,
        Self::Stale,
        Self::Broken,
    ];

    /// Returns the word of the table.
    const fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::NotComparable => "not comparable",
            Self::Accepted => "accepted",
            Self::Stale => "STALE",
            Self::Broken => "BROKEN",
        }
    }

    /// Returns the word of the last line.
    const fn counted(self) -> &'static str {
        match self {
            Self::Agrees => "agree",
            Self::Differs => "differ",
            Self::NotComparable => "not comparable",
            Self::Accepted => "as accepted",
            Self::Stale => "accepted and not so",
            Self::Broken => "broken",
        }
    }
}

impl Sides {
    /// Returns a job that both ran.
    pub(super) fn compared(name: &str, parity: Parity) -> Self {
        Self::of(name, Outcome::Compared(parity))
    }

    /// Returns a job that one of the two cannot run.
    pub(super) fn not_comparable(name: &str, what: String) -> Self {
        Self::of(name, Outcome::NotComparable(what))
    }

    /// Returns a job that at least one of the two did not bring to an end; why of each that did not.
    pub(super) fn ended(name: &str, why: (Option<End>, Option<End>)) -> Self {
        let outcome = match why {
            (Some(End::Broken(why)), _) => Outcome::Broken(format!("native: {why}")),
            (_, Some(End::Broken(why))) => Outcome::Broken(format!("upstream: {why}")),
            (Some(End::Unasked(what)), _) | (_, Some(End::Unasked(what))) => {
                Outcome::NotComparable(what)
            }
            (Some(End::Refused(_)), Some(End::Refused(_))) => Outcome::BothRefuse,
            (Some(End::Refused(why)), None) => Outcome::OneRefuses(format!("native: {why}")),
            (None, Some(End::Refused(why))) => Outcome::OneRefuses(format!("upstream: {why}")),
            (None, None) => Outcome::Broken("neither says why".to_owned()),
        };
        Self::of(name, outcome)
    }

    fn of(name: &str, outcome: Outcome) -> Self {
        Self { name: name.to_owned(), outcome, accepted: None }
    }

    /// Takes note of what is known of the job under a version of the upstream engine.
    pub(super) fn hold_against(&mut self, accepted: &[AcceptedParting], version: &str) {
        let known = accepted.iter().find(|known| known.speaks_of(&self.name, version));
        let found = match self.found() {
            Standing::Differs => Some(Parting::Differs),
            Standing::NotComparable => Some(Parting::NotComparable),
            Standing::Agrees | Standing::Accepted | Standing::Stale | Standing::Broken => None,
        };
        self.accepted =
            known.map(|known| Known { name: known.name.clone(), came: found == Some(known.kind) });
    }

    /// Returns how the sides stand to each other, with what was known of it.
    pub(super) fn standing(&self) -> Standing {
        match (self.found(), &self.accepted) {
            (Standing::Broken, _) => Standing::Broken,
            (found, None) => found,
            (_, Some(known)) if known.came => Standing::Accepted,
            (_, Some(_)) => Standing::Stale,
        }
    }

    /// Returns how they were found to stand to each other.
    fn found(&self) -> Standing {
        match &self.outcome {
            Outcome::Compared(parity) if parity.holds() => Standing::Agrees,
            Outcome::Compared(_) | Outcome::OneRefuses(_) => Standing::Differs,
            Outcome::BothRefuse => Standing::Agrees,
            Outcome::NotComparable(_) => Standing::NotComparable,
            Outcome::Broken(_) => Standing::Broken,
        }
    }

    /// Returns the rows of the table: one for a job, and one more for each further metric that differs.
    fn rows(&self) -> Vec<Vec<String>> {
        let word = match (&self.accepted, self.standing()) {
            (Some(known), standing @ (Standing::Accepted | Standing::Stale)) => {
                format!("{}: {}", standing.word(), known.name)
            }
            (_, standing) => standing.word().to_owned(),
        };
        let row = |requests: String, metric: String, what: String| {
            vec![self.name.clone(), word.clone(), requests, metric, what]
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
            Outcome::BothRefuse => vec![row(String::new(), String::new(), "both fail".to_owned())],
            Outcome::OneRefuses(what) | Outcome::NotComparable(what) | Outcome::Broken(what) => {
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
            Outcome::BothRefuse => json!("both fail"),
            Outcome::OneRefuses(what) | Outcome::NotComparable(what) | Outcome::Broken(what) => {
                json!(what)
            }
        };
        let agrees = match self.found() {
            Standing::Agrees => json!(true),
            Standing::Differs => json!(false),
            Standing::NotComparable | Standing::Broken | Standing::Accepted | Standing::Stale => {
                Value::Null
            }
        };
        let accepted = self.accepted.as_ref().map(|known| &known.name);
        let verdict = self.standing().word();
        json!({"job": self.name, "accepted": accepted, "agrees": agrees, "verdict": verdict, "what": what})
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
    let count = |standing: Standing| {
        let count = sides.iter().filter(|side| side.standing() == standing).count();
        let is_usual = match standing {
            Standing::Agrees | Standing::Differs | Standing::NotComparable => true,
            Standing::Accepted | Standing::Stale | Standing::Broken => false,
        };
        let is_told = count > 0 || is_usual;
        is_told.then(|| format!("{count} {}", standing.counted()))
    };
    let counts: Vec<String> = Standing::ALL.into_iter().filter_map(count).collect();
    format!("{}\n{}\n", columns(&rows, &aligns), counts.join(", "))
}

/// Returns the same as JSON.
pub(super) fn document(sides: &[Sides]) -> String {
    let jobs: Vec<Value> = sides.iter().map(Sides::json).collect();
    let document = json!({"schema": "touchstone.parity/1", "jobs": jobs});
    format!("{document:#}\n")
}

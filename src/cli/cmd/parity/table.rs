//! The table of all cases.

use serde_json::{Value, json};

use crate::cli::render::{Align, columns};
use crate::report::dynosim::Agreement;

use super::areas::Area;

/// A case and how it went.
#[derive(Debug)]
pub(super) struct Judged {
    /// Its name.
    pub(super) name: String,
    /// What it exercises, as far as it could be read.
    pub(super) areas: Vec<Area>,
    /// How it went.
    pub(super) verdict: Verdict,
}

/// How a case went.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Both answered.
    Compared(Agreement),
    /// Both failed, as they should.
    BothFailed,
    /// One failed and the other did not: this.
    OneFailed(String),
    /// This program lacks something.
    NotCovered(String),
}

impl Judged {
    /// Returns whether the case agrees, or `None` where it could not be asked.
    pub(super) fn agrees(&self) -> Option<bool> {
        match &self.verdict {
            Verdict::Compared(agreement) => Some(agreement.holds()),
            Verdict::BothFailed => Some(true),
            Verdict::OneFailed(_) => Some(false),
            Verdict::NotCovered(_) => None,
        }
    }

    const fn word(agrees: Option<bool>) -> &'static str {
        match agrees {
            Some(true) => "agrees",
            Some(false) => "differs",
            None => "not covered",
        }
    }

    /// Returns what is to be said of it beside figures: the first difference, or why there is none to tell.
    pub(super) fn what(&self) -> String {
        match &self.verdict {
            Verdict::Compared(agreement) => {
                agreement.first.clone().or(agreement.failures.first().cloned()).unwrap_or_default()
            }
            Verdict::BothFailed => "both fail".to_owned(),
            Verdict::OneFailed(what) | Verdict::NotCovered(what) => what.clone(),
        }
    }

    fn cells(&self) -> Vec<String> {
        let word = Self::word(self.agrees()).to_owned();
        let (requests, time, summary, what) = match &self.verdict {
            Verdict::Compared(agreement) => (
                format!("{}/{}", agreement.agreeing, agreement.requests),
                figure(agreement.time.as_ref(), 6),
                figure(agreement.summary.as_ref(), 9),
                self.what(),
            ),
            Verdict::BothFailed | Verdict::OneFailed(_) | Verdict::NotCovered(_) => {
                (String::new(), String::new(), String::new(), self.what())
            }
        };
        vec![self.name.clone(), word, requests, time, summary, what]
    }

    fn json(&self) -> Value {
        let worst = |figure: Option<&(String, f64)>| {
            figure.map_or(Value::Null, |(name, apart)| json!({"field": name, "apart": apart}))
        };
        let mut value = json!({"case": self.name, "verdict": Self::word(self.agrees())});
        let more = match &self.verdict {
            Verdict::Compared(agreement) => json!({
                "requests": agreement.requests,
                "agreeing": agreement.agreeing,
                "time_ms": worst(agreement.time.as_ref()),
                "summary": worst(agreement.summary.as_ref()),
                "first": agreement.first,
                "failures": agreement.failures,
            }),
            Verdict::BothFailed => json!({}),
            Verdict::OneFailed(what) | Verdict::NotCovered(what) => json!({"what": what}),
        };
        if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
            value.extend(more);
        }
        value
    }
}

/// Returns a difference with the name of what differs.
fn figure(worst: Option<&(String, f64)>, places: usize) -> String {
    match worst {
        Some((name, apart)) if *apart > 0.0 => format!("{apart:.places$} {name}"),
        Some(_) => "0".to_owned(),
        None => String::new(),
    }
}

/// Returns the table, with what agrees in the last line.
pub(super) fn text(cases: &[Judged]) -> String {
    let head = ["case", "verdict", "requests", "time off (ms)", "summary off", "first difference"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(cases.iter().map(Judged::cells));
    let aligns = [Align::Left, Align::Left, Align::Right, Align::Left, Align::Left, Align::Left];
    let count = |wanted: Option<bool>| cases.iter().filter(|case| case.agrees() == wanted).count();
    format!(
        "{}\n{} agree, {} differ, {} not covered\n",
        columns(&rows, &aligns),
        count(Some(true)),
        count(Some(false)),
        count(None)
    )
}

/// Returns the same as JSON.
pub(super) fn document(cases: &[Judged]) -> String {
    let cases: Vec<Value> = cases.iter().map(Judged::json).collect();
    let document = json!({"schema": "touchstone.parity/1", "cases": cases});
    format!("{document:#}\n")
}

//! An explanation as JSON.

use crate::digest::canonical::{Value, object};

use super::blast::{Blast, MovedFigure, MovedMetric};
use super::difference::{Change, Difference, Facts};
use super::event::Identity;
use super::explanation::{Divergence, Explanation, JobCase, JobVerdict, Level, Sides};
use super::pair::Who;
use super::phrase::event;
use super::{InputChange, StateRow};

/// The schema of the document.
const EXPLAIN_SCHEMA: &str = "touchstone.explain/1";

/// Returns the explanation as one JSON document.
pub fn explain_json(sides: &Sides, cases: &[JobCase]) -> Vec<u8> {
    object([
        ("jobs", Value::List(cases.iter().map(job).collect())),
        ("left", Value::text(&sides.left)),
        ("right", Value::text(&sides.right)),
        ("schema", Value::text(EXPLAIN_SCHEMA)),
    ])
    .to_document()
}

/// Returns a job.
fn job(case: &JobCase) -> Value {
    let id = ("id", Value::text(case.id.as_str()));
    let verdict = |word: &str| ("verdict", Value::text(word));
    match &case.verdict {
        JobVerdict::Equal(changes) => object([id, ("inputs", inputs(changes)), verdict("equal")]),
        JobVerdict::Differs(explanation) => {
            object([("explanation", differs(explanation)), id, verdict("differs")])
        }
        JobVerdict::Unexplained { missing, remedy } => object([
            id,
            ("missing", Value::text(missing)),
            ("remedy", Value::text(remedy)),
            verdict("unexplained"),
        ]),
        JobVerdict::NotComparable { why, remedy } => object([
            id,
            ("missing", Value::text(why)),
            ("remedy", Value::text(remedy)),
            verdict("not-comparable"),
        ]),
    }
}

fn differs(explanation: &Explanation) -> Value {
    let level = match explanation.level {
        Level::Events => "events",
        Level::Requests { .. } => "requests",
    };
    object([
        ("first", explanation.first.as_ref().map_or(Value::Null, divergence)),
        ("inputs", inputs(&explanation.inputs)),
        ("level", Value::text(level)),
        ("next", Value::List(explanation.next.iter().map(difference).collect())),
        ("spread", blast(&explanation.blast)),
    ])
}

fn inputs(changes: &[InputChange]) -> Value {
    let one = |change: &InputChange| {
        object([
            ("left", Value::text(&change.left)),
            ("path", Value::text(&change.path)),
            ("right", Value::text(&change.right)),
        ])
    };
    Value::List(changes.iter().map(one).collect())
}

fn divergence(divergence: &Divergence) -> Value {
    let texts = |texts: &[String]| Value::List(texts.iter().map(Value::text).collect());
    let row = |row: &StateRow| {
        object([
            ("left", Value::text(&row.left)),
            ("name", Value::text(&row.name)),
            ("right", Value::text(&row.right)),
        ])
    };
    object([
        ("event", difference(&divergence.difference)),
        ("seen", texts(&divergence.what)),
        ("state", Value::List(divergence.state.iter().map(row).collect())),
        ("state_at_ns", divergence.state_at.map_or(Value::Null, Value::from)),
        ("why", texts(&divergence.why)),
    ])
}

fn difference(difference: &Difference) -> Value {
    let (change, fields) = match &difference.change {
        Change::OnlyLeft => ("only-left", Vec::new()),
        Change::OnlyRight => ("only-right", Vec::new()),
        Change::Order => ("order", Vec::new()),
        Change::Fields(changes) => ("fields", changes.iter().map(|field| &field.name).collect()),
    };
    let facts = |facts: &Option<Facts>| {
        facts.as_ref().map_or(Value::Null, |facts| Value::Object(facts.fields.clone()))
    };
    object([
        ("about", identity(difference.identity)),
        ("change", Value::text(change)),
        ("fields", Value::List(fields.into_iter().map(Value::text).collect())),
        ("left", facts(&difference.left)),
        ("name", Value::text(event(difference.identity))),
        ("right", facts(&difference.right)),
        ("seen_at_ns", difference.at.into()),
    ])
}

fn identity(identity: Identity) -> Value {
    match identity {
        Identity::Pass { rank, nth } => {
            object([("pass", Value::count(nth)), ("rank", Value::count(rank))])
        }
        Identity::Step { who, step, nth } => object([
            ("nth", Value::count(nth)),
            ("request", Value::count(number(who))),
            ("side", Value::text(if matches!(who, Who::Left(_)) { "left" } else { "right" })),
            ("step", Value::text(step.name())),
        ]),
    }
}

fn number(who: Who) -> u64 {
    match who {
        Who::Left(request) | Who::Right(request) => request,
    }
}

fn blast(blast: &Blast) -> Value {
    object([
        ("figures", Value::List(blast.figures.iter().map(figure).collect())),
        ("metrics", Value::List(blast.metrics.iter().map(metric).collect())),
        ("moved", Value::count(blast.moved)),
        ("only_left", Value::count(blast.only_left)),
        ("only_right", Value::count(blast.only_right)),
        ("requests_left", Value::count(blast.requests.0)),
        ("requests_right", Value::count(blast.requests.1)),
    ])
}

fn figure(figure: &MovedFigure) -> Value {
    object([
        ("change", figure.change.as_deref().map_or(Value::Null, Value::text)),
        ("judgement", Value::text(figure.judgement.name())),
        ("left", Value::text(&figure.left)),
        ("name", Value::text(&figure.metric)),
        ("right", Value::text(&figure.right)),
    ])
}

fn metric(metric: &MovedMetric) -> Value {
    let largest = metric.largest.map_or(Value::Null, |largest| {
        object([
            ("left", Value::count(largest.left)),
            ("request", Value::count(number(largest.who))),
            ("right", Value::count(largest.right)),
        ])
    });
    object([
        ("down", Value::count(metric.down)),
        ("largest", largest),
        ("median_change", metric.median.map_or(Value::Null, Value::Integer)),
        ("name", Value::text(metric.name)),
        ("one_sided", Value::count(metric.one_sided)),
        ("up", Value::count(metric.up)),
    ])
}

//! The verdict as one JSON document.

use crate::digest::canonical::{Value, object};
use crate::gate::DiffRow;
use crate::gate::upgrade::{Class, ControlVerdict, Judged, PinDrift, ScenarioVerdict, Verdict};

/// The schema of verdicts.
const SCHEMA: &str = "touchstone.upgrade/1";

/// Returns the document.
pub fn verdict_json(verdict: &Verdict) -> Vec<u8> {
    let count = |class: &Class| (class.word().to_owned(), counted(verdict.count(*class)));
    object([
        ("controls", list(&verdict.controls, control)),
        ("counts", Value::Object(Class::ALL.iter().map(count).collect())),
        ("engine", Value::text(&verdict.engine)),
        ("from", Value::text(&verdict.from)),
        ("green", Value::Bool(verdict.is_green())),
        (
            "idle",
            list(&verdict.idle, |idle| {
                let owed_to = idle.owed_to.as_deref().map_or(Value::Null, Value::text);
                object([("change", Value::text(&idle.change)), ("owed_to", owed_to)])
            }),
        ),
        ("interrupted", Value::Bool(verdict.is_interrupted)),
        ("scenarios", list(&verdict.scenarios, scenario)),
        ("schema", Value::text(SCHEMA)),
        ("to", Value::text(&verdict.to)),
    ])
    .to_document()
}

/// Returns a list.
fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    Value::List(items.iter().map(value).collect())
}

/// Returns a number of things.
fn counted(count: usize) -> Value {
    Value::count(u64::try_from(count).expect("a count of things in memory fits"))
}

/// Returns a list of texts.
fn texts(items: &[String]) -> Value {
    list(items, |item| Value::text(item))
}

/// Returns one scenario.
fn scenario(verdict: &ScenarioVerdict) -> Value {
    object([
        ("file", Value::text(&verdict.file)),
        ("jobs", list(&verdict.jobs, job)),
        ("scenario", Value::text(&verdict.scenario)),
    ])
}

/// Returns one job.
fn job(job: &Judged) -> Value {
    object([
        ("changes", texts(&job.changes)),
        ("class", Value::text(job.class.word())),
        ("drift", job.drift.as_ref().map_or(Value::Null, drift)),
        ("id", Value::text(job.id.as_str())),
        ("reasons", texts(&job.reasons)),
    ])
}

/// Returns what differs.
fn drift(drift: &PinDrift) -> Value {
    let request = drift.request.as_ref().map_or(Value::Null, |request| {
        let field = request.field.as_ref();
        let text = |text: Option<&String>| text.map_or(Value::Null, Value::text);
        object([
            ("differing", counted(request.differing)),
            ("field", text(field.map(|field| &field.name))),
            ("from", text(field.map(|field| &field.expected))),
            ("from_count", counted(request.expected_count)),
            ("index", counted(request.index)),
            ("to", text(field.map(|field| &field.found))),
            ("to_count", counted(request.found_count)),
        ])
    });
    let sections = drift.sections.iter().map(|section| Value::text(section.name()));
    object([
        ("figures", list(&drift.rows, figure)),
        ("from", drift.digests.0.into()),
        ("request", request),
        ("sections", Value::List(sections.collect())),
        ("to", drift.digests.1.into()),
    ])
}

/// Returns one figure that moved.
fn figure(row: &DiffRow) -> Value {
    object([
        ("change", row.change.as_deref().map_or(Value::Null, Value::text)),
        ("from", Value::text(&row.left)),
        ("judgement", Value::text(row.judgement.name())),
        ("metric", Value::text(&row.metric)),
        ("to", Value::text(&row.right)),
    ])
}

/// Returns one control.
fn control(control: &ControlVerdict) -> Value {
    object([
        ("blind", Value::Bool(control.is_blind())),
        ("caught_by", list(&control.caught_by, |id| Value::text(id.as_str()))),
        ("perturbation", Value::text(control.perturbation.name())),
        ("planted", counted(control.planted)),
        ("scenario", Value::text(&control.scenario)),
    ])
}

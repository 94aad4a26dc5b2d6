//! The report of a wire plan: a function of scenario and pins.

use std::io;
use std::path::Path;

use crate::digest::canonical::{Value, object};
use crate::measure::DEFINITION;
use crate::plan::{Job, SCHEMA};
use crate::record::{Spool, SpoolWriter};
use crate::replay::wire::WirePlan;
use crate::report::{Report, Section};

/// Returns the report of a replay job, and its `requests.jsonl`: a line a planned request, in the order of the plan.
///
/// # Errors
/// The answer of the system where requests are too many for memory and cannot be written to a temporary file.
pub fn planned(job: &Job, plan: &WirePlan, scratch: Option<&Path>) -> io::Result<(Report, Spool)> {
    let (requests, calls) = requests(plan, scratch)?;
    let instances = plan.instances();
    let mut lines = SpoolWriter::new(scratch);
    for instance in &instances {
        lines.push(&instance.to_document());
    }
    let inputs = object([
        ("job", job.canonical()),
        ("key", (*job.key().digest()).into()),
        ("kind", Value::text("replay")),
    ]);
    let sections = [
        (Section::Inputs, inputs),
        (Section::Events, counted(instances.len(), &lines.finish()?)),
        (Section::Requests, counted(calls.requests + calls.variants, &requests)),
        (Section::Summary, summary(plan, &calls, instances.len())),
    ];
    let digests = sections
        .iter()
        .map(|(section, value)| (section.name().to_owned(), Value::from(value.digest())));
    let mut fields = std::collections::BTreeMap::from([
        ("definition".to_owned(), Value::text(DEFINITION)),
        ("invariants".to_owned(), Value::List(Vec::new())),
        ("schema".to_owned(), Value::text(SCHEMA)),
        ("sections".to_owned(), Value::Object(digests.collect())),
        ("validity".to_owned(), validity()),
    ]);
    fields.extend(sections.into_iter().map(|(section, value)| (section.name().to_owned(), value)));
    Ok((Report::of(Value::Object(fields)), requests))
}

/// What is planned, counted.
struct Calls {
    requests: usize,
    variants: usize,
    bytes: u64,
}

/// Returns a line for each request that is planned, and for each sending of one that differs: where it stands, when it starts, its headers, and the digest of its body.
fn requests(plan: &WirePlan, scratch: Option<&Path>) -> io::Result<(Spool, Calls)> {
    let mut lines = SpoolWriter::new(scratch);
    let mut calls = Calls { requests: 0, variants: 0, bytes: 0 };
    for (trace, graph) in plan.graphs().iter().enumerate() {
        for node in plan.nodes(trace) {
            let call = plan.describe_call(trace, node);
            lines.push(&call.with("trace", Some(Value::text(&graph.id))).to_document());
            calls.requests += 1;
            calls.bytes += plan.body(trace, node).bytes;
        }
        for variant in plan.variants_of(trace) {
            let sent = plan.describe_variant(variant);
            lines.push(&sent.with("trace", Some(Value::text(&graph.id))).to_document());
            calls.variants += 1;
        }
    }
    Ok((lines.finish()?, calls))
}

/// Returns the `summary` section: how much is planned, and the digests by which the gate names what changed.
fn summary(plan: &WirePlan, calls: &Calls, instances: usize) -> Value {
    let count = |count: usize| Value::count(u64::try_from(count).expect("64 bits"));
    object([
        ("body_bytes_planned", Value::count(calls.bytes)),
        ("instances_planned", count(instances)),
        ("requests_planned", count(calls.requests)),
        ("traces_planned", count(plan.graphs().len())),
        ("wire", plan.digests().canonical()),
        ("wire_digest", plan.digests().digest().into()),
    ])
    .with("variants_planned", (calls.variants > 0).then(|| count(calls.variants)))
}

/// Returns a number of lines and their digest.
fn counted(count: usize, lines: &Spool) -> Value {
    let count = u64::try_from(count).expect("64 bits");
    object([("count", Value::count(count)), ("digest", lines.digest().into())])
}

/// Returns the `validity` section: a plan that there is cannot have failed.
fn validity() -> Value {
    object([
        ("absent", object([])),
        ("failures", Value::List(Vec::new())),
        ("valid", Value::Bool(true)),
        ("warnings", Value::List(Vec::new())),
    ])
}

//! Converts files.

use std::collections::BTreeMap;

use crate::diag::{Bag, Code, Problem};
use crate::trace::dynamo::read_dynamo;
use crate::trace::options::{ReadOptions, TraceFormat};
use crate::trace::read::{Shard, TraceInput, read_corpus};
use crate::trace::recorded::{RecordedOptions, RecordedTree};
use crate::trace::weka::read_weka;

use super::lost::Lost;
use super::{ConvertTarget, ConvertedSource, agentic, applied, dynamo, rows, weka};

/// A trace in another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// What is written.
    pub text: Vec<u8>,
    /// What is lost: how many requests, sessions, tools, events or keys state it, by name of [`super::LOSSES`].
    pub lost: BTreeMap<&'static str, u64>,
}

/// Returns the trace that shards hold in another format; `source` says in its header where it is from.
///
/// # Errors
/// As readers have them, and `trace::convert` for what the target cannot say in any way.
pub fn convert(
    shards: &[Shard],
    options: &ReadOptions,
    target: ConvertTarget,
    source: &ConvertedSource,
) -> Result<Conversion, Bag> {
    if let Some(why) = target.refusal(options.format) {
        return Err(refused(target, options.format, why).into());
    }
    let files: Vec<TraceInput> = shards.iter().map(TraceInput::shard).collect();
    let mut lost = Lost::default();
    let text = match target {
        ConvertTarget::Weka => to_weka(&files, &mut lost)?,
        ConvertTarget::Dynamo => {
            let mut trees = Vec::new();
            let counts =
                read_weka(&files, RecordedOptions::strict(), &mut |tree| trees.push(tree))?;
            lost.add_recorded(&counts);
            dynamo::write(&trees, &mut lost)?
        }
        ConvertTarget::Mooncake
        | ConvertTarget::MooncakeDelta
        | ConvertTarget::AgenticMooncake
        | ConvertTarget::AppliedComputeAgentic => {
            let (corpus, counts) = read_corpus(shards, options)?;
            lost.add_read(&counts);
            note_recorded(&files, options.format, &mut lost)?;
            match target {
                ConvertTarget::AgenticMooncake => {
                    agentic::add_lost(&corpus, &mut lost);
                    agentic::write(&corpus, source).ok_or_else(|| {
                        refused(target, options.format, "its requests wait for nothing by name")
                    })?
                }
                ConvertTarget::AppliedComputeAgentic => applied::write(&corpus, &mut lost)?,
                ConvertTarget::Mooncake
                | ConvertTarget::MooncakeDelta
                | ConvertTarget::Weka
                | ConvertTarget::Dynamo => rows::write(&corpus, options, target, &mut lost)?,
            }
        }
    };
    Ok(Conversion { text, lost: lost.found() })
}

fn to_weka(files: &[TraceInput], lost: &mut Lost) -> Result<Vec<u8>, Bag> {
    let (mut text, mut problems) = (Vec::new(), Bag::new());
    let read = read_dynamo(files, RecordedOptions::strict(), &mut |tree| {
        if let Err(bag) = weka::write(&tree, &mut text, lost) {
            problems.extend(bag);
        }
    })?;
    read.without_session.each(|request| {
        let message = "the request is of no session";
        problems.push(request.place.problem(Code::TraceConvert, message, "this record"));
    });
    lost.add_recorded(&read.counts);
    if problems.is_empty() { Ok(text) } else { Err(problems) }
}

/// Notes what only recordings say; models and ends of requests are those of plays where there are any.
fn note_recorded(files: &[TraceInput], format: TraceFormat, lost: &mut Lost) -> Result<(), Bag> {
    let options = RecordedOptions::strict();
    let mut noted = Lost::default();
    let mut take = |tree: RecordedTree| {
        tree.requests().for_each(|(_, request)| noted.add_request(request, &[]));
        noted.add("tools", tree.tools.len() as u64);
    };
    match format {
        TraceFormat::Weka => {
            let counts = read_weka(files, options, &mut take)?;
            lost.add("unused-events", counts.unused_events);
        }
        TraceFormat::Dynamo => {
            let read = read_dynamo(files, options, &mut take)?;
            lost.add("unused-events", read.counts.unused_events);
            read.without_session.each(|request| {
                noted.add_request(&request, &[]);
                noted.note("model", request.model.is_some());
                noted.note("recorded-end", request.duration.is_some() || request.ended.is_some());
            });
        }
        TraceFormat::AgenticMooncake
        | TraceFormat::AppliedComputeAgentic
        | TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::Azure
        | TraceFormat::BurstGpt
        | TraceFormat::RagPulse
        | TraceFormat::Csv => {}
    }
    for (name, count) in noted.found() {
        lost.add(name, count);
    }
    Ok(())
}

fn refused(target: ConvertTarget, from: TraceFormat, why: &str) -> Problem {
    let message =
        format!("a `{}` trace cannot be said as `{}`: {why}", from.name(), target.format().name());
    Problem::new(Code::TraceConvert, message).help("docs/traces.md has the table of what can")
}

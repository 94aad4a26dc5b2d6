//! Converts files.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::diag::{Bag, Code, Problem};
use crate::trace::dynamo::read_dynamo;
use crate::trace::options::{ReadOptions, TraceFormat};
use crate::trace::read::{Shard, TraceInput, read_corpus};
use crate::trace::recorded::{RecordedOptions, RecordedTree};
use crate::trace::weka::read_weka;

use super::dynamo::SessionNames;
use super::lost::Lost;
use super::sink::Sink;
use super::{ConvertTarget, ConvertedSource, agentic, applied, dynamo, rows, weka};

/// Why a trace is not written in another format.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// It cannot be read, or not be said.
    #[error("the trace cannot be said in the format")]
    Trace(Bag),
    /// What is written finds no room.
    #[error("cannot write the trace: {0}")]
    Output(#[from] io::Error),
}

impl From<Bag> for ConvertError {
    fn from(bag: Bag) -> Self {
        Self::Trace(bag)
    }
}

/// Writes the trace that shards hold in a format, line by line as it is read, and returns what is lost: how many requests, sessions, tools,
/// events or keys state it, by name of [`super::LOSSES`]. The source is what a header says it is from.
///
/// Whatever was written is of use only where all is well.
///
/// # Errors
/// As readers have them, `trace::convert` for what the target cannot say in any way, and where the output takes no more.
pub fn convert(
    shards: &[Shard],
    options: &ReadOptions,
    (target, source): (ConvertTarget, &ConvertedSource),
    out: &mut dyn Write,
) -> Result<BTreeMap<&'static str, u64>, ConvertError> {
    if let Some(why) = target.refusal(options.format) {
        return Err(Bag::from(refused(target, options.format, why)).into());
    }
    let files: Vec<TraceInput> = shards.iter().map(TraceInput::shard).collect();
    let (mut lost, mut sink) = (Lost::default(), Sink::new(out));
    match target {
        ConvertTarget::Weka => to_weka(&files, &mut sink, &mut lost)?,
        ConvertTarget::Dynamo => to_dynamo(&files, &mut sink, &mut lost)?,
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
                    let plays = agentic::write(&corpus, source, &mut sink);
                    let why = "its requests wait for nothing by name";
                    plays.ok_or_else(|| Bag::from(refused(target, options.format, why)))?;
                }
                ConvertTarget::AppliedComputeAgentic => {
                    applied::write(&corpus, &mut sink, &mut lost)?;
                }
                ConvertTarget::Mooncake
                | ConvertTarget::MooncakeDelta
                | ConvertTarget::Weka
                | ConvertTarget::Dynamo => {
                    rows::write(&corpus, (options, target), &mut sink, &mut lost)?;
                }
            }
        }
    }
    sink.finish()?;
    Ok(lost.found())
}

fn to_weka(files: &[TraceInput], sink: &mut Sink<'_>, lost: &mut Lost) -> Result<(), Bag> {
    let mut problems = Bag::new();
    let read = read_dynamo(files, RecordedOptions::strict(), &mut |tree| {
        if let Err(bag) = weka::write(&tree, sink, lost) {
            problems.extend(bag);
        }
    })?;
    read.without_session.each(|request| {
        let message = "the request is of no session";
        problems.push(request.place.problem(Code::TraceConvert, message, "this record"));
    });
    lost.add_recorded(&read.counts);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Reads twice: what sessions are called in a capture depends on whether names meet anywhere in the corpus.
fn to_dynamo(files: &[TraceInput], sink: &mut Sink<'_>, lost: &mut Lost) -> Result<(), Bag> {
    let options = RecordedOptions::strict();
    let mut names = SessionNames::default();
    read_weka(files, options, &mut |tree| names.add(&tree))?;
    let mut problems = Bag::new();
    let counts = read_weka(files, options, &mut |tree| {
        if let Err(bag) = dynamo::write(&tree, &names, sink, lost) {
            problems.extend(bag);
        }
    })?;
    lost.add_recorded(&counts);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
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

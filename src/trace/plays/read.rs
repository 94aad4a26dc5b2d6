//! Files of a recorded format to a corpus.

use std::path::Path;
use std::sync::Arc;

use crate::diag::{Bag, Code, Problem};
use crate::trace::counts::ReadCounts;
use crate::trace::dynamo::read_dynamo;
use crate::trace::options::{ReadOptions, Strictness, TraceFormat};
use crate::trace::read::{Shard, TraceInput};
use crate::trace::recorded::{Place, RecordedCounts, RecordedOptions, RecordedTree};
use crate::trace::weka::read_weka;
use crate::units::BlockSize;
use crate::workload::Corpus;

use super::build::{PlayRows, build};
use super::weka::Hashes;
use super::{agentic, applied, dynamo, weka};

/// Returns whether a format records sessions that wait for what they did: such files are read here.
pub(in super::super) const fn is_recorded(format: TraceFormat) -> bool {
    match format {
        TraceFormat::AgenticMooncake
        | TraceFormat::Weka
        | TraceFormat::AppliedComputeAgentic
        | TraceFormat::Dynamo => true,
        TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::Azure
        | TraceFormat::BurstGpt
        | TraceFormat::RagPulse
        | TraceFormat::Csv => false,
    }
}

/// Reads the shards of a recorded format, in order, as one corpus.
///
/// # Errors
/// Everything that is wrong, each with `file:line:column` where a record is.
pub(in super::super) fn read(
    shards: &[Shard],
    options: &ReadOptions,
) -> Result<(Corpus, ReadCounts), Bag> {
    let files: Vec<TraceInput> = shards.iter().map(TraceInput::shard).collect();
    let (corpus, counts) = match options.format {
        TraceFormat::AgenticMooncake => read_agentic(&files, options)?,
        TraceFormat::AppliedComputeAgentic => applied::read(&files, options)?,
        TraceFormat::Dynamo => read_capture(&files, options)?,
        TraceFormat::Weka => read_corpus_of_traces(&files, options)?,
        TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::Azure
        | TraceFormat::BurstGpt
        | TraceFormat::RagPulse
        | TraceFormat::Csv => {
            unreachable!("bug: these formats record no sessions that wait")
        }
    };
    let mut corpus = corpus;
    corpus.complete().map_err(|error| {
        Problem::new(Code::TraceRead, format!("cannot keep rows in a temporary file: {error}"))
    })?;
    let counts = read_counts(&corpus, counts);
    Ok((corpus, counts))
}

/// Returns how many requests one file of a recording holds, read leniently; 0 where it cannot be read: reading it whole says why.
pub(in super::super) fn count(text: &[u8], format: TraceFormat) -> u64 {
    // A file of one trace over many lines is read as such, any other line by line.
    let is_document = format == TraceFormat::Weka
        && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let file = TraceInput::bytes(if is_document { "count.json" } else { "count.jsonl" }, text);
    let options = RecordedOptions { strictness: Strictness::Lenient, ..RecordedOptions::strict() };
    let block_size = BlockSize::new(1).expect("one is above zero");
    let lenient =
        ReadOptions { strictness: Strictness::DynoSim, ..ReadOptions::strict(format, block_size) };
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    match format {
        TraceFormat::Weka => {
            read_weka(&[file], options, &mut |_| {}).map_or(0, |counts| counts.requests)
        }
        TraceFormat::Dynamo => read_dynamo(&[file], options, &mut |_| {})
            .map_or(0, |read| read.counts.requests + count(read.without_session.len())),
        TraceFormat::AppliedComputeAgentic => {
            applied::read(&[file], &lenient).map_or(0, |(_, counts)| counts.requests)
        }
        TraceFormat::AgenticMooncake => {
            let mut lines =
                text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            // Only the first line may be a header; a row may hold any text.
            let first = lines.next().map_or(0, |line| usize::from(!agentic::is_header(line)));
            count(first + lines.count())
        }
        TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::Azure
        | TraceFormat::BurstGpt
        | TraceFormat::RagPulse
        | TraceFormat::Csv => 0,
    }
}

/// Returns the counts of a corpus.
fn read_counts(corpus: &Corpus, counts: RecordedCounts) -> ReadCounts {
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    ReadCounts {
        rows: count(corpus.len()),
        sessions: counts.sessions.max(corpus.plays().map_or(0, |plays| count(plays.plays().len()))),
        blank_lines: counts.blank_lines,
        unknown_keys: counts.unknown_keys,
        unused_keys: counts.unused_keys,
        unsorted_rows: counts.unsorted,
        repeated: counts.repeated,
        orphans: counts.orphans,
        misfit_hashes: counts.misfit_hashes,
        conflicts: counts.conflicts,
        ..ReadCounts::default()
    }
}

fn read_agentic(
    files: &[TraceInput],
    options: &ReadOptions,
) -> Result<(Corpus, RecordedCounts), Bag> {
    let mut rows = PlayRows::default();
    let (mut counts, mut problems) = (RecordedCounts::default(), Bag::new());
    let mut size: Option<BlockSize> = None;
    for file in files {
        match agentic::read(file, options) {
            Ok((found, block_size, read)) => {
                if size.is_some_and(|size| size != block_size) {
                    let message = format!(
                        "`{}` has block size {block_size}, files before it another",
                        file.name()
                    );
                    let place = Place { file: Arc::clone(file.name()), line: 1, column: 1 };
                    problems.push(place.problem(Code::TraceBlockSize, message, "its header"));
                }
                size = size.or(Some(block_size));
                rows.extend(found);
                counts.add(read);
            }
            Err(bag) => problems.extend(bag),
        }
    }
    if problems.has_errors() {
        return Err(problems);
    }
    if rows.rows.iter().all(|row| row.play_id.is_empty()) {
        dynamo::name_components(&mut rows.rows, "legacy-play");
    }
    build(rows, size.unwrap_or(options.block_size), options.arrivals).map(|corpus| (corpus, counts))
}

fn read_capture(
    files: &[TraceInput],
    options: &ReadOptions,
) -> Result<(Corpus, RecordedCounts), Bag> {
    let mut trees: Vec<RecordedTree> = Vec::new();
    let read = read_dynamo(files, RecordedOptions::of(options), &mut |tree| trees.push(tree))?;
    let size = read.block_size.unwrap_or(options.block_size);
    if !read.without_session.is_empty() && !trees.is_empty() {
        let message = "some requests name a session and some do not: simulation takes one kind";
        let mut problems = Bag::new();
        read.without_session.each_of([0], |alone| {
            problems.push(alone.place.problem(Code::TraceSession, message, "names none"));
        });
        return Err(problems);
    }
    if trees.is_empty() {
        let mut corpus = Corpus::new(size);
        dynamo::standard(&read.without_session, &mut corpus)?;
        return Ok((corpus, read.counts));
    }
    let mut rows = PlayRows::default();
    rows.extend(dynamo::lower(&trees)?);
    build(rows, size, options.arrivals).map(|corpus| (corpus, read.counts))
}

fn read_corpus_of_traces(
    files: &[TraceInput],
    options: &ReadOptions,
) -> Result<(Corpus, RecordedCounts), Bag> {
    let mut rows = PlayRows::default();
    let (mut problems, mut hashes) = (Bag::new(), Hashes::of_corpus(options.arrivals));
    let (mut size, mut ordinal) = (None, 0);
    let mut in_file = (String::new(), 0_u64);
    let counts = read_weka(files, RecordedOptions::of(options), &mut |tree| {
        size = size.or(tree.block_size);
        if *tree.place.file != *in_file.0 {
            in_file = (tree.place.file.to_string(), 0);
        }
        // Names order ties, so they come from what a pin's digest covers: not from the name of a file, but where the reference's do.
        let source = match options.strictness {
            Strictness::DynoSim => source_name(&in_file.0, in_file.1),
            Strictness::Scenario | Strictness::Lenient => tree.id().to_owned(),
        };
        match weka::lower(&tree, (&source, ordinal), &mut hashes) {
            Ok(found) => rows.extend(found),
            Err(bag) => problems.extend(bag),
        }
        ordinal += 1;
        in_file.1 += 1;
    })?;
    if problems.has_errors() {
        return Err(problems);
    }
    build(rows, size.unwrap_or(options.block_size), options.arrivals).map(|corpus| (corpus, counts))
}

/// Returns what the reference calls a trace: its file, and its place in a file with one a line. Names of requests are made of it.
fn source_name(file: &str, index: u64) -> String {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
    let end = Path::new(name).extension().and_then(|end| end.to_str()).unwrap_or_default();
    if end.eq_ignore_ascii_case("json") { name.to_owned() } else { format!("{name}#{index:06}") }
}

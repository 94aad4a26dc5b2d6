//! All shards of a trace to one corpus.

use std::borrow::Cow;

use crate::diag::{Bag, Problem};
use crate::workload::Corpus;

use super::super::assemble::Assembly;
use super::super::counts::ReadCounts;
use super::super::options::{ReadOptions, TraceFormat};
use super::super::row::Line;
use super::super::{azure, mooncake, plays};
use super::Shard;
use super::stream::{Digests, Irregular, Seen, each_line};

/// What a reader says that watched the files go by.
#[derive(Debug)]
pub struct WatchedRead {
    /// What was seen of each shard.
    pub seen: Vec<Seen>,
    /// What [`read_views`] says, for files that are in order.
    pub views: Result<Vec<CorpusView>, Bag>,
}

/// Rows of a trace, and what reading them counted.
pub type CorpusView = (Corpus, ReadCounts);

/// Reads the shards of a trace, in order, as one corpus.
///
/// Nothing is returned before every shard is unpacked and every kept row is read. Rows keep the order of shards and lines, so
/// equal timestamps do as well. Arrivals are in milliseconds: as written for numeric timestamps, counted from the earliest for
/// calendar times.
///
/// # Errors
/// Everything that is wrong, each with `file:line:column` where a row is: codes `trace::*`.
pub fn read_corpus(shards: &[Shard], options: &ReadOptions) -> Result<CorpusView, Bag> {
    let mut views = read_views(shards, options, &[options.first_rows])?;
    Ok(views.remove(0))
}

/// As [`read_corpus`], once for several numbers of first rows (all rows where one is absent), in their order. The corpora share their
/// rows.
///
/// # Errors
/// As [`read_corpus`], for any of the numbers.
pub fn read_views(
    shards: &[Shard],
    options: &ReadOptions,
    firsts: &[Option<u64>],
) -> Result<Vec<CorpusView>, Bag> {
    match options.format {
        TraceFormat::Mooncake | TraceFormat::MooncakeDelta => {
            let mut assembly = Assembly::for_views(options, firsts);
            if stream_mooncake(shards, options, &mut assembly, Digests::Skipped).is_ok() {
                return assembly.finish(&names(shards));
            }
            read_whole(shards, options, firsts)
        }
        TraceFormat::Azure => {
            let shards = in_memory(shards)?;
            let texts = texts(&shards)?;
            // Which time is the first one, from which arrivals count, depends on how many rows there are.
            let view = |first_rows: &Option<u64>| {
                let options = ReadOptions { first_rows: *first_rows, ..*options };
                let mut assembly = Assembly::for_views(&options, &[*first_rows]);
                read_azure(&texts, &options, &mut assembly);
                let mut views = assembly.finish(&names(shards.iter().map(AsRef::as_ref)))?;
                Ok(views.remove(0))
            };
            firsts.iter().map(view).collect()
        }
        TraceFormat::AgenticMooncake
        | TraceFormat::Weka
        | TraceFormat::AppliedComputeAgentic
        | TraceFormat::Dynamo => {
            let (corpus, counts) = plays::read(shards, options)?;
            // What waits for what is known only of the whole: the first rows of a recording are not cut off.
            Ok(firsts.iter().map(|_| (corpus.clone(), counts.clone())).collect())
        }
    }
}

/// As [`read_views`], JSON lines with every shard in memory, which says what is wrong with one.
pub(super) fn read_whole(
    shards: &[Shard],
    options: &ReadOptions,
    firsts: &[Option<u64>],
) -> Result<Vec<CorpusView>, Bag> {
    let shards = in_memory(shards)?;
    let texts = texts(&shards)?;
    let mut assembly = Assembly::for_views(options, firsts);
    read_mooncake(&texts, options, &mut assembly);
    assembly.finish(&names(shards.iter().map(AsRef::as_ref)))
}

/// As [`read_views`], with what was seen of each shard, and without a word of why something is not in order with one: `None` then, and
/// for a format that is not read line by line.
pub fn read_watched(
    shards: &[Shard],
    options: &ReadOptions,
    firsts: &[Option<u64>],
) -> Option<WatchedRead> {
    match options.format {
        TraceFormat::Mooncake | TraceFormat::MooncakeDelta => {
            let mut assembly = Assembly::for_views(options, firsts);
            let seen = stream_mooncake(shards, options, &mut assembly, Digests::Taken).ok()?;
            Some(WatchedRead { seen, views: assembly.finish(&names(shards)) })
        }
        TraceFormat::Azure
        | TraceFormat::AgenticMooncake
        | TraceFormat::Weka
        | TraceFormat::AppliedComputeAgentic
        | TraceFormat::Dynamo => None,
    }
}

/// Returns the names of shards for messages.
fn names<'a>(shards: impl IntoIterator<Item = &'a Shard>) -> String {
    let names: Vec<&str> = shards.into_iter().map(Shard::name).collect();
    names.join(", ")
}

/// Returns the shards with their bytes in memory.
fn in_memory(shards: &[Shard]) -> Result<Vec<Cow<'_, Shard>>, Bag> {
    let mut problems = Bag::new();
    let mut loaded = Vec::with_capacity(shards.len());
    for shard in shards {
        match shard.in_memory() {
            Ok(shard) => loaded.push(shard),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(loaded) } else { Err(problems) }
}

/// Reads JSON lines one after the other, in bounded memory, to the end of every shard: also where enough rows are known, a shard that is
/// damaged further on is irregular.
fn stream_mooncake(
    shards: &[Shard],
    options: &ReadOptions,
    assembly: &mut Assembly<'_>,
    digests: Digests,
) -> Result<Vec<Seen>, Irregular> {
    let (mut ids, mut lines_before) = (Vec::new(), 0);
    let mut all = Vec::with_capacity(shards.len());
    for shard in shards {
        let seen = each_line(shard, lines_before, digests, |line| {
            if !assembly.is_done() {
                read_line(line, options, &mut ids, assembly);
            }
        })?;
        lines_before += seen.lines;
        all.push(seen);
    }
    Ok(all)
}

/// Reads a JSON line, which may be blank.
fn read_line(
    line: Line<'_>,
    options: &ReadOptions,
    ids: &mut Vec<u64>,
    assembly: &mut Assembly<'_>,
) {
    if line.is_blank() {
        assembly.counts.blank_lines += 1;
        return;
    }
    let row: Result<_, Problem> = mooncake::read_row(line, options, ids, &mut assembly.counts);
    assembly.add(row, ids);
}

/// Returns how many rows a shard's unpacked bytes hold: lines that are not blank, without the header; of a recording, its requests.
pub fn count_rows(text: &[u8], format: TraceFormat) -> u64 {
    if plays::is_recorded(format) {
        return plays::count(text, format);
    }
    let blank = |line: &[u8]| line.trim_ascii().is_empty();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !blank(line));
    let count = lines.fold(0_u64, |count, _| count + 1);
    match format {
        TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::AgenticMooncake
        | TraceFormat::Weka
        | TraceFormat::AppliedComputeAgentic
        | TraceFormat::Dynamo => count,
        TraceFormat::Azure => count.saturating_sub(1),
    }
}

/// A shard's name, its text, and how many lines are in the shards before it.
struct Text<'a> {
    name: &'a str,
    unpacked: Cow<'a, str>,
    lines_before: u64,
}

impl Text<'_> {
    /// Returns the lines.
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        Line::all(self.name, &self.unpacked, self.lines_before)
    }
}

/// Unpacks every shard.
fn texts<'a>(shards: &'a [Cow<'_, Shard>]) -> Result<Vec<Text<'a>>, Bag> {
    let mut texts: Vec<Text<'_>> = Vec::with_capacity(shards.len());
    let mut problems = Bag::new();
    let mut lines_before = 0;
    for shard in shards {
        match shard.text() {
            Ok(unpacked) => {
                let lines = unpacked.lines().fold(0, |count, _| count + 1);
                texts.push(Text { name: shard.name(), unpacked, lines_before });
                lines_before += lines;
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(texts) } else { Err(problems) }
}

/// Reads JSON lines.
fn read_mooncake(texts: &[Text<'_>], options: &ReadOptions, assembly: &mut Assembly<'_>) {
    let mut ids = Vec::new();
    for line in texts.iter().flat_map(Text::lines) {
        if assembly.is_done() {
            return;
        }
        read_line(line, options, &mut ids, assembly);
    }
}

/// Reads CSV with calendar times, which are rebased when all are known.
fn read_azure(texts: &[Text<'_>], options: &ReadOptions, assembly: &mut Assembly<'_>) {
    let mut rows = Vec::new();
    for text in texts {
        azure::read_shard(text.lines(), options, &mut rows, assembly);
    }
    azure::rebase(rows, assembly);
}

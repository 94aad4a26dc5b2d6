//! All shards of a trace to one corpus.

use std::borrow::Cow;

use crate::diag::{Bag, Problem};
use crate::workload::Corpus;

use super::super::assemble::Assembly;
use super::super::counts::ReadCounts;
use super::super::options::{ReadOptions, TraceFormat};
use super::super::row::Line;
use super::super::table::Table;
use super::super::{mooncake, plays, ragpulse, table};
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
        TraceFormat::Azure | TraceFormat::Csv if table::has_calendar(options) => {
            let shards = in_memory(shards)?;
            let texts = texts(&shards)?;
            // Which time is the first one, from which arrivals count, depends on how many rows there are.
            let view = |first_rows: &Option<u64>| {
                let options = ReadOptions { first_rows: *first_rows, ..options.clone() };
                let mut assembly = Assembly::for_views(&options, &[*first_rows]);
                read_calendar(&texts, &options, &mut assembly);
                let mut views = assembly.finish(&names(shards.iter().map(AsRef::as_ref)))?;
                Ok(views.remove(0))
            };
            firsts.iter().map(view).collect()
        }
        TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::Azure
        | TraceFormat::BurstGpt
        | TraceFormat::RagPulse
        | TraceFormat::Csv => {
            let mut assembly = Assembly::for_views(options, firsts);
            if stream(shards, options, &mut assembly, Digests::Skipped).is_ok() {
                return assembly.finish(&names(shards));
            }
            read_whole(shards, options, firsts)
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

/// As [`read_views`], rows with every shard in memory, which says what is wrong with one.
pub(super) fn read_whole(
    shards: &[Shard],
    options: &ReadOptions,
    firsts: &[Option<u64>],
) -> Result<Vec<CorpusView>, Bag> {
    let shards = in_memory(shards)?;
    let texts = texts(&shards)?;
    let mut assembly = Assembly::for_views(options, firsts);
    read_lines(&texts, options, &mut assembly);
    assembly.finish(&names(shards.iter().map(AsRef::as_ref)))
}

/// As [`read_views`], with what was seen of each shard, and without a word of why something is not in order with one: `None` then, and
/// for a format that is not read line by line.
pub fn read_watched(
    shards: &[Shard],
    options: &ReadOptions,
    firsts: &[Option<u64>],
) -> Option<WatchedRead> {
    if plays::is_recorded(options.format) || table::has_calendar(options) {
        return None;
    }
    let mut assembly = Assembly::for_views(options, firsts);
    let seen = stream(shards, options, &mut assembly, Digests::Taken).ok()?;
    Some(WatchedRead { seen, views: assembly.finish(&names(shards)) })
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

/// Reads lines one after the other, in bounded memory, to the end of every shard: also where enough rows are known, a shard that is
/// damaged further on is irregular.
fn stream(
    shards: &[Shard],
    options: &ReadOptions,
    assembly: &mut Assembly<'_>,
    digests: Digests,
) -> Result<Vec<Seen>, Irregular> {
    let mut lines_before = 0;
    let mut all = Vec::with_capacity(shards.len());
    for shard in shards {
        let mut rows = RowReader::of(options.format);
        let mut seen = each_line(shard, lines_before, digests, |line| {
            if !assembly.is_done() {
                rows.read_line(line, options, assembly);
            }
        })?;
        seen.rows = seen.rows.saturating_sub(u64::from(options.format.is_table()));
        lines_before += seen.lines;
        all.push(seen);
    }
    Ok(all)
}

/// Reads the lines of one file.
enum RowReader {
    /// Mooncake's, with room for the ids of a row.
    Mooncake(Vec<u64>),
    Table(Table),
    RagPulse,
}

impl RowReader {
    /// Returns the reader of a file of which nothing is read.
    fn of(format: TraceFormat) -> Self {
        match format {
            TraceFormat::Mooncake | TraceFormat::MooncakeDelta => Self::Mooncake(Vec::new()),
            TraceFormat::Azure | TraceFormat::BurstGpt | TraceFormat::Csv => {
                Self::Table(Table::default())
            }
            TraceFormat::RagPulse => Self::RagPulse,
            TraceFormat::AgenticMooncake
            | TraceFormat::Weka
            | TraceFormat::AppliedComputeAgentic
            | TraceFormat::Dynamo => unreachable!("bug: recordings are not read row by row"),
        }
    }

    /// Reads a line, which may be blank.
    fn read_line(&mut self, line: Line<'_>, options: &ReadOptions, assembly: &mut Assembly<'_>) {
        if let Self::Table(table) = self {
            return table.read_line(line, options, assembly);
        }
        if line.is_blank() {
            assembly.counts.blank_lines += 1;
            return;
        }
        let counts = &mut assembly.counts;
        let (row, ids): (Result<_, Problem>, &[u64]) = match self {
            Self::Mooncake(ids) => (mooncake::read_row(line, options, ids, counts), ids),
            Self::RagPulse => (ragpulse::read_row(line, options, counts), &[]),
            Self::Table(_) => unreachable!("read above"),
        };
        assembly.add(row, ids);
    }
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
        | TraceFormat::Dynamo
        | TraceFormat::RagPulse => count,
        TraceFormat::Azure | TraceFormat::BurstGpt | TraceFormat::Csv => count.saturating_sub(1),
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

/// Reads lines of texts.
fn read_lines(texts: &[Text<'_>], options: &ReadOptions, assembly: &mut Assembly<'_>) {
    for text in texts {
        let mut rows = RowReader::of(options.format);
        for line in text.lines() {
            if assembly.is_done() {
                return;
            }
            rows.read_line(line, options, assembly);
        }
    }
}

/// Reads tables with calendar times, which are rebased when all are known.
fn read_calendar(texts: &[Text<'_>], options: &ReadOptions, assembly: &mut Assembly<'_>) {
    let mut rows = Vec::new();
    for text in texts {
        table::read_shard(text.lines(), options, &mut rows, assembly);
    }
    table::rebase(rows, assembly);
}

//! All shards of a trace to one corpus.

use std::borrow::Cow;

use crate::diag::{Bag, Problem};
use crate::workload::Corpus;

use super::super::assemble::Assembly;
use super::super::counts::ReadCounts;
use super::super::options::{ReadOptions, TraceFormat};
use super::super::row::Line;
use super::super::{azure, mooncake};
use super::Shard;

/// Reads the shards of a trace, in order, as one corpus.
///
/// Nothing is returned before every shard is unpacked and every kept row is read. Rows keep the order of shards and lines, so
/// equal timestamps do as well. Arrivals are in milliseconds: as written for numeric timestamps, counted from the earliest for
/// calendar times.
///
/// # Errors
/// Everything that is wrong, each with `file:line:column` where a row is: codes `trace::*`.
pub fn read_corpus(shards: &[Shard], options: &ReadOptions) -> Result<(Corpus, ReadCounts), Bag> {
    let texts = texts(shards)?;
    let mut assembly = Assembly::new(options);
    match options.format {
        TraceFormat::Mooncake | TraceFormat::MooncakeDelta => {
            read_mooncake(&texts, options, &mut assembly);
        }
        TraceFormat::Azure => read_azure(&texts, options, &mut assembly),
    }
    let names: Vec<&str> = shards.iter().map(Shard::name).collect();
    assembly.finish(&names.join(", "))
}

/// Returns how many rows a shard's unpacked bytes hold: lines that are not blank, without the header.
pub fn count_rows(text: &[u8], format: TraceFormat) -> u64 {
    let blank = |line: &[u8]| line.trim_ascii().is_empty();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !blank(line));
    let count = lines.fold(0_u64, |count, _| count + 1);
    match format {
        TraceFormat::Mooncake | TraceFormat::MooncakeDelta => count,
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
fn texts(shards: &[Shard]) -> Result<Vec<Text<'_>>, Bag> {
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
        if line.is_blank() {
            assembly.counts.blank_lines += 1;
            continue;
        }
        let row: Result<_, Problem> =
            mooncake::read_row(line, options, &mut ids, &mut assembly.counts);
        assembly.add(row, &ids);
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

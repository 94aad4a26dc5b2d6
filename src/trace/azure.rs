//! Azure LLM inference traces: CSV `TIMESTAMP,ContextTokens,GeneratedTokens` with calendar times.
//!
//! No field is ever quoted in these files, so a quote is refused instead of understood.

use std::ops::Range;

use crate::diag::{Code, Problem};
use crate::units::Tokens;

use super::assemble::Assembly;
use super::calendar;
use super::field::{A_LENGTH, length};
use super::options::{ReadOptions, Strictness};
use super::row::{Line, Row};

/// The first line of each file.
pub(super) const HEADER: &str = "TIMESTAMP,ContextTokens,GeneratedTokens";

/// A row before its arrival is rebased.
#[derive(Debug)]
pub(super) struct Parsed<'a> {
    line: Line<'a>,
    arrival_ns: i64,
    arrival_at: Range<usize>,
    input: Tokens,
    output: Tokens,
}

/// Reads the rows of one shard into `rows`, up to `first_rows` of them; what is wrong goes to `assembly`.
pub(super) fn read_shard<'a>(
    lines: impl Iterator<Item = Line<'a>>,
    options: &ReadOptions,
    rows: &mut Vec<Parsed<'a>>,
    assembly: &mut Assembly<'_>,
) {
    let mut header_seen = false;
    for line in lines {
        let enough =
            options.first_rows.is_some_and(|n| u64::try_from(rows.len()).is_ok_and(|k| k >= n));
        if enough || assembly.is_done() {
            return;
        }
        if line.is_blank() {
            assembly.counts.blank_lines += 1;
        } else if header_seen {
            match parse(line, options.strictness) {
                Ok(row) => rows.push(row),
                Err(problem) => assembly.add(Err(problem), &[]),
            }
        } else if line.text == HEADER {
            header_seen = true;
        } else {
            assembly.add_problem(header(&line));
            return;
        }
    }
}

/// Hands rows over with arrivals in milliseconds from the earliest: one division of an exact integer difference.
pub(super) fn rebase(rows: Vec<Parsed<'_>>, assembly: &mut Assembly<'_>) {
    let Some(earliest) = rows.iter().min_by_key(|row| row.arrival_ns) else { return };
    let origin = earliest.arrival_ns;
    assembly.origin = Some(earliest.line.text[earliest.arrival_at.clone()].to_owned());
    for row in rows {
        if assembly.is_done() {
            return;
        }
        let arrival_ms = milliseconds(row.arrival_ns, origin);
        let whole = row.line.whole();
        let row = Row {
            line: row.line,
            arrival_ms: Some(arrival_ms),
            arrival_at: row.arrival_at,
            input: row.input,
            output: row.output,
            session_id: None,
            delay_ms: None,
            delay_at: whole,
            request_id: None,
        };
        assembly.add(Ok(row), &[]);
    }
}

/// Returns `ns - origin` in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ns, which are 104 days")]
fn milliseconds(ns: i64, origin: i64) -> f64 {
    (i128::from(ns) - i128::from(origin)) as f64 / 1e6
}

/// Says that a file does not start with the header.
fn header(line: &Line<'_>) -> Problem {
    let message = format!("the first line is not the header `{HEADER}`");
    line.problem(Code::TraceHeader, line.whole(), message, "expected the header here")
        .help("this format is `azure`; a file of JSON lines is `mooncake`")
}

/// Reads one row.
fn parse(line: Line<'_>, strictness: Strictness) -> Result<Parsed<'_>, Problem> {
    let [time, input_at, output_at] = fields(&line)?;
    let arrival_ns = calendar::nanoseconds(&line.text[time.clone()]).ok_or_else(|| {
        let expected = "a time `YYYY-MM-DD HH:MM:SS.fffffff`";
        wrong(&line, time.clone(), "TIMESTAMP", expected)
    })?;
    let input = tokens(&line, input_at.clone(), "ContextTokens")?;
    let output = tokens(&line, output_at, "GeneratedTokens")?;
    if input == Tokens::ZERO && strictness != Strictness::DynoSim {
        return Err(wrong(&line, input_at, "ContextTokens", "at least 1"));
    }
    Ok(Parsed { line, arrival_ns, arrival_at: time, input, output })
}

/// Returns where the three fields are.
fn fields(line: &Line<'_>) -> Result<[Range<usize>; 3], Problem> {
    let mut commas = line.text.match_indices(',').map(|(at, _)| at);
    if let (Some(first), Some(second), None) = (commas.next(), commas.next(), commas.next()) {
        return Ok([0..first, first + 1..second, second + 1..line.text.len()]);
    }
    let found = line.text.split(',').count();
    let message = format!("trace line {} has {found} fields, the header has 3", line.number);
    Err(line.problem(Code::TraceField, line.whole(), message, "expected 3 fields"))
}

/// Returns a length in tokens.
fn tokens(line: &Line<'_>, at: Range<usize>, column: &str) -> Result<Tokens, Problem> {
    length(&line.text[at.clone()]).ok_or_else(|| wrong(line, at, column, A_LENGTH))
}

/// Says that a field is not what its column holds.
fn wrong(line: &Line<'_>, at: Range<usize>, column: &str, expected: &str) -> Problem {
    let found = &line.text[at.clone()];
    let message =
        format!("trace line {}: `{column}` must be {expected}, found `{found}`", line.number);
    line.problem(Code::TraceField, at, message, &format!("expected {expected}"))
}

//! Tables with a header: Azure's traces, `BurstGPT`, and CSV whose columns are named.
//!
//! A table says when requests arrive and how long they are, no more: every prompt is unique. Columns are found by the header of each
//! file; what others hold changes nothing and is counted by column. A field may stand in quotes, and ends on its line.

use std::ops::Range;

use crate::diag::{Code, Problem};
use crate::units::Tokens;

use super::assemble::Assembly;
use super::calendar;
use super::columns::{ColumnTime, Columns};
use super::counts::ReadCounts;
use super::field::{A_LENGTH, decimal, length};
use super::options::{ReadOptions, Strictness, TimeUnit, TraceFormat};
use super::row::{Line, Row};

/// The first line of each of Azure's files.
pub(super) const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens";

/// Columns of `BurstGPT` by which its header is told. Source: the schema in the README of the repository `HPMLL/BurstGPT`.
pub(super) const BURSTGPT: [&str; 3] = ["Timestamp", "Request tokens", "Response tokens"];
/// The sum of both lengths there.
const BURSTGPT_TOTAL: &str = "Total tokens";
/// Columns of `BurstGPT` that change nothing here; newer files have the last two.
const BURSTGPT_UNUSED: [&str; 4] = ["Model", "Log Type", "Session ID", "Elapsed time"];

/// A column: its place from 0, and its name.
type Column = (usize, String);

/// Where the columns of a file are.
#[derive(Debug)]
pub(super) struct Layout {
    time: Option<(Column, ColumnTime)>,
    input: Column,
    output: Column,
    total: Option<Column>,
    /// Columns that the format knows and that change nothing here.
    unused: Vec<String>,
    /// Columns that it does not know.
    unknown: Vec<String>,
    /// How many columns there are.
    width: usize,
    quotes: Quotes,
    /// Whether a request without output is one that failed.
    failures: bool,
}

/// Whether fields may stand in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Allowed,
    Refused,
}

/// A row before its arrival is known.
#[derive(Debug)]
pub(super) struct Parsed<'a> {
    line: Line<'a>,
    arrival: Arrival,
    arrival_at: Range<usize>,
    input: Tokens,
    output: Tokens,
}

/// When a row arrives.
#[derive(Debug, Clone, Copy)]
enum Arrival {
    Never,
    Ms(f64),
    /// Nanoseconds since 1970, counted from the earliest of the trace.
    Calendar(i64),
}

/// The rows of a file while they are read.
#[derive(Debug, Default)]
pub(super) enum Table {
    /// The header is the next line.
    #[default]
    Ahead,
    /// Rows are below this header.
    Below(Layout),
    /// The header is wrong, so rows say nothing.
    Refused,
}

impl Table {
    /// Returns the row of a line; nothing for a blank line, a header, and what is wrong, which goes to `assembly`.
    fn row<'a>(
        &mut self,
        line: Line<'a>,
        options: &ReadOptions,
        assembly: &mut Assembly<'_>,
    ) -> Option<Parsed<'a>> {
        if line.is_blank() {
            assembly.counts.blank_lines += 1;
            return None;
        }
        match self {
            Self::Refused => None,
            Self::Below(layout) => {
                let row = parse(line, layout, options.strictness, &mut assembly.counts);
                row.map_err(|problem| assembly.add(Err(problem), &[])).ok()
            }
            Self::Ahead => {
                *self = match Layout::of(&line, options) {
                    Ok(layout) => Self::Below(layout),
                    Err(problem) => {
                        assembly.add_problem(problem);
                        Self::Refused
                    }
                };
                None
            }
        }
    }

    /// Adds the row of a line whose time, if it has one, is a number.
    pub(super) fn read_line(
        &mut self,
        line: Line<'_>,
        options: &ReadOptions,
        assembly: &mut Assembly<'_>,
    ) {
        let Some(row) = self.row(line, options, assembly) else { return };
        let arrival_ms = match row.arrival {
            Arrival::Ms(ms) => Some(ms),
            Arrival::Never => None,
            Arrival::Calendar(_) => {
                unreachable!("bug: calendar times are counted from the earliest")
            }
        };
        assembly.add(Ok(row.at(arrival_ms)), &[]);
    }
}

/// Returns whether times are counted from the earliest, so that all rows must be known before the first one is.
pub(in crate::trace) fn has_calendar(options: &ReadOptions) -> bool {
    let time = options.columns.as_ref().and_then(|columns| columns.timestamp.as_ref());
    options.format == TraceFormat::Azure
        || options.format == TraceFormat::Csv
            && time.is_some_and(|(_, time)| *time == ColumnTime::Calendar)
}

/// Reads the rows of one shard into `rows`, up to `first_rows` of them; what is wrong goes to `assembly`.
pub(super) fn read_shard<'a>(
    lines: impl Iterator<Item = Line<'a>>,
    options: &ReadOptions,
    rows: &mut Vec<Parsed<'a>>,
    assembly: &mut Assembly<'_>,
) {
    let mut table = Table::default();
    for line in lines {
        let enough =
            options.first_rows.is_some_and(|n| u64::try_from(rows.len()).is_ok_and(|k| k >= n));
        if enough || assembly.is_done() {
            return;
        }
        rows.extend(table.row(line, options, assembly));
    }
}

/// Hands rows over; calendar times become milliseconds from the earliest: one division of an exact integer difference.
pub(super) fn rebase(rows: Vec<Parsed<'_>>, assembly: &mut Assembly<'_>) {
    let calendar = |row: &Parsed<'_>| match row.arrival {
        Arrival::Calendar(ns) => Some(ns),
        Arrival::Never | Arrival::Ms(_) => None,
    };
    let earliest =
        rows.iter().filter_map(|row| Some((calendar(row)?, row))).min_by_key(|(ns, _)| *ns);
    let origin = earliest.map_or(0, |(ns, _)| ns);
    assembly.origin = earliest.map(|(_, row)| row.line.text[row.arrival_at.clone()].to_owned());
    for row in rows {
        if assembly.is_done() {
            return;
        }
        let arrival_ms = match row.arrival {
            Arrival::Never => None,
            Arrival::Ms(ms) => Some(ms),
            Arrival::Calendar(ns) => Some(milliseconds(ns, origin)),
        };
        assembly.add(Ok(row.at(arrival_ms)), &[]);
    }
}

impl<'a> Parsed<'a> {
    /// Returns the row with its arrival.
    fn at(self, arrival_ms: Option<f64>) -> Row<'a> {
        Row {
            line: self.line,
            arrival_ms,
            arrival_at: self.arrival_at,
            input: self.input,
            output: self.output,
            session_id: None,
            delay_ms: None,
            delay_at: self.line.whole(),
            request_id: None,
        }
    }
}

/// Returns `ns - origin` in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ns, which are 104 days")]
fn milliseconds(ns: i64, origin: i64) -> f64 {
    (i128::from(ns) - i128::from(origin)) as f64 / 1e6
}

/// Returns which column of a header says when requests arrive, and how; nothing where none does.
pub(super) fn time_column(
    header: &str,
    format: TraceFormat,
    columns: Option<&Columns>,
) -> Option<(usize, ColumnTime)> {
    let (name, time) = match format {
        TraceFormat::Azure => return Some((0, ColumnTime::Calendar)),
        TraceFormat::BurstGpt => (BURSTGPT[0], ColumnTime::Number(TimeUnit::Seconds)),
        TraceFormat::Csv => {
            let (name, time) = columns?.timestamp.as_ref()?;
            (name.as_str(), *time)
        }
        TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::AgenticMooncake
        | TraceFormat::Weka
        | TraceFormat::AppliedComputeAgentic
        | TraceFormat::Dynamo
        | TraceFormat::RagPulse => return None,
    };
    names(header).iter().position(|found| *found == name).map(|at| (at, time))
}

/// Returns when a row arrives, in milliseconds of its table's clock; nothing where the row does not say.
///
/// Calendar times count from 1970, where a number of milliseconds tells quarters of a microsecond apart.
pub(super) fn time_ms(row: &str, (column, time): (usize, ColumnTime)) -> Option<f64> {
    let at = split(row, Quotes::Allowed)?.into_iter().nth(column)?;
    let text = &row[at];
    match time {
        ColumnTime::Calendar => calendar::nanoseconds(text).map(|ns| milliseconds(ns, 0)),
        ColumnTime::Number(unit) => {
            decimal(text, unit.milliseconds_exponent()).filter(|ms| ms.is_finite())
        }
    }
}

/// Returns the names in a header.
pub(super) fn names(header: &str) -> Vec<&str> {
    let fields = split(header, Quotes::Allowed).unwrap_or_default();
    fields.into_iter().map(|at| header[at].trim()).collect()
}

impl Layout {
    /// Returns what a header says.
    fn of(line: &Line<'_>, options: &ReadOptions) -> Result<Self, Problem> {
        let names = names(line.text);
        if let Some(twice) = (1..names.len())
            .map(|at| names[at])
            .find(|name| names.iter().filter(|n| *n == name).count() > 1)
        {
            let message = format!("the header names the column `{twice}` twice");
            return Err(line.problem(Code::TraceHeader, line.whole(), message, "this header"));
        }
        match options.format {
            TraceFormat::BurstGpt => Self::burstgpt(line, &names),
            TraceFormat::Csv => {
                let Some(columns) = options.columns.as_deref() else {
                    let message = "nobody states which columns say what";
                    let problem =
                        line.problem(Code::TraceHeader, line.whole(), message, "this header");
                    return Err(problem.help("name the columns of `input` and `output`"));
                };
                Self::named(line, &names, columns)
            }
            TraceFormat::Azure
            | TraceFormat::Mooncake
            | TraceFormat::MooncakeDelta
            | TraceFormat::AgenticMooncake
            | TraceFormat::Weka
            | TraceFormat::AppliedComputeAgentic
            | TraceFormat::Dynamo
            | TraceFormat::RagPulse => Self::azure(line, &names),
        }
    }

    fn azure(line: &Line<'_>, names: &[&str]) -> Result<Self, Problem> {
        if line.text != AZURE {
            let message = format!("the first line is not the header `{AZURE}`");
            return Err(line
                .problem(Code::TraceHeader, line.whole(), message, "expected the header here")
                .help("this format is `azure`; a file of JSON lines is `mooncake`, another table is `csv`"));
        }
        let column = |at: usize| (at, names[at].to_owned());
        Ok(Self {
            time: Some((column(0), ColumnTime::Calendar)),
            input: column(1),
            output: column(2),
            total: None,
            unused: Vec::new(),
            unknown: Vec::new(),
            width: 3,
            quotes: Quotes::Refused,
            failures: false,
        })
    }

    fn burstgpt(line: &Line<'_>, names: &[&str]) -> Result<Self, Problem> {
        let [time, input, output] = BURSTGPT;
        let is_unused = |name: &&str| BURSTGPT_UNUSED.contains(name);
        let is_read = |name: &&str| BURSTGPT.contains(name) || *name == BURSTGPT_TOTAL;
        let owned = |name: &&str| (*name).to_owned();
        Ok(Self {
            time: Some((find(line, names, time)?, ColumnTime::Number(TimeUnit::Seconds))),
            input: find(line, names, input)?,
            output: find(line, names, output)?,
            total: find(line, names, BURSTGPT_TOTAL).ok(),
            unused: names.iter().filter(|name| is_unused(name)).map(owned).collect(),
            unknown: names
                .iter()
                .filter(|name| !is_unused(name) && !is_read(name))
                .map(owned)
                .collect(),
            width: names.len(),
            quotes: Quotes::Allowed,
            failures: true,
        })
    }

    fn named(line: &Line<'_>, names: &[&str], columns: &Columns) -> Result<Self, Problem> {
        let time = columns.timestamp.as_ref();
        let time = time.map(|(name, time)| Ok((find(line, names, name)?, *time))).transpose()?;
        let (input, output) =
            (find(line, names, &columns.input)?, find(line, names, &columns.output)?);
        let read = [time.as_ref().map(|(column, _)| column.0), Some(input.0), Some(output.0)];
        let unknown = names.iter().enumerate().filter(|(at, _)| !read.contains(&Some(*at)));
        Ok(Self {
            unknown: unknown.map(|(_, name)| (*name).to_owned()).collect(),
            time,
            input,
            output,
            total: None,
            unused: Vec::new(),
            width: names.len(),
            quotes: Quotes::Allowed,
            failures: false,
        })
    }
}

/// Returns a column of a header.
fn find(line: &Line<'_>, names: &[&str], name: &str) -> Result<Column, Problem> {
    let at = names.iter().position(|found| *found == name);
    at.map(|at| (at, name.to_owned())).ok_or_else(|| {
        let message = format!("the header has no column `{name}`");
        line.problem(Code::TraceHeader, line.whole(), message, "this header")
            .help(format!("it has `{}`", names.join("`, `")))
    })
}

/// Reads one row.
fn parse<'a>(
    line: Line<'a>,
    layout: &Layout,
    strictness: Strictness,
    counts: &mut ReadCounts,
) -> Result<Parsed<'a>, Problem> {
    let fields = fields(&line, layout)?;
    let (arrival, arrival_at) = match &layout.time {
        None => (Arrival::Never, line.whole()),
        Some(((at, name), time)) => {
            (arrival(&line, fields[*at].clone(), name, *time)?, fields[*at].clone())
        }
    };
    let of = |(at, name): &Column| tokens(&line, fields[*at].clone(), name);
    let (input, output) = (of(&layout.input)?, of(&layout.output)?);
    if input == Tokens::ZERO && strictness != Strictness::DynoSim {
        let (at, name) = &layout.input;
        return Err(wrong(&line, fields[*at].clone(), name, "at least 1"));
    }
    if layout.failures && output == Tokens::ZERO {
        check_failed(&line, fields[layout.output.0].clone(), strictness)?;
        counts.without_output += 1;
    }
    if let Some(total) = &layout.total
        && of(total)? != input + output
    {
        if strictness == Strictness::Scenario {
            let expected = format!("the sum of both lengths, {}", input + output);
            return Err(wrong(&line, fields[total.0].clone(), &total.1, &expected));
        }
        counts.conflicts += 1;
    }
    counts.count_keys(&layout.unused, &layout.unknown);
    Ok(Parsed { line, arrival, arrival_at, input, output })
}

/// Refuses a request that got no answer, where nothing is let through.
fn check_failed(line: &Line<'_>, at: Range<usize>, strictness: Strictness) -> Result<(), Problem> {
    if strictness != Strictness::Scenario {
        return Ok(());
    }
    let [_, _, name] = BURSTGPT;
    let message =
        format!("trace line {}: `{name}` is 0, which is a request that failed", line.number);
    Err(line.problem(Code::TraceField, at, message, "no answer").help(
        "take the files without failed requests, or state `lenient=#true`: such requests then ask for no output, and are counted",
    ))
}

/// Returns when a row arrives.
fn arrival(
    line: &Line<'_>,
    at: Range<usize>,
    column: &str,
    time: ColumnTime,
) -> Result<Arrival, Problem> {
    let text = &line.text[at.clone()];
    match time {
        ColumnTime::Calendar => calendar::nanoseconds(text)
            .map(Arrival::Calendar)
            .ok_or_else(|| wrong(line, at, column, "a time `YYYY-MM-DD HH:MM:SS.fffffff`")),
        ColumnTime::Number(unit) => decimal(text, unit.milliseconds_exponent())
            .filter(|ms| ms.is_finite() && *ms >= 0.0)
            .map(|ms| Arrival::Ms(ms + 0.0))
            .ok_or_else(|| wrong(line, at, column, "a finite number that is not negative")),
    }
}

/// Returns where the fields of a row are, as many as the header has.
fn fields(line: &Line<'_>, layout: &Layout) -> Result<Vec<Range<usize>>, Problem> {
    let Some(fields) = split(line.text, layout.quotes) else {
        let message = format!("trace line {} has a quote that does not close a field", line.number);
        return Err(line.problem(Code::TraceField, line.whole(), message, "this row"));
    };
    if fields.len() == layout.width {
        return Ok(fields);
    }
    let (number, found, width) = (line.number, fields.len(), layout.width);
    let message = format!("trace line {number} has {found} fields, the header has {width}");
    Err(line.problem(Code::TraceField, line.whole(), message, &format!("expected {width} fields")))
}

/// Returns where fields are, without their quotes; `None` where a quoted field does not end at a comma or at the end of the line.
fn split(text: &str, quotes: Quotes) -> Option<Vec<Range<usize>>> {
    let (bytes, mut fields, mut at) = (text.as_bytes(), Vec::with_capacity(8), 0);
    loop {
        let is_quoted = quotes == Quotes::Allowed && bytes.get(at) == Some(&b'"');
        let (field, end) = if is_quoted {
            let mut end = at + 1;
            // Two quotes in a row stand for one.
            while bytes.get(end) != Some(&b'"') || bytes.get(end + 1) == Some(&b'"') {
                end += if *bytes.get(end)? == b'"' { 2 } else { 1 };
            }
            (at + 1..end, end + 1)
        } else {
            let end = bytes[at..].iter().position(|byte| *byte == b',');
            let end = end.map_or(bytes.len(), |length| at + length);
            (at..end, end)
        };
        fields.push(field);
        match bytes.get(end) {
            None => return Some(fields),
            Some(b',') => at = end + 1,
            Some(_) => return None,
        }
    }
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

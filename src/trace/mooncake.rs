//! Mooncake JSON lines: one row.
//!
//! Names, defaults and refusals are those of spec/SIMULATION.md §9.3; what only a scenario refuses is DSL.md's table.

use std::collections::BTreeMap;

use crate::diag::{Code, Problem, counted};
use crate::units::Tokens;

use super::counts::ReadCounts;
use super::field::{Field, Fields};
use super::hash_ids;
use super::options::{HashIds, ReadOptions, Strictness};
use super::plain::{self, PlainRow};
use super::quick;
use super::row::{Line, Row};

/// Reads one row; its hash ids replace what is in `ids`.
///
/// # Errors
/// The first problem of the row.
pub(super) fn read_row<'a>(
    line: Line<'a>,
    options: &ReadOptions,
    ids: &mut Vec<u64>,
    counts: &mut ReadCounts,
) -> Result<Row<'a>, Problem> {
    ids.clear();
    if let Some(row) = read_plain_row(line, options, ids) {
        return Ok(row);
    }
    read_any_row(line, options, ids, counts)
}

/// Reads one row that is written as nearly all are and has nothing that is refused or counted; `None` for any other.
fn read_plain_row<'a>(
    line: Line<'a>,
    options: &ReadOptions,
    ids: &mut Vec<u64>,
) -> Option<Row<'a>> {
    if options.hashes == HashIds::Absent || options.unit.milliseconds_exponent() != 0 {
        return None;
    }
    let PlainRow { timestamp: (timestamp, arrival_at), input, output } =
        plain::read(line.text, ids)?;
    let input = Tokens::new(u64::from(input));
    let needed = usize::try_from(input.blocks_ceil(options.block_size).get()).ok()?;
    (input > Tokens::ZERO && ids.len() == needed).then(|| Row {
        line,
        arrival_ms: Some(f64::from(timestamp)),
        arrival_at,
        input,
        output: Tokens::new(u64::from(output)),
        session_id: None,
        delay_ms: None,
        delay_at: line.whole(),
        request_id: None,
    })
}

/// Reads one row as whatever it is.
fn read_any_row<'a>(
    line: Line<'a>,
    options: &ReadOptions,
    ids: &mut Vec<u64>,
    counts: &mut ReadCounts,
) -> Result<Row<'a>, Problem> {
    ids.clear();
    let quick = quick::fields(line.text, ids);
    let are_read = quick.is_some();
    let fields = quick.map_or_else(|| Fields::read(&line), Ok)?;
    count_keys(&line, &fields, options.strictness, counts)?;
    if !are_read {
        ids.clear();
        if let Some(value) = fields.get(Field::HashIds) {
            hash_ids::read(&line, &value, ids)?;
        }
    }
    let has_ids = has_ids(&line, &fields, options, ids, counts)?;
    let input = input(&line, &fields, options, has_ids.then_some(ids.len()))?;
    if has_ids {
        let needed = check_ids(&line, &fields, options, (input, ids.len()))?;
        counts.extra_hash_ids += u64::from(ids.len() > needed);
        ids.truncate(needed);
    }
    let text = |field| fields.get(field).map(|value| value.string(&line)).transpose();
    let timestamp = fields.get(Field::Timestamp);
    let delay = fields.get(Field::Delay);
    let unit = options.unit.milliseconds_exponent();
    Ok(Row {
        line,
        arrival_ms: timestamp.map(|value| value.milliseconds(&line, unit)).transpose()?,
        arrival_at: timestamp.map_or(line.whole(), |value| value.at(&line)),
        input,
        output: output(&line, &fields)?,
        session_id: text(Field::SessionId)?,
        delay_ms: delay.map(|value| value.milliseconds(&line, 0)).transpose()?,
        delay_at: delay.map_or(line.whole(), |value| value.at(&line)),
        request_id: text(Field::RequestId)?,
    })
}

/// Counts keys that change nothing, and checks those of them that the format gives a type.
pub(super) fn count_keys(
    line: &Line<'_>,
    fields: &Fields<'_>,
    strictness: Strictness,
    counts: &mut ReadCounts,
) -> Result<(), Problem> {
    for (index, key) in fields.unknown.iter().enumerate() {
        if !fields.unknown[..index].contains(key) {
            add(&mut counts.unknown_keys, key);
        } else if strictness != Strictness::DynoSim {
            let message = format!("trace line {} states `{key}` twice", line.number);
            return Err(line.problem(Code::TraceField, line.whole(), message, "in this row"));
        }
    }
    for (field, range) in [
        (Field::Priority, i64::from(i32::MIN)..=i64::from(i32::MAX)),
        (Field::StrictPriority, 0..=i64::from(u32::MAX)),
    ] {
        if let Some(value) = fields.get(field) {
            value.integer_in(line, range)?;
            add(&mut counts.unused_keys, value.key);
        }
    }
    if let Some(value) = fields.get(Field::PolicyClass) {
        value.string(line)?;
        add(&mut counts.unused_keys, value.key);
    }
    Ok(())
}

/// Counts one more row with a key.
fn add(keys: &mut BTreeMap<String, u64>, key: &str) {
    match keys.get_mut(key) {
        Some(count) => *count += 1,
        None => drop(keys.insert(key.to_owned(), 1)),
    }
}

/// Says whether the row's prompt has the hash ids that were read.
fn has_ids(
    line: &Line<'_>,
    fields: &Fields<'_>,
    options: &ReadOptions,
    ids: &mut Vec<u64>,
    counts: &mut ReadCounts,
) -> Result<bool, Problem> {
    match (options.hashes, fields.get(Field::HashIds)) {
        (HashIds::Expected, Some(_)) => Ok(true),
        (HashIds::Expected, None) if options.strictness == Strictness::Lenient => {
            counts.missing_hash_ids += 1;
            Ok(false)
        }
        (HashIds::Expected, None) => {
            let message = format!("trace line {} is missing hash_ids", line.number);
            let problem =
                line.problem(Code::TraceField, line.whole(), message, "no `hash_ids` in this row");
            Err(problem.help("name the blocks of each prompt, or state `hashes \"none\"` in the trace's pin: every prompt is then unique"))
        }
        (HashIds::Absent, Some(_)) => {
            counts.ignored_hash_ids += 1;
            ids.clear();
            Ok(false)
        }
        (HashIds::Absent, None) => Ok(false),
    }
}

/// Returns the prompt's length: what the row says, else what its ids hold.
fn input(
    line: &Line<'_>,
    fields: &Fields<'_>,
    options: &ReadOptions,
    ids: Option<usize>,
) -> Result<Tokens, Problem> {
    let stated = fields.get(Field::Input);
    let tokens = match (stated, ids) {
        (Some(value), _) => value.length(line)?,
        (None, Some(count)) => capacity(count, options),
        (None, None) => {
            let message = format!("trace line {} is missing input_length", line.number);
            let label = "neither `input_length` nor `hash_ids` in this row";
            return Err(line.problem(Code::TraceField, line.whole(), message, label));
        }
    };
    if tokens == Tokens::ZERO && options.strictness != Strictness::DynoSim {
        let at = stated.map_or(line.whole(), |value| value.at(line));
        let message = format!("trace line {}: the prompt is empty", line.number);
        return Err(line.problem(Code::TraceField, at, message, "a prompt has at least one token"));
    }
    Ok(tokens)
}

/// Returns the tokens that `count` ids hold.
fn capacity(count: usize, options: &ReadOptions) -> Tokens {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    Tokens::new(count.saturating_mul(u64::from(options.block_size.get())))
}

/// Checks that `found` ids fit a prompt of `input` tokens and returns how many it takes; the rest stands for nothing.
fn check_ids(
    line: &Line<'_>,
    fields: &Fields<'_>,
    options: &ReadOptions,
    (input, found): (Tokens, usize),
) -> Result<usize, Problem> {
    let (number, size) = (line.number, options.block_size);
    let needed = usize::try_from(input.blocks_ceil(size).get()).unwrap_or(usize::MAX);
    let message = if found < needed {
        let holds = capacity(found, options);
        format!(
            "trace line {number} input_length {input} exceeds hash_ids capacity {holds} ({} of {size} tokens)",
            counted(found, "id")
        )
    } else if found > needed && options.strictness == Strictness::Scenario {
        format!("trace line {number} has {found} hash_ids, but ceil({input}/{size}) = {needed}")
    } else {
        return Ok(needed);
    };
    let at = fields.get(Field::HashIds).map_or(line.whole(), |value| value.at(line));
    let problem = line.problem(Code::TraceHashIds, at, message, &counted(found, "id"));
    Err(match hash_ids::fitting_block_size(input, found) {
        Some(fit) => problem.help(format!("did you mean block size {fit}? With it, {input} tokens take {}", counted(found, "id"))),
        None => problem.help(format!("a prompt of {input} tokens has one id for each {size} tokens, the last perhaps partly filled")),
    })
}

/// Returns the requested output: what the row says, which is also the number of its output tokens where it lists them.
///
/// Tokens alone do not state it: the reference refuses such a row as well.
fn output(line: &Line<'_>, fields: &Fields<'_>) -> Result<Tokens, Problem> {
    let stated = fields.get(Field::Output).map(|value| value.length(line)).transpose()?;
    let ids = fields.get(Field::OutputTokenIds);
    let listed = match &ids {
        None => None,
        Some(value) => Some(
            serde_json::from_str::<Vec<u32>>(value.text)
                .map_err(|_| value.problem(line, "an array of integers from 0 to 4294967295"))?
                .len(),
        ),
    };
    let listed = listed.map(|count| Tokens::new(u64::try_from(count).unwrap_or(u64::MAX)));
    match (stated, listed, ids) {
        (Some(stated), Some(listed), Some(value)) if stated != listed => {
            let number = line.number;
            let message = format!(
                "trace line {number} output_token_ids length {listed} does not match output_length {stated}"
            );
            Err(line.problem(Code::TraceField, value.at(line), message, "this many are listed"))
        }
        (Some(count), ..) => Ok(count),
        (None, ..) => {
            let message = format!("trace line {} is missing output_length", line.number);
            let label = "no `output_length` in this row";
            Err(line.problem(Code::TraceField, line.whole(), message, label))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::options::TraceFormat;
    use crate::units::BlockSize;

    /// Holds what is read of a plain row against what is read of any: returns whether it was one.
    fn both(text: &str) -> bool {
        let line = Line { file: "a", number: 1, running: 1, text };
        let options =
            ReadOptions::strict(TraceFormat::Mooncake, BlockSize::new(4).expect("a size"));
        let (mut ids, mut expected) = (Vec::new(), Vec::new());
        let Some(found) = read_plain_row(line, &options, &mut ids) else { return false };
        let mut counts = ReadCounts::default();
        let row = read_any_row(line, &options, &mut expected, &mut counts);
        let row = row.unwrap_or_else(|problem| panic!("`{text}` is wrong and was read: {problem}"));
        assert_eq!(format!("{found:?}"), format!("{row:?}"));
        assert_eq!((ids, counts), (expected, ReadCounts::default()), "{text}");
        true
    }

    #[test]
    fn published_rows_are_plain_and_what_else_there_is_is_not() {
        for text in [
            r#"{"timestamp": 27482, "input_length": 6, "output_length": 500, "hash_ids": [46, 47]}"#,
            r#"{"hash_ids":[18446744073709551],"output_length":0,"timestamp":0,"input_length":4}"#,
            r#" { "input_length" : 1 , "output_length":1 , "timestamp":4294967295 , "hash_ids": [0 ] } "#,
        ] {
            assert!(both(text), "{text}");
        }
        let row = |timestamp: &str, input: &str, ids: &str| {
            format!(
                r#"{{"timestamp":{timestamp},"input_length":{input},"output_length":1,"hash_ids":{ids}}}"#
            )
        };
        for (timestamp, input, ids) in [
            ("0.5", "4", "[1]"),
            ("01", "4", "[1]"),
            ("-1", "4", "[1]"),
            ("1e2", "4", "[1]"),
            ("\"1\"", "4", "[1]"),
            ("null", "4", "[1]"),
            ("4294967296", "4", "[1]"),
            ("0", "0", "[]"),
            ("0", "5", "[1]"),
            ("0", "4", "[1,2]"),
            ("0", "4", "[-1]"),
            ("0", "4", "[1"),
            ("0", "4", "[1],\"x\":1"),
            ("0", "4", "[1],\"timestamp\":0"),
            ("0", "4", "[1],\"hash_ids\":[1]"),
            ("0", "4", "[1]}{"),
            ("0", "4 4", "[1]"),
            ("0,", "4", "[1]"),
        ] {
            let text = row(timestamp, input, ids);
            assert!(!both(&text), "{text}");
        }
        assert!(!both("") && !both("{}") && !both(r#"{"timestamp":0}"#));
    }

    proptest! {
        #[test]
        fn a_plain_row_is_what_any_reader_finds_or_is_none(
            text in r#"\{ ?("(timestamp|hash_ids|input_length|output_length)" ?: ?([0-9]{1,11}(\.[0-9])?|\[ ?([0-9]{1,20}( ?, ?[0-9]{1,20}){0,3})?,?\]) ?,? ?){3,5}\}?"#
        ) {
            both(&text);
        }
    }
}

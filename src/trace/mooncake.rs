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

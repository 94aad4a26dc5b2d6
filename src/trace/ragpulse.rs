//! `RAGPulse`: JSON lines with lengths, whose blocks are named by what they are part of; rows are what a service was asked.
//!
//! Times are seconds, as texts. Ids name documents and not blocks of tokens, so that they are counted and ignored: every prompt is
//! unique. The service kept no order, so a pin states `sort=#true`. Source: `data/0_trace.jsonl` of the repository `flashserve/RAGPulse`.

use crate::diag::{Code, Problem};
use crate::units::Tokens;

use super::counts::ReadCounts;
use super::field::{Field, Fields, Written, decimal};
use super::mooncake::count_keys;
use super::options::{ReadOptions, Strictness, TimeUnit};
use super::row::{Line, Row};

/// Reads one row.
///
/// # Errors
/// The first problem of the row.
pub(super) fn read_row<'a>(
    line: Line<'a>,
    options: &ReadOptions,
    counts: &mut ReadCounts,
) -> Result<Row<'a>, Problem> {
    let fields = Fields::read(&line)?;
    count_keys(&line, &fields, options.strictness, counts)?;
    let timestamp = fields.get(Field::Timestamp);
    let arrival_ms = timestamp.map(|value| seconds(&line, &value)).transpose()?;
    let input = length(&line, &fields, Field::Input, "input_length")?;
    if input == Tokens::ZERO && options.strictness != Strictness::DynoSim {
        let at = fields.get(Field::Input).map_or(line.whole(), |value| value.at(&line));
        let message = format!("trace line {}: the prompt is empty", line.number);
        return Err(line.problem(Code::TraceField, at, message, "a prompt has at least one token"));
    }
    let output = length(&line, &fields, Field::Output, "output_length")?;
    if let Some(ids) = fields.get(Field::HashIds) {
        if !ids.text.starts_with('{') {
            return Err(ids
                .problem(&line, "an object with lists of ids")
                .help("rows with one list of ids are `mooncake`"));
        }
        counts.ignored_hash_ids += 1;
    }
    if let Some(session) = fields.get(Field::SessionId) {
        session.string(&line)?;
        counts.count_keys(&["session_id".to_owned()], &[]);
    }
    Ok(Row {
        line,
        arrival_ms,
        arrival_at: timestamp.map_or(line.whole(), |value| value.at(&line)),
        input,
        output,
        session_id: None,
        delay_ms: None,
        delay_at: line.whole(),
        request_id: fields.get(Field::RequestId).map(|value| value.string(&line)).transpose()?,
    })
}

/// Returns a number of seconds, which may be a text, in milliseconds.
fn seconds(line: &Line<'_>, value: &Written<'_>) -> Result<f64, Problem> {
    let text = value.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    decimal(text.unwrap_or(value.text), TimeUnit::Seconds.milliseconds_exponent())
        .filter(|ms| ms.is_finite() && *ms >= 0.0)
        .map(|ms| ms + 0.0)
        .ok_or_else(|| value.problem(line, "a finite number of seconds that is not negative"))
}

/// Returns a length that must be there.
fn length(
    line: &Line<'_>,
    fields: &Fields<'_>,
    field: Field,
    key: &str,
) -> Result<Tokens, Problem> {
    let Some(value) = fields.get(field) else {
        let message = format!("trace line {} is missing {key}", line.number);
        let label = format!("no `{key}` in this row");
        return Err(line.problem(Code::TraceField, line.whole(), message, &label));
    };
    value.length(line)
}

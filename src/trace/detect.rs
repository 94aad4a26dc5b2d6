//! Which format files are in, by what they hold; what a pin or a command states always wins.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::diag::{Code, Problem, SourceFile, Span};

use super::options::TraceFormat;
use super::read::{Lines, TraceInput};
use super::recorded::RecordedSource;
use super::table;

/// The schemas that records and headers state.
const DYNAMO: &str = "\"dynamo.request.trace.v1\"";
const AGENTIC_MOONCAKE: &str = "\"dynamo.agentic_mooncake\"";

/// Keys of lines in a capture that are no records of the schema: an uploader's, a sink's copy of a payload.
const MARKERS: [&str; 2] = ["verification", "event_type"];

/// Keys of which a row of Mooncake has one.
const MOONCAKE: [&str; 4] = ["hash_ids", "input_length", "input_tokens", "timestamp"];

/// In how many rows of one file a key of a format that else looks like Mooncake is searched: rows that wait may come late.
const ROWS: usize = 1_000;

/// What a line says of its file.
enum Line {
    /// Its format.
    Is(TraceFormat),
    /// Rows like Mooncake's, unless one below says more.
    Mooncake,
    /// Nothing.
    Nothing,
}

/// Returns the format of the files of one trace, by their first records. Workflow graphs are never guessed.
///
/// Files that hold nothing but what uploaders add say nothing; where all do, it is `mooncake`, whose reader says that there are no rows.
///
/// # Errors
/// Where a file cannot be read, `trace::format` where one is in no format that is known, or two are in different ones.
pub fn detect_format(files: &[TraceInput]) -> Result<TraceFormat, Problem> {
    let mut first: Option<(&TraceInput, TraceFormat)> = None;
    for file in files {
        let Some(found) = of_file(file)? else { continue };
        match first {
            Some((other, format)) if format != found => {
                let message = format!(
                    "`{}` is `{}` and `{}` is `{}`: files of one trace are in one format",
                    other.name(),
                    format.name(),
                    file.name(),
                    found.name()
                );
                let problem = Problem::new(Code::TraceFormat, message);
                return Err(problem.help("name the files of one trace, or state the format"));
            }
            Some(_) => {}
            None => first = Some((file, found)),
        }
    }
    Ok(first.map_or(TraceFormat::Mooncake, |(_, format)| format))
}

/// Returns what wrote a recording.
///
/// # Errors
/// As [`detect_format`], and where the files are in a format that is lowered to no graph.
pub fn detect_recording(files: &[TraceInput]) -> Result<RecordedSource, Problem> {
    let format = detect_format(files)?;
    format.source().ok_or_else(|| {
        let name = files.first().map_or("", |file| file.name());
        let message = format!("`{name}` is `{}`, which holds no sessions to draw", format.name());
        Problem::new(Code::TraceFormat, message).help(GRAPHS)
    })
}

/// What to do about files that hold graphs.
const GRAPHS: &str =
    "workflow graphs are never guessed: `bench graph --input FORMAT` says what files hold";

/// Returns the format of a file; nothing where it holds no records.
fn of_file(file: &TraceInput) -> Result<Option<TraceFormat>, Problem> {
    let mut lines = file.lines()?;
    if file.is_document() {
        return of_document(file, &mut lines);
    }
    let mut rows = 0;
    loop {
        let number = lines.next_number();
        let Some(text) = lines.next()? else { break };
        if text.trim().is_empty() {
            continue;
        }
        match of_line(&text) {
            Ok(Line::Is(format)) => return Ok(Some(format)),
            Ok(Line::Mooncake) => rows += 1,
            Ok(Line::Nothing) => {}
            // The reader of the rows above says what is wrong with this one.
            Err(_) if rows > 0 => break,
            Err(what) => return Err(unknown(file, number, &text, &what)),
        }
        if rows == ROWS {
            break;
        }
    }
    Ok((rows > 0).then_some(TraceFormat::Mooncake))
}

/// Returns the format of a file that is one JSON value over many lines: a Weka trace has a list of requests.
fn of_document(file: &TraceInput, lines: &mut Lines) -> Result<Option<TraceFormat>, Problem> {
    let mut is_empty = true;
    while let Some(text) = lines.next()? {
        is_empty &= text.trim().is_empty();
        if text.contains("\"requests\"") {
            return Ok(Some(TraceFormat::Weka));
        }
    }
    if is_empty {
        return Ok(None);
    }
    Err(unknown(file, 1, "", "a `.json` file is a trace with `requests`"))
}

/// Returns what a line says, or why it says nothing that is known.
fn of_line(text: &str) -> Result<Line, String> {
    let Ok(keys) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(text) else {
        return of_text(text);
    };
    let has = |key: &str| keys.contains_key(key);
    let states = |key: &str, value: &str| keys.get(key).is_some_and(|raw| raw.get() == value);
    let is_object = |key: &str| keys.get(key).is_some_and(|raw| raw.get().starts_with('{'));
    Ok(if states("schema", DYNAMO) || is_object("event") {
        Line::Is(TraceFormat::Dynamo)
    } else if states("schema", AGENTIC_MOONCAKE) || has("wait_for") {
        Line::Is(TraceFormat::AgenticMooncake)
    } else if has("requests") && has("block_size") {
        Line::Is(TraceFormat::Weka)
    } else if has("num_turns") && has("tool_call_latency") {
        Line::Is(TraceFormat::AppliedComputeAgentic)
    } else if MARKERS.iter().any(|key| has(key)) {
        Line::Nothing
    } else if is_object("hash_ids") {
        Line::Is(TraceFormat::RagPulse)
    } else if MOONCAKE.iter().any(|key| has(key)) {
        Line::Mooncake
    } else {
        let keys: Vec<&str> = keys.keys().map(AsRef::as_ref).take(8).collect();
        return Err(format!("its first record has the keys `{}`", keys.join("`, `")));
    })
}

/// Returns what a line says that is no JSON object: the header of a table, or a damaged row.
fn of_text(text: &str) -> Result<Line, String> {
    let columns = table::names(text);
    if text == table::AZURE {
        Ok(Line::Is(TraceFormat::Azure))
    } else if table::BURSTGPT.iter().all(|name| columns.contains(name)) {
        Ok(Line::Is(TraceFormat::BurstGpt))
    } else if text.trim_start().starts_with('{') {
        Ok(Line::Mooncake)
    } else if columns.len() > 1 {
        let columns: Vec<&str> = columns.into_iter().take(16).collect();
        Err(format!(
            "it looks like a table with the columns `{}`; where that is right, state `csv` and which column is which",
            columns.join("`, `")
        ))
    } else {
        Err("its first line is neither a JSON object nor a header that is known".to_owned())
    }
}

fn unknown(file: &TraceInput, number: u64, text: &str, what: &str) -> Problem {
    let message = format!("`{}` is in no format that is known: {what}", file.name());
    let shown: String = text.chars().take(60).collect();
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let source = SourceFile::excerpt(file.name(), &shown, number);
    let names: Vec<&str> = TraceFormat::ALL.iter().map(|format| format.name()).collect();
    Problem::new(Code::TraceFormat, message)
        .label(&source, Span::new(0, shown.len()), "by this")
        .help(format!("state the format: {}. {GRAPHS}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Result<TraceFormat, String> {
        let files: Vec<TraceInput> =
            files.iter().map(|(name, text)| TraceInput::bytes(name, text.as_bytes())).collect();
        detect_format(&files).map_err(|problem| {
            assert_eq!(problem.code(), Code::TraceFormat);
            format!("{} {problem}", problem.place().unwrap_or_default())
        })
    }

    #[test]
    fn a_format_is_told_by_the_first_records() {
        let record = r#"{"schema":"dynamo.request.trace.v1","event_type":"request_end"}"#;
        let late =
            format!("{}{{\"input_length\":1,\"wait_for\":[]}}", "{\"timestamp\":0}\n".repeat(9));
        let payload = format!("{{\"event_type\":\"request_payload\"}}\n{record}\n");
        let marked =
            format!("\n{{\"verification\":\"x\"}}\n{{\"timestamp\":1,\"event\":{record}}}\n");
        let cases = [
            ("a.txt", "TIMESTAMP,ContextTokens,GeneratedTokens", TraceFormat::Azure),
            (
                "a.csv",
                "Model,Timestamp,Request tokens,\"Response tokens\",Total tokens,Log Type",
                TraceFormat::BurstGpt,
            ),
            ("a.jsonl", "{\"timestamp\":\"8\",\"hash_ids\":{}}", TraceFormat::RagPulse),
            ("a.jsonl", "\n{\"requests\":[],\"block_size\":1}", TraceFormat::Weka),
            ("a.json", "{\n\"id\":\"a\",\n\"requests\":[]}", TraceFormat::Weka),
            ("a.jsonl", record, TraceFormat::Dynamo),
            ("a.jsonl", &payload, TraceFormat::Dynamo),
            ("a.jsonl", &marked, TraceFormat::Dynamo),
            ("a.jsonl", "{\"schema\":\"dynamo.agentic_mooncake\"}", TraceFormat::AgenticMooncake),
            ("a.jsonl", &late, TraceFormat::AgenticMooncake),
            (
                "a.jsonl",
                "{\"num_turns\":0,\"tool_call_latency\":[]}",
                TraceFormat::AppliedComputeAgentic,
            ),
            ("a.jsonl", "{\"timestamp\":0}", TraceFormat::Mooncake),
            ("a.jsonl", "{\"timestamp\":", TraceFormat::Mooncake),
            ("a.jsonl", "", TraceFormat::Mooncake),
        ];
        for (name, text, expected) in cases {
            assert_eq!(told(&[(name, text)]), Ok(expected), "{text}");
        }
    }

    #[test]
    fn graphs_and_other_texts_are_never_guessed() {
        for (name, text, place) in [
            ("a.csv", "time,in,out", "a.csv:1:1"),
            ("a.jsonl", "\n{\"session_id\":\"a\",\"turns\":[]}", "a.jsonl:2:1"),
            ("a.jsonl", "[1]", "a.jsonl:1:1"),
            ("a.json", "{\n\"nodes\":[]}", "a.json:1:1"),
        ] {
            let found = told(&[(name, text)]).expect_err(text);
            assert!(found.starts_with(place), "{found}");
        }
    }

    #[test]
    fn every_file_of_a_trace_is_looked_at_and_they_must_agree() {
        let weka = "{\"requests\":[],\"block_size\":1}";
        assert_eq!(told(&[("a", "\n"), ("b", weka), ("c", weka)]), Ok(TraceFormat::Weka));
        let found = told(&[("a", weka), ("b", "{\"timestamp\":0}")]).expect_err("two formats");
        assert!(found.contains("`a` is `weka` and `b` is `mooncake`"), "{found}");
    }
}

//! Which format a recording is in, by what it holds.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::diag::{Code, Problem};
use crate::trace::read::TraceInput;

use super::RecordedSource;

/// The schema of Dynamo's request trace, as its records state it.
const DYNAMO: &str = "\"dynamo.request.trace.v1\"";

/// Keys of lines in a capture that are no records of the schema: an uploader's, a sink's copy of a payload.
const MARKERS: [&str; 2] = ["verification", "event_type"];

/// Returns what wrote a recording, by its first record; lines that an uploader or a sink adds are passed over.
///
/// # Errors
/// `trace::read` and the like where the file cannot be read, `trace::format` where it is neither.
pub fn detect_recording(file: &TraceInput) -> Result<RecordedSource, Problem> {
    if file.bare_name().to_ascii_lowercase().ends_with(".json") {
        return Ok(RecordedSource::Weka); // one trace over several lines
    }
    let mut lines = file.lines()?;
    while let Some(line) = lines.next()? {
        let Ok(keys) = serde_json::from_str::<BTreeMap<&str, &RawValue>>(&line) else {
            if line.trim().is_empty() {
                continue;
            }
            break; // no object: neither
        };
        let states = |key: &str, value: &str| keys.get(key).is_some_and(|raw| raw.get() == value);
        if states("schema", DYNAMO) || keys.contains_key("event") {
            return Ok(RecordedSource::Dynamo);
        }
        if keys.contains_key("requests") && keys.contains_key("block_size") {
            return Ok(RecordedSource::Weka);
        }
        if !MARKERS.iter().any(|key| keys.contains_key(key)) {
            break;
        }
    }
    let message = format!("`{}` is neither a Weka trace nor a Dynamo capture", file.name());
    Err(Problem::new(Code::TraceFormat, message)
        .help("say what it is: recordings are told by their first record, graphs never are"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_told_by_its_first_record() {
        let told = |name: &str, text: &str| {
            detect_recording(&TraceInput::bytes(name, text.as_bytes()))
                .map_err(|error| error.code())
        };
        let record = r#"{"schema":"dynamo.request.trace.v1","event_type":"request_end"}"#;
        let payload = format!("{{\"event_type\":\"request_payload\"}}\n{record}\n");
        assert_eq!(told("a.jsonl", &payload), Ok(RecordedSource::Dynamo));
        assert_eq!(told("a.jsonl", record), Ok(RecordedSource::Dynamo));
        let marked =
            format!("\n{{\"verification\":\"x\"}}\n{{\"timestamp\":1,\"event\":{record}}}\n");
        assert_eq!(told("a.jsonl", &marked), Ok(RecordedSource::Dynamo));
        let weka = r#"{"id":"a","block_size":16,"requests":[]}"#;
        assert_eq!(told("a.jsonl", weka), Ok(RecordedSource::Weka));
        assert_eq!(told("a.json", "{\n\"id\":\"a\"\n}"), Ok(RecordedSource::Weka));
        for neither in ["", "[1]", "no json", r#"{"timestamp":0,"input_length":1}"#] {
            assert_eq!(told("a.jsonl", neither), Err(Code::TraceFormat), "{neither}");
        }
    }
}

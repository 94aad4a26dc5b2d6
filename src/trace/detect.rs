//! Which format a file is in, by what it holds; what a pin states always wins.

use crate::diag::Problem;

use super::options::TraceFormat;
use super::read::TraceInput;
use super::recorded::{RecordedSource, detect_recording};

/// Returns the format of a file. Workflow graphs are never guessed.
///
/// # Errors
/// Where the file cannot be read.
pub fn detect_format(file: &TraceInput) -> Result<TraceFormat, Problem> {
    if file.bare_name().to_ascii_lowercase().ends_with(".csv") {
        return Ok(TraceFormat::Azure);
    }
    if let Ok(source) = detect_recording(file) {
        return Ok(match source {
            RecordedSource::Weka => TraceFormat::Weka,
            RecordedSource::Dynamo => TraceFormat::Dynamo,
        });
    }
    let mut lines = file.lines()?;
    while let Some(line) = lines.next()? {
        if line.trim().is_empty() {
            continue;
        }
        let states = |key: &str| line.contains(&format!("\"{key}\""));
        return Ok(if states("dynamo.agentic_mooncake") || states("wait_for") {
            TraceFormat::AgenticMooncake
        } else if states("num_turns") && states("tool_call_latency") {
            TraceFormat::AppliedComputeAgentic
        } else {
            TraceFormat::Mooncake
        });
    }
    Ok(TraceFormat::Mooncake)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_the_first_record() {
        let of = |name: &str, text: &str| detect_format(&TraceInput::bytes(name, text.as_bytes()));
        let cases = [
            ("a.csv", "x", TraceFormat::Azure),
            ("a.jsonl", "\n{\"requests\":[],\"block_size\":1}", TraceFormat::Weka),
            ("a.jsonl", "{\"schema\":\"dynamo.request.trace.v1\"}", TraceFormat::Dynamo),
            ("a.jsonl", "{\"schema\":\"dynamo.agentic_mooncake\"}", TraceFormat::AgenticMooncake),
            (
                "a.jsonl",
                "{\"num_turns\":0,\"tool_call_latency\":[]}",
                TraceFormat::AppliedComputeAgentic,
            ),
            ("a.jsonl", "{\"timestamp\":0}", TraceFormat::Mooncake),
            ("a.jsonl", "", TraceFormat::Mooncake),
        ];
        for (name, text, expected) in cases {
            assert_eq!(of(name, text).ok(), Some(expected), "{text}");
        }
    }
}

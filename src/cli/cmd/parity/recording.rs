//! Recorded cases: what was asked and what was answered.
//!
//! Four forms are read: the two of `tests/fixtures/oracle` (one gzip file a case), and the folders that a recording leaves: a configuration
//! with `prediction.json` and `requests.jsonl`, or a `spec.json` with the results of two nightlies.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::diag::{Code, Problem};
use crate::plan::Compat;
use crate::report::dynosim::Answer;
use crate::trace::Shard;

/// What the reference says of itself and of its own reading of a recording: where its prices come from (later builds), digests of its
/// structures, and words that are the same in every run.
const IDENTITY: [&str; 6] = [
    "prediction_provenance",
    "agentic_graph",
    "agentic_input_format",
    "agentic_lifecycle_digest",
    "agentic_qualification",
    "weka_nested_timestamp_basis",
];

/// A recorded case.
#[derive(Debug, Clone)]
pub(super) struct Recording {
    /// Its name.
    pub(super) name: String,
    /// What was asked.
    pub(super) asked: Asked,
    /// The reference behaviour that answered.
    pub(super) compat: Compat,
    /// The answer; nothing where the run failed.
    pub(super) answer: Option<Answer>,
}

/// What was asked.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// A configuration, with the text of its trace where it has one, and the folder that its paths are relative to.
    Configuration { text: String, trace: Option<Vec<u8>>, folder: PathBuf },
    /// A specification of the reference crate.
    Specification { text: String },
    /// A configuration beside which something must lie that one file cannot hold: this.
    Beside(&'static str),
}

/// Returns the cases of a folder, by name: at least one.
///
/// # Errors
/// A folder or file that cannot be read, is no recording, or holds none that can be compared.
pub(super) fn of_folder(folder: &Path) -> Result<Vec<Recording>, Problem> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| unreadable(folder, &error.to_string()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    paths.sort_unstable();
    let mut cases = Vec::new();
    for path in paths {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        if path.is_dir() {
            cases.extend(of_case_folder(&path, &name)?);
        } else if let Some(name) = name.strip_suffix(".json.gz") {
            cases.extend(of_fixture(&path, name)?);
        }
    }
    if cases.is_empty() {
        let message = format!("`{}` holds no recorded case with an answer", folder.display());
        let help = "name a folder of recorded cases, or with `--engine` the files of scenarios";
        return Err(Problem::new(Code::ParityCase, message).help(help));
    }
    Ok(cases)
}

/// Reads a case of `tests/fixtures/oracle`.
fn of_fixture(path: &Path, name: &str) -> Result<Vec<Recording>, Problem> {
    let shard = Shard::load(path, &path.display().to_string())?;
    let case: Value = serde_json::from_slice(&shard.unpack()?)
        .map_err(|error| unreadable(path, &error.to_string()))?;
    if let Some(results) = case["results"].as_object() {
        let text = unpacked(case["spec"].clone()).to_string();
        let recording = |(compat, result): (&String, &Value)| {
            let compat = compat.parse().map_err(|()| unreadable(path, "unknown behaviour"))?;
            Ok(Recording {
                name: format!("{name} ({compat})", compat = Compat::name(compat)),
                asked: Asked::Specification { text: text.clone() },
                compat,
                answer: answer(&result["summary"], &result["requests"]),
            })
        };
        return results.iter().map(recording).collect();
    }
    let Some(text) = case["config"].as_str() else { return Ok(Vec::new()) };
    if case.get("note").is_some() {
        return Ok(Vec::new()); // a refusal has no answer to compare
    }
    let trace = case["trace"].as_str().map(|trace| trace.as_bytes().to_vec());
    let asked = if case.get("model").is_some() {
        Asked::Beside("a folder with the model's `config.json`")
    } else {
        Asked::Configuration { text: text.to_owned(), trace, folder: PathBuf::from(".") }
    };
    let answer = answer(&case["prediction"], &case["requests"]);
    Ok(vec![Recording { name: name.to_owned(), asked, compat: Compat::V0_13_0, answer }])
}

/// Reads a case as a recording leaves it.
fn of_case_folder(path: &Path, name: &str) -> Result<Vec<Recording>, Problem> {
    let read = |file: &str| -> Result<Option<String>, Problem> {
        let file = path.join(file);
        if !file.is_file() {
            return Ok(None);
        }
        fs::read_to_string(&file).map(Some).map_err(|error| unreadable(&file, &error.to_string()))
    };
    let json = |file: &str| -> Result<Option<Value>, Problem> {
        let parse = |text: String| {
            serde_json::from_str(&text).map_err(|e| unreadable(&path.join(file), &e.to_string()))
        };
        read(file)?.map(parse).transpose()
    };
    if let Some(text) = read("spec.json")? {
        let mut cases = Vec::new();
        for (file, compat) in [("result86.json", Compat::V0_13_0), ("result87.json", Compat::Dev87)]
        {
            let Some(result) = json(file)? else { continue };
            cases.push(Recording {
                name: format!("{name} ({})", compat.name()),
                asked: Asked::Specification { text: text.clone() },
                compat,
                answer: answer(&result["summary"], &result["requests"]),
            });
        }
        if cases.is_empty() {
            return Err(unreadable(path, "it has neither `result86.json` nor `result87.json`"));
        }
        return Ok(cases);
    }
    let (run, text) = match (json("run.json")?, read("config.yaml")?) {
        (Some(run), Some(text)) => (run, text),
        (None, None) => return Ok(Vec::new()), // no case: a folder of something else
        (Some(_), None) => {
            return Err(unreadable(path, "it has a `run.json` and no `config.yaml`"));
        }
        (None, Some(_)) => {
            return Err(unreadable(path, "it has a `config.yaml` and no `run.json`"));
        }
    };
    let is_ours = |word: &Value| word.as_str() == Some("dynamo");
    if run["argv"].as_array().is_some_and(|words| words.iter().any(is_ours)) {
        return Ok(Vec::new()); // another stack's
    }
    let rows = read("requests.jsonl")?.unwrap_or_default();
    let rows: Result<Vec<Value>, _> = rows.lines().map(serde_json::from_str).collect();
    let rows =
        rows.map_err(|error| unreadable(&path.join("requests.jsonl"), &error.to_string()))?;
    let answer = json("prediction.json")?.and_then(|summary| answer(&summary, &Value::Array(rows)));
    let asked = Asked::Configuration { text, trace: None, folder: path.to_owned() };
    Ok(vec![Recording { name: name.to_owned(), asked, compat: Compat::V0_13_0, answer }])
}

/// Returns an answer, where there is one.
fn answer(summary: &Value, rows: &Value) -> Option<Answer> {
    let mut summary: Map<String, Value> = summary.as_object()?.clone();
    summary.remove("per_request");
    for name in IDENTITY {
        summary.remove(name);
    }
    // Each snapshot names the graph, and with it what the recording was made from.
    let snapshots = summary.get_mut("agentic_snapshots").and_then(Value::as_array_mut);
    for snapshot in snapshots.into_iter().flatten() {
        if let Some(graph) = snapshot.get_mut("graph").and_then(Value::as_object_mut) {
            graph.remove("source");
        }
    }
    Some(Answer::new(summary, rows.as_array()?.clone()))
}

/// Returns a specification with its token ids in full: a fixture holds them as runs that count up.
fn unpacked(mut spec: Value) -> Value {
    for request in spec["requests"].as_array_mut().into_iter().flatten() {
        let Some(fields) = request.as_object_mut() else { continue };
        let Some(Value::Array(runs)) = fields.remove("input_token_runs") else { continue };
        let mut tokens: Vec<u32> = Vec::new();
        for run in runs {
            let number = |at: usize| run[at].as_u64().and_then(|number| u32::try_from(number).ok());
            let (Some(first), Some(length)) = (number(0), number(1)) else { continue };
            tokens.extend((0..length).map(|offset| first.wrapping_add(offset)));
        }
        fields.insert("input_token_ids".to_owned(), json!(tokens));
    }
    spec
}

/// Returns the problem of a recording that cannot be read.
fn unreadable(path: &Path, why: &str) -> Problem {
    Problem::new(Code::ParityCase, format!("`{}` is no recorded case: {why}", path.display()))
        .help("name a folder of recorded cases; `docs/fidelity.md` says what they are")
}

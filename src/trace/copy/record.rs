//! What one line of a trace is part of.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::trace::columns::ColumnTime;
use crate::trace::json::Reading;
use crate::trace::options::TraceFormat;
use crate::trace::table;
use crate::trace::weka::shows_relative;

/// The keys of a line with their values as it writes them.
type Keys<'t> = BTreeMap<Cow<'t, str>, &'t RawValue>;

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// What stands above the rows of a file.
    Header,
    /// What an uploader or a sink adds.
    Marker,
    /// A record.
    Record(Record),
}

/// A record of a trace.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Record {
    /// What it is part of.
    pub(super) part: Part,
    /// When it starts, in milliseconds from what the whole trace counts from; absent for what starts when others end.
    pub(super) start_ms: Option<f64>,
    /// Requests that it holds.
    pub(super) requests: u64,
    /// The place of its play in the source.
    pub(super) ordinal: Option<u64>,
    /// What it shows of its times below sub-agents.
    pub(super) nested: Nested,
}

/// What a trace shows of what its times below sub-agents are counted from; what shows more is more.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nested {
    /// It has no such times.
    #[default]
    Absent,
    /// Nothing: it can be read either way.
    Open,
    /// That it is their markers.
    Relative,
}

/// What a record is part of: by what names others know it, and whom it names.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Part {
    /// What it is part of; of nothing but itself where absent.
    pub(super) name: Option<Name>,
    /// Another name of the same.
    pub(super) request: Option<Name>,
    /// The parent of its session.
    pub(super) parent: Option<Name>,
    /// Requests that it waits for.
    pub(super) waits: Vec<Name>,
}

/// What can be named in a trace; a session and a request may have the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// A session or a play.
    Session(String),
    /// A request.
    Request(String),
}

impl Name {
    /// Returns the name alone.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Session(name) | Self::Request(name) => name,
        }
    }
}

/// Where a reader of lines is in its file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    seen: bool,
    /// Whether the file began with a header.
    has_header: bool,
    /// The column of times of a table, and how it writes them.
    pub(super) time_column: Option<(usize, ColumnTime)>,
}

impl Lines {
    /// Returns whether the file began with a header.
    pub(super) const fn has_header(&self) -> bool {
        self.has_header
    }

    /// Returns what a line is; why it is nothing of the format otherwise.
    pub(super) fn line(&mut self, text: &str, format: TraceFormat) -> Result<Line, String> {
        let is_first = !std::mem::replace(&mut self.seen, true);
        match format {
            TraceFormat::Azure | TraceFormat::BurstGpt | TraceFormat::Csv => {
                let start_ms = self.time_column.and_then(|time| table::time_ms(text, time));
                self.has_header = true;
                Ok(if is_first { Line::Header } else { alone(start_ms, 1) })
            }
            TraceFormat::Weka => weka(text),
            TraceFormat::Dynamo => dynamo(&keys(text)?),
            TraceFormat::AgenticMooncake => {
                let keys = keys(text)?;
                if is_first && keys.contains_key("schema") {
                    self.has_header = true;
                    return Ok(Line::Header);
                }
                if self.has_header { play(&keys) } else { waiting(&keys) }
            }
            TraceFormat::Mooncake | TraceFormat::MooncakeDelta => mooncake(&keys(text)?),
            TraceFormat::RagPulse => {
                Ok(alone(number(&keys(text)?, "timestamp").map(|seconds| seconds * 1000.0), 1))
            }
            TraceFormat::AppliedComputeAgentic => {
                let keys = keys(text)?;
                let turns = keys.get("num_turns").and_then(|raw| raw.get().parse::<u64>().ok());
                Ok(alone(None, turns.map_or(1, |turns| turns.saturating_add(1))))
            }
        }
    }
}

/// Returns a record that stands alone.
fn alone(start_ms: Option<f64>, requests: u64) -> Line {
    Line::Record(Record { start_ms, requests, ..Record::default() })
}

/// Returns the keys of an object; one that is `null` counts as absent, as the readers have it.
fn keys(text: &str) -> Result<Keys<'_>, String> {
    let mut keys: Keys<'_> = serde_json::from_str(text).map_err(|error| why(&error))?;
    keys.retain(|_, raw| raw.get() != "null");
    Ok(keys)
}

/// Returns what is wrong with a text, without its place in it.
pub(super) fn why(error: &serde_json::Error) -> String {
    let error = error.to_string();
    format!("no JSON object: {}", error.split(" at line ").next().unwrap_or_default())
}

fn string(keys: &Keys<'_>, key: &str) -> Option<String> {
    keys.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// Returns a finite number, which may stand in a text.
fn number(keys: &Keys<'_>, key: &str) -> Option<f64> {
    let text = keys.get(key)?.get().trim_matches('"');
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn mooncake(keys: &Keys<'_>) -> Result<Line, String> {
    let name = string(keys, "session_id").map(Name::Session);
    if name.is_none() && keys.contains_key("session_id") {
        return Err("its `session_id` is no text".to_owned());
    }
    let start_ms = number(keys, "timestamp").or_else(|| number(keys, "created_time"));
    let part = Part { name, ..Part::default() };
    Ok(Line::Record(Record { part, start_ms, requests: 1, ..Record::default() }))
}

/// Returns a row of `agentic-mooncake` below its header: it belongs to the play that it names.
fn play(keys: &Keys<'_>) -> Result<Line, String> {
    let name = string(keys, "play_id").ok_or("it has no `play_id`")?;
    let part = Part { name: Some(Name::Session(name)), ..Part::default() };
    let waits = keys.get("dependencies").is_some_and(|raw| raw.get().contains('{'));
    let start_ms = number(keys, "not_before_ms").filter(|_| !waits);
    let ordinal = keys.get("source_play_ordinal").and_then(|raw| raw.get().parse().ok());
    Ok(Line::Record(Record { part, start_ms, requests: 1, ordinal, ..Record::default() }))
}

/// Returns a row of `agentic-mooncake` without a header: it belongs to what it waits for.
fn waiting(keys: &Keys<'_>) -> Result<Line, String> {
    let id = string(keys, "request_id").ok_or("it has no `request_id`")?;
    let waits = keys.get("wait_for").map(|raw| serde_json::from_str(raw.get()));
    let waits: Vec<String> = waits.transpose().map_err(|error| why(&error))?.unwrap_or_default();
    let start_ms = number(keys, "timestamp").filter(|_| waits.is_empty());
    let waits = waits.into_iter().map(Name::Request).collect();
    let part = Part { name: Some(Name::Request(id)), waits, ..Part::default() };
    Ok(Line::Record(Record { part, start_ms, requests: 1, ..Record::default() }))
}

/// A trace or an entry of one, as far as requests are counted.
#[derive(Deserialize)]
struct Entries<'t> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'t, str>>,
    #[serde(borrow)]
    requests: Option<Vec<Self>>,
}

impl Entries<'_> {
    fn count(&self) -> u64 {
        let is_request = self.kind.as_deref().is_some_and(|kind| kind == "n" || kind == "s");
        u64::from(is_request) + self.requests.iter().flatten().map(Self::count).sum::<u64>()
    }
}

fn weka(text: &str) -> Result<Line, String> {
    /// What a trace is drawn by.
    #[derive(Deserialize)]
    struct Trace<'t> {
        #[serde(borrow)]
        id: Option<Cow<'t, str>>,
        #[serde(borrow)]
        requests: Option<Vec<Entries<'t>>>,
    }
    let trace: Trace<'_> = serde_json::from_str(text).map_err(|error| why(&error))?;
    let name = trace.id.map(|id| Name::Session(id.into_owned()));
    let entries = || trace.requests.iter().flatten();
    let requests = entries().map(Entries::count).sum();
    let part = Part { name, ..Part::default() };
    let is_nested = entries().flat_map(|entry| &entry.requests).any(|below| !below.is_empty());
    let nested = if is_nested { nested(text) } else { Nested::Absent };
    Ok(Line::Record(Record { part, requests, nested, ..Record::default() }))
}

/// Returns what a trace with times below sub-agents shows of them, as its reader finds it.
fn nested(text: &str) -> Nested {
    let is_relative = shows_relative(&mut Reading::new(&"".into(), 1, text));
    if is_relative { Nested::Relative } else { Nested::Open }
}

fn dynamo(keys: &Keys<'_>) -> Result<Line, String> {
    if keys.contains_key("schema") {
        return event(keys);
    }
    match object(keys, "event")? {
        Some(inner) if inner.contains_key("schema") => event(&inner),
        Some(_) | None => Ok(Line::Marker),
    }
}

/// Returns the object that a key holds, where it holds one.
fn object<'t>(keys: &Keys<'t>, key: &str) -> Result<Option<Keys<'t>>, String> {
    match keys.get(key).filter(|raw| raw.get().starts_with('{')) {
        Some(raw) => self::keys(raw.get()).map(Some),
        None => Ok(None),
    }
}

/// A request that another one names.
#[derive(Deserialize)]
struct Dependency<'t> {
    #[serde(borrow)]
    request_id: Option<Cow<'t, str>>,
}

/// Returns what an event is part of; times are those of its request.
fn event(keys: &Keys<'_>) -> Result<Line, String> {
    let request = object(keys, "request")?.unwrap_or_default();
    let is_request = keys.get("event_type").is_some_and(|raw| raw.get() == "\"request_end\"");
    let start_ms = || {
        let took = number(&request, "total_time_ms").unwrap_or(0.0).round();
        let before = || number(keys, "event_time_unix_ms").map(|end| end - took);
        number(&request, "request_received_ms").or_else(before)
    };
    let mut part = Part::default();
    if let Some(context) = object(keys, "agent_context")? {
        let id = string(&context, "session_id").ok_or("`agent_context` has no `session_id`")?;
        let parent = string(&context, "parent_trajectory_id");
        let parent = parent.or_else(|| string(&context, "parent_session_id"));
        part.parent = parent.filter(|parent| *parent != id).map(Name::Session);
        part.name = Some(Name::Session(id));
    }
    if is_request {
        part.request = string(&request, "request_id").map(Name::Request);
        let replay = object(&request, "replay")?.unwrap_or_default();
        let waits = replay.get("dependencies").map(|raw| serde_json::from_str(raw.get()));
        let waits: Option<Vec<Dependency<'_>>> = waits.transpose().map_err(|error| why(&error))?;
        let named = |wait: Dependency<'_>| Some(Name::Request(wait.request_id?.into_owned()));
        part.waits = waits.unwrap_or_default().into_iter().filter_map(named).collect();
    }
    let start_ms = is_request.then(start_ms).flatten();
    let requests = u64::from(is_request);
    Ok(Line::Record(Record { part, start_ms, requests, ..Record::default() }))
}

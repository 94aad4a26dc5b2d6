//! `agentic-mooncake`: version 2 with its header, and rows without one.

use std::sync::Arc;

use crate::diag::{Bag, Code, Problem};
use crate::trace::json::{Reading, Text, whole};
use crate::trace::options::{ArrivalRule, ReadOptions, Strictness};
use crate::trace::read::TraceInput;
use crate::trace::recorded::RecordedCounts;
use crate::units::{BlockSize, Nanos, Tokens};
use crate::workload::{EdgeRelation, EdgeTrigger, SessionName};

use super::agentic_draft::{HeaderDraft, RowDraft, WaitDraft};
use super::build::{PlayRow, Unscheduled, Wait};

/// The schema of the header.
const SCHEMA: &str = "dynamo.agentic_mooncake";
/// The only version of the header.
const VERSION: u64 = 2;

/// What a file is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Rows without a header.
    One,
    /// With one.
    Two,
}

/// Reads a file; returns its rows, the tokens that one hash stands for, and what was let through.
pub(super) fn read(
    file: &TraceInput,
    options: &ReadOptions,
) -> Result<(Vec<PlayRow>, BlockSize, RecordedCounts), Bag> {
    let mut lines = file.lines()?;
    let mut counts = RecordedCounts { files: 1, ..RecordedCounts::default() };
    let (mut rows, mut problems) = (Vec::new(), Bag::new());
    let mut head: Option<(Version, BlockSize)> = None;
    loop {
        let number = lines.next_number();
        let Some(text) = lines.next()? else { break };
        if text.trim().is_empty() {
            counts.blank_lines += 1;
            continue;
        }
        let mut reading = Reading::new(file.name(), number, &text);
        match head {
            None => {
                let (found, is_header) = header(&mut reading, options);
                head = Some(found);
                if !is_header {
                    rows.extend(row(&mut reading, found, options));
                }
            }
            Some(head) => rows.extend(row(&mut reading, head, options)),
        }
        counts.add_keys(std::mem::take(&mut reading.unknown));
        counts.add_unused(std::mem::take(&mut reading.unused));
        for problem in reading.problems {
            problems.push(problem);
        }
    }
    if rows.is_empty() && problems.is_empty() {
        let message = format!("`{}` holds no requests", file.name());
        problems.push(Problem::new(Code::TraceEmpty, message));
    }
    if problems.has_errors() {
        return Err(problems);
    }
    let (_, block_size) = head.expect("there are rows");
    Ok((rows, block_size, counts))
}

/// Returns whether the first line of a file is a header.
pub(super) fn is_header(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let mut trial = Reading::new(&Arc::from(""), 1, text);
    whole::<HeaderDraft<'_>>(&mut trial).is_ok_and(|draft| draft.schema.is_some())
}

/// Returns what the first line says of the file, and whether it is a header.
fn header(reading: &mut Reading<'_>, options: &ReadOptions) -> ((Version, BlockSize), bool) {
    let mut trial = Reading::new(&Arc::from(""), 1, reading.text());
    let draft = whole::<HeaderDraft<'_>>(&mut trial).ok();
    let Some(draft) = draft.filter(|draft| draft.schema.is_some()) else {
        return ((Version::One, options.block_size), false);
    };
    let text = reading.text();
    let name = reading.string("schema", draft.schema).unwrap_or_default();
    if let Some(part) = draft.schema.filter(|_| name != SCHEMA) {
        reading.refuse_value("schema", part, "`\"dynamo.agentic_mooncake\"`");
    }
    let version = reading.count("version", draft.version);
    if version != Some(VERSION) {
        let found = version.map_or("without a number".to_owned(), |version| version.to_string());
        let message = format!("unsupported agentic Mooncake version {found}; expected {VERSION}");
        reading.refuse(draft.version.unwrap_or(text), Code::TraceHeader, message, "this header");
    }
    let size = reading.count("block_size", draft.block_size);
    let size = size.and_then(|size| u32::try_from(size).ok()).and_then(BlockSize::new);
    if size.is_none() {
        let part = draft.block_size.unwrap_or(text);
        reading.refuse_value("block_size", part, "an integer from 1 to 4294967295");
    }
    if draft.hash_id_scope != Some("\"local\"") {
        let part = draft.hash_id_scope.unwrap_or(text);
        reading.refuse_value("hash_id_scope", part, "`\"local\"`");
    }
    let is_named = |text: Text<'_>| {
        serde_json::from_str::<serde_json::Value>(text).is_ok_and(|source| {
            ["format", "digest"].iter().all(|key| {
                source
                    .get(key)
                    .and_then(|value| value.as_str())
                    .is_some_and(|text| !text.is_empty())
            })
        })
    };
    if !draft.source.is_some_and(is_named) {
        let part = draft.source.unwrap_or(text);
        reading.refuse_value("source", part, "an object with `format` and `digest`");
    }
    ((Version::Two, size.unwrap_or(options.block_size)), true)
}

/// Reads one row; nothing where something of it is wrong.
fn row(
    reading: &mut Reading<'_>,
    (version, block_size): (Version, BlockSize),
    options: &ReadOptions,
) -> Option<PlayRow> {
    let draft = match whole::<RowDraft<'_>>(reading) {
        Ok(draft) => draft,
        Err(error) => {
            let problem = reading.syntax(&error);
            reading.problems.push(problem);
            return None;
        }
    };
    let before = reading.problems.len();
    let strictness = options.strictness;
    let mut row = RowReader { reading, draft, version, block_size, strictness }.row();
    if options.arrivals != ArrivalRule::Snapshot {
        row.unscheduled = Unscheduled::default();
    }
    (reading.problems.len() == before).then_some(row)
}

/// A row while its values are read.
struct RowReader<'r, 't> {
    reading: &'r mut Reading<'t>,
    draft: RowDraft<'t>,
    version: Version,
    block_size: BlockSize,
    strictness: Strictness,
}

impl<'t> RowReader<'_, 't> {
    fn row(mut self) -> PlayRow {
        let text = self.reading.text();
        let place = self.reading.place(self.draft.request_id.unwrap_or(text));
        if let Some(key) = self.draft.twice {
            let message = format!("`{key}` is stated by two names");
            self.reading.refuse(text, Code::TraceField, message, "in this row");
        }
        let request_id = self.name("request_id", self.draft.request_id);
        let hashes = self.reading.hashes("hash_ids", self.draft.hash_ids).unwrap_or_default();
        if self.draft.hash_ids.is_none() || hashes.is_empty() {
            self.missing("hash_ids", "the names of the prompt's blocks");
        }
        let input = self.input(&hashes);
        let output = self.output();
        let unscheduled = self.unscheduled();
        let (play_id, model, session, ordinal) = self.names(place.line);
        let (not_before_ms, recorded_ms, waits) = match self.version {
            Version::One => self.legacy_waits(),
            Version::Two => self.waits(),
        };
        self.check_hashes(input, &hashes);
        PlayRow {
            place,
            request_id,
            play_id,
            ordinal,
            session,
            model,
            input,
            output,
            hashes,
            taped: None,
            counted: 0..0,
            not_before_ms,
            recorded_ms,
            waits,
            unscheduled,
        }
    }

    /// Returns what a row states and no schedule here looks at: it is part of the graph's digest alone.
    fn unscheduled(&mut self) -> Unscheduled {
        let api_ms = match self.version {
            Version::One => None,
            Version::Two => {
                self.milliseconds("recorded_api_time_ms", self.draft.recorded_api_time_ms)
            }
        };
        Unscheduled {
            api_ms,
            priority: self.without_effect("priority", self.draft.priority).unwrap_or_default(),
            strict_priority: self
                .without_effect("strict_priority", self.draft.strict_priority)
                .unwrap_or_default(),
            policy_class: self.without_effect("policy_class", self.draft.policy_class),
            output_ids: self.draft.output_token_ids.map(Into::into),
        }
    }

    /// Returns a value that has no effect, and counts it as such.
    fn without_effect<T: serde::de::DeserializeOwned>(
        &mut self,
        key: &str,
        value: Option<Text<'t>>,
    ) -> Option<T> {
        let part = value?;
        *self.reading.unused.entry(key.to_owned()).or_default() += 1;
        let found = serde_json::from_str(part).ok();
        if found.is_none() {
            self.reading.refuse_value(
                key,
                part,
                "what the format has there: a 32-bit integer, or a text for `policy_class`",
            );
        }
        found
    }

    fn missing(&mut self, key: &str, expected: &str) {
        self.reading.missing(key, expected, self.reading.text());
    }

    fn name(&mut self, key: &str, value: Option<Text<'t>>) -> String {
        let name = self.reading.string(key, value).unwrap_or_default();
        match value {
            None => self.missing(key, "a name"),
            Some(part) if name.trim().is_empty() => {
                self.reading.refuse_value(key, part, "a name that is not empty");
            }
            Some(_) => {}
        }
        name
    }

    /// Returns the play, the model, the session and the play's place in its source.
    fn names(&mut self, line: u64) -> (String, String, SessionName, Option<u64>) {
        if self.version == Version::One {
            let session = self.reading.string("session_id", self.draft.session_id);
            let session = session.map_or(SessionName::Row(line), SessionName::Named);
            return (String::new(), "unknown".to_owned(), session, None);
        }
        let play = self.name("play_id", self.draft.play_id);
        let model = self.name("model", self.draft.model);
        let session = SessionName::Named(self.name("session_id", self.draft.session_id));
        let ordinal = self.reading.count("source_play_ordinal", self.draft.source_play_ordinal);
        (play, model, session, ordinal)
    }

    fn input(&mut self, hashes: &[u64]) -> Tokens {
        let Some(part) = self.draft.input else {
            if self.version == Version::Two {
                self.missing("input_length", "a number of tokens");
            }
            let count = u64::try_from(hashes.len()).unwrap_or(u64::MAX);
            return Tokens::new(count.saturating_mul(u64::from(self.block_size.get())));
        };
        let input = self.reading.tokens("input_length", Some(part)).unwrap_or(Tokens::new(1));
        if input == Tokens::ZERO {
            self.reading.refuse_value("input_length", part, "at least one token");
        }
        input
    }

    fn output(&mut self) -> Tokens {
        let output = self.reading.tokens("output_length", self.draft.output);
        if self.draft.output.is_none() {
            self.missing("output_length", "a number of tokens");
        }
        if self.draft.output_token_ids.is_some() {
            *self.reading.unused.entry("output_token_ids".to_owned()).or_default() += 1;
        }
        if let (Some(part), Some(output)) = (self.draft.output_token_ids, output) {
            match serde_json::from_str::<Vec<u32>>(part) {
                Err(_) => {
                    let expected = "an array of integers from 0 to 4294967295";
                    self.reading.refuse_value("output_token_ids", part, expected);
                }
                Ok(ids) if u64::try_from(ids.len()).ok() != Some(output.get()) => {
                    let message = format!(
                        "output_token_ids length {} does not match output_length {output}",
                        ids.len()
                    );
                    self.reading.refuse(part, Code::TraceField, message, "this many");
                }
                Ok(_) => {}
            }
        }
        output.unwrap_or(Tokens::ZERO)
    }

    /// Checks that there is one hash a block.
    fn check_hashes(&mut self, input: Tokens, hashes: &[u64]) {
        let Some(part) = self.draft.hash_ids else { return };
        let needed =
            usize::try_from(input.blocks_ceil(self.block_size).get()).unwrap_or(usize::MAX);
        if hashes.len() == needed || hashes.is_empty() {
            return;
        }
        let message =
            format!("{} hash_ids, but ceil({input}/{}) = {needed}", hashes.len(), self.block_size);
        let problem = self.reading.problem(part, Code::TraceHashIds, message, "these ids");
        let fit = crate::trace::hash_ids::fitting_block_size(input, hashes.len());
        self.reading.problems.push(match fit {
            Some(fit) => problem.help(format!("did you mean block size {fit}?")),
            None => problem
                .help("hash ids name every block of the prompt, the last perhaps partly filled"),
        });
    }

    /// Returns a finite number of milliseconds that is not negative.
    fn milliseconds(&mut self, key: &str, value: Option<Text<'t>>) -> Option<f64> {
        let part = value?;
        let is_number = part.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let ms = part.parse::<f64>().ok().filter(|ms| is_number && ms.is_finite() && *ms >= 0.0);
        if ms.is_none() {
            self.reading.refuse_value(key, part, "a finite number that is not negative");
        }
        self.check_sum(key, value, ms.unwrap_or(0.0));
        ms.map(|ms| ms + 0.0)
    }

    /// Checks that a time, or what a duration was added to, is one that clocks hold.
    fn check_sum(&mut self, key: &str, value: Option<Text<'t>>, sum_ms: f64) {
        if let (Some(part), true) = (value, Nanos::from_ms(sum_ms).is_err()) {
            let expected = "milliseconds that, with those before it, are less than 2^64 ns";
            self.reading.refuse_value(key, part, expected);
        }
    }

    /// Returns the earliest start, the recorded interval and what is waited for, by version 2.
    fn waits(&mut self) -> (f64, (f64, Option<f64>), Vec<Wait>) {
        if self.draft.not_before_ms.is_none() {
            self.missing("not_before_ms", "a number of milliseconds");
        }
        let not_before =
            self.milliseconds("not_before_ms", self.draft.not_before_ms).unwrap_or(0.0);
        let part = self.draft.recorded_api_time_ms;
        let took = self.milliseconds("recorded_api_time_ms", part);
        self.check_sum("recorded_api_time_ms", part, not_before + took.unwrap_or(0.0));
        let drafts = std::mem::take(&mut self.draft.dependencies);
        let waits = drafts.into_iter().map(|draft| self.wait(&draft)).collect();
        (not_before, (not_before, took.map(|took| not_before + took)), waits)
    }

    fn wait(&mut self, draft: &WaitDraft<'t>) -> Wait {
        let request_id = self.name("request_id", draft.request_id);
        if draft.delay_ms.is_none() {
            self.missing("delay_ms", "a number of milliseconds");
        }
        let delay_ms = self.milliseconds("delay_ms", draft.delay_ms).unwrap_or(0.0);
        let relation =
            self.reading.word("relation", draft.relation, EdgeRelation::ALL, EdgeRelation::name);
        let trigger =
            self.reading.word("trigger", draft.trigger, EdgeTrigger::ALL, EdgeTrigger::name);
        if let Some(part) = draft.trigger
            && trigger == EdgeTrigger::Dispatch
            && relation != EdgeRelation::Spawn
        {
            let expected = format!("`\"completion\"`, as the relation is `{}`", relation.name());
            self.reading.refuse_value("trigger", part, &expected);
        }
        Wait { request_id, trigger, relation, delay_ms }
    }

    /// The same for rows without a header: one delay for all that is waited for, and a start for rows that wait for nothing.
    fn legacy_waits(&mut self) -> (f64, (f64, Option<f64>), Vec<Wait>) {
        if !self.draft.dependencies.is_empty() {
            if self.strictness == Strictness::Scenario {
                let message =
                    "`dependencies` mean nothing without the header of version 2".to_owned();
                self.reading.refuse(self.reading.text(), Code::TraceHeader, message, "in this row");
            } else {
                *self.reading.unknown.entry("dependencies".to_owned()).or_default() += 1;
            }
        }
        let ids = self.reading.strings("wait_for", self.draft.wait_for);
        let tool = self.milliseconds("tool_wait_ms", self.draft.tool_wait_ms).unwrap_or(0.0);
        let delay_ms = self.milliseconds("delay", self.draft.delay).unwrap_or(0.0) + tool;
        self.check_sum("tool_wait_ms", self.draft.tool_wait_ms, delay_ms);
        let stated = self.milliseconds("timestamp", self.draft.timestamp);
        let relation = if ids.len() > 1 { EdgeRelation::Join } else { EdgeRelation::Sequence };
        let trigger = EdgeTrigger::Completion;
        let waits: Vec<Wait> = ids
            .into_iter()
            .map(|request_id| Wait { request_id, trigger, relation, delay_ms })
            .collect();
        // Only a row that waits for nothing starts at its own time.
        let not_before = stated.filter(|_| waits.is_empty()).unwrap_or(0.0);
        (not_before, (stated.unwrap_or(not_before), None), waits)
    }
}

//! `applied-compute-agentic`: a line is a session whose prompt grows by what it says and what its tools answer.

use serde::de::MapAccess;

use crate::diag::{Bag, Code, Problem};
use crate::trace::hash_ids::too_many;
use crate::trace::json::{Next, Object, Reading, Taken, Text, whole};
use crate::trace::options::ReadOptions;
use crate::trace::read::TraceInput;
use crate::trace::recorded::RecordedCounts;
use crate::units::{BlockSize, Nanos, Tokens};
use crate::workload::{Corpus, CorpusRow, SessionName};

/// A line.
#[derive(Debug, Default)]
struct LineDraft<'t> {
    num_turns: Option<Text<'t>>,
    input_prompt_length: Option<Text<'t>>,
    assistant_response_length: Option<Text<'t>>,
    tool_call_output_length: Option<Text<'t>>,
    tool_call_latency: Option<Text<'t>>,
    final_assistant_response_length: Option<Text<'t>>,
}

/// What a turn adds: the answer, what the tool says, and how long it takes in seconds.
type Round = (u64, u64, f64);

/// Reads files to a corpus of sessions without arrivals. Every block of a session is its own, and earlier ones stay.
pub(super) fn read(
    files: &[TraceInput],
    options: &ReadOptions,
) -> Result<(Corpus, RecordedCounts), Bag> {
    let mut corpus = Corpus::new(options.block_size);
    let mut counts = RecordedCounts::default();
    let (mut problems, mut next_id, mut running) = (Bag::new(), 0_u64, 0_u64);
    for file in files {
        counts.files += 1;
        let mut lines = file.lines()?;
        loop {
            let line = lines.next_number();
            let Some(text) = lines.next()? else { break };
            running += 1;
            if text.trim().is_empty() {
                counts.blank_lines += 1;
                continue;
            }
            let mut reading = Reading::new(file.name(), line, &text);
            if let Some(session) = session(&mut reading, options.block_size) {
                add(&mut corpus, &session, running, &mut next_id);
                counts.sessions += 1;
            }
            counts.add_keys(std::mem::take(&mut reading.unknown));
            for problem in reading.problems {
                problems.push(problem);
            }
        }
    }
    counts.requests = u64::try_from(corpus.len()).unwrap_or(u64::MAX);
    if corpus.is_empty() && problems.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| &**file.name()).collect();
        let message = format!("`{}` holds no requests", names.join(", "));
        problems.push(Problem::new(Code::TraceEmpty, message));
    }
    if problems.has_errors() { Err(problems) } else { Ok((corpus, counts)) }
}

/// A session: its first prompt, what each turn adds, and the last answer.
struct Session {
    prompt: u64,
    rounds: Vec<Round>,
    last_output: u64,
}

fn session(reading: &mut Reading<'_>, block_size: BlockSize) -> Option<Session> {
    let draft = match whole::<LineDraft<'_>>(reading) {
        Ok(draft) => draft,
        Err(error) => {
            let problem = reading.syntax(&error);
            reading.problems.push(problem);
            return None;
        }
    };
    let before = reading.problems.len();
    let text = reading.text();
    for (key, value) in [
        ("num_turns", draft.num_turns),
        ("input_prompt_length", draft.input_prompt_length),
        ("assistant_response_length", draft.assistant_response_length),
        ("tool_call_output_length", draft.tool_call_output_length),
        ("tool_call_latency", draft.tool_call_latency),
        ("final_assistant_response_length", draft.final_assistant_response_length),
    ] {
        if value.is_none() {
            let message = format!("`{key}` is missing");
            reading.refuse(text, Code::TraceField, message, "in this line");
        }
    }
    let turns = reading.count("num_turns", draft.num_turns);
    let prompt = reading.tokens("input_prompt_length", draft.input_prompt_length);
    if let Some(part) = draft.input_prompt_length.filter(|_| prompt == Some(Tokens::ZERO)) {
        reading.refuse_value("input_prompt_length", part, "at least one token");
    }
    let output =
        reading.tokens("final_assistant_response_length", draft.final_assistant_response_length);
    let answers =
        lengths(reading, ("assistant_response_length", draft.assistant_response_length), turns);
    let tools = lengths(reading, ("tool_call_output_length", draft.tool_call_output_length), turns);
    let waits = list::<f64>(reading, ("tool_call_latency", draft.tool_call_latency), turns);
    if let Some(part) = draft.tool_call_latency
        && !waits.iter().all(|seconds| Nanos::from_ms(seconds * 1000.0).is_ok())
    {
        let expected = "numbers of seconds that are not negative and less than 2^64 ns";
        reading.refuse_value("tool_call_latency", part, expected);
    }
    let rounds = answers.into_iter().zip(tools).zip(waits);
    let rounds: Vec<Round> = rounds.map(|((answer, tool), wait)| (answer, tool, wait)).collect();
    let added = rounds.iter().map(|(answer, tool, _)| answer + tool).sum::<u64>();
    let longest = prompt.map_or(0, Tokens::get) + added;
    if u32::try_from(longest).is_err() {
        let message = format!("the session grows to {longest} tokens, at most {}", u32::MAX);
        reading.refuse(text, Code::TraceField, message, "in this line");
    } else if let Some(message) =
        too_many(Tokens::new(longest).blocks_ceil(block_size).get(), block_size)
    {
        reading.refuse(text, Code::TraceHashIds, message, "in this line");
    }
    (reading.problems.len() == before).then(|| Session {
        prompt: prompt.map_or(0, Tokens::get),
        rounds,
        last_output: output.map_or(0, Tokens::get),
    })
}

/// Returns a list of lengths, one a turn.
fn lengths(
    reading: &mut Reading<'_>,
    (key, value): (&str, Option<Text<'_>>),
    turns: Option<u64>,
) -> Vec<u64> {
    list::<u32>(reading, (key, value), turns).into_iter().map(u64::from).collect()
}

/// Returns a list of numbers, one a turn.
fn list<T: serde::de::DeserializeOwned>(
    reading: &mut Reading<'_>,
    (key, value): (&str, Option<Text<'_>>),
    turns: Option<u64>,
) -> Vec<T> {
    let Some(part) = value else { return Vec::new() };
    let Ok(found) = serde_json::from_str::<Vec<T>>(part) else {
        reading.refuse_value(key, part, "a list of numbers, one a turn");
        return Vec::new();
    };
    let count = u64::try_from(found.len()).unwrap_or(u64::MAX);
    if turns.is_some_and(|turns| turns != count) {
        let message =
            format!("`{key}` has {count} numbers and num_turns is {}", turns.unwrap_or_default());
        reading.refuse(part, Code::TraceField, message, "one a turn");
    }
    found
}

/// Adds the turns of a session: one more than its rounds.
fn add(corpus: &mut Corpus, session: &Session, line: u64, next_id: &mut u64) {
    let name = SessionName::Named(format!("applied_compute_agentic_session_{line}"));
    let index = corpus.add_session(name);
    let (mut input, mut delay_ms) = (Tokens::new(session.prompt), 0.0);
    let first_id = *next_id;
    let last = (session.last_output, 0, 0.0);
    for (output, tool, seconds) in session.rounds.iter().copied().chain([last]) {
        let ids = first_id..first_id + input.blocks_ceil(corpus.block_size()).get();
        *next_id = ids.end;
        let row = CorpusRow {
            line,
            arrival_ms: None,
            input,
            output: Tokens::new(output),
            session: index,
            delay_ms,
            request_id: None,
        };
        corpus.add_counted_row(&row, &[], ids);
        input = Tokens::new(input.get() + output + tool);
        delay_ms = seconds * 1000.0;
    }
}

impl<'t> Object<'t> for LineDraft<'t> {
    fn take<A: MapAccess<'t>>(&mut self, next: Next<'_, 't, A>) -> Result<Taken, A::Error> {
        match next.key() {
            "num_turns" => next.text(&mut self.num_turns),
            "input_prompt_length" => next.text(&mut self.input_prompt_length),
            "assistant_response_length" => next.text(&mut self.assistant_response_length),
            "tool_call_output_length" => next.text(&mut self.tool_call_output_length),
            "tool_call_latency" => next.text(&mut self.tool_call_latency),
            "final_assistant_response_length" => {
                next.text(&mut self.final_assistant_response_length)
            }
            _ => Ok(Taken::Unknown),
        }
    }
}

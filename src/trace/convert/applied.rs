//! Sessions as lines of `applied-compute-agentic`: a prompt that grows by answers and by what tools say.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::diag::{Bag, Code, Problem};
use crate::workload::{Corpus, CorpusReader, Prompts, RecordedRow, SessionName};

use super::lost::Lost;
use super::sink::Sink;

/// A line.
#[derive(Serialize, Default)]
struct Line {
    num_turns: usize,
    input_prompt_length: u64,
    assistant_response_length: Vec<u64>,
    tool_call_output_length: Vec<u64>,
    tool_call_latency: Vec<f64>,
    final_assistant_response_length: u64,
}

/// Writes the sessions of a corpus, in the order of their first rows.
///
/// Where sessions have several rows, what is known of each row beside its blocks and names is in memory.
///
/// # Errors
/// `trace::convert` for a prompt that does not hold the one before it with its answer.
pub(super) fn write(corpus: &Corpus, sink: &mut Sink<'_>, lost: &mut Lost) -> Result<(), Bag> {
    let reader = corpus.reader();
    let (mut problems, mut known) = (Bag::new(), BTreeSet::new());
    let mut take = |turns: &[RecordedRow]| {
        note(&reader, turns, &mut known, lost);
        match line(turns, corpus.prompts()) {
            Ok(line) => sink.json(&line),
            Err(problem) => problems.push(problem),
        }
    };
    if corpus.is_plain() {
        reader.rows().for_each(|row| take(&[row]));
    } else {
        for turns in sessions(&reader) {
            take(&turns);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns the rows of each session, in the order of their first ones.
fn sessions(reader: &CorpusReader<'_>) -> Vec<Vec<RecordedRow>> {
    let (mut sessions, mut places): (Vec<Vec<RecordedRow>>, BTreeMap<usize, usize>) =
        Default::default();
    for row in reader.rows() {
        let place = *places.entry(row.session).or_insert_with(|| {
            sessions.push(Vec::new());
            sessions.len() - 1
        });
        sessions[place].push(row);
    }
    sessions
}

fn line(turns: &[RecordedRow], prompts: Prompts) -> Result<Line, Problem> {
    let mut line = Line { num_turns: turns.len() - 1, ..Line::default() };
    line.input_prompt_length = turns[0].input.get();
    for pair in turns.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let said = match prompts {
            Prompts::Added => 0,
            Prompts::Whole => before.input.get() + before.output.get(),
        };
        let Some(tool) = after.input.get().checked_sub(said) else {
            let message = format!(
                "the prompt of row {} has {} tokens: less than the prompt before it and its answer, which are {said}",
                after.line, after.input
            );
            return Err(Problem::new(Code::TraceConvert, message)
                .help("the format says what each answer and each tool adds to a prompt"));
        };
        line.assistant_response_length.push(before.output.get());
        line.tool_call_output_length.push(tool);
        line.tool_call_latency.push(seconds(after.delay_ms));
    }
    line.final_assistant_response_length = turns[turns.len() - 1].output.get();
    Ok(line)
}

/// Returns the seconds that are so many milliseconds when they are read again.
fn seconds(ms: f64) -> f64 {
    let near = ms / 1000.0;
    let exact = |seconds: &f64| (seconds * 1000.0).total_cmp(&ms).is_eq();
    [near, near.next_up(), near.next_down()].into_iter().find(exact).unwrap_or(near)
}

/// Notes what a line has no word for. Its blocks are told by lengths: each prompt begins as the one before, and shares nothing with
/// other sessions.
fn note(
    reader: &CorpusReader<'_>,
    turns: &[RecordedRow],
    known: &mut BTreeSet<u64>,
    lost: &mut Lost,
) {
    let mut before: Vec<u64> = Vec::new();
    for row in turns {
        let ids = reader.hash_ids(row);
        let is_longer = ids.starts_with(&before);
        let new: Vec<u64> = ids.iter().skip(before.len()).copied().collect();
        let is_new = new.iter().filter(|id| known.insert(**id)).count() == new.len();
        let is_growing = is_longer && is_new && reader.corpus().prompts() == Prompts::Whole;
        lost.note("hash-ids", row.has_hash_ids() && !is_growing);
        lost.note("timestamp", row.arrival_ms.is_some());
        lost.note("request-id", reader.request_id(row).is_some());
        before = ids;
    }
    lost.note("session-id", matches!(reader.session(&turns[0]), SessionName::Named(_)));
}

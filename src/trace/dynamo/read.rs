//! All files of a capture, then its trees.

use std::sync::Arc;

use rayon::prelude::*;

use crate::diag::{Bag, Code, Problem};
use crate::trace::json::Reading;
use crate::trace::read::{Lines, TraceInput};
use crate::trace::recorded::{RecordedCounts, RecordedOptions, RecordedTree};

use crate::units::BlockSize;

use super::event::{Event, LineReader};
use super::group::Capture;
use super::kept::Alone;

/// How many bytes of lines are read before they are parsed side by side: a bound on memory beside what is kept.
const BATCH_BYTES: usize = 4 << 20;

/// What a capture holds beside its trees.
#[derive(Debug, Default)]
pub struct DynamoRead {
    /// What was let through.
    pub counts: RecordedCounts,
    /// Requests whose records name no session.
    pub without_session: Alone,
    /// Tokens that one hash stands for, where any record says so.
    pub block_size: Option<BlockSize>,
}

/// A line and its number.
type Numbered = (u64, String);

/// What a line holds, what is wrong with it, and what was let through.
type Parsed = (Option<Event>, Vec<Problem>, RecordedCounts);

/// Hands over the session trees of a capture, by the name of their root, and returns what else it holds.
///
/// Memory: some dozens of bytes a request, since a tree may have records in any place of any file: where the request lies, and by what
/// name it is known. What it says lies in a temporary file as soon as that is more than some megabytes, and only the requests of one tree are
/// in memory while it is handed over. Lines are parsed side by side, each once; what is handed over does not depend on the number of
/// threads.
///
/// # Errors
/// Everything that is wrong, each with `file:line:column` where a record is: codes `trace::*`. Nothing is handed over then.
pub fn read_dynamo(
    files: &[TraceInput],
    options: RecordedOptions,
    take: &mut dyn FnMut(RecordedTree),
) -> Result<DynamoRead, Bag> {
    let mut capture = Capture::new(options);
    for file in files {
        capture.counts.files += 1;
        if let Err(problem) = read_file(file, options, &mut capture) {
            capture.problems.push(problem);
        }
    }
    if capture.is_empty() && capture.problems.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| &**file.name()).collect();
        let message = format!("`{}` holds no `request_end` records", names.join(", "));
        capture.problems.push(Problem::new(Code::TraceEmpty, message));
    }
    capture.finish(take)
}

/// Reads a file batch by batch: while one is parsed the next is unpacked.
fn read_file(
    file: &TraceInput,
    options: RecordedOptions,
    capture: &mut Capture,
) -> Result<(), Problem> {
    let mut lines = file.lines()?;
    let mut batch = next_batch(&mut lines, &mut capture.counts)?;
    while !batch.is_empty() {
        let mut counts = RecordedCounts::default();
        let (parsed, next) = rayon::join(
            || {
                let parse = |line: &Numbered| parse(file.name(), line, options);
                batch.par_iter().map(parse).collect::<Vec<Parsed>>()
            },
            || next_batch(&mut lines, &mut counts),
        );
        capture.counts.add(counts);
        for (event, problems, counts) in parsed {
            capture.counts.add(counts);
            for problem in problems {
                capture.problems.push(problem);
            }
            if let Some(event) = event {
                capture.add(event);
            }
        }
        batch = next?;
    }
    Ok(())
}

/// Reads lines until they make a batch.
fn next_batch(lines: &mut Lines, counts: &mut RecordedCounts) -> Result<Vec<Numbered>, Problem> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while bytes < BATCH_BYTES {
        let number = lines.next_number();
        let Some(text) = lines.next()? else { break };
        if text.trim().is_empty() {
            counts.blank_lines += 1;
            continue;
        }
        bytes += text.len() + size_of::<Numbered>();
        batch.push((number, text));
    }
    Ok(batch)
}

fn parse(file: &Arc<str>, (number, text): &Numbered, options: RecordedOptions) -> Parsed {
    let mut reading = Reading::new(file, *number, text);
    let mut counts = RecordedCounts::default();
    let event =
        LineReader { reading: &mut reading, counts: &mut counts, strictness: options.strictness }
            .event();
    counts.add_keys(std::mem::take(&mut reading.unknown));
    (event, reading.problems, counts)
}

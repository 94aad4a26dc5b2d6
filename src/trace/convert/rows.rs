//! Requests as rows of Mooncake.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::diag::{Bag, Code, Problem};
use crate::trace::options::{HashIds, ReadOptions, TraceFormat};
use crate::trace::table::has_calendar;
use crate::workload::{Corpus, Prompts, SessionName};

use super::ConvertTarget;
use super::lost::Lost;
use super::sink::Sink;

/// A row.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<f64>,
    input_length: u64,
    output_length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_ids: Option<Vec<u64>>,
}

/// Writes a corpus as rows: what stands in plays as requests that arrive when they were sent.
///
/// # Errors
/// `trace::convert` where a session has several rows and either format says what a turn adds: the other says whole prompts.
pub(super) fn write(
    corpus: &Corpus,
    (options, target): (&ReadOptions, ConvertTarget),
    sink: &mut Sink<'_>,
    lost: &mut Lost,
) -> Result<(), Bag> {
    let reader = corpus.reader();
    let is_added = corpus.prompts() == Prompts::Added;
    let has_turns = corpus.plays().is_none() && !corpus.is_plain();
    if has_turns && is_added != (target == ConvertTarget::MooncakeDelta) {
        let message = "sessions have several turns: one format says whole prompts, the other what each turn adds to the answers before it";
        let problem = Problem::new(Code::TraceConvert, message);
        return Err(problem.help("only sessions of one request mean the same in both").into());
    }
    let mut ids = Ids::new(corpus, options);
    lost.add("origin", if has_calendar(options) { corpus.len() as u64 } else { 0 });
    // Where every row is a session of its own, each is the first one.
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    for (place, row) in reader.rows().enumerate() {
        let name = reader.request_id(&row);
        let session = session(reader.session(&row), options.format);
        let is_first = corpus.is_plain() || seen.insert(row.session);
        let is_played = corpus.plays().is_some();
        if let Some(node) = corpus.plays().map(|plays| &plays.nodes()[place]) {
            lost.note("plays", true);
            lost.note("model", node.model != "unknown");
            lost.note("recorded-end", node.recorded_ms.1.is_some());
            lost.note("session-id", session.is_some());
        }
        let line = Row {
            request_id: name.as_deref(),
            session_id: session.as_deref().filter(|_| !is_played),
            timestamp: row.arrival_ms,
            delay: (!is_first && !is_played).then_some(row.delay_ms),
            input_length: row.input.get(),
            output_length: row.output.get(),
            hash_ids: ids.of(place, reader.hash_ids(&row)),
        };
        sink.json(&line);
    }
    Ok(())
}

/// Returns the name of a session where the file gives one.
fn session(name: SessionName, format: TraceFormat) -> Option<String> {
    match name {
        // A capture without sessions numbers its requests.
        SessionName::Named(_) if format == TraceFormat::Dynamo => None,
        SessionName::Named(name) => Some(name),
        SessionName::Row(_)
        | SessionName::Synthetic(_)
        | SessionName::Stated { .. }
        | SessionName::Played(_) => None,
    }
}

/// The names of blocks as rows of Mooncake give them: one name means one text in the whole trace.
enum Ids<'c> {
    /// Prompts are unique.
    Absent,
    /// Names mean the same in all rows.
    Global,
    /// Names mean the same within a play.
    Local(&'c Corpus, BTreeMap<(usize, u64), u64>),
}

impl<'c> Ids<'c> {
    fn new(corpus: &'c Corpus, options: &ReadOptions) -> Self {
        match (options.hashes, options.format) {
            (HashIds::Absent, _) => Self::Absent,
            (HashIds::Expected, TraceFormat::AgenticMooncake) => {
                Self::Local(corpus, BTreeMap::new())
            }
            (HashIds::Expected, _) => Self::Global,
        }
    }

    fn of_row(known: &mut BTreeMap<(usize, u64), u64>, play: usize, id: u64) -> u64 {
        let next = known.len() as u64;
        *known.entry((play, id)).or_insert(next)
    }

    fn of(&mut self, place: usize, ids: Vec<u64>) -> Option<Vec<u64>> {
        match self {
            Self::Absent => None,
            Self::Global => Some(ids),
            Self::Local(corpus, known) => {
                let play = corpus.plays().map_or(0, |plays| plays.nodes()[place].play);
                Some(ids.into_iter().map(|id| Self::of_row(known, play, id)).collect())
            }
        }
    }
}

//! Rows that name what they wait for to a corpus with plays.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::diag::{Bag, Code, Problem};
use crate::trace::options::ArrivalRule;
use crate::trace::recorded::Place;
use crate::units::{BlockSize, Tokens};
use crate::workload::{
    Corpus, CorpusRow, EdgeRelation, EdgeTrigger, Play, PlayEdge, PlayNode, Plays, SessionName,
    Tape,
};

use super::digest::digest;

/// A request of a play, before names are looked up.
#[derive(Debug)]
pub(super) struct PlayRow {
    pub(super) place: Place,
    pub(super) request_id: String,
    pub(super) play_id: String,
    /// The play's place in the order of its source.
    pub(super) ordinal: Option<u64>,
    pub(super) session: SessionName,
    pub(super) model: String,
    pub(super) input: Tokens,
    pub(super) output: Tokens,
    pub(super) hashes: Vec<u64>,
    /// Where on the tape its hashes are, and how many there are, once they are not in it.
    pub(super) taped: Option<(u64, usize)>,
    /// The names of the blocks behind those, which count up.
    pub(super) counted: Range<u64>,
    pub(super) not_before_ms: f64,
    pub(super) recorded_ms: (f64, Option<f64>),
    pub(super) waits: Vec<Wait>,
    pub(super) unscheduled: Unscheduled,
}

/// What a row states and no schedule here looks at: it is part of the graph's digest alone.
#[derive(Debug, Default)]
pub(super) struct Unscheduled {
    /// How long the recorded call took, in milliseconds.
    pub(super) api_ms: Option<f64>,
    pub(super) priority: i32,
    pub(super) strict_priority: u32,
    pub(super) policy_class: Option<String>,
    /// The tokens of the answer, as the file writes them.
    pub(super) output_ids: Option<Box<str>>,
}

/// A request that is waited for, by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wait {
    pub(super) request_id: String,
    pub(super) trigger: EdgeTrigger,
    pub(super) relation: EdgeRelation,
    pub(super) delay_ms: f64,
}

/// The requests of a recording, in any order; their hashes, which are most of one, are on a tape.
#[derive(Debug, Default)]
pub(super) struct PlayRows {
    pub(super) rows: Vec<PlayRow>,
    tape: Tape,
}

impl PlayRows {
    /// Adds rows.
    pub(super) fn extend(&mut self, rows: Vec<PlayRow>) {
        for mut row in rows {
            row.taped = Some((self.tape.len(), row.hashes.len()));
            self.tape.push_numbers(&std::mem::take(&mut row.hashes));
            self.rows.push(row);
        }
    }
}

/// Returns the corpus of rows whose every value is right.
///
/// # Errors
/// `trace::session` for names that stand twice or are unknown, a request that waits for itself or for another play, a cycle, and
/// plays whose order is not stated as a whole.
pub(super) fn build(
    rows: PlayRows,
    block_size: BlockSize,
    arrivals: ArrivalRule,
) -> Result<Corpus, Bag> {
    let PlayRows { mut rows, mut tape } = rows;
    if let Some(error) = tape.failure() {
        let message = format!("hashes go to a temporary file, and that failed: {error}");
        return Err(Problem::new(Code::TraceRead, message).into());
    }
    rows.sort_by(|a, b| a.request_id.cmp(&b.request_id));
    let mut problems = Bag::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let first = *places.entry(&row.request_id).or_insert(at);
        if first != at {
            let message = format!(
                "duplicate request_id `{}`, at {} as well",
                row.request_id, rows[first].place
            );
            problems.push(refused(row, message));
        }
    }
    let waits: Vec<Vec<PlayEdge>> =
        rows.iter().map(|row| edges(row, &rows, &places, &mut problems)).collect();
    if problems.is_empty() {
        problems.extend(acyclic(&rows, &waits));
    }
    let plays = plays(&rows, &mut problems);
    if problems.has_errors() {
        return Err(problems);
    }
    let digest = (arrivals == ArrivalRule::Snapshot).then(|| digest(&rows, &tape, block_size));
    Ok(corpus((rows, &tape), waits, Plays::new(Vec::new(), plays).with_digest(digest), block_size))
}

/// Looks up what a row waits for.
fn edges(
    row: &PlayRow,
    rows: &[PlayRow],
    places: &BTreeMap<&str, usize>,
    problems: &mut Bag,
) -> Vec<PlayEdge> {
    let mut edges = Vec::with_capacity(row.waits.len());
    for wait in &row.waits {
        let id = &wait.request_id;
        let found = match places.get(id.as_str()) {
            None => Err(format!("waits for the unknown request `{id}`")),
            Some(_) if *id == row.request_id => Err("waits for itself".to_owned()),
            Some(at) if rows[*at].play_id != row.play_id => Err(format!(
                "is of play `{}` and waits for `{id}` of play `{}`",
                row.play_id, rows[*at].play_id
            )),
            Some(at) => Ok(*at),
        };
        match found {
            Ok(node) => edges.push(PlayEdge {
                node,
                trigger: wait.trigger,
                relation: wait.relation,
                delay_ms: wait.delay_ms,
            }),
            Err(why) => {
                problems.push(refused(row, format!("the request `{}` {why}", row.request_id)));
            }
        }
    }
    edges
}

/// Takes away requests that wait for nothing until none is left.
fn acyclic(rows: &[PlayRow], waits: &[Vec<PlayEdge>]) -> Bag {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut missing: Vec<usize> = waits.iter().map(Vec::len).collect();
    for (at, edges) in waits.iter().enumerate() {
        for edge in edges {
            after[edge.node].push(at);
        }
    }
    let mut ready: Vec<usize> = (0..rows.len()).filter(|at| missing[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for next in &after[at] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    let left: Vec<&PlayRow> =
        rows.iter().zip(&missing).filter(|(_, count)| **count > 0).map(|(row, _)| row).collect();
    let Some(first) = left.first() else { return Bag::new() };
    let shown: Vec<&str> = left.iter().take(8).map(|row| row.request_id.as_str()).collect();
    let message = format!(
        "cycle detected among {} agentic requests; blocked request IDs: {}",
        left.len(),
        shown.join(", ")
    );
    refused(first, message).into()
}

/// Returns the plays in the order in which lanes take them: by their place in the source where that is stated, else by name.
fn plays(rows: &[PlayRow], problems: &mut Bag) -> Vec<Play> {
    let mut by_id: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        by_id.entry(&row.play_id).or_default().push(at);
    }
    let mut plays: Vec<(Option<u64>, Play)> = Vec::with_capacity(by_id.len());
    for (id, nodes) in by_id {
        let ordinal = rows[nodes[0]].ordinal;
        if let Some(other) = nodes.iter().find(|at| rows[**at].ordinal != ordinal) {
            let message = format!("play `{id}` has more than one source_play_ordinal");
            problems.push(refused(&rows[*other], message));
        }
        let roots: Vec<usize> =
            nodes.iter().copied().filter(|at| rows[*at].waits.is_empty()).collect();
        if roots.is_empty() {
            let message = format!("every request of play `{id}` waits for another one");
            problems.push(refused(&rows[nodes[0]], message));
        }
        plays.push((ordinal, Play { id: id.to_owned(), nodes, roots }));
    }
    let stated: BTreeSet<u64> = plays.iter().filter_map(|(ordinal, _)| *ordinal).collect();
    let count = u64::try_from(plays.len()).unwrap_or(u64::MAX);
    let is_whole = stated.iter().copied().eq(0..count);
    if !stated.is_empty() && !is_whole {
        let message =
            "source_play_ordinal is stated for every play, from 0 on, each once, or for none";
        problems.push(refused(&rows[plays[0].1.nodes[0]], message.to_owned()));
    }
    plays.sort_by_key(|(ordinal, _)| *ordinal);
    plays.into_iter().map(|(_, play)| play).collect()
}

fn refused(row: &PlayRow, message: String) -> Problem {
    row.place.problem(Code::TraceSession, message, "this request")
}

fn corpus(
    (rows, tape): (Vec<PlayRow>, &Tape),
    waits: Vec<Vec<PlayEdge>>,
    plays: Plays,
    block_size: BlockSize,
) -> Corpus {
    let mut play_of = vec![0; rows.len()];
    for (index, play) in plays.plays().iter().enumerate() {
        for node in &play.nodes {
            play_of[*node] = index;
        }
    }
    let mut corpus = Corpus::new(block_size);
    let mut hashes = tape.reader();
    let mut nodes = Vec::with_capacity(rows.len());
    let mut sessions: BTreeMap<String, usize> = BTreeMap::new();
    for ((row, waits), play) in rows.into_iter().zip(waits).zip(play_of) {
        let session = match &row.session {
            SessionName::Named(name) => *sessions
                .entry(name.clone())
                .or_insert_with(|| corpus.add_session(SessionName::Named(name.clone()))),
            SessionName::Row(_)
            | SessionName::Synthetic(_)
            | SessionName::Stated { .. }
            | SessionName::Played(_) => corpus.add_session(row.session.clone()),
        };
        let node = PlayNode {
            play,
            model: row.model,
            not_before_ms: row.not_before_ms,
            recorded_ms: row.recorded_ms,
            waits,
        };
        let line = CorpusRow {
            line: row.place.line,
            arrival_ms: Some(row.recorded_ms.0),
            input: row.input,
            output: row.output,
            session,
            delay_ms: 0.0,
            request_id: Some(row.request_id),
        };
        let hashes = row.taped.map_or(row.hashes, |(at, count)| hashes.numbers(at, count));
        corpus.add_counted_row(&line, &hashes, row.counted);
        nodes.push(node);
    }
    corpus.with_plays(plays.with_nodes(nodes))
}

//! The sessions of a trace.

use crate::sim::traffic::Turn;
use crate::workload::{Content, Corpus, CorpusReader, Origin, RecordedRow, Run, Symbol};

use super::narrow::narrow;

/// The sessions of a trace, in order of first appearance.
#[derive(Debug)]
pub(crate) struct Recorded<'a> {
    pub(super) corpus: &'a Corpus,
    pub(super) reader: CorpusReader<'a>,
    turns: Turns,
    pub(super) speedup: f64,
}

/// Which rows of a trace are the turns of which session.
#[derive(Debug)]
enum Turns {
    /// Every row is a session of one turn: this many.
    One(u64),
    /// Rows by session.
    Several {
        /// Rows by session, then in file order.
        rows: Vec<u32>,
        /// Where each session begins in `rows`, and one past the last.
        starts: Vec<u32>,
    },
}

impl<'a> Recorded<'a> {
    /// Groups the first `limit` rows by session.
    pub(super) fn new(corpus: &'a Corpus, limit: usize, speedup: f64) -> Self {
        let count = limit.min(corpus.len());
        let reader = corpus.reader();
        if corpus.is_plain() {
            let turns = Turns::One(count as u64);
            return Self { corpus, reader, turns, speedup };
        }
        let mut numbers: Vec<Option<u32>> = Vec::new();
        let mut sizes: Vec<u32> = Vec::new();
        let mut session_of: Vec<u32> = Vec::with_capacity(count);
        for row in reader.rows().take(count) {
            if numbers.len() <= row.session {
                numbers.resize(row.session + 1, None);
            }
            let number = *numbers[row.session].get_or_insert_with(|| {
                sizes.push(0);
                narrow(sizes.len() as u64 - 1)
            });
            sizes[number as usize] += 1;
            session_of.push(number);
        }
        let mut starts = vec![0_u32];
        for size in &sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let mut next = starts.clone();
        let mut by_session = vec![0_u32; count];
        for (row, session) in session_of.iter().enumerate() {
            by_session[next[*session as usize] as usize] = narrow(row as u64);
            next[*session as usize] += 1;
        }
        Self { corpus, reader, turns: Turns::Several { rows: by_session, starts }, speedup }
    }

    /// Returns how many sessions there are.
    pub(super) fn sessions(&self) -> u64 {
        match &self.turns {
            Turns::One(count) => *count,
            Turns::Several { starts, .. } => starts.len() as u64 - 1,
        }
    }

    /// Returns how many turns a session has.
    pub(super) fn turns(&self, session: u64) -> u32 {
        match &self.turns {
            Turns::One(_) => 1,
            Turns::Several { starts, .. } => {
                let at = usize::try_from(session).unwrap_or(usize::MAX);
                starts[at + 1] - starts[at]
            }
        }
    }

    /// Returns the place of a turn among those of all sessions, one session after the other.
    pub(super) fn place(&self, turn: Turn) -> usize {
        let at = usize::try_from(turn.session).unwrap_or(usize::MAX);
        match &self.turns {
            Turns::One(_) => at,
            Turns::Several { starts, .. } => (starts[at] + turn.number) as usize,
        }
    }

    /// Returns the row of a turn.
    pub(super) fn row(&self, turn: Turn) -> RecordedRow {
        let place = self.place(turn);
        match &self.turns {
            Turns::One(_) => self.reader.row(place),
            Turns::Several { rows, .. } => self.reader.row(rows[place] as usize),
        }
    }

    /// Returns the recorded arrival of a session; 0 for one that has none.
    pub(super) fn first_arrival_ms(&self, session: u64) -> f64 {
        self.row(Turn { session, number: 0 }).arrival_ms.unwrap_or(0.0)
    }

    /// Returns the prompt of a turn.
    pub(super) fn content(&self, turn: Turn, index: u64, history: &[Run]) -> Content {
        content(self.corpus, &self.reader, &self.row(turn), (index, history))
    }
}

/// Returns the prompt of a row: each hash id stands for a block of equal tokens, the last one cut to the prompt's length.
///
/// A row without ids is a prompt of its own. Where a row is what its turn adds, it follows what its session has said.
pub(super) fn content(
    corpus: &Corpus,
    reader: &CorpusReader<'_>,
    row: &RecordedRow,
    (index, history): (u64, &[Run]),
) -> Content {
    let history = history.iter().copied();
    let mut left = narrow(row.input.get());
    if !row.has_hash_ids() {
        let own = Run { symbol: Symbol::Unique(Origin::Prompt(index)), start: 0, length: left };
        return Content::new(history.chain([own]), index);
    }
    let block = corpus.block_size().get();
    let mut runs = Vec::with_capacity(row.hash_id_count());
    reader.each_hash_id(row, |id| {
        let length = left.min(block);
        left -= length;
        runs.push(Run { symbol: Symbol::Repeated(id), start: 0, length });
    });
    Content::new(history.chain(runs), index)
}

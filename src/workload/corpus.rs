//! Recorded requests: what a trace reader yields and what simulation and statistics read.
//!
//! Rows and hash ids lie on tapes, so that a trace of any length takes a bounded amount of memory; views of one trace (its first rows,
//! its rows in another order) share them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::units::{BlockSize, Tokens};

use super::tape::{Tape, TapeReader};
use super::{Plays, SessionName};

/// The rows of a trace in order.
#[derive(Debug, Clone)]
pub struct Corpus {
    store: Arc<Store>,
    /// How many rows there are.
    count: usize,
    /// Which rows of the store, where they are not the first `count` as they lie.
    order: Option<Arc<[u32]>>,
}

/// What was read of a trace, in file order.
#[derive(Debug)]
struct Store {
    block_size: BlockSize,
    prompts: Prompts,
    rows: Tape,
    /// The hash ids of all rows side by side.
    hash_ids: Tape,
    /// The requests' own names side by side.
    names: Tape,
    count: usize,
    sessions: usize,
    /// The names of sessions that have one; others are called by their row.
    named: BTreeMap<u32, SessionName>,
    /// How many leading rows are each the first of a session that is numbered as the row is.
    alone: usize,
    /// How many leading rows arrive no earlier than the one before; one without an arrival arrives at 0.
    ascending: usize,
    latest_ms: f64,
    /// What the rows wait for, where they are those of plays.
    plays: Option<Plays>,
}

/// What the tokens of a row are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prompts {
    /// Its whole prompt.
    #[default]
    Whole,
    /// What its turn adds: the prompt begins with all that its session has said.
    Added,
}

/// One recorded request as a reader hands it over.
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusRow {
    /// The line of the file, from 1; blank lines count.
    pub line: u64,
    /// The arrival in milliseconds as the file says, not rebased; `None` where the row has none.
    pub arrival_ms: Option<f64>,
    /// Prompt tokens.
    pub input: Tokens,
    /// Requested output tokens.
    pub output: Tokens,
    /// Which session it belongs to, as [`Corpus::add_session`] numbers them.
    pub session: usize,
    /// Think time before this turn in milliseconds; 0 for a session's first.
    pub delay_ms: f64,
    /// The request's own name, where the file gives one.
    pub request_id: Option<String>,
}

/// One recorded request as it is read back. Its hash ids and names are read with [`CorpusReader`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedRow {
    /// As [`CorpusRow::line`].
    pub line: u64,
    /// As [`CorpusRow::arrival_ms`].
    pub arrival_ms: Option<f64>,
    /// Prompt tokens.
    pub input: Tokens,
    /// Requested output tokens.
    pub output: Tokens,
    /// As [`CorpusRow::session`].
    pub session: usize,
    /// As [`CorpusRow::delay_ms`].
    pub delay_ms: f64,
    /// Where its hash ids begin (with [`COUNTED`]), and how many there are: none where prompts are unique.
    ids: (u64, u32),
    /// Where its own name begins, and how long it is.
    name: Option<(u64, u32)>,
}

/// Reads the rows of a corpus in any order. Each job has one of its own.
#[derive(Debug)]
pub struct CorpusReader<'a> {
    corpus: &'a Corpus,
    rows: RefCell<TapeReader<'a>>,
    hash_ids: RefCell<TapeReader<'a>>,
    names: RefCell<TapeReader<'a>>,
}

/// The bytes of a row on its tape: line, arrival, delay, start of ids, start of name (8 each); input, output, session, ids, length of the
/// name plus one (4 each).
const ROW: usize = 5 * 8 + 5 * 4;
/// The bytes of a hash id.
const ID: usize = 8;
/// A bit of the start of ids that says that the last of them count up: how many others there are and the first that counts stand before them.
const COUNTED: u64 = 1 << 63;

impl Corpus {
    /// Returns an empty corpus whose hash ids stand for `block_size` tokens each.
    pub fn new(block_size: BlockSize) -> Self {
        Self::on_tapes(block_size, Tape::default)
    }

    /// Returns an empty corpus on such tapes.
    fn on_tapes(block_size: BlockSize, tape: impl Fn() -> Tape) -> Self {
        let store = Store {
            block_size,
            prompts: Prompts::Whole,
            rows: tape(),
            hash_ids: tape(),
            names: tape(),
            count: 0,
            sessions: 0,
            named: BTreeMap::new(),
            alone: 0,
            ascending: 0,
            latest_ms: 0.0,
            plays: None,
        };
        Self { store: Arc::new(store), count: 0, order: None }
    }

    /// Returns the corpus with what the tokens of its rows are.
    #[must_use]
    pub fn with_prompts(mut self, prompts: Prompts) -> Self {
        self.store_mut().prompts = prompts;
        self
    }

    /// Returns what the tokens of a row are.
    pub fn prompts(&self) -> Prompts {
        self.store.prompts
    }

    /// Returns the corpus with what its rows wait for, a node a row.
    #[must_use]
    pub fn with_plays(mut self, plays: Plays) -> Self {
        assert_eq!(plays.nodes().len(), self.count, "bug: each row is a node");
        self.store_mut().plays = Some(plays);
        self
    }

    /// Returns what the rows wait for, where they are those of plays.
    pub fn plays(&self) -> Option<&Plays> {
        self.store.plays.as_ref()
    }

    /// Adds a session and returns its number. One that is called by its row, [`SessionName::Row`], is that of a row with that line.
    pub fn add_session(&mut self, name: SessionName) -> usize {
        let store = self.store_mut();
        store.sessions += 1;
        if !matches!(name, SessionName::Row(_)) {
            store.named.insert(narrow32(store.sessions - 1), name);
        }
        store.sessions - 1
    }

    /// Adds a row with its hash ids. What cannot be written is told by [`Corpus::complete`].
    ///
    /// # Panics
    /// Where the corpus has been copied: a copy has all its rows.
    pub fn add_row(&mut self, row: &CorpusRow, hash_ids: &[u64]) {
        self.add_counted_row(row, hash_ids, 0..0);
    }

    /// As [`Corpus::add_row`], with ids that count up behind those; they take no room.
    pub fn add_counted_row(&mut self, row: &CorpusRow, hash_ids: &[u64], counted: Range<u64>) {
        let store = self.store_mut();
        store.add_row(row, hash_ids, counted);
        self.count = store.count;
    }

    /// Returns the store of a corpus in the making.
    fn store_mut(&mut self) -> &mut Store {
        Arc::get_mut(&mut self.store).expect("a corpus that was copied has all its rows")
    }

    /// Says that all rows are there.
    ///
    /// # Errors
    /// The first answer of the system where rows are too many for memory and could not be written to a temporary file.
    pub fn complete(&mut self) -> io::Result<()> {
        let store = self.store_mut();
        let tapes = [&mut store.rows, &mut store.hash_ids, &mut store.names];
        tapes.into_iter().find_map(Tape::failure).map_or(Ok(()), Err)
    }

    /// Returns the first `count` rows in file order; all where there are fewer. They share what they are read from.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        Self { store: Arc::clone(&self.store), count: count.min(self.store.count), order: None }
    }

    /// Returns the rows with their sessions sorted by the arrival of their first row, stably; a session without one stays before all
    /// others.
    ///
    /// A row that stands alone is a session of its own, so plain traces sort row by row. Rows of one session keep their order.
    #[must_use]
    pub fn sorted_by_arrival(&self) -> Self {
        let mut starts: BTreeMap<usize, f64> = BTreeMap::new();
        let reader = self.reader();
        let is_plain = self.is_plain();
        let mut keyed = Vec::with_capacity(self.count);
        for (place, row) in (0_u32..).zip(reader.rows()) {
            let own = row.arrival_ms.unwrap_or(f64::NEG_INFINITY);
            let key = if is_plain { own } else { *starts.entry(row.session).or_insert(own) };
            keyed.push((key, self.order.as_ref().map_or(place, |order| order[place as usize])));
        }
        keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let order = keyed.into_iter().map(|(_, place)| place).collect();
        Self { store: Arc::clone(&self.store), count: self.count, order: Some(order) }
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the tokens that one hash id stands for.
    pub fn block_size(&self) -> BlockSize {
        self.store.block_size
    }

    /// Returns whether every row is a session of its own.
    pub fn is_plain(&self) -> bool {
        self.store.alone >= self.count
    }

    /// Returns whether rows arrive in order, one without an arrival at 0. Of sessions of several rows it says nothing.
    pub fn is_ascending(&self) -> bool {
        self.order.is_some() || self.store.ascending >= self.count
    }

    /// Returns a reader.
    pub fn reader(&self) -> CorpusReader<'_> {
        CorpusReader {
            corpus: self,
            rows: RefCell::new(self.store.rows.reader()),
            hash_ids: RefCell::new(self.store.hash_ids.reader()),
            names: RefCell::new(self.store.names.reader()),
        }
    }
}

impl Store {
    /// Adds a row.
    fn add_row(&mut self, row: &CorpusRow, hash_ids: &[u64], counted: Range<u64>) {
        let name = row.request_id.as_deref();
        let mut bytes = [0_u8; ROW];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&row.line.to_le_bytes());
        put(&row.arrival_ms.unwrap_or(f64::NAN).to_le_bytes());
        put(&row.delay_ms.to_le_bytes());
        let counts_up = if counted.is_empty() { 0 } else { COUNTED };
        put(&(self.hash_ids.len() | counts_up).to_le_bytes());
        put(&self.names.len().to_le_bytes());
        for count in [row.input, row.output] {
            put(&u32::try_from(count.get()).expect("readers refuse 2^32 tokens").to_le_bytes());
        }
        put(&narrow32(row.session).to_le_bytes());
        let behind = usize::try_from(counted.end.saturating_sub(counted.start));
        let count = hash_ids.len() + behind.expect("a row has less than 2^32 ids");
        put(&narrow32(count).to_le_bytes());
        put(&narrow32(name.map_or(0, |name| name.len() + 1)).to_le_bytes());
        self.rows.push(&bytes);
        if counts_up > 0 {
            self.hash_ids.push_numbers(&[hash_ids.len() as u64, counted.start]);
        }
        self.hash_ids.push_numbers(hash_ids);
        if let Some(name) = name {
            self.names.push(name.as_bytes());
        }
        self.note_order(row);
        self.count += 1;
    }

    /// Notes how far rows stand alone, and in order of arrival.
    fn note_order(&mut self, row: &CorpusRow) {
        if self.alone == self.count && row.session == self.count {
            self.alone += 1;
        }
        let arrival_ms = row.arrival_ms.unwrap_or(0.0);
        if self.ascending == self.count && arrival_ms >= self.latest_ms {
            self.ascending += 1;
            self.latest_ms = arrival_ms;
        }
    }
}

impl<'a> CorpusReader<'a> {
    /// Returns what it reads.
    pub fn corpus(&self) -> &'a Corpus {
        self.corpus
    }

    /// Returns the row at a place.
    pub fn row(&self, place: usize) -> RecordedRow {
        let place = match &self.corpus.order {
            Some(order) => order[place],
            None => narrow32(place),
        };
        let mut rows = self.rows.borrow_mut();
        RecordedRow::decode(rows.read(u64::from(place) * ROW as u64, ROW))
    }

    /// Returns the rows in order.
    pub fn rows(&self) -> impl Iterator<Item = RecordedRow> {
        (0..self.corpus.count).map(|place| self.row(place))
    }

    /// Hands the hash ids of a row, 64 bits each, to `take` in order.
    pub fn each_hash_id(&self, row: &RecordedRow, mut take: impl FnMut(u64)) {
        let (start, count) = row.ids;
        let mut hash_ids = self.hash_ids.borrow_mut();
        let wide = |id: &[u8]| u64::from_le_bytes(id.try_into().expect("eight bytes"));
        let (start, stated, first) = if start & COUNTED == 0 {
            (start, u64::from(count), 0)
        } else {
            let start = start & !COUNTED;
            let head = hash_ids.read(start, 2 * ID);
            (start + 2 * ID as u64, wide(&head[..ID]), wide(&head[ID..]))
        };
        let length = usize::try_from(stated).expect("not more than all ids") * ID;
        hash_ids.read(start, length).chunks_exact(ID).for_each(|id| take(wide(id)));
        (first..first + u64::from(count) - stated).for_each(take);
    }

    /// Returns the hash ids of a row.
    pub fn hash_ids(&self, row: &RecordedRow) -> Vec<u64> {
        let mut ids = Vec::with_capacity(row.ids.1 as usize);
        self.each_hash_id(row, |id| ids.push(id));
        ids
    }

    /// Returns a request's own name, where the file gives one.
    pub fn request_id(&self, row: &RecordedRow) -> Option<String> {
        let (start, length) = row.name?;
        let mut names = self.names.borrow_mut();
        let bytes = names.read(start, length as usize).to_vec();
        Some(String::from_utf8(bytes).expect("a name was a text when it was written"))
    }

    /// Returns the name of a row's session.
    pub fn session(&self, row: &RecordedRow) -> SessionName {
        let named = self.corpus.store.named.get(&narrow32(row.session));
        named.cloned().unwrap_or(SessionName::Row(row.line))
    }

    /// Returns the row of a line, where there is one. Rows of lines that follow each other are found at once.
    ///
    /// Lines ascend in file order, whatever order the corpus has; a line may be blank, so its row is at its own number or above.
    pub fn row_of_line(&self, line: u64) -> Option<RecordedRow> {
        let mut rows = self.rows.borrow_mut();
        let mut at = |place: usize| RecordedRow::decode(rows.read((place * ROW) as u64, ROW));
        let last = self.corpus.store.count.checked_sub(1)?;
        let mut above = last.min(usize::try_from(line.checked_sub(1)?).ok()?);
        let mut step = 1;
        let mut below = above;
        while at(below).line > line {
            (above, below) = (below, below.saturating_sub(step));
            if above == 0 {
                return None;
            }
            step *= 2;
        }
        while below < above {
            let middle = below + (above - below).div_ceil(2);
            if at(middle).line > line {
                above = middle - 1;
            } else {
                below = middle;
            }
        }
        Some(at(below)).filter(|row| row.line == line)
    }
}

impl RecordedRow {
    /// Reads a row from its tape.
    fn decode(bytes: &[u8]) -> Self {
        let wide = |at: usize| {
            u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().expect("eight bytes"))
        };
        let short = |at: usize| {
            let at = 40 + at * 4;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
        };
        let arrival_ms = f64::from_bits(wide(1));
        Self {
            line: wide(0),
            arrival_ms: (!arrival_ms.is_nan()).then_some(arrival_ms),
            input: Tokens::new(u64::from(short(0))),
            output: Tokens::new(u64::from(short(1))),
            session: short(2) as usize,
            delay_ms: f64::from_bits(wide(2)),
            ids: (wide(3), short(3)),
            name: short(4).checked_sub(1).map(|length| (wide(4), length)),
        }
    }

    /// Returns whether it has hash ids.
    pub fn has_hash_ids(&self) -> bool {
        self.ids.1 > 0
    }

    /// Returns how many hash ids it has.
    pub fn hash_id_count(&self) -> usize {
        self.ids.1 as usize
    }
}

/// Returns a count as 32 bits.
fn narrow32(count: usize) -> u32 {
    u32::try_from(count).expect("a trace has less than 2^32 rows, and a row less than 2^32 ids")
}

#[cfg(test)]
mod tests;

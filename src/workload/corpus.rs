//! Recorded requests in memory: what a trace reader yields and what simulation and statistics read.

use std::ops::Range;

use crate::units::{BlockSize, Tokens};

/// The rows of a trace in file order, with the hash ids of all rows side by side.
#[derive(Debug, Clone)]
pub struct Corpus {
    block_size: BlockSize,
    rows: Vec<CorpusRow>,
    hash_ids: Vec<u64>,
    sessions: Vec<SessionName>,
    prompts: Prompts,
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

/// One recorded request.
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
    /// The row's ids in [`Corpus::hash_ids`]; empty where prompts are unique.
    pub ids: Range<usize>,
    /// Index into [`Corpus::sessions`].
    pub session: usize,
    /// Think time before this turn in milliseconds; 0 for a session's first.
    pub delay_ms: f64,
    /// The request's own name, where the file gives one.
    pub request_id: Option<String>,
}

/// How a session is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionName {
    /// The file names it.
    Named(String),
    /// The row of this line stands alone.
    Row(u64),
    /// The n-th synthetic session, from 0.
    Synthetic(u64),
    /// The n-th stated request, from 0, stands alone, whatever it says of itself.
    Stated {
        /// Its place in the list.
        index: u64,
        /// The session that it says it belongs to.
        name: Option<String>,
        /// The turn that it says it is.
        turn: Option<u32>,
    },
}

impl Corpus {
    /// Returns an empty corpus whose hash ids stand for `block_size` tokens each.
    pub fn new(block_size: BlockSize) -> Self {
        Self {
            block_size,
            rows: Vec::new(),
            hash_ids: Vec::new(),
            sessions: Vec::new(),
            prompts: Prompts::Whole,
        }
    }

    /// Returns the corpus with what the tokens of its rows are.
    #[must_use]
    pub fn with_prompts(self, prompts: Prompts) -> Self {
        Self { prompts, ..self }
    }

    /// Returns what the tokens of a row are.
    pub fn prompts(&self) -> Prompts {
        self.prompts
    }

    /// Adds a session and returns its index.
    pub fn add_session(&mut self, name: SessionName) -> usize {
        self.sessions.push(name);
        self.sessions.len() - 1
    }

    /// Adds a row with its hash ids; `row.ids` is set here.
    pub fn add_row(&mut self, mut row: CorpusRow, hash_ids: &[u64]) {
        let start = self.hash_ids.len();
        self.hash_ids.extend_from_slice(hash_ids);
        row.ids = start..self.hash_ids.len();
        self.rows.push(row);
    }

    /// Keeps the first `count` rows in file order.
    pub fn truncate(&mut self, count: usize) {
        self.rows.truncate(count);
    }

    /// Sorts sessions by the arrival of their first row, stably; a session without one stays before all others.
    ///
    /// A row that stands alone is a session of its own, so plain traces sort row by row. Rows of one session keep their order,
    /// and sessions are numbered anew by first appearance.
    pub fn sort_by_arrival(&mut self) {
        let mut starts: Vec<Option<f64>> = vec![None; self.sessions.len()];
        let mut seen = vec![false; self.sessions.len()];
        for row in &self.rows {
            if !std::mem::replace(&mut seen[row.session], true) {
                starts[row.session] = row.arrival_ms;
            }
        }
        self.rows.sort_by(|a, b| {
            let key = |row: &CorpusRow| starts[row.session].unwrap_or(f64::NEG_INFINITY);
            key(a).total_cmp(&key(b))
        });
        self.number_sessions_by_appearance();
    }

    /// Numbers sessions in the order in which rows name them; sessions without a row come last.
    fn number_sessions_by_appearance(&mut self) {
        let mut places: Vec<Option<usize>> = vec![None; self.sessions.len()];
        let mut order: Vec<usize> = Vec::with_capacity(self.sessions.len());
        for row in &mut self.rows {
            row.session = *places[row.session].get_or_insert_with(|| {
                order.push(row.session);
                order.len() - 1
            });
        }
        order.extend((0..places.len()).filter(|old| places[*old].is_none()));
        self.sessions = order.into_iter().map(|old| self.sessions[old].clone()).collect();
    }

    /// Returns the rows in order.
    pub fn rows(&self) -> &[CorpusRow] {
        &self.rows
    }

    /// Returns the hash ids of a row, 64 bits each.
    pub fn hash_ids(&self, row: &CorpusRow) -> &[u64] {
        &self.hash_ids[row.ids.clone()]
    }

    /// Returns the tokens that one hash id stands for.
    pub fn block_size(&self) -> BlockSize {
        self.block_size
    }

    /// Returns the name of a session.
    pub fn session(&self, index: usize) -> &SessionName {
        &self.sessions[index]
    }
}

impl std::fmt::Display for SessionName {
    /// Writes the name as DynoSim does: `request_<line>` for a row that stands alone, `session_<n>` for a synthetic one.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) | Self::Stated { name: Some(name), .. } => f.write_str(name),
            Self::Row(number) | Self::Stated { index: number, name: None, .. } => {
                write!(f, "request_{number}")
            }
            Self::Synthetic(index) => write!(f, "session_{index}"),
        }
    }
}

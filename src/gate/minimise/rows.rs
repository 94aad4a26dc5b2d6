//! Rows of a trace that can be taken apart, and the file that they make.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::diag::Bag;
use crate::digest::Sha256;
use crate::digest::canonical::{Real, Value};
use crate::trace::{ArrivalRule, HashIds, ReadOptions, Shard, TraceFormat, read_corpus};
use crate::units::BlockSize;
use crate::workload::{Corpus, Prompts, SessionName};

/// The rows of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// What the tokens of a row are.
    pub prompts: Prompts,
    /// Tokens that one hash id stands for.
    pub block_size: BlockSize,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// When its session starts, in milliseconds; `None` for a later turn.
    pub timestamp_ms: Option<f64>,
    /// Prompt tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// The blocks of its prompt; none where prompts are unique.
    pub ids: Vec<u64>,
    /// Its session, where it is one of several turns.
    pub session: Option<String>,
    /// Think time before it, in milliseconds; `None` for a first turn.
    pub delay_ms: Option<f64>,
}

impl Rows {
    /// Returns the rows of a corpus as its file has them.
    pub fn of(corpus: &Corpus) -> Self {
        let reader = corpus.reader();
        let mut turns: BTreeMap<usize, u64> = BTreeMap::new();
        let rows = reader.rows().map(|row| {
            let turn = turns.entry(row.session).or_default();
            *turn += 1;
            let is_first = *turn == 1;
            let session = match reader.session(&row) {
                SessionName::Named(name) => Some(name),
                SessionName::Row(_)
                | SessionName::Synthetic(_)
                | SessionName::Stated { .. }
                | SessionName::Played(_) => None,
            };
            Row {
                timestamp_ms: row.arrival_ms.filter(|_| is_first),
                input: row.input.get(),
                output: row.output.get(),
                ids: reader.hash_ids(&row),
                session,
                delay_ms: (!is_first).then_some(row.delay_ms),
            }
        });
        let rows = rows.collect();
        Self { prompts: corpus.prompts(), block_size: corpus.block_size(), rows }
    }

    /// Returns whether rows name blocks.
    pub fn has_ids(&self) -> bool {
        self.rows.iter().any(|row| !row.ids.is_empty())
    }

    /// Returns the same with these rows.
    #[must_use]
    pub(super) fn with(&self, rows: Vec<Row>) -> Self {
        Self { rows, ..self.clone() }
    }

    /// Returns the format of the file.
    fn format(&self) -> TraceFormat {
        match self.prompts {
            Prompts::Whole => TraceFormat::Mooncake,
            Prompts::Added => TraceFormat::MooncakeDelta,
        }
    }

    /// Returns the file: one JSON object a line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let number = |ms: f64| Real::new(ms).map_or(Value::Null, Value::Real);
            let mut fields = Vec::new();
            fields.extend(row.timestamp_ms.map(|ms| ("timestamp", plain(&number(ms)))));
            fields.extend(row.delay_ms.map(|ms| ("delay", plain(&number(ms)))));
            fields.push(("input_length", row.input.to_string()));
            fields.push(("output_length", row.output.to_string()));
            if self.has_ids() {
                let ids: Vec<String> = row.ids.iter().map(u64::to_string).collect();
                fields.push(("hash_ids", format!("[{}]", ids.join(", "))));
            }
            fields
                .extend(row.session.as_ref().map(|name| ("session_id", plain(&Value::text(name)))));
            let fields: Vec<String> =
                fields.into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
            writeln!(text, "{{{}}}", fields.join(", ")).expect("a String takes every write");
        }
        text
    }

    /// Returns the rows as the reader of traces gives them.
    ///
    /// # Errors
    /// What the reader refuses.
    pub fn corpus(&self, arrivals: ArrivalRule) -> Result<Corpus, Bag> {
        let strict = ReadOptions::strict(self.format(), self.block_size);
        let hashes = if self.has_ids() { HashIds::Expected } else { HashIds::Absent };
        let options = ReadOptions { hashes, arrivals, ..strict };
        let shard = Shard::unpacked("rows.jsonl", self.text().into_bytes());
        Ok(read_corpus(&[shard], &options)?.0)
    }

    /// Returns the pin of the file.
    pub fn pin(&self, name: &str, about: &str) -> String {
        let text = self.text();
        let blocks = if self.has_ids() {
            format!("    block-size {}\n", self.block_size.get())
        } else {
            "    hashes \"none\"\n".to_owned()
        };
        let (format, digest) = (self.format().name(), Sha256::of(text.as_bytes()).hex());
        let (bytes, rows) = (text.len(), self.rows.len());
        format!(
            "trace \"{name}\" {{\n    about {about}\n    format \"{format}\"\n{blocks}    timestamps unit=\"ms\"\n    shard \"{name}.jsonl\" sha256=\"{digest}\" bytes={bytes} content-sha256=\"{digest}\"\n    requests {rows}\n}}\n",
            about = crate::scenario::quoted(about),
        )
    }
}

/// Returns a value as JSON; a whole number without its point.
fn plain(value: &Value) -> String {
    let text = String::from_utf8_lossy(&value.to_bytes()).into_owned();
    match (value, text.strip_suffix(".0")) {
        (Value::Real(_), Some(whole)) => whole.to_owned(),
        _ => text,
    }
}

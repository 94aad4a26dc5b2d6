//! From the text of a prompt to its tokens, as far as equality goes: equal beginnings are equal runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::digest::xxh3_of_tokens;
use crate::graph::content::Tokenizer;
use crate::mock::api::words;
use crate::workload::{Run, Symbol};

/// Tokens of a piece: prompts share what they begin with to the piece, and a message begins a piece.
const PIECE: usize = 16;
/// Bytes of messages whose tokens are remembered; all are forgotten when there are more.
const MOST_REMEMBERED: usize = 64 << 20;

/// Reads prompts; messages that have been read once are not read again.
#[derive(Debug)]
pub(crate) struct Reader {
    tokenizer: Tokenizer,
    known: Mutex<Known>,
}

/// Messages that have been read.
#[derive(Debug, Default)]
struct Known {
    runs: BTreeMap<String, Arc<[Run]>>,
    bytes: usize,
}

/// A request as an engine takes it.
#[derive(Debug, Clone)]
pub(crate) struct ReadRequest {
    /// The runs of the prompt, at least one.
    pub(crate) prompt: Vec<Run>,
    /// The runs of the output.
    pub(crate) output: Vec<Run>,
}

impl ReadRequest {
    /// Returns how many tokens the prompt has.
    pub(crate) fn tokens(&self) -> u64 {
        self.prompt.iter().map(|run| u64::from(run.length)).sum()
    }
}

impl Reader {
    /// Returns a reader with the tokenizer in the binary.
    pub(crate) fn new() -> Self {
        Self { tokenizer: Tokenizer::builtin(), known: Mutex::default() }
    }

    /// Returns a request for `output` tokens, whose prompt is the JSON of any of the APIs.
    ///
    /// # Errors
    /// What a server says to a prompt without any text.
    pub(crate) fn read(&self, prompt: &str, output: u64) -> Result<ReadRequest, &'static str> {
        let prompt = self.prompt(prompt);
        if prompt.is_empty() {
            return Err("the prompt holds no text");
        }
        Ok(ReadRequest { prompt, output: self.runs(&words(0, output)).to_vec() })
    }

    /// Returns the runs of a prompt in the JSON of any of the APIs: its texts, in their order.
    fn prompt(&self, json: &str) -> Vec<Run> {
        let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
        let mut texts = Vec::new();
        collect(&value, &mut texts);
        texts.into_iter().flat_map(|text| self.runs(text).to_vec()).collect()
    }

    /// Returns the runs of a message's text.
    fn runs(&self, text: &str) -> Arc<[Run]> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runs) = lock().runs.get(text) {
            return Arc::clone(runs);
        }
        let tokens = self.tokenizer.encode(text);
        let runs: Arc<[Run]> = tokens
            .chunks(PIECE)
            .map(|piece| Run {
                symbol: Symbol::Repeated(xxh3_of_tokens(piece)),
                start: 0,
                length: u32::try_from(piece.len()).unwrap_or(u32::MAX),
            })
            .collect();
        let mut known = lock();
        if known.bytes + text.len() > MOST_REMEMBERED {
            *known = Known::default();
        }
        known.bytes += text.len();
        known.runs.insert(text.to_owned(), Arc::clone(&runs));
        runs
    }
}

/// Collects the texts of a prompt: a string, messages with content, or items; what is no text (images) is left out.
fn collect<'v>(value: &'v serde_json::Value, texts: &mut Vec<&'v str>) {
    match value {
        serde_json::Value::String(text) => texts.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        serde_json::Value::Object(fields) => {
            for name in ["content", "text", "arguments", "output", "tool_calls", "function"] {
                if let Some(field) = fields.get(name) {
                    collect(field, texts);
                }
            }
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(runs: &[Run]) -> u32 {
        runs.iter().map(|run| run.length).sum()
    }

    #[test]
    fn the_words_of_answers_are_a_token_each_wherever_they_begin() {
        let reader = Reader::new();
        for (from, count) in [(0, 1), (0, 40), (5, 33)] {
            let runs = reader.runs(&words(from, count));
            assert_eq!(u64::from(tokens(&runs)), count, "{from} {count}");
        }
    }

    #[test]
    fn a_prompt_is_its_texts_in_their_order_whatever_they_stand_in() {
        let reader = Reader::new();
        let plain = reader.prompt(r#"["one two", "three"]"#);
        let chat = reader.prompt(
            r#"[{"role":"user","content":"one two"},{"role":"user","content":[{"type":"text","text":"three"}]}]"#,
        );
        assert_eq!(plain, chat);
        assert_eq!(reader.prompt("\"one two\""), plain[..1]);
    }

    #[test]
    fn prompts_that_begin_alike_share_runs_up_to_the_piece_in_which_they_differ() {
        let reader = Reader::new();
        let (one, other) = (words(0, 40) + " yes", words(0, 40) + " no");
        let (one, other) = (reader.runs(&one), reader.runs(&other));
        assert_eq!(one[..2], other[..2]);
        assert_ne!(one[2], other[2]);
    }
}

//! Content: the text that stands for recorded blocks, and the tokenizers that count it.
//!
//! Owns tokenizers ([`Tokenizer`]), the words that texts are made of ([`Vocabulary`]) and how a block's name becomes words ([`Synthesis`]).
//! Text is a function of (seed, tokenizer, scope, name of the block) and of nothing else: neither order nor thread can reach it. The only home of
//! `tiktoken_rs` and `tokenizers`.

mod names;
mod synthesis;
#[cfg(test)]
pub(in crate::graph) mod tests;
mod tokenizer;
mod vocabulary;

pub use synthesis::{Fillers, Scope, Synthesis, Texts};
pub use tokenizer::Tokenizer;
pub use vocabulary::Vocabulary;

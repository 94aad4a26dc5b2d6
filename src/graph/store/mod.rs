//! The segment store: what every node of every tree sends, ready to be spliced, and the trees' topology beside it.
//!
//! Owns the store's files ([`Store`]), how they are made ([`StoreFolder`], and [`Store::of`] in memory) and how a request's messages are put together from them
//! ([`Program`]). Text is stored once and read where it lies; nothing is serialised again. The same graphs, seed and tokenizer give the same
//! bytes on every machine. The only home of `memmap2`. The files are described in docs/store.md.

mod blob;
mod bytes;
mod content;
mod decode;
mod encode;
mod folder;
mod manifest;
mod open;
mod program;
mod read;
mod recording;
#[cfg(test)]
mod tests;
mod tree;
mod verify;
mod write;

pub use folder::StoreFolder;
pub use manifest::{StoreCounts, StoreInfo};
pub use program::{Answer, Program, ProgramMessage, Span};
pub use read::Store;
pub use recording::{Added, Recording};
pub use tree::TreeParts;
pub use verify::Verified;

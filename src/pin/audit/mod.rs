//! The places in another repository that state an engine's version: that all agree, and how to move them together.
//!
//! Rules name the places, one KDL file a repository ([`Rules`]). [`audit`] reads every one of them, says what it states, and
//! looks through all files that the rules cover for another version of the engine. [`update()`] moves the places and the mentions
//! as one edit and is done only if the audit of what would be there is clean. Owns the TOML of other repositories; knows
//! nothing of Cargo's or pip's resolution: what counts is what the files say.

mod cargo;
mod expected;
mod inspect;
mod judge;
mod lock_file;
mod mention;
mod python;
mod requirement;
mod rules;
mod statement;
#[cfg(test)]
mod tests;
mod token;
mod toml_file;
mod tree;
mod update;
mod version;
mod write;

pub use inspect::{Audit, Row, audit};
pub use judge::Verdict;
pub use lock_file::{Locked, locked};
pub use rules::Rules;
pub use update::{Move, Plan, UpdateError, update};
pub use version::{Spelling, StatedVersion};

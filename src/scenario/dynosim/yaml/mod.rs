//! YAML as `PyYAML`'s `safe_load` reads it, with the place of every key and value.
//!
//! The syntax is `saphyr-parser`'s; what a plain scalar means is `PyYAML`'s resolver (YAML 1.1: `yes` is a truth value, `1e3` a
//! text, `0x10` a number). Knows nothing of any schema.

mod load;
mod node;
mod scalar;

pub(super) use load::{load, load_padded};
pub(super) use node::{Data, Entry, Map, Node};

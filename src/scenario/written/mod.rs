//! YAML and JSON as trees in which every key and value knows its place.
//!
//! YAML's syntax is `saphyr-parser`'s; what a plain scalar means is `PyYAML`'s resolver (YAML 1.1: `yes` is a truth value, `1e3` a
//! text, `0x10` a number). Knows nothing of any schema: whoever decodes a tree says which codes findings have.

mod json;
mod node;
mod place;
mod rules;
mod scalar;
mod yaml;

pub(crate) use json::load as load_json;
pub(crate) use node::{Data, Entry, Map, Node};
pub(crate) use place::Place;
pub(crate) use rules::Rules;
pub(crate) use yaml::{document, document_padded, documents};

//! Agreement of an answer with a recorded one, request by request.
//!
//! An answer is what `prediction.json` and `requests.jsonl` say, whoever gave it: this simulator, the reference, or a live engine whose
//! rows have the same fields. How far two may be apart is the caller's ([`Bounds`]).

mod agreement;
mod answer;
mod bounds;

#[cfg(test)]
mod tests;

pub(crate) use agreement::{Agreement, compare};
pub(crate) use answer::Answer;
pub(crate) use bounds::Bounds;

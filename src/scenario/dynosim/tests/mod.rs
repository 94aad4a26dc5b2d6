//! The schema of a prediction: what decodes, what is refused and where.

mod accepted;
mod malformed;
mod refused;

use crate::diag::SourceFile;

use super::{Prediction, decode};

/// The least that is a prediction, without timing tables.
const LEAST: &str = "\
engine:
  model: m
  hardware: h
  workers:
    aggregated:
      timing: {type: polynomial}
";

/// Decodes a text under `--set` overrides.
fn decoded(text: &str, overrides: &[&str]) -> Result<Prediction, Vec<String>> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    decode(&SourceFile::new("c.yaml", text), &overrides).map_err(|bag| {
        let problems = bag.into_sorted().into_iter();
        problems
            .map(|problem| {
                let place = problem.place().expect("each finding has a place");
                format!("{place} {} {problem}", problem.code().as_str())
            })
            .collect()
    })
}

/// Decodes [`LEAST`] under overrides.
fn least(overrides: &[&str]) -> Result<Prediction, Vec<String>> {
    decoded(LEAST, overrides)
}

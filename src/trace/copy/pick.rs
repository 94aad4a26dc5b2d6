//! Which trees are copied, and where to.

use std::collections::BTreeMap;

use crate::diag::{Code, Problem, agreed, counted};
use crate::digest::{Hasher, Sha256};
use crate::trace::options::TraceFormat;

use super::Scan;

/// How much of the start of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Head {
    /// So many rows, where rows wait for nothing.
    Rows(u64),
    /// So many trees.
    Trees(u64),
    /// The trees that start in so many milliseconds from the earliest.
    Ms(f64),
}

/// Which trees are copied to which output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    /// The output of each tree; absent where it is left out.
    pub(super) output_of: Vec<Option<usize>>,
    /// How many records are looked at, where not all are.
    pub(super) records: Option<u64>,
    /// How many outputs there are.
    pub(super) outputs: usize,
}

impl Picked {
    /// Returns where record `number` (from 1), which is of `tree`, goes.
    pub(super) fn output(&self, number: usize, tree: usize) -> Option<usize> {
        let is_looked_at = self.records.is_none_or(|records| number as u64 <= records);
        self.output_of[tree].filter(|_| is_looked_at)
    }

    /// Returns the same for outputs `from` up to `to` alone, as a copy of its own.
    pub fn only(&self, from: usize, to: usize) -> Self {
        let inside = |output: &usize| (from..to).contains(output);
        let output_of =
            self.output_of.iter().map(|output| output.filter(inside).map(|at| at - from));
        Self { output_of: output_of.collect(), records: self.records, outputs: to - from }
    }

    /// Returns how many outputs there are.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }
}

impl Scan {
    /// Returns the start of a trace.
    ///
    /// # Errors
    /// `trace::convert` where the format cannot be cut so.
    pub fn head(&self, head: Head) -> Result<Picked, Problem> {
        let count = self.trees().len();
        let all = |is_kept: &dyn Fn(usize) -> bool| Picked {
            output_of: (0..count).map(|at| is_kept(at).then_some(0)).collect(),
            records: None,
            outputs: 1,
        };
        match head {
            Head::Trees(trees) => Ok(all(&|at| (at as u64) < trees)),
            Head::Rows(rows) => {
                if let Some(why) = uncut(self.format) {
                    let message = format!(
                        "the first rows of a `{}` trace are no trace: {why}",
                        self.format.name()
                    );
                    return Err(Problem::new(Code::TraceConvert, message)
                        .help("take whole trees with `--trees`"));
                }
                Ok(Picked { records: Some(rows), ..all(&|_| true) })
            }
            Head::Ms(ms) => {
                let starts = || self.trees().iter().filter_map(|tree| tree.start_ms);
                let Some(first) =
                    starts().min_by(f64::total_cmp).filter(|_| starts().count() == count)
                else {
                    let message = format!(
                        "the trees of this `{}` trace have no clock in common",
                        self.format.name()
                    );
                    return Err(Problem::new(Code::TraceConvert, message)
                        .help("take a number of them with `--trees`"));
                };
                Ok(all(&|at| self.trees()[at].start_ms.is_some_and(|start| start - first < ms)))
            }
        }
    }

    /// Returns a sample: as many trees, in their order. The same seed draws the same trees whatever stands between them, and a larger
    /// sample holds the smaller ones.
    ///
    /// # Errors
    /// `trace::convert` where there are fewer trees.
    pub fn sample(&self, trees: u64, seed: u64) -> Result<Picked, Problem> {
        let count = self.trees().len() as u64;
        if trees > count {
            let message =
                format!("a sample of {trees} trees is more than the {count} that there are");
            return Err(Problem::new(Code::TraceConvert, message));
        }
        let mut drawn: Vec<(Sha256, usize)> = self
            .trees()
            .iter()
            .enumerate()
            .map(|(at, tree)| (draw(&tree.name, seed), at))
            .collect();
        drawn.sort();
        let mut output_of = vec![None; drawn.len()];
        for (_, at) in drawn.into_iter().take(usize::try_from(trees).unwrap_or(usize::MAX)) {
            output_of[at] = Some(0);
        }
        Ok(Picked { output_of, records: None, outputs: 1 })
    }

    /// Returns parts of as many trees each as can be, one after the other.
    ///
    /// # Errors
    /// `trace::convert` where there are fewer trees than parts.
    pub fn split(&self, parts: usize) -> Result<Picked, Problem> {
        let count = self.trees().len();
        if parts == 0 || parts > count {
            let message = format!(
                "{} {} not make {}",
                counted(count, "tree"),
                agreed(count, "does", "do"),
                counted(parts, "part")
            );
            return Err(Problem::new(Code::TraceConvert, message));
        }
        let output_of = (0..count).map(|at| Some(at * parts / count)).collect();
        Ok(Picked { output_of, records: None, outputs: parts })
    }

    /// Returns parts of so many trees each, one after the other; the last may hold fewer.
    ///
    /// # Errors
    /// `trace::convert` for none each.
    pub fn split_by(&self, trees: usize) -> Result<Picked, Problem> {
        if trees == 0 {
            return Err(Problem::new(Code::TraceConvert, "a part holds a tree at least"));
        }
        let count = self.trees().len();
        let output_of = (0..count).map(|at| Some(at / trees)).collect();
        Ok(Picked { output_of, records: None, outputs: count.div_ceil(trees) })
    }

    /// Returns the places of plays in what is copied, for each output, by their places in the source.
    pub(super) fn ordinals(&self, picked: &Picked) -> Vec<BTreeMap<u64, u64>> {
        let mut kept: Vec<Vec<u64>> = vec![Vec::new(); picked.outputs];
        for (tree, output) in self.trees().iter().zip(&picked.output_of) {
            if let (Some(ordinal), Some(output)) = (tree.ordinal, output) {
                kept[*output].push(ordinal);
            }
        }
        let renumber = |mut ordinals: Vec<u64>| {
            ordinals.sort_unstable();
            ordinals.into_iter().zip(0..).collect()
        };
        kept.into_iter().map(renumber).collect()
    }
}

/// Returns why rows of a format are not cut off, where they are not.
const fn uncut(format: TraceFormat) -> Option<&'static str> {
    match format {
        TraceFormat::AgenticMooncake | TraceFormat::Dynamo => Some("they wait for one another"),
        TraceFormat::Weka | TraceFormat::AppliedComputeAgentic => {
            Some("each of its records is a tree")
        }
        TraceFormat::Mooncake
        | TraceFormat::MooncakeDelta
        | TraceFormat::Azure
        | TraceFormat::BurstGpt
        | TraceFormat::RagPulse
        | TraceFormat::Csv => None,
    }
}

/// Returns by what a tree is drawn.
fn draw(name: &str, seed: u64) -> Sha256 {
    let mut hasher = Hasher::new();
    hasher.update(b"touchstone.trace.sample/1\0");
    hasher.update(&seed.to_le_bytes());
    hasher.update(name.as_bytes());
    hasher.finish()
}

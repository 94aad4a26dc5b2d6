//! The trees of a capture, made into something else side by side.

use rayon::prelude::*;

use crate::diag::Bag;
use crate::trace::read::TraceInput;
use crate::trace::recorded::{RecordedOptions, RecordedTree};

use super::read::{DynamoRead, read_dynamo};

/// How many hashes and requests a batch holds before it is made: a bound on memory beside what is kept of the capture.
const BATCH: usize = 1 << 20;

/// Hands over what `make` makes of the trees of a capture, by the name of their root, and returns what else it holds. Trees are made
/// into something side by side, some at a time; what is handed over does not depend on the number of threads.
///
/// # Errors
/// As [`read_dynamo`].
pub fn read_dynamo_as<T: Send>(
    files: &[TraceInput],
    options: RecordedOptions,
    make: &(dyn Fn(RecordedTree) -> T + Sync),
    take: &mut dyn FnMut(T),
) -> Result<DynamoRead, Bag> {
    let (mut batch, mut weight) = (Vec::new(), 0);
    let read = read_dynamo(files, options, &mut |tree| {
        weight += self::weight(&tree);
        batch.push(tree);
        if weight >= BATCH {
            hand_over(&mut batch, make, take);
            weight = 0;
        }
    })?;
    hand_over(&mut batch, make, take);
    Ok(read)
}

/// Returns how many requests and hashes a tree holds.
fn weight(tree: &RecordedTree) -> usize {
    tree.requests().map(|(_, request)| 1 + request.hashes.as_ref().map_or(0, Vec::len)).sum()
}

fn hand_over<T: Send>(
    batch: &mut Vec<RecordedTree>,
    make: &(dyn Fn(RecordedTree) -> T + Sync),
    take: &mut dyn FnMut(T),
) {
    let results: Vec<T> = std::mem::take(batch).into_par_iter().map(make).collect();
    results.into_iter().for_each(take);
}

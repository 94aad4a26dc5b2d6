//! Copies records.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::value::RawValue;

use crate::diag::{Code, Problem};

use super::record::{Line, Lines};
use super::scan::each_record_text;
use super::{Picked, Scan};

/// What was copied to an output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Records.
    pub records: u64,
    /// Requests in them.
    pub requests: u64,
    /// Trees.
    pub trees: u64,
}

/// Why a copy failed.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The trace cannot be read again as it was.
    #[error(transparent)]
    Trace(#[from] Problem),
    /// An output cannot be written.
    #[error("cannot write the copy: {0}")]
    Output(#[from] io::Error),
}

impl Scan {
    /// Copies the records of what was picked, in order, each to its output.
    ///
    /// # Errors
    /// Where files cannot be read again as they were, or an output cannot be written.
    pub fn copy<W: Write>(
        &self,
        picked: &Picked,
        outputs: &mut [W],
    ) -> Result<Vec<Copied>, CopyError> {
        assert_eq!(outputs.len(), picked.outputs, "bug: one writer an output");
        if let Some(header) = &self.header {
            for output in outputs.iter_mut() {
                writeln!(output, "{header}")?;
            }
        }
        let ordinals = self.ordinals(picked);
        let mut copied = vec![Copied::default(); outputs.len()];
        let mut trees = vec![BTreeSet::new(); outputs.len()];
        let mut next = 0;
        for file in &self.files {
            let mut state = Lines::default();
            each_record_text(file, self.format, &mut |_, text| {
                let line = state.line(text, self.format).map_err(|_| changed())?;
                let Line::Record(record) = line else { return Ok(()) };
                let tree = *self.tree_of.get(next).ok_or_else(changed)?;
                next += 1;
                let Some(tree) = tree else { return Ok(()) };
                let Some(output) = picked.output(next, tree) else { return Ok(()) };
                let text = renumbered(text, record.ordinal, &ordinals[output]);
                writeln!(outputs[output], "{text}")?;
                copied[output].records += 1;
                copied[output].requests += record.requests;
                trees[output].insert(tree);
                Ok::<(), CopyError>(())
            })?;
        }
        if next != self.tree_of.len() {
            return Err(changed().into());
        }
        for (copied, trees) in copied.iter_mut().zip(trees) {
            copied.trees = trees.len() as u64;
        }
        Ok(copied)
    }
}

fn changed() -> Problem {
    Problem::new(Code::TraceConvert, "the files changed while they were read")
}

/// Returns a record with the place that its play has among those that are copied: places count from 0 without gaps.
fn renumbered<'t>(
    text: &'t str,
    ordinal: Option<u64>,
    places: &BTreeMap<u64, u64>,
) -> Cow<'t, str> {
    let Some(place) =
        ordinal.and_then(|ordinal| places.get(&ordinal).filter(|place| **place != ordinal))
    else {
        return Cow::Borrowed(text);
    };
    let keys: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_str(text).expect("it was read when it was told apart");
    let value = keys["source_play_ordinal"].get();
    let start = value.as_ptr().addr() - text.as_ptr().addr();
    Cow::Owned(format!("{}{place}{}", &text[..start], &text[start + value.len()..]))
}

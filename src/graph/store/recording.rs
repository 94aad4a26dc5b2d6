//! A recording to a store in one pass: read, lowered, made into bytes and written, without all of it in memory at any time.

use crate::diag::Bag;
use crate::graph::content::Synthesis;
use crate::graph::lower::{LowerCounts, LowerOptions, lower};
use crate::graph::validate::validate_recorded;
use crate::trace::{
    RecordedCounts, RecordedOptions, RecordedSource, RecordedTree, TraceInput, read_dynamo_as,
    read_weka_as,
};

use super::folder::StoreFolder;
use super::tree::TreeParts;

/// What a recording is, and how it is read and lowered.
#[derive(Debug, Clone, Copy)]
pub struct Recording {
    /// What wrote it.
    pub source: RecordedSource,
    /// How it is read.
    pub options: RecordedOptions,
    /// How its trees are lowered.
    pub lower: LowerOptions,
}

/// What was let through, and what was given a meaning.
#[derive(Debug, Clone, Default)]
pub struct Added {
    /// By reading.
    pub read: RecordedCounts,
    /// By lowering.
    pub lowered: LowerCounts,
}

/// A tree that was lowered and made, or what is wrong with it.
struct Made {
    lowered: LowerCounts,
    wrong: Bag,
    parts: Option<TreeParts>,
}

impl Made {
    fn of(tree: &RecordedTree, options: LowerOptions, synthesis: &Synthesis) -> Self {
        let (graph, lowered) = lower(tree, options);
        let wrong = validate_recorded(tree, &graph);
        let parts = (!wrong.has_errors()).then(|| TreeParts::of(&graph, synthesis));
        Self { lowered, wrong, parts }
    }
}

impl StoreFolder {
    /// Adds the trees of a recording, in the order in which its reader hands them over. Trees are lowered and made side by side; the bytes
    /// do not depend on the number of threads.
    ///
    /// # Errors
    /// Everything that is wrong with the recording or its graphs, and what keeps the store from being written.
    pub fn add_recording(
        &mut self,
        files: &[TraceInput],
        recording: Recording,
        synthesis: &Synthesis,
    ) -> Result<Added, Bag> {
        let Recording { source, options, lower } = recording;
        let (mut lowered, mut wrong) = (LowerCounts::default(), Bag::new());
        let make = |tree: RecordedTree| Made::of(&tree, lower, synthesis);
        let mut take = |made: Made| {
            lowered.add(made.lowered);
            wrong.extend(made.wrong);
            if let Some(parts) = made.parts.filter(|_| !wrong.has_errors())
                && let Err(problem) = self.add_parts(&parts)
            {
                wrong.push(problem);
            }
        };
        let read = match source {
            RecordedSource::Weka => read_weka_as(files, options, &make, &mut take)?,
            RecordedSource::Dynamo => read_dynamo_as(files, options, &make, &mut take)?.counts,
        };
        if wrong.has_errors() { Err(wrong) } else { Ok(Added { read, lowered }) }
    }
}

//! What nested times of a part are counted from: the same as in the whole trace, or it is said.

use crate::diag::{Code, Problem};

use super::record::Nested;
use super::{Picked, Scan};

impl Scan {
    /// Returns which outputs would by themselves be read otherwise than as parts of the whole: their times below sub-agents count from their
    /// markers, and only traces that are elsewhere show that.
    pub fn reread(&self, picked: &Picked) -> Vec<usize> {
        if self.trees().iter().all(|tree| tree.nested != Nested::Relative) {
            return Vec::new();
        }
        let mut shown = vec![Nested::Absent; picked.outputs];
        for (tree, output) in self.trees().iter().zip(&picked.output_of) {
            if let Some(output) = *output {
                shown[output] = shown[output].max(tree.nested);
            }
        }
        let open = |(_, nested): &(usize, &Nested)| **nested == Nested::Open;
        shown.iter().enumerate().filter(open).map(|(output, _)| output).collect()
    }

    /// Returns a warning that names the first output of which [`Scan::reread`] tells, where there is any; `name` is what an output is called.
    pub fn basis_warning(
        &self,
        picked: &Picked,
        name: impl FnOnce(usize) -> String,
    ) -> Option<Problem> {
        let parts = self.reread(picked);
        let first = name(*parts.first()?);
        let more = match parts.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "`{first}`{more}: times below sub-agents count from their markers, which only other traces of the corpus show"
        );
        let help = "state `nested-timestamp-basis \"relative\"` in the pin of such a part: by itself it is read as counted from its traces' zeros";
        Some(Problem::new(Code::TraceBasis, message).help(help))
    }
}

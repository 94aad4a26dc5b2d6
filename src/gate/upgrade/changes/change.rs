//! One declared change.

use crate::gate::DiffRow;
use crate::gate::upgrade::Question;
use crate::scenario::syntax::Place;

use super::{Expected, Selector};

/// One declared change.
#[derive(Debug, Clone)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Why the answers change.
    pub reason: String,
    /// Where that is discussed.
    pub link: String,
    /// Which jobs it speaks of.
    pub(in crate::gate::upgrade) selector: Selector,
    /// Which figures move, and how.
    pub(in crate::gate::upgrade) metrics: Vec<Expected>,
    /// Where it is declared.
    pub place: Place,
}

impl Change {
    /// Returns whether it speaks of a job.
    pub fn applies(&self, question: &Question) -> bool {
        self.selector.matches(question)
    }

    /// Returns whether it names this scenario: it must then speak of one of its jobs.
    pub fn is_owed_to(&self, scenario: &str) -> bool {
        self.selector.is_owed_to(scenario)
    }

    /// Returns what it declares of figures that did not move.
    pub(in crate::gate::upgrade) fn absent(&self, rows: &[DiffRow]) -> Vec<String> {
        let of_metric = |expected: &Expected| expected.absent(rows);
        let absent = self.metrics.iter().filter_map(of_metric);
        absent.map(|what| format!("change `{}` declares that {what}", self.name)).collect()
    }
}

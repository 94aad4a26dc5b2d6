//! What one side says.

use serde_json::{Map, Value};

/// What `prediction.json` and `requests.jsonl` say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The summary.
    pub(crate) summary: Map<String, Value>,
    /// The rows, in the order that [`Self::new`] gives both sides.
    pub(super) rows: Vec<Value>,
}

impl Answer {
    /// Returns an answer with its rows in an order that does not depend on who wrote them.
    pub(crate) fn new(summary: Map<String, Value>, mut rows: Vec<Value>) -> Self {
        rows.sort_by_cached_key(|row| {
            let arrival = row["arrival_time_ms"].as_f64().unwrap_or(0.0);
            (
                row["session_id"].to_string(),
                row["turn_index"].as_u64(),
                row["request_id"].to_string(),
                format!("{arrival:020.3}"),
            )
        });
        Self { summary, rows }
    }

    /// Keeps the rows of requests that `other` has: a recording may hold some of them only.
    pub(crate) fn keep_named(&mut self, other: &Self) {
        let names: std::collections::BTreeSet<String> =
            other.rows.iter().map(|row| row["request_id"].to_string()).collect();
        self.rows.retain(|row| names.contains(&row["request_id"].to_string()));
    }
}

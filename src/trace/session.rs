//! Sessions of a trace: who is first, and how long a later turn waits.

use std::collections::BTreeMap;

use crate::diag::{Code, Problem};
use crate::workload::SessionName;

use super::row::Row;

/// The sessions seen so far, by name.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    named: BTreeMap<String, Named>,
}

/// A session with a name.
#[derive(Debug, Clone, Copy)]
struct Named {
    index: usize,
    last_timestamp_ms: Option<f64>,
}

/// A row's place in its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// The session's index in the corpus.
    pub(super) session: usize,
    /// Whether the row opens it.
    pub(super) is_first: bool,
    /// Think time in milliseconds; 0 for the first turn.
    pub(super) delay_ms: f64,
}

impl Sessions {
    /// Returns the row's place; `add` gives a session that it opens an index.
    ///
    /// The first turn waits for nothing. A later one waits for its stated delay, else for the difference of recorded
    /// timestamps, else not at all. Source: spec/SIMULATION.md §9.3.
    ///
    /// # Errors
    /// `trace::session` for a delay on a first turn, one that cannot be inferred, and one that is negative.
    pub(super) fn place(
        &mut self,
        row: &Row<'_>,
        mut add: impl FnMut(SessionName) -> usize,
    ) -> Result<Turn, Problem> {
        let Some(name) = &row.session_id else {
            let name = SessionName::Row(row.line.running);
            check_first(row, &name)?;
            return Ok(Turn { session: add(name), is_first: true, delay_ms: 0.0 });
        };
        if let Some(known) = self.named.get_mut(name) {
            let delay_ms = later_delay(row, name, known.last_timestamp_ms)?;
            known.last_timestamp_ms = row.arrival_ms.or(known.last_timestamp_ms);
            return Ok(Turn { session: known.index, is_first: false, delay_ms });
        }
        let session_name = SessionName::Named(name.clone());
        check_first(row, &session_name)?;
        let index = add(session_name);
        self.named.insert(name.clone(), Named { index, last_timestamp_ms: row.arrival_ms });
        Ok(Turn { session: index, is_first: true, delay_ms: 0.0 })
    }
}

/// Checks that a first turn waits for nothing.
fn check_first(row: &Row<'_>, name: &SessionName) -> Result<(), Problem> {
    if row.delay_ms.is_some_and(|delay| delay > 0.0) {
        let number = row.line.number;
        let message = format!("trace line {number} sets delay on the first turn of session {name}");
        return Err(row
            .line
            .problem(Code::TraceSession, row.delay_at.clone(), message, "nothing to wait for")
            .help("a session's first row says when it starts with `timestamp`"));
    }
    Ok(())
}

/// Returns how long a later turn waits.
fn later_delay(row: &Row<'_>, name: &str, last_timestamp_ms: Option<f64>) -> Result<f64, Problem> {
    if let Some(delay_ms) = row.delay_ms {
        return Ok(delay_ms);
    }
    let Some(timestamp_ms) = row.arrival_ms else { return Ok(0.0) };
    let (number, at) = (row.line.number, row.arrival_at.clone());
    let Some(last) = last_timestamp_ms else {
        let message = format!(
            "trace line {number} for session {name} cannot infer delay without a previous timestamp"
        );
        return Err(row
            .line
            .problem(Code::TraceSession, at, message, "the turns above have no timestamp")
            .help("state `delay` here, or `timestamp` on an earlier row of the session"));
    };
    let delay_ms = timestamp_ms - last;
    if delay_ms < 0.0 {
        let message = format!(
            "trace line {number} has invalid delay {delay_ms}: session {name} was at {last} ms before"
        );
        return Err(row
            .line
            .problem(Code::TraceSession, at, message, "earlier than the turn above")
            .help("the rows of a session are its turns in order"));
    }
    Ok(delay_ms)
}

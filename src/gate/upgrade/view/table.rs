//! The verdict as a table on a terminal.

use std::fmt::Write as _;

use crate::gate::upgrade::Verdict;
use crate::report::{finish_table, plain_table};

use super::line;

/// Returns the table: jobs that were judged and are not identical, a line each; then how many there are of each class.
pub fn verdict_table(verdict: &Verdict) -> String {
    let mut text = String::new();
    write_verdict(&mut text, verdict).expect("a String takes every write");
    text
}

/// Writes the heading, the jobs, what stands beside them, and the last word.
fn write_verdict(text: &mut String, verdict: &Verdict) -> std::fmt::Result {
    writeln!(text, "{} {} -> {}", verdict.engine, verdict.from, verdict.to)?;
    text.push_str(&jobs(verdict));
    for idle in &verdict.idle {
        writeln!(text, "{}", line::idle(idle))?;
    }
    for control in &verdict.controls {
        let (scenario, name) = (&control.scenario, control.perturbation.name());
        writeln!(text, "control {name} in {scenario}: {}", line::control(control))?;
    }
    writeln!(text, "{}", line::counts(verdict))?;
    writeln!(text, "{}", line::last_word(verdict))
}

/// Returns the jobs that are not identical; nothing where all are.
fn jobs(verdict: &Verdict) -> String {
    let mut table = plain_table();
    table.set_header(["job", "verdict", "first difference", "requests", "figures", "why"]);
    let mut is_empty = true;
    for job in verdict.jobs().filter(|job| line::is_shown(job)) {
        is_empty = false;
        let drift = job.drift.as_ref();
        table.add_row([
            job.id.to_string(),
            job.class.name().to_owned(),
            drift.map_or_else(|| "-".to_owned(), line::first_difference),
            drift.and_then(line::spread).unwrap_or_else(|| "-".to_owned()),
            drift.map_or_else(|| "-".to_owned(), |drift| line::figures(drift).join(", ")),
            line::why(job),
        ]);
    }
    if is_empty { String::new() } else { finish_table(&table) }
}

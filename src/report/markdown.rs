//! `summary.md`: the run on a page, to be pasted into a review.

use std::fmt::Write as _;

use crate::diag::counted;
use crate::digest::Sha256;
use crate::plan::Plan;

use super::live::{PLANNED_COLUMNS, measured_markdown, planned_cells};
use super::row::{COLUMNS, cells};
use super::{JobResult, Verdicts};

/// Returns the page.
pub fn markdown(plan: &Plan, run: &Sha256, results: &[JobResult], verdicts: &Verdicts) -> String {
    let mut page = String::new();
    write_page(&mut page, plan, run, (results, verdicts)).expect("a String takes every write");
    page
}

/// Writes title, table, failures and how to get the same again.
fn write_page(
    page: &mut String,
    plan: &Plan,
    run: &Sha256,
    (results, verdicts): (&[JobResult], &Verdicts),
) -> std::fmt::Result {
    writeln!(page, "# {}\n", escape(&plan.scenario))?;
    if let Some(about) = &plan.about {
        writeln!(page, "{}\n", escape(about))?;
    }
    writeln!(page, "Run `{}`, {}.\n", run.short(), counted(results.len(), "job"))?;
    write_jobs(page, results, verdicts)?;
    write!(page, "{}", measured_markdown(results).unwrap_or_default())?;
    let failed = results.iter().filter(|result| !result.failures().is_empty());
    for result in failed {
        writeln!(
            page,
            "\n**{} failed:** {}",
            escape(result.id.as_str()),
            result.failures().join("; ")
        )?;
    }
    for result in results {
        let notes = result.notes();
        for note in notes.iter().map(String::as_str).chain(verdicts.notes_of(&result.id)) {
            writeln!(page, "\n**{}**: {}", escape(result.id.as_str()), escape(note))?;
        }
    }
    for id in &verdicts.gone {
        writeln!(page, "\n**{}** is in the golden and not in the plan.", escape(id.as_str()))?;
    }
    writeln!(page, "\nThe same again: `bench run {}`. Definitions: docs/metrics.md.", plan.file)
}

/// Writes the table of simulations, and that of planned live traffic.
fn write_jobs(page: &mut String, results: &[JobResult], verdicts: &Verdicts) -> std::fmt::Result {
    let (mut simulated, mut replays) = (Vec::new(), Vec::new());
    for (result, verdict) in results.iter().zip(&verdicts.jobs) {
        match planned_cells(result, *verdict) {
            Some(cells) => replays.push(cells.to_vec()),
            None => simulated.push(cells(result, *verdict).to_vec()),
        }
    }
    if !simulated.is_empty() || replays.is_empty() {
        write_table(page, &COLUMNS, &simulated)?;
    }
    if !replays.is_empty() {
        page.push_str(if simulated.is_empty() { "" } else { "\n" });
        write_table(page, &PLANNED_COLUMNS, &replays)?;
    }
    Ok(())
}

/// Writes a table.
pub(super) fn write_table(
    page: &mut String,
    columns: &[&str],
    rows: &[Vec<String>],
) -> std::fmt::Result {
    writeln!(page, "| {} |", columns.join(" | "))?;
    writeln!(page, "|{}", " --- |".repeat(columns.len()))?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
        writeln!(page, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// Returns a text that Markdown does not read as markup in a table cell.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(escape("a|b\n*c*"), "a\\|b \\*c\\*");
    }
}

//! `summary.md`: the run on a page, to be pasted into a review.

use std::fmt::Write as _;

use crate::digest::Sha256;
use crate::plan::Plan;

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
    let ending = if results.len() == 1 { "" } else { "s" };
    writeln!(page, "Run `{}`, {} job{ending}.\n", run.short(), results.len())?;
    writeln!(page, "| {} |", COLUMNS.join(" | "))?;
    writeln!(page, "|{}", " --- |".repeat(COLUMNS.len()))?;
    for (result, verdict) in results.iter().zip(&verdicts.jobs) {
        let row = cells(result, *verdict).map(|cell| escape(&cell));
        writeln!(page, "| {} |", row.join(" | "))?;
    }
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
        for note in result.notes() {
            writeln!(page, "\n**{}**: {}", escape(result.id.as_str()), escape(&note))?;
        }
    }
    for id in &verdicts.gone {
        writeln!(page, "\n**{}** is in the golden and not in the plan.", escape(id.as_str()))?;
    }
    writeln!(page, "\nThe same again: `bench run {}`. Definitions: docs/metrics.md.", plan.file)
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

//! The verdict as a page to paste into a pull request.

use std::fmt::Write as _;

use crate::gate::upgrade::{Class, Judged, ScenarioVerdict, Verdict};
use crate::report::escape_markdown as escape;

use super::line;

/// Returns the page.
pub fn verdict_markdown(verdict: &Verdict) -> String {
    let mut page = String::new();
    write_page(&mut page, verdict).expect("a String takes every write");
    page
}

/// Writes title, last word, classes by scenario, what differs, what was declared, controls, and what is identical.
fn write_page(page: &mut String, verdict: &Verdict) -> std::fmt::Result {
    let (engine, from, to) = (&verdict.engine, &verdict.from, &verdict.to);
    writeln!(page, "## {} `{from}` → `{to}`\n", escape(engine))?;
    writeln!(page, "**{}**: {}.\n", line::last_word(verdict), line::counts(verdict))?;
    write_classes(page, verdict)?;
    write_jobs(page, verdict)?;
    write_changes(page, verdict)?;
    write_beside(page, verdict)?;
    write_identical(page, verdict)
}

/// Writes how many jobs of each scenario are of each class.
fn write_classes(page: &mut String, verdict: &Verdict) -> std::fmt::Result {
    let classes: Vec<Class> =
        Class::ALL.into_iter().filter(|class| verdict.count(*class) > 0).collect();
    write!(page, "| scenario |")?;
    classes.iter().try_for_each(|class| write!(page, " {} |", class.name()))?;
    write!(page, "\n|---|")?;
    classes.iter().try_for_each(|_| write!(page, "---:|"))?;
    writeln!(page)?;
    for scenario in &verdict.scenarios {
        write!(page, "| {} |", escape(&scenario.scenario))?;
        for class in &classes {
            let count = scenario.jobs.iter().filter(|job| job.class == *class).count();
            write!(page, " {count} |")?;
        }
        writeln!(page)?;
    }
    writeln!(page)
}

/// Writes the jobs that were judged and are not identical.
fn write_jobs(page: &mut String, verdict: &Verdict) -> std::fmt::Result {
    let differs = |job: &&Judged| line::is_shown(job);
    if !verdict.jobs().any(line::is_shown) {
        return Ok(());
    }
    writeln!(page, "| job | verdict | first difference | requests | figures | why |")?;
    writeln!(page, "|---|---|---|---:|---|---|")?;
    for job in verdict.jobs().filter(differs) {
        let drift = job.drift.as_ref();
        let cells = [
            format!("`{}`", job.id),
            job.class.name().to_owned(),
            drift.map_or_else(|| "-".to_owned(), |drift| escape(&line::first_difference(drift))),
            drift.and_then(line::spread).unwrap_or_else(|| "-".to_owned()),
            drift.map_or_else(|| "-".to_owned(), |drift| escape(&line::figures(drift).join("; "))),
            escape(&line::why(job)),
        ];
        writeln!(page, "| {} |", cells.join(" | "))?;
    }
    writeln!(page)
}

/// Writes the declared changes.
fn write_changes(page: &mut String, verdict: &Verdict) -> std::fmt::Result {
    let Some(changes) = &verdict.changes else {
        return writeln!(page, "No changes are declared.\n");
    };
    writeln!(page, "Declared in `{}`:\n", changes.file)?;
    for change in &changes.changes {
        let (name, reason, link) = (&change.name, escape(&change.reason), escape(&change.link));
        writeln!(page, "- **{}**: {reason} ({link})", escape(name))?;
    }
    writeln!(page)
}

/// Writes changes that speak of no job, and controls.
fn write_beside(page: &mut String, verdict: &Verdict) -> std::fmt::Result {
    for idle in &verdict.idle {
        writeln!(page, "- {}", escape(&line::idle(idle)))?;
    }
    for control in &verdict.controls {
        let name = control.perturbation.name();
        writeln!(
            page,
            "- control `{name}` in {}: {}",
            escape(&control.scenario),
            line::control(control)
        )?;
    }
    if verdict.idle.is_empty() && verdict.controls.is_empty() { Ok(()) } else { writeln!(page) }
}

/// Writes the identical jobs, folded away.
fn write_identical(page: &mut String, verdict: &Verdict) -> std::fmt::Result {
    let count = verdict.count(Class::Identical);
    if count == 0 {
        return Ok(());
    }
    writeln!(page, "<details><summary>{count} identical</summary>\n")?;
    let jobs = |scenario: &'_ ScenarioVerdict| scenario.jobs.clone();
    for job in verdict.scenarios.iter().flat_map(jobs).filter(|job| job.class == Class::Identical) {
        writeln!(page, "- `{}`", job.id)?;
    }
    writeln!(page, "\n</details>")
}

//! The table of jobs on stdout, and the same as JSON.

use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};

use super::live::{PLANNED_COLUMNS, planned_cells};
use super::row::{COLUMNS, cells};
use super::verdict::last_word;
use super::{JobResult, Verdicts};

/// Returns the table of jobs, and below it what should be known of those whose requests did not all complete; replay jobs have a
/// table of their own, of what is planned. The same run gives the same bytes, whatever the terminal: nothing in it is measured.
pub fn jobs_table(results: &[JobResult], verdicts: &Verdicts) -> String {
    let (mut simulated, mut replays) = (Vec::new(), Vec::new());
    for (result, verdict) in results.iter().zip(&verdicts.jobs) {
        match planned_cells(result, *verdict) {
            Some(cells) => replays.push(cells.to_vec()),
            None => simulated.push(cells(result, *verdict).to_vec()),
        }
    }
    let mut text = String::new();
    if !simulated.is_empty() || replays.is_empty() {
        text.push_str(&table_of(&COLUMNS, &simulated, &[0, 11, 12]));
    }
    if !replays.is_empty() {
        text.push_str(if simulated.is_empty() { "" } else { "\n" });
        text.push_str(&table_of(&PLANNED_COLUMNS, &replays, &[0, 3, 4, 5]));
    }
    for result in results {
        let notes = result.notes();
        let notes = notes.iter().map(String::as_str).chain(verdicts.notes_of(&result.id));
        text.extend(notes.map(|note| format!("{}: {note}\n", result.id)));
    }
    text
}

/// Returns a table without the columns that say nothing in any row; those of `texts` stand left, numbers right.
pub(super) fn table_of(columns: &[&str], rows: &[Vec<String>], texts: &[usize]) -> String {
    let shown: Vec<usize> = (0..columns.len())
        .filter(|column| rows.is_empty() || !rows.iter().all(|row| row[*column] == "-"))
        .collect();
    let mut table = plain_table();
    table.set_header(shown.iter().map(|column| columns[*column]));
    for row in rows {
        table.add_row(shown.iter().map(|column| &row[*column]));
    }
    for (position, column) in shown.iter().enumerate() {
        if let (false, Some(column)) = (texts.contains(column), table.column_mut(position)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    finish(&table)
}

/// Returns a table without borders whose width is that of its contents.
pub(crate) fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// Returns the text of a table, without trailing blanks, with a newline.
pub(crate) fn finish(table: &Table) -> String {
    table.to_string().lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// Returns the results of a run as one JSON document.
pub fn jobs_json(
    run: &Sha256,
    scenario: &str,
    results: &[JobResult],
    verdicts: &Verdicts,
) -> Vec<u8> {
    let job = |(result, verdict): (&JobResult, &super::JobVerdict)| {
        let report = result.report();
        let notes = result.notes();
        let notes = notes.iter().map(String::as_str).chain(verdicts.notes_of(&result.id));
        let notes = notes.map(Value::text);
        let figures = report.map(|report| {
            let figures = report.figures().into_iter();
            figures
                .map(|(name, _)| name)
                .filter_map(|name| Some((name.to_string(), report.figure(name)?.clone())))
        });
        object([
            ("figures", figures.map_or(Value::Null, |figures| Value::Object(figures.collect()))),
            ("id", Value::text(result.id.as_str())),
            ("key", (*result.key.digest()).into()),
            ("notes", Value::List(notes.collect())),
            ("outcome", Value::text(result.outcome())),
            ("report", report.map_or(Value::Null, |report| report.digest().into())),
            ("verdict", Value::text(last_word(result, *verdict))),
        ])
    };
    let jobs = results.iter().zip(&verdicts.jobs).map(job).collect();
    let gone = verdicts.gone.iter().map(|id| Value::text(id.as_str())).collect();
    object([
        ("gone", Value::List(gone)),
        ("jobs", Value::List(jobs)),
        ("run", (*run).into()),
        ("scenario", Value::text(scenario)),
    ])
    .to_document()
}

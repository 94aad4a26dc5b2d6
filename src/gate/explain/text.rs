//! An explanation as text for a terminal, and as Markdown for a review. The same comparison gives the same bytes.

use crate::report::{escape_markdown, finish_table, plain_table};

use super::explanation::{Explanation, JobCase, JobVerdict, Sides};
use super::words::{self, Grid};

/// Which view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Text,
    Markdown,
}

/// A page in the making.
struct Page {
    view: View,
    text: String,
}

/// Returns the explanation as text: every job on a line where there are several, then each that is not equal.
pub fn explain_text(sides: &Sides, cases: &[JobCase]) -> String {
    page(View::Text, sides, cases)
}

/// Returns the explanation as Markdown.
pub fn explain_markdown(sides: &Sides, cases: &[JobCase]) -> String {
    page(View::Markdown, sides, cases)
}

/// Writes the page.
fn page(view: View, sides: &Sides, cases: &[JobCase]) -> String {
    let mut page = Page { view, text: String::new() };
    page.title(&format!("{} against {}", sides.left, sides.right));
    page.line(&words::tally(cases));
    if cases.len() > 1 {
        page.grid(&words::jobs(cases));
    }
    for case in cases {
        match &case.verdict {
            JobVerdict::Equal(changes) => {
                let inputs = words::inputs(changes, sides);
                if cases.len() == 1 {
                    page.section(case.id.as_str());
                    page.line("every event, request and figure is equal");
                    page.grid(&inputs);
                }
            }
            JobVerdict::Differs(explanation) => page.differs(case, explanation, sides),
            JobVerdict::Unexplained { missing: why, remedy }
            | JobVerdict::NotComparable { why, remedy } => {
                page.section(case.id.as_str());
                page.line(&format!("{}: {why}", words::verdict(&case.verdict)));
                page.line(&format!("do: {remedy}"));
            }
        }
    }
    page.text
}

impl Page {
    fn title(&mut self, text: &str) {
        match self.view {
            View::Text => self.raw(text),
            View::Markdown => self.raw(&format!("# {}", escape_markdown(text))),
        }
        if self.view == View::Markdown {
            self.raw("");
        }
    }

    fn section(&mut self, text: &str) {
        self.raw("");
        match self.view {
            View::Text => self.raw(text),
            View::Markdown => self.raw(&format!("## {}\n", escape_markdown(text))),
        }
    }

    /// Adds a heading below a section.
    fn part(&mut self, text: &str) {
        self.raw("");
        match self.view {
            View::Text => self.raw(text),
            View::Markdown => self.raw(&format!("**{}**\n", escape_markdown(text))),
        }
    }

    fn line(&mut self, text: &str) {
        match self.view {
            View::Text => self.raw(text),
            View::Markdown => self.raw(&format!("{}\n", escape_markdown(text))),
        }
    }

    fn item(&mut self, text: &str) {
        match self.view {
            View::Text => self.raw(&format!("  {text}")),
            View::Markdown => self.raw(&format!("- {}", escape_markdown(text))),
        }
    }

    fn raw(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Adds a table; nothing of an empty one.
    fn grid(&mut self, grid: &Grid) {
        let Some((header, rows)) = grid.split_first() else { return };
        self.raw("");
        match self.view {
            View::Text => {
                let mut table = plain_table();
                table.set_header(header);
                for row in rows {
                    table.add_row(row);
                }
                self.text.push_str(&finish_table(&table));
            }
            View::Markdown => {
                let line = |row: &[String]| {
                    let cells: Vec<String> = row.iter().map(|cell| escape_markdown(cell)).collect();
                    format!("| {} |", cells.join(" | "))
                };
                self.raw(&line(header));
                self.raw(&format!("|{}", " --- |".repeat(header.len())));
                for row in rows {
                    self.raw(&line(row));
                }
            }
        }
    }

    fn differs(&mut self, case: &JobCase, explanation: &Explanation, sides: &Sides) {
        self.section(case.id.as_str());
        self.line(&words::level(explanation.level, sides));
        self.grid(&words::inputs(&explanation.inputs, sides));
        if let Some(first) = &explanation.first {
            self.part(&format!("First divergence: {}", words::headline(first)));
            first.what.iter().for_each(|sentence| self.item(sentence));
            if !first.why.is_empty() {
                self.part("Why");
                first.why.iter().for_each(|sentence| self.item(sentence));
            }
            self.grid(&words::state(first, sides));
        }
        let next = words::next(explanation, sides);
        if !next.is_empty() {
            self.part("What follows");
            self.grid(&next);
        }
        self.part(&format!("How far it spread: {}", words::moved(&explanation.blast)));
        self.grid(&words::metrics(&explanation.blast));
        self.grid(&words::figures(&explanation.blast, sides));
        if let Some(more) = words::more_figures(&explanation.blast) {
            self.raw("");
            self.line(&more);
        }
    }
}

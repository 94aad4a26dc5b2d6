//! All records of a trace, and the trees that they are part of.

use serde::de::IgnoredAny;

use crate::diag::{Bag, Code, Problem, SourceFile, Span};
use crate::trace::columns::Columns;
use crate::trace::options::TraceFormat;
use crate::trace::read::TraceInput;
use crate::trace::table;

use super::record::{Line, Lines, why};
use super::tree::{Forest, Tree};

/// How many wrong lines are told at the most.
const PROBLEMS_MAX: usize = 1_000;

/// What a trace holds: of each record no more than its tree.
#[derive(Debug)]
pub struct Scan {
    pub(super) files: Vec<TraceInput>,
    pub(super) format: TraceFormat,
    /// The tree of each record, in order; absent for what a capture says of sessions that asked nothing.
    pub(super) tree_of: Vec<Option<usize>>,
    /// What stands above the rows, the same in each file.
    pub(super) header: Option<String>,
    trees: Vec<Tree>,
    /// Lines that are no records and are not copied.
    pub markers: u64,
    /// Records that are of no tree and are not copied.
    pub without_request: u64,
}

impl Scan {
    /// Reads every file once and notes what belongs together; trees are in the order of their first records.
    ///
    /// # Errors
    /// Where a file cannot be read, lines are nothing of the format, or files have different headers.
    pub fn of(
        files: Vec<TraceInput>,
        format: TraceFormat,
        columns: Option<&Columns>,
    ) -> Result<Self, Bag> {
        let mut reader = Reader { columns, ..Reader::default() };
        for file in &files {
            if let Err(problem) = reader.file(file, format) {
                reader.problems.push(problem);
            }
        }
        if reader.forest.is_empty() && reader.problems.is_empty() {
            reader.problems.push(empty(&files, "records"));
        }
        if reader.header.is_some() && reader.headless {
            let message = "some files have a header and some have none: a part of a trace has one";
            reader.problems.push(Problem::new(Code::TraceHeader, message));
        }
        if reader.problems.has_errors() {
            return Err(reader.problems);
        }
        let (header, markers) = (reader.header, reader.markers);
        let (tree_of, trees) = reader.forest.trees(format);
        if trees.is_empty() {
            return Err(empty(&files, "requests").into());
        }
        let without_request = tree_of.iter().filter(|tree| tree.is_none()).count() as u64;
        Ok(Self { files, format, tree_of, header, trees, markers, without_request })
    }

    /// Returns the format of the files.
    pub const fn format(&self) -> TraceFormat {
        self.format
    }

    /// Returns the trees.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }
}

/// What was read.
#[derive(Default)]
struct Reader<'c> {
    columns: Option<&'c Columns>,
    forest: Forest,
    header: Option<String>,
    markers: u64,
    problems: Bag,
    wrong: usize,
    /// Whether a file has rows that stand below no header, where headers are not needed.
    headless: bool,
}

impl Reader<'_> {
    fn file(&mut self, file: &TraceInput, format: TraceFormat) -> Result<(), Problem> {
        let mut state = Lines::default();
        each_record_text(file, format, &mut |number, text| {
            match state.line(text, format) {
                Ok(Line::Header) => {
                    state.time_column = table::time_column(text, format, self.columns);
                    self.check_header(file, number, text);
                }
                Ok(Line::Marker) => self.markers += 1,
                Ok(Line::Record(record)) => {
                    self.headless |= !state.has_header();
                    self.forest.add(record);
                }
                Err(why) if self.wrong < PROBLEMS_MAX => {
                    self.wrong += 1;
                    self.problems.push(wrong(file, number, text, &why));
                }
                Err(_) => {}
            }
            Ok(())
        })
    }

    fn check_header(&mut self, file: &TraceInput, number: u64, text: &str) {
        match &self.header {
            None => self.header = Some(text.to_owned()),
            Some(first) if first != text => {
                let why =
                    "the header differs from that of the files before: a part of a trace has one";
                self.problems.push(wrong(file, number, text, why));
            }
            Some(_) => {}
        }
    }
}

fn empty(files: &[TraceInput], of: &str) -> Problem {
    let names: Vec<&str> = files.iter().map(|file| &**file.name()).collect();
    Problem::new(Code::TraceEmpty, format!("`{}` holds no {of}", names.join(", ")))
}

fn wrong(file: &TraceInput, number: u64, text: &str, why: &str) -> Problem {
    let shown: String = text.chars().take(60).collect();
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let source = SourceFile::excerpt(file.name(), &shown, number);
    Problem::new(Code::TraceSyntax, format!("the line is no record: {why}"))
        .label(&source, Span::new(0, shown.len()), "this line")
        .help("`bench trace validate` says all that is wrong with a trace")
}

/// Hands over each line that is not blank, or the whole of a file that is one JSON value, on one line.
pub(super) fn each_record_text<E: From<Problem>>(
    file: &TraceInput,
    format: TraceFormat,
    take: &mut dyn FnMut(u64, &str) -> Result<(), E>,
) -> Result<(), E> {
    if format == TraceFormat::Weka && file.is_document() {
        let text = file.text()?;
        if text.trim().is_empty() {
            return Ok(());
        }
        if let Err(error) = serde_json::from_str::<IgnoredAny>(&text) {
            let number = error.line().max(1);
            let shown = text.lines().nth(number - 1).unwrap_or_default();
            return Err(wrong(file, number as u64, shown, &why(&error)).into());
        }
        // Line ends stand between values only: in a text they are escaped.
        return take(1, text.replace(['\n', '\r'], " ").trim());
    }
    let mut lines = file.lines()?;
    loop {
        let number = lines.next_number();
        let Some(text) = lines.next()? else { return Ok(()) };
        if !text.trim().is_empty() {
            take(number, &text)?;
        }
    }
}

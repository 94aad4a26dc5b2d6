//! Collects findings, so that one run shows every mistake, in file order.

use super::{Problem, Severity, SourceFile};

/// Findings of one command, kept until all are known.
#[derive(Debug, Default)]
pub struct Bag {
    problems: Vec<Problem>,
}

impl Bag {
    /// Returns an empty bag.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Adds all findings of another bag.
    pub fn extend(&mut self, other: Self) {
        self.problems.extend(other.problems);
    }

    /// Adds those findings of another bag that say something new: another code, message or place.
    pub fn extend_new(&mut self, other: Self) {
        for problem in other.problems {
            let says_the_same = |known: &Problem| {
                known.code() == problem.code()
                    && known.message() == problem.message()
                    && known.place() == problem.place()
            };
            if !self.problems.iter().any(says_the_same) {
                self.problems.push(problem);
            }
        }
    }

    /// Returns whether anything in it refuses the input.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity() == Severity::Error)
    }

    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the findings: by file in order of first appearance, then by place, then by arrival.
    pub fn into_sorted(self) -> Vec<Problem> {
        let mut files: Vec<String> = Vec::new();
        let mut keyed: Vec<(usize, usize, usize, Problem)> = Vec::new();
        for problem in self.problems {
            let name = problem.source_file().map_or("", |source| source.name());
            let file = files.iter().position(|known| known == name).unwrap_or_else(|| {
                files.push(name.to_owned());
                files.len() - 1
            });
            let offset = problem.labels().first().map_or(0, |label| label.span.offset());
            let line = problem.source_file().map_or(0, SourceFile::first_line);
            // Excerpts of one long line start at different columns of it.
            let column = problem.source_file().map_or(0, SourceFile::first_column);
            keyed.push((file, line, column + offset, problem));
        }
        keyed.sort_by_key(|(file, line, offset, _)| (*file, *line, *offset));
        keyed.into_iter().map(|(_, _, _, problem)| problem).collect()
    }
}

impl From<Problem> for Bag {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

//! The repository's text files, and how a rule says what it found.

use std::fmt;
use std::fs;
use std::path::Path;

/// A text file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Its path from the repository's root, with `/`.
    pub(crate) path: String,
    /// Its content.
    pub(crate) text: String,
}

/// A rule that is broken somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    path: String,
    line: usize,
    says: String,
}

impl File {
    /// Returns a file that exists in a test only.
    pub(crate) fn planted(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    /// Returns whether its name ends in `.extension`.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    /// Returns a violation at a line, counted from 0.
    pub(crate) fn violation(&self, line: usize, says: impl Into<String>) -> Violation {
        Violation { path: self.path.clone(), line: line + 1, says: says.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.says)
    }
}

/// Returns every text file of the repository, sorted by path. What `.gitignore` names is left out, and so is what is no UTF-8.
pub(crate) fn repository() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ignored = fs::read_to_string(root.join(".gitignore")).expect(".gitignore is there");
    let mut files = Vec::new();
    walk(root, "", &ignored, &mut files);
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

/// Collects the text files below a folder.
fn walk(root: &Path, below: &str, ignored: &str, files: &mut Vec<File>) {
    for entry in fs::read_dir(root.join(below)).expect("the repository is readable") {
        let entry = entry.expect("the repository is readable");
        let name = entry.file_name().into_string().expect("file names are ASCII");
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if path == ".git" || ignored.lines().any(|line| line == format!("/{path}")) {
            continue;
        }
        let kind = entry.file_type().expect("the repository is readable");
        if kind.is_dir() {
            walk(root, &path, ignored, files);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
}

/// Asserts that a rule is obeyed, listing every place where it is not.
#[track_caller]
pub(crate) fn assert_none(violations: &[Violation]) {
    let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} violations:\n{}", list.len(), list.join("\n"));
}

#[test]
fn the_repository_is_seen_without_what_git_ignores() {
    let files = repository();
    for expected in ["Cargo.toml", "src/lib.rs", "tests/tidy/tree.rs", ".ci/run"] {
        assert!(files.iter().any(|file| file.path == expected), "{expected}");
    }
    assert!(!files.iter().any(|file| file.path.starts_with("target/")));
}

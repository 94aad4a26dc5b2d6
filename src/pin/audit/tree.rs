//! The files of the audited repository, as they are or as an update would leave them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diag::{self, Code, Problem, SourceFile};

use super::rules::Rule;

/// The audited repository.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    root: PathBuf,
    replaced: BTreeMap<String, String>,
}

impl Tree {
    /// Returns the repository at `root`.
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), replaced: BTreeMap::new() }
    }

    /// Returns it with other texts in some of its files.
    pub(super) fn with(&self, replaced: BTreeMap<String, String>) -> Self {
        Self { root: self.root.clone(), replaced }
    }

    /// Returns where a file is.
    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Returns the text of a file that `rule` covers.
    ///
    /// # Errors
    /// `pin::audit_file` at the rule, when it is missing, cannot be read or is no UTF-8.
    pub(super) fn read(&self, rule: &Rule, relative: &str) -> Result<SourceFile, Problem> {
        if let Some(text) = self.replaced.get(relative) {
            return Ok(SourceFile::new(relative, text));
        }
        let bytes = std::fs::read(self.path(relative))
            .map_err(|error| unreadable(rule, relative, &error))?;
        let text = diag::utf8(Code::PinAuditFile, relative, bytes)?;
        Ok(SourceFile::new(relative, &text))
    }

    /// Returns the files below a folder whose names end or begin with one of the extensions (`md`, `Dockerfile`), sorted by path. Links are not followed, hidden entries not entered.
    ///
    /// # Errors
    /// `pin::audit_file` at the rule, when a folder is missing or cannot be listed.
    pub(super) fn files(&self, rule: &Rule, extensions: &[String]) -> Result<Vec<String>, Problem> {
        let mut open = vec![rule.path.clone()];
        let mut files = Vec::new();
        while let Some(folder) = open.pop() {
            let failed = |error: std::io::Error| unreadable(rule, &folder, &error);
            for entry in std::fs::read_dir(self.path(&folder)).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let kind = entry.file_type().map_err(failed)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = format!("{folder}/{name}");
                if kind.is_dir() && !name.starts_with('.') {
                    open.push(path);
                } else if kind.is_file() && extensions.iter().any(|word| is_named(&name, word)) {
                    files.push(path);
                }
            }
        }
        files.sort_unstable();
        Ok(files)
    }
}

/// Returns whether a file's name is a word, ends with `.word` or begins with `word.`.
fn is_named(name: &str, word: &str) -> bool {
    let ends = name.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    ends || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the problem of a file or folder that cannot be read, at the rule that names it.
fn unreadable(rule: &Rule, relative: &str, error: &std::io::Error) -> Problem {
    let kind = rule.kind.name();
    let missing = error.kind() == std::io::ErrorKind::NotFound;
    let what = if missing { "is not there".to_owned() } else { format!("cannot be read: {error}") };
    let message = format!("`{relative}`, which the rule `{kind}` names, {what}");
    rule.place
        .problem(Code::PinAuditFile, message, "named here")
        .help("restore the file, or mend the rule if the place has moved")
}

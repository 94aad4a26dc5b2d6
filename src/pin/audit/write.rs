//! Writing several files: all or none.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::diag::{Code, Problem};

/// Returns the file that a path of the repository leads to.
///
/// # Errors
/// `pin::audit_write` where a link leads out of the repository.
pub(super) fn target(folder: &Path, relative: &str) -> Result<PathBuf, Problem> {
    let resolve = || Ok((folder.canonicalize()?, folder.join(relative).canonicalize()?));
    let (root, target) =
        resolve().map_err(|error: io::Error| failed(Path::new(relative), &error))?;
    if target.starts_with(root) {
        return Ok(target);
    }
    let message =
        format!("`{relative}` is a link that leads out of the repository: `{}`", target.display());
    Err(Problem::new(Code::PinAuditWrite, message)
        .help("nothing was changed; put the file itself there"))
}

/// Writes files: a new one beside each, all of them flushed, then each put in its place; if one cannot be, those before it are put back.
///
/// # Errors
/// `pin::audit_write` with what the system answered; the files are as they were.
pub(super) fn all(files: &[(PathBuf, String)]) -> Result<(), Problem> {
    let mut staged = Vec::new();
    for (path, text) in files {
        let before = std::fs::read(path).map_err(|error| failed(path, &error))?;
        let after = beside(path, text.as_bytes()).map_err(|error| failed(path, &error))?;
        let before = beside(path, &before).map_err(|error| failed(path, &error))?;
        staged.push((path, before, after));
    }
    let mut done: Vec<(&Path, NamedTempFile)> = Vec::new();
    for (path, before, after) in staged {
        if let Err(error) = after.persist(path) {
            return Err(put_back(done, failed(path, &error.error)));
        }
        done.push((path, before));
    }
    Ok(())
}

/// Puts files back and returns the problem, with those that could not be.
fn put_back(done: Vec<(&Path, NamedTempFile)>, problem: Problem) -> Problem {
    let mut lost = Vec::new();
    for (path, before) in done {
        if before.persist(path).is_err() {
            lost.push(format!("`{}`", path.display()));
        }
    }
    if lost.is_empty() {
        return problem;
    }
    problem.help(format!("these are changed and could not be put back: {}", lost.join(", ")))
}

/// Writes a file beside another, with its permissions, and flushes it.
fn beside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(std::fs::metadata(path)?.permissions())?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Returns the problem of a file that cannot be written.
fn failed(path: &Path, error: &io::Error) -> Problem {
    Problem::new(Code::PinAuditWrite, format!("`{}` cannot be written: {error}", path.display()))
        .help("nothing was changed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_one_file_cannot_be_written_none_is_and_nothing_stays_beside_them() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let [first, second] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&first, "old").expect("writable");
        std::fs::create_dir(&second).expect("writable");
        let files =
            |last: PathBuf| vec![(first.clone(), "new".to_owned()), (last, "new".to_owned())];
        for last in [second, folder.path().join("absent")] {
            let problem = all(&files(last)).expect_err("refused");
            assert_eq!(problem.code(), Code::PinAuditWrite);
            assert_eq!(std::fs::read_to_string(&first).expect("there"), "old");
            assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 2);
        }
    }

    #[test]
    fn files_before_one_that_cannot_be_put_in_its_place_are_put_back() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let [first, second] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&first, "new").expect("writable");
        let before = beside(&first, b"old").expect("writable");
        let problem = put_back(vec![(&first, before)], failed(&second, &io::Error::other("no")));
        assert_eq!(problem.help_text(), Some("nothing was changed"));
        assert_eq!(std::fs::read_to_string(&first).expect("there"), "old");
    }
}

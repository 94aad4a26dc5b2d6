//! Edits of a scenario's text that leave every other byte alone, and the writing of files in one step.

use std::io::Write as _;
use std::path::Path;

use crate::diag::{Code, Problem};

use super::syntax::Place;

/// A replacement of a stretch of text; an insertion where the stretch is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    offset: usize,
    length: usize,
    text: String,
}

impl Edit {
    /// Returns the replacement of what stands at `place`.
    pub fn replace(place: &Place, text: impl Into<String>) -> Self {
        Self { offset: place.span().offset(), length: place.span().length(), text: text.into() }
    }

    /// Returns the insertion behind `place`.
    pub fn insert_after(place: &Place, text: impl Into<String>) -> Self {
        Self { offset: place.span().offset() + place.span().length(), length: 0, text: text.into() }
    }
}

/// Returns `text` with all edits; they do not overlap.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| edit.offset);
    let (mut edited, mut taken) = (String::with_capacity(text.len()), 0);
    for edit in sorted {
        assert!(edit.offset >= taken, "edits do not overlap");
        edited.push_str(&text[taken..edit.offset]);
        edited.push_str(&edit.text);
        taken = edit.offset + edit.length;
    }
    edited.push_str(&text[taken..]);
    edited
}

/// Replaces a file in one step: a new file is written beside it, flushed, and put in its place with the old one's permissions.
///
/// # Errors
/// `kdl::write` with what the system answered; the old file is untouched then.
pub fn replace_file(path: &Path, text: &str) -> Result<(), Problem> {
    let replace = || -> std::io::Result<()> {
        let target = path.canonicalize()?; // a symbolic link keeps leading where it led
        let folder = target.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(std::fs::metadata(&target)?.permissions())?;
        file.as_file().sync_all()?;
        file.persist(&target)?;
        Ok(())
    };
    replace().map_err(|error| {
        let message = format!("`{}` cannot be written: {error}", path.display());
        Problem::new(Code::KdlWrite, message).help("the file is as it was")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{SourceFile, Span};

    #[test]
    fn edits_leave_every_other_byte_alone() {
        let text = "a  \"old\"\t// é\r\nb\n";
        let source = SourceFile::new("t.kdl", text);
        let at = |offset, length| Place::new(&source, Span::new(offset, length));
        let edits = [Edit::insert_after(&at(16, 1), " c=1"), Edit::replace(&at(3, 5), "\"new\"")];
        assert_eq!(apply(text, &edits), "a  \"new\"\t// é\r\nb c=1\n");
        assert_eq!(apply(text, &[]), text);
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_no_other_file_stays() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("x.kdl");
        std::fs::write(&path, "old").expect("writable");
        let before = std::fs::metadata(&path).expect("there").permissions();
        replace_file(&path, "new").expect("writable");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "new");
        assert_eq!(std::fs::metadata(&path).expect("there").permissions(), before);
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
        let refused = replace_file(&folder.path().join("absent.kdl"), "x");
        assert_eq!(refused.map_err(|problem| problem.code()), Err(Code::KdlWrite));
    }
}

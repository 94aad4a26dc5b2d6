//! The files that a path stands for.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::diag::{Code, Problem};

/// How the names of files of recordings end, before how they are packed.
const ENDS: [&str; 3] = [".json", ".jsonl", ".csv"];
/// How those of segments do.
const SEGMENTS: [&str; 2] = [".jsonl", ".csv"];
/// How they are packed.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// Returns the files that a path stands for, each with what messages call it.
///
/// A file is itself. A folder is every file below it whose name ends as recordings do, by path, where segments `NAME.NNNNNN` of one
/// name follow one another by number. Anything else is the start of the names of segments: `a/trace` (or `a/trace.jsonl.gz`) is
/// `a/trace.000000.jsonl.gz` and so on, also of CSV. Source: spec/REPLAY.md §1.3.
///
/// # Errors
/// `trace::read` where nothing is found or a folder cannot be read, and for links in it: what they point to may change under one name.
pub fn trace_files(path: &Path, name: &str) -> Result<Vec<(PathBuf, String)>, Problem> {
    let found = found_trace_files(path, name)?;
    if found.is_empty() { Err(nothing(name)) } else { Ok(found) }
}

/// Returns the same, and nothing where nothing is found.
///
/// # Errors
/// As [`trace_files`] otherwise: nobody can say then that a name is free.
pub fn found_trace_files(path: &Path, name: &str) -> Result<Vec<(PathBuf, String)>, Problem> {
    if path.is_file() {
        return Ok(vec![(path.to_owned(), name.to_owned())]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        folder(path, name, &mut found)?;
    } else {
        segments(path, name, &mut found)?;
    }
    found.sort_by(|(_, a), (_, b)| key(a).cmp(&key(b)));
    Ok(found)
}

fn nothing(name: &str) -> Problem {
    Problem::new(
        Code::TraceRead,
        format!("`{name}` is no trace file, and no folder or start of names of such"),
    )
    .help("names of traces end in `.json`, `.jsonl` or `.csv`, packed also in `.gz` or `.zst`")
}

/// Adds the files below a folder.
fn folder(path: &Path, name: &str, found: &mut Vec<(PathBuf, String)>) -> Result<(), Problem> {
    let unreadable = |error: std::io::Error| {
        Problem::new(Code::TraceRead, format!("cannot read `{name}`: {error}"))
    };
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let below =
            format!("{}/{}", name.trim_end_matches('/'), entry.file_name().to_string_lossy());
        if kind.is_symlink() {
            return Err(link(&below));
        }
        if kind.is_dir() {
            folder(&entry.path(), &below, found)?;
        } else if is_trace_name(&below) {
            found.push((entry.path(), below));
        }
    }
    Ok(())
}

fn link(name: &str) -> Problem {
    let message = format!("`{name}` is a link: what it points to may change under its name");
    Problem::new(Code::TraceRead, message).help("put the file itself there")
}

/// Adds the segments whose names start as a path does.
fn segments(path: &Path, name: &str, found: &mut Vec<(PathBuf, String)>) -> Result<(), Problem> {
    let (stem, _, _) = ends(name);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let unreadable = |error: std::io::Error| {
        let message = format!("cannot read the folder `{}`: {error}", parent.display());
        Problem::new(Code::TraceRead, message)
    };
    let entries = match std::fs::read_dir(parent) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()), // nothing is there
        entries => entries.map_err(unreadable)?,
    };
    let (before, start) = stem
        .rsplit_once('/')
        .map_or(("", stem), |(_, start)| (&stem[..stem.len() - start.len()], start));
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let file = entry.file_name().to_string_lossy().into_owned();
        if segment(&file).is_none_or(|(prefix, _)| prefix != start) {
            continue; // another file
        }
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_symlink() {
            return Err(link(&format!("{before}{file}")));
        }
        if kind.is_file() {
            found.push((entry.path(), format!("{before}{file}")));
        }
    }
    Ok(())
}

/// Returns whether a name ends as those of traces do.
pub fn is_trace_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ENDS.iter().any(|end| PACKED.iter().any(|packed| name.ends_with(&format!("{end}{packed}"))))
}

/// Returns a name without what says what its rows are and how it is packed, and both of these; empty where the name does not say.
fn ends(name: &str) -> (&str, &'static str, &'static str) {
    let without = |name: &'_ str, ends: &[&'static str]| {
        let end = ends.iter().rev().find(|end| name.ends_with(**end));
        end.map_or((name.len(), ""), |end| (name.len() - end.len(), *end))
    };
    let (length, packed) = without(name, &PACKED);
    let (length, end) = without(&name[..length], &SEGMENTS);
    (&name[..length], end, packed)
}

/// Returns what a segment is called whose name starts as `start`, by which [`trace_files`] finds it: packed as `start` says, with rows
/// as `end` says. `None` where `start` says that they are others.
pub fn segment_name(start: &str, end: &str, number: u64) -> Option<String> {
    let (stem, stated, packed) = ends(start);
    (stated.is_empty() || stated == end).then(|| format!("{stem}.{number:06}{end}{packed}"))
}

/// Returns the start and the number of `START.NNNNNN.jsonl.gz`, with six digits or more.
fn segment(file: &str) -> Option<(&str, u64)> {
    let stem = PACKED.iter().rev().find_map(|packed| file.strip_suffix(packed))?;
    let stem = SEGMENTS.iter().find_map(|end| stem.strip_suffix(end))?;
    let (start, number) = stem.rsplit_once('.')?;
    let digits = number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((start, number.parse().ok().filter(|_| digits)?))
}

/// Returns what files are sorted by: folder, then name or start of the name, then number of the segment.
fn key(name: &str) -> (&str, &str, Option<u64>) {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    match segment(file) {
        Some((start, number)) => (folder, start, Some(number)),
        None => (folder, file, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// spec/REPLAY.md §10, cases 23 and 24.
    #[test]
    fn segments_follow_one_another_by_number_and_a_folder_is_all_below_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let numbers =
            ["t.999999.jsonl.gz", "t.1000000.jsonl.gz", "t.000001.jsonl.gz", "u.000000.jsonl.gz"];
        for name in numbers.iter().chain(&["notes.txt", "plain.JSON"]) {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        std::fs::create_dir(folder.path().join("sub")).expect("a folder");
        std::fs::write(folder.path().join("sub/a.jsonl.zst"), "").expect("a file");
        let names = |path: &str| -> Vec<String> {
            trace_files(&folder.path().join(path), path)
                .expect("files")
                .into_iter()
                .map(|(_, name)| name)
                .collect()
        };
        let segments = ["t.000001.jsonl.gz", "t.999999.jsonl.gz", "t.1000000.jsonl.gz"];
        assert_eq!(names("t"), segments);
        assert_eq!(names("t.jsonl"), segments);
        assert_eq!(names("t.jsonl.gz"), segments);
        assert_eq!(names("plain.JSON"), ["plain.JSON"]);
        let all: Vec<String> = trace_files(folder.path(), "d")
            .expect("files")
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        let expected = [
            "d/plain.JSON",
            "d/t.000001.jsonl.gz",
            "d/t.999999.jsonl.gz",
            "d/t.1000000.jsonl.gz",
            "d/u.000000.jsonl.gz",
            "d/sub/a.jsonl.zst",
        ];
        assert_eq!(all, expected);
        assert!(trace_files(&folder.path().join("gone"), "gone").is_err());
    }

    #[test]
    fn a_segment_is_called_as_the_start_of_its_name_says() {
        let name = |start: &str| segment_name(start, ".jsonl", 7);
        assert_eq!(name("a/t").as_deref(), Some("a/t.000007.jsonl"));
        assert_eq!(name("a/t.jsonl").as_deref(), Some("a/t.000007.jsonl"));
        assert_eq!(name("a/t.jsonl.gz").as_deref(), Some("a/t.000007.jsonl.gz"));
        assert_eq!(name("a.b/t.zst").as_deref(), Some("a.b/t.000007.jsonl.zst"));
        assert_eq!(name("t.csv.gz"), None);
        assert_eq!(segment_name("t", ".csv", 1_234_567).as_deref(), Some("t.1234567.csv"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_among_segments_and_a_folder_that_cannot_be_read_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("t.000000.jsonl"), "").expect("a file");
        std::os::unix::fs::symlink(path("t.000000.jsonl"), path("t.000001.jsonl")).expect("a link");
        let told = |name: &str| {
            let problem = trace_files(&path(name), name).expect_err(name);
            (problem.code(), problem.message().to_owned())
        };
        let (code, message) = told("t");
        assert_eq!(code, Code::TraceRead);
        assert!(message.starts_with("`t.000001.jsonl` is a link"), "{message}");
        // A file is no folder to read: the reason is told, not that nothing was found.
        let (_, message) = told("t.000000.jsonl/u");
        assert!(message.starts_with("cannot read the folder"), "{message}");
        assert!(told("nothing/u").1.contains("is no trace file"));
    }
}

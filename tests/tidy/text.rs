//! All text files: what they end in, and what of the outside world they name.

use crate::tree::{File, Violation, assert_none, repository};

/// Hosts that a text may name. A host of a package registry or of a machine is none of them.
const HOSTS: &[&str] = &[
    "github.com",
    "raw.githubusercontent.com",
    "www.apache.org",
    "arxiv.org",
    "docs.rs",
    "kdl.dev",
    "in-toto.io",
    "slsa.dev",
    "json-schema.org",
    "keepachangelog.com",
    "semver.org",
    "no-color.org",
    "huggingface.co",
    "localhost",
    "127.0.0.1",
    "creativecommons.org",
    "example.com",
    "docs.nvidia.com",
    "www.nvidia.com",
    "resources.nvidia.com",
    "images.nvidia.com",
    "nvdam.widen.net",
    "www.techpowerup.com",
];

/// Opens a path of a machine, whatever follows. Spelt in two halves, so that this file names none.
const MACHINE_PATHS: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
    concat!("/nix", "/store/"),
    concat!("C:", "\\"),
];

/// Returns whether a file keeps the bytes that someone else wrote: data, not text of ours.
fn is_foreign(file: &File) -> bool {
    let is_data = [".csv", ".jsonl", ".json", ".yaml"].iter().any(|end| file.path.ends_with(end));
    let is_licence = file.path.contains("/licences/");
    file.path.starts_with("tests/fixtures/")
        || is_licence
        || (file.path.starts_with("pins/") && is_data)
}

/// Finds spaces at the end of a line, carriage returns, and a missing or doubled newline at the end.
fn ragged(files: &[File]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !is_foreign(file)) {
        for (line, text) in file.text.split('\n').enumerate() {
            if text.ends_with([' ', '\t', '\r']) {
                found.push(file.violation(line, "ends in a blank"));
            }
        }
        let ends_well = file.text.ends_with('\n') && !file.text.ends_with("\n\n");
        if !file.text.is_empty() && !ends_well {
            let last = file.text.lines().count().saturating_sub(1);
            found.push(file.violation(last, "a file ends in one newline"));
        }
    }
    found
}

/// Finds paths of a machine.
fn machine_paths(files: &[File]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !is_foreign(file)) {
        for (line, text) in file.text.lines().enumerate() {
            for path in MACHINE_PATHS.iter().filter(|path| is_absolute_in(text, path)) {
                found.push(file.violation(line, format!("names `{path}…`, a path of a machine")));
            }
        }
    }
    found
}

/// Returns whether an absolute path that opens with `start` occurs; `a/work/b` holds none.
fn is_absolute_in(text: &str, start: &str) -> bool {
    text.match_indices(start).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before
            .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '~' | '}' | '*'))
    })
}

/// Finds hosts that are not in the list.
fn hosts(files: &[File]) -> Vec<Violation> {
    let mut found = Vec::new();
    let ours = |file: &&File| !is_foreign(file) && file.path != "Cargo.lock";
    for file in files.iter().filter(ours) {
        for (line, text) in file.text.lines().enumerate() {
            for (at, mark) in text.match_indices("://") {
                let rest = &text[at + mark.len()..];
                let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-'));
                let host = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
                if host.contains('.') && !HOSTS.contains(&host) {
                    found.push(file.violation(
                        line,
                        format!("host `{host}` is not in the list of tests/tidy/text.rs"),
                    ));
                }
            }
        }
    }
    found
}

/// Finds packages in lock files that come from anywhere but the public registry.
fn lock_sources(files: &[File]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with("Cargo.lock")) {
        for (line, text) in file.text.lines().enumerate() {
            let source = text.strip_prefix("source = ");
            if source.is_some_and(|source| {
                source != r#""registry+https://github.com/rust-lang/crates.io-index""#
            }) {
                found.push(
                    file.violation(line, "a package from elsewhere than the public registry"),
                );
            }
        }
    }
    found
}

#[test]
fn lines_and_files_end_as_they_should() {
    assert_none(&ragged(&repository()));
}

#[test]
fn no_text_names_a_path_of_a_machine() {
    assert_none(&machine_paths(&repository()));
}

#[test]
fn no_text_names_a_host_outside_the_list() {
    assert_none(&hosts(&repository()));
}

#[test]
fn every_locked_package_comes_from_the_public_registry() {
    assert_none(&lock_sources(&repository()));
}

#[test]
fn planted_violations_are_seen() {
    let doc = |text: &str| [File::planted("docs/a.md", text)];
    for ragged_text in ["a \n", "a\t\n", "a\r\n", "a", "a\n\n"] {
        assert_eq!(ragged(&doc(ragged_text)).len(), 1, "{ragged_text:?}");
    }
    assert_eq!(ragged(&[File::planted("tests/fixtures/a.csv", "a\r\n")]), []);
    for path in MACHINE_PATHS {
        assert_eq!(machine_paths(&doc(&format!("see `{path}x`\n"))).len(), 1, "{path}");
    }
    assert_eq!(machine_paths(&doc(concat!("a frame/wo", "rk/b\n"))), []);
    assert_eq!(hosts(&doc(concat!("http:", "//mirror.example.org/simple\n"))).len(), 1);
    assert_eq!(hosts(&doc(concat!("https:", "//github.com/a/b, http:", "//localhost:8000\n"))), []);
    let mirrored = concat!("source = \"registry+https:", "//mirror/index\"\n");
    assert_eq!(lock_sources(&[File::planted("Cargo.lock", mirrored)]).len(), 1);
}

//! Cases that another program's specification lists: each has tests, and the page that names them names tests that exist.

use std::collections::BTreeSet;

use crate::tree::{File, Violation, assert_none, repository};

/// The page, the heading over its table, and how many cases there are.
const LISTED: (&str, &str, u32) = ("docs/graph.md", "## Telling cases", 46);

/// Finds cases without a row, and tests that are not there.
fn untested(files: &[File]) -> Vec<Violation> {
    let (path, heading, count) = LISTED;
    let page = files.iter().find(|file| file.path == path);
    let page = page.unwrap_or_else(|| panic!("{path} lists the cases, and is not there"));
    let tests: BTreeSet<&str> =
        files.iter().filter(|file| file.is_rust()).flat_map(|file| tests_of(&file.text)).collect();
    let mut found = Vec::new();
    let mut open: BTreeSet<u32> = (1..=count).collect();
    let start = page.text.lines().position(|line| line == heading).unwrap_or_default();
    for (at, line) in page.text.lines().enumerate().skip(start + 1) {
        if line.starts_with("## ") {
            break;
        }
        if !line.starts_with("| ") {
            continue;
        }
        let case = line[2..].split(' ').next().unwrap_or_default();
        if let Ok(number) = case.parse() {
            open.remove(&number);
        }
        for name in line.split('`').skip(1).step_by(2).filter(|name| is_test_name(name)) {
            if !tests.contains(name) {
                found.push(page.violation(at, format!("no test is called `{name}`")));
            }
        }
    }
    found.extend(open.iter().map(|case| page.violation(start, format!("case {case} has no row"))));
    found
}

/// Returns the functions of a source that run as tests.
fn tests_of(source: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    source.lines().map(str::trim_start).filter_map(move |line| {
        is_test |= line.starts_with("#[test]");
        let name = line.strip_prefix("fn ")?.split('(').next()?;
        std::mem::take(&mut is_test).then_some(name)
    })
}

/// Returns whether a text in backticks is the name of a test: a sentence.
fn is_test_name(text: &str) -> bool {
    text.matches('_').count() > 3
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

#[test]
fn every_case_names_tests_that_exist() {
    assert_none(&untested(&repository()));
}

#[test]
fn a_missing_row_and_a_missing_test_are_seen() {
    let rows: Vec<String> = (1..46)
        .map(|case| format!("| {case} | a case | `a_test_of_a_case_with_a_name` |"))
        .collect();
    let rows = rows.join("\n");
    let page = format!("# Page\n\n{}\n\n{rows}", LISTED.1);
    // One is called otherwise, the other is none.
    let source = "#[test]\nfn another_test_of_a_case() {}\nfn a_test_of_a_case_with_a_name() {}\n";
    let files = [File::planted(LISTED.0, &page), File::planted("src/a.rs", source)];
    let found: Vec<String> = untested(&files).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 46);
    assert_eq!(found[0], "docs/graph.md:5: no test is called `a_test_of_a_case_with_a_name`");
    assert_eq!(found[45], "docs/graph.md:3: case 46 has no row");
}

#[test]
fn a_test_is_a_function_that_is_marked_as_one() {
    let source = "#[test]\n#[cfg(unix)]\nfn one() {}\nfn two() {}\n    #[test]\n    fn three(at in 0..9) {}\n";
    assert_eq!(tests_of(source).collect::<Vec<_>>(), ["one", "three"]);
}

//! Diagnostic codes: each is documented, and something provokes it.

use touchstone::diag::Code;

use crate::rust::is_test_line;
use crate::tree::{File, Violation, assert_none, repository};

/// Where codes are declared.
const DECLARED_IN: &str = "src/diag/code";

/// Finds codes that the page of diagnostics lacks.
fn undocumented(codes: &[(String, String)], files: &[File]) -> Vec<Violation> {
    let Some(page) = files.iter().find(|file| file.path == "docs/diagnostics.md") else {
        return vec![File::planted("docs/diagnostics.md", "").violation(0, "the page is missing")];
    };
    codes
        .iter()
        .filter(|(_, text)| !page.text.contains(text.as_str()))
        .map(|(_, text)| page.violation(0, format!("`{text}` is missing")))
        .collect()
}

/// Finds codes that neither a fixture nor a test names: as text (`area::name`) or as variant (`Code::Name`).
fn unprovoked(codes: &[(String, String)], files: &[File]) -> Vec<Violation> {
    let tests: Vec<String> = files.iter().map(test_text).filter(|text| !text.is_empty()).collect();
    let provokes = |variant: &str, text: &str| {
        let variant = format!("Code::{variant}");
        tests.iter().any(|test| test.contains(text) || has_word(test, &variant))
    };
    codes
        .iter()
        .filter(|(variant, text)| !provokes(variant, text))
        .map(|(_, text)| {
            File::planted(DECLARED_IN, "")
                .violation(0, format!("nothing in a test provokes `{text}`"))
        })
        .collect()
}

/// Returns the part of a file that is a test or a fixture, this test excepted.
fn test_text(file: &File) -> String {
    if file.path.starts_with("tests/tidy/") || file.path.starts_with(DECLARED_IN) {
        return String::new();
    }
    if file.path.starts_with("tests/") {
        return format!("{}\n{}", file.path, file.text);
    }
    if !file.path.starts_with("src/") {
        return String::new();
    }
    let first = (0..file.text.lines().count()).find(|line| is_test_line(file, *line));
    let lines = file.text.lines().skip(first.unwrap_or(usize::MAX));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether a text holds a word that does not go on.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[at + word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// Returns every code of the library: its variant and its text.
fn all_codes() -> Vec<(String, String)> {
    Code::ALL.iter().map(|code| (format!("{code:?}"), code.as_str().to_owned())).collect()
}

#[test]
fn every_code_is_documented() {
    assert_none(&undocumented(&all_codes(), &repository()));
}

#[test]
fn every_code_is_provoked_by_a_fixture_or_a_test() {
    assert_none(&unprovoked(&all_codes(), &repository()));
}

#[test]
fn every_code_has_an_area_a_name_a_title_and_an_explanation() {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let mut texts: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    for code in Code::ALL {
        let (area, name) = code.as_str().split_once("::").expect("a code is `area::name`");
        assert!(is_word(area) && is_word(name), "{}", code.as_str());
        assert!(code.title().ends_with('.') && !code.title().contains('\n'), "{}", code.as_str());
        assert!(code.explanation().len() > code.title().len(), "{}: explain more", code.as_str());
    }
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), Code::ALL.len(), "a text is used twice");
}

#[test]
fn planted_violations_are_seen() {
    let code = vec![("NotThere".to_owned(), "area::not_there".to_owned())];
    let seen = |path: &str, text: &str| unprovoked(&code, &[File::planted(path, text)]).is_empty();
    assert!(!seen("src/a.rs", "Problem::new(Code::NotThere)\n"));
    assert!(!seen("tests/suite/a.rs", "Code::NotThereEither\n"));
    assert!(!seen("tests/tidy/codes.rs", "area::not_there\n"));
    assert!(seen("src/a.rs", "fn f() {}\n#[cfg(test)]\nmod tests { Code::NotThere }\n"));
    assert!(seen("tests/fixtures/scenarios/invalid/a.kdl", "// area::not_there\n"));
    let page =
        |text: &str| undocumented(&code, &[File::planted("docs/diagnostics.md", text)]).len();
    assert_eq!((page("## `area::not_there`\n"), page("## other\n")), (0, 1));
    assert_eq!(undocumented(&code, &[]).len(), 1);
}

//! What is not written: in code, and as part of a name.

use crate::rust::{code, identifiers, is_test_line};
use crate::tree::{File, Violation, assert_none, repository};

/// Where a phrase is forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In all Rust code.
    Everywhere,
    /// In the library and the program, tests in their files excepted.
    Product,
}

/// Phrases that do not occur in code, where, and what to do instead.
const FORBIDDEN: &[(&str, Where, &str)] = &[
    (".unwrap()", Where::Everywhere, "`expect` says why it cannot fail"),
    ("todo!", Where::Everywhere, "write it"),
    ("unimplemented!", Where::Everywhere, "write it, or refuse by name"),
    ("dbg!", Where::Everywhere, "remove it"),
    ("#[allow", Where::Everywhere, "`#[expect(…, reason = …)]`"),
    ("#![allow", Where::Everywhere, "`#[expect(…, reason = …)]`"),
    ("#[ignore", Where::Everywhere, "a test runs or goes"),
    (
        "println!",
        Where::Everywhere,
        "results go through `cli::print`, the rest through the context",
    ),
    ("print!", Where::Everywhere, "results go through `cli::print`, the rest through the context"),
    ("thread::sleep", Where::Everywhere, "nothing waits for wall time"),
    (
        "process::exit",
        Where::Product,
        "return an exit code; a second signal alone ends the process",
    ),
    ("unsafe ", Where::Everywhere, "forbidden"),
];

/// Files with a licence to one phrase.
const LICENCES: &[(&str, &str)] = &[
    ("src/cli/interrupt.rs", "process::exit"),
    // Mapping a file: nothing but the system can promise that it stays as it is.
    ("src/graph/store/blob.rs", "unsafe "),
];

/// Parts of names that the glossary has another word for.
const WRONG_WORDS: &[(&str, &str)] = &[
    ("query", "request"),
    ("retraction", "preemption"),
    ("slo", "sla"),
    ("utils", "the idea"),
    ("helper", "the idea"),
    ("helpers", "the idea"),
    ("manager", "the idea"),
    ("misc", "the idea"),
    ("foo", "the idea"),
];

/// Finds forbidden phrases.
fn forbidden(files: &[File]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for (line, text) in code(&file.text).lines().enumerate() {
            for (phrase, place, instead) in FORBIDDEN {
                let licensed = LICENCES.contains(&(file.path.as_str(), phrase));
                let applies = *place == Where::Everywhere || !is_test_line(file, line);
                if applies && !licensed && occurs(text, phrase) {
                    found.push(file.violation(line, format!("`{phrase}`: {instead}")));
                }
            }
        }
    }
    found
}

/// Returns whether a phrase occurs and is not the tail of a longer name.
fn occurs(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !phrase.starts_with(char::is_alphabetic)
            || before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

/// Finds names that use another word than the glossary.
fn wrong_words(files: &[File]) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("src/") && file.is_rust()) {
        for (line, text) in code(&file.text).lines().enumerate() {
            for (_, name) in identifiers(text) {
                for (wrong, right) in WRONG_WORDS {
                    if parts(name).any(|part| part == *wrong) {
                        found.push(file.violation(line, format!("`{name}`: the word is {right}")));
                    }
                }
            }
        }
    }
    found
}

/// Returns the words of a name, lower-case: `HitRate` and `hit_rate` are `hit`, `rate`.
fn parts(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        let starts_word = c == '_' || (c.is_uppercase() && name.chars().any(char::is_lowercase));
        if starts_word {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().expect("never empty").extend(c.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[test]
fn forbidden_phrases_do_not_occur() {
    assert_none(&forbidden(&repository()));
}

#[test]
fn names_use_the_words_of_the_glossary() {
    assert_none(&wrong_words(&repository()));
}

#[test]
fn planted_violations_are_seen() {
    for (phrase, ..) in FORBIDDEN {
        let planted = File::planted("src/a/b.rs", &format!("fn f() {{ x{phrase}(); }}\n"));
        let spaced = File::planted("src/a/b.rs", &format!("fn f() {{ {phrase}(); }}\n"));
        assert!(!forbidden(&[planted]).is_empty() || !forbidden(&[spaced]).is_empty(), "{phrase}");
        let quoted =
            File::planted("src/a/b.rs", &format!("// {phrase}\nconst A: &str = \"{phrase}\";\n"));
        assert_eq!(forbidden(&[quoted]), [], "{phrase}");
    }
    let exit = "fn f() { std::process::exit(1) }\n";
    assert_eq!(forbidden(&[File::planted("src/cli/interrupt.rs", exit)]), []);
    assert_eq!(forbidden(&[File::planted("src/sim/tests.rs", exit)]), []);
    for name in ["fn run_query() {}", "struct SloBound;", "const SLO_MS: u8 = 1;"] {
        assert_eq!(wrong_words(&[File::planted("src/a.rs", name)]).len(), 1, "{name}");
    }
    assert_eq!(wrong_words(&[File::planted("src/a.rs", "fn slow(request: Slot) {}")]), []);
}

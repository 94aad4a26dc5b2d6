//! Versions in a text, whatever is around them.

use super::version::{Spelling, Stage, StatedVersion};

/// A version in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// The offset of its first byte.
    pub(super) start: usize,
    /// The offset behind its last byte.
    pub(super) end: usize,
    /// What it says; `None` for a version that no engine here can have (`0.13.0.post1`, `0.13.0+cu12`).
    pub(super) version: Option<StatedVersion>,
    /// How it is written.
    pub(super) spelling: Spelling,
}

/// Returns the versions in a text, in order: three numbers with dots between them, and a stage behind them where there is one.
///
/// Two numbers are none, nor are four (an address), nor are numbers inside a word; a `v` before them is no part of them.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            match read(text, start) {
                Some(token) => {
                    at = token.end;
                    return Some(token);
                }
                None => at = next_start(text, start),
            }
        }
        None
    })
}

/// Returns the next offset at which a number could begin: behind the digits and dots at `at`, if it is at any.
fn next_start(text: &str, at: usize) -> usize {
    let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let step = text[at..].chars().next().map_or(1, char::len_utf8);
    at + digits.max(step)
}

/// Reads the version that begins at `start`.
fn read(text: &str, start: usize) -> Option<Token> {
    if !begins(text, start) {
        return None;
    }
    let (major, at) = number(text, start)?;
    let (minor, at) = number(text, dot(text, at)?)?;
    let (patch, at) = number(text, dot(text, at)?)?;
    let rest = &text[at..];
    if rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let suffix = suffix(rest)?;
    let end = at + suffix.length;
    let release = [major, minor, patch];
    let version = suffix.stage.map(|stage| StatedVersion { release, stage });
    Some(Token { start, end, version, spelling: suffix.spelling })
}

/// Returns whether a version may begin at `start`: not inside a word or number.
fn begins(text: &str, start: usize) -> bool {
    let mut before = text[..start].chars().rev();
    match before.next() {
        None => true,
        Some('v' | 'V') => !before.next().is_some_and(char::is_alphanumeric),
        Some('.') => !before.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => !c.is_alphanumeric(),
    }
}

/// Reads a number and returns the offset behind it.
fn number(text: &str, at: usize) -> Option<(u64, usize)> {
    let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
    Some((plain(&text[at..at + digits])?, at + digits))
}

/// Returns the value of digits; `None` where there are none, or leading zeros (a date), or too many.
fn plain(digits: &str) -> Option<u64> {
    if digits.len() > 1 && digits.starts_with('0') { None } else { digits.parse().ok() }
}

/// Returns the offset behind a dot at `at`.
fn dot(text: &str, at: usize) -> Option<usize> {
    text[at..].starts_with('.').then_some(at + 1)
}

/// What follows the three numbers.
struct Suffix {
    length: usize,
    stage: Option<Stage>,
    spelling: Spelling,
}

/// A stage: its word, what it is, and which spelling has the word.
type Label = (&'static str, fn(u64) -> Stage, Spelling);

/// Stages that both spellings have, longer words before shorter ones.
const LABELS: &[Label] = &[
    ("alpha", Stage::Alpha, Spelling::SemVer),
    ("beta", Stage::Beta, Spelling::SemVer),
    ("dev", Stage::Dev, Spelling::Both),
    ("rc", Stage::Candidate, Spelling::Both),
    ("a", Stage::Alpha, Spelling::Pep440),
    ("b", Stage::Beta, Spelling::Pep440),
];

/// Words of stages that only one of the schemes knows.
const FOREIGN: &[&str] = &["post", "nightly", "preview", "pre", "c", "r"];

/// Reads what follows the three numbers. `None` where they turn out to be part of a word.
fn suffix(rest: &str) -> Option<Suffix> {
    let stage = staged(rest);
    let length = stage.as_ref().map_or(0, |suffix| suffix.length);
    if let Some(local) = rest[length..].strip_prefix('+') {
        let local = local.bytes().take_while(|c| c.is_ascii_alphanumeric() || *c == b'.').count();
        if local > 0 {
            let length = length + 1 + local;
            return Some(Suffix { length, stage: None, spelling: Spelling::Neither });
        }
    }
    match stage {
        Some(suffix) => Some(suffix),
        None if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') => None,
        None => Some(Suffix { length: 0, stage: Some(Stage::Final), spelling: Spelling::Both }),
    }
}

/// Reads a stage: a word of one, with or without separators around it, and its number.
fn staged(rest: &str) -> Option<Suffix> {
    let before = separator(rest, 0);
    let known = LABELS.iter().map(|(word, _, _)| *word).chain(FOREIGN.iter().copied());
    let written = rest[before.len()..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = &rest[before.len()..before.len() + written];
    known.into_iter().find(|known| word.eq_ignore_ascii_case(known))?;
    let at = before.len() + word.len();
    let behind = separator(rest, at);
    let digits = rest[at + behind.len()..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 && word.len() == 1 {
        return None; // `0.12.0-a-b` is no alpha
    }
    if digits == 0 {
        return Some(Suffix { length: at, stage: None, spelling: Spelling::Neither });
    }
    let length = at + behind.len() + digits;
    if rest[length..].starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let number = plain(&rest[length - digits..length]);
    let label = LABELS.iter().find(|(label, _, _)| word == *label);
    let stage = label.zip(number).map(|((_, stage, _), number)| stage(number));
    let spelling = match (label, before, behind) {
        (Some((_, _, Spelling::SemVer | Spelling::Both)), "-", ".") => Spelling::SemVer,
        (Some(("dev", _, _)), ".", "") | (Some(("a" | "b" | "rc", _, _)), "", "") => {
            Spelling::Pep440
        }
        _ => Spelling::Neither,
    };
    Some(Suffix { length, stage, spelling })
}

/// Returns the separator at `at`, if there is one.
fn separator(rest: &str, at: usize) -> &str {
    if rest[at..].starts_with(['-', '.', '_']) { &rest[at..=at] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, Option<String>, Spelling)> {
        tokens(text)
            .map(|token| {
                let version = token.version.map(|version| version.to_string());
                (&text[token.start..token.end], version, token.spelling)
            })
            .collect()
    }

    #[test]
    fn versions_are_found_in_what_surrounds_them() {
        let is = |text, written, version: &str, spelling| {
            assert_eq!(found(text), [(written, Some(version.to_owned()), spelling)], "{text}");
        };
        is("aisimulate==0.12.0.dev2 ;", "0.12.0.dev2", "0.12.0-dev.2", Spelling::Pep440);
        is("\"=0.12.0-dev.2\"", "0.12.0-dev.2", "0.12.0-dev.2", Spelling::SemVer);
        is("at v0.12.0.", "0.12.0", "0.12.0", Spelling::Both);
        is("a_b-0.12.0-cp311-abi3.whl", "0.12.0", "0.12.0", Spelling::Both);
        is("é0é 1.0.0rc1", "1.0.0rc1", "1.0.0-rc.1", Spelling::Pep440);
    }

    #[test]
    fn what_both_schemes_cannot_spell_is_found_and_has_no_version() {
        for written in
            ["1.0.0.post1", "1.0.0+cu12", "1.0.0.dev1+g12", "1.0.0-nightly.3", "1.0.0.dev"]
        {
            assert_eq!(found(written), [(written, None, Spelling::Neither)], "{written}");
        }
        assert_eq!(
            found("1.0.0-dev5"),
            [("1.0.0-dev5", Some("1.0.0-dev.5".to_owned()), Spelling::Neither)]
        );
    }

    #[test]
    fn other_numbers_are_none() {
        for text in ["1.2", "127.0.0.1", "x1.2.3", "1.2.3x", "1..2.3", "2026-10-29", "é", ""] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn several_are_found_in_order() {
        assert_eq!(found("0.1.0, 0.2.0 and 127.0.0.1, 0.3.0").len(), 3);
    }
}

//! Versions of upstream engines: their order, and the short spelling of a nightly.

use std::cmp::Ordering;
use std::fmt;

/// The digits of a nightly's date, before its number.
const DATE_DIGITS: usize = 8;

/// A version as the registry spells it: `0.13.0`, `0.13.0-dev.202610290000000087`.
///
/// Ordered as the registry orders them: numbers by value and not by text, and what comes before a release before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EngineVersion {
    text: String,
    numbers: [u64; 3],
    before: Vec<Identifier>,
}

/// A part of what stands behind the `-` of a version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Identifier {
    /// Digits: by value, before every word.
    Number(u64),
    /// Anything else: by text.
    Word(String),
}

impl EngineVersion {
    /// Returns the version of a text, or `None` where it is none that a registry of crates would take.
    pub fn parse(text: &str) -> Option<Self> {
        let (numbers, before) = text.split_once('-').map_or((text, None), |(a, b)| (a, Some(b)));
        let mut parts = numbers.split('.').map(number);
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        if parts.next().is_some() {
            return None;
        }
        let before = before.map_or(Some(Vec::new()), |before| {
            before.split('.').map(Identifier::parse).collect()
        })?;
        Some(Self { text: text.to_owned(), numbers, before })
    }

    /// Returns the version as the registry spells it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether `stated` means this version: its own spelling, or that of a nightly with its number alone
    /// (`0.13.0-dev.87` for `0.13.0-dev.202610290000000087`).
    pub fn is_meant_by(&self, stated: &Self) -> bool {
        self == stated
            || self.numbers == stated.numbers
                && self.nightly_number().is_some_and(|own| {
                    stated.before == [Identifier::Word("dev".to_owned()), Identifier::Number(own)]
                })
    }

    /// Returns the spelling with a nightly's number alone, for people; the version's own where it is no nightly.
    pub fn short(&self) -> String {
        let [major, minor, patch] = self.numbers;
        match self.nightly_number() {
            Some(number) => format!("{major}.{minor}.{patch}-dev.{number}"),
            None => self.text.clone(),
        }
    }

    /// Returns the number of a nightly: what stands behind the date in its last part.
    fn nightly_number(&self) -> Option<u64> {
        let [Identifier::Word(word), Identifier::Number(id)] = self.before.as_slice() else {
            return None;
        };
        let digits = id.to_string();
        (word == "dev" && digits.len() > DATE_DIGITS)
            .then(|| digits[DATE_DIGITS..].parse().ok())
            .flatten()
    }
}

impl Identifier {
    /// Returns a part, or `None` where a registry would refuse it.
    fn parse(text: &str) -> Option<Self> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return number(text).map(Self::Number);
        }
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_plain.then(|| Self::Word(text.to_owned()))
    }
}

/// Returns a number without leading zeros.
fn number(text: &str) -> Option<u64> {
    let is_plain = text == "0" || !text.starts_with('0');
    if is_plain && text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

impl Ord for EngineVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        // A version without a second half is the release itself, which comes last.
        let is_release = |version: &Self| version.before.is_empty();
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| is_release(self).cmp(&is_release(other)))
            .then_with(|| self.before.cmp(&other.before))
    }
}

impl PartialOrd for EngineVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for EngineVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> EngineVersion {
        EngineVersion::parse(text).expect(text)
    }

    #[test]
    fn versions_are_ordered_by_numbers_and_a_release_is_the_last_of_its_own() {
        let ordered = [
            "0.12.1",
            "0.13.0-dev.2",
            "0.13.0-dev.9",
            "0.13.0-dev.100",
            "0.13.0-dev.202610290000000087",
            "0.13.0-dev.2026102900000000100",
            "0.13.0",
            "0.13.1",
        ];
        let mut shuffled: Vec<EngineVersion> = ordered.iter().rev().map(|v| version(v)).collect();
        shuffled.sort();
        assert_eq!(shuffled.iter().map(EngineVersion::as_str).collect::<Vec<_>>(), ordered);
    }

    #[test]
    fn a_nightly_is_meant_by_its_number_and_nothing_else_by_less_than_itself() {
        let nightly = version("0.13.0-dev.202610290000000087");
        assert_eq!(nightly.short(), "0.13.0-dev.87");
        for stated in ["0.13.0-dev.87", "0.13.0-dev.202610290000000087"] {
            assert!(nightly.is_meant_by(&version(stated)), "{stated}");
        }
        for stated in ["0.13.0-dev.86", "0.13.1-dev.87", "0.13.0", "0.13.0-rc.87"] {
            assert!(!nightly.is_meant_by(&version(stated)), "{stated}");
        }
        assert_eq!(version("0.13.0").short(), "0.13.0");
        assert!(!version("0.13.0-dev.2").is_meant_by(&version("0.13.0")));
    }

    #[test]
    fn what_no_registry_takes_is_no_version() {
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "01.2.3",
            "1.2.x",
            "1.2.3-",
            "1.2.3-a..b",
            "v1.2.3",
            "1.2.3-01",
            "1.2.3-a_b",
        ] {
            assert!(EngineVersion::parse(text).is_none(), "{text}");
        }
    }
}

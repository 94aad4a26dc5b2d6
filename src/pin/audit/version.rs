//! A version of an engine and its two spellings: one nightly is `0.13.0-dev.87` as a crate and `0.13.0.dev87` as a wheel.

use std::fmt;

/// A version that both schemes can spell: three numbers, and perhaps a stage before or after the release.
///
/// Versions are compared for equality only: the two schemes do not order their stages alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedVersion {
    /// Major, minor, patch.
    pub(super) release: [u64; 3],
    /// What comes before the release, if this is not it.
    pub(super) stage: Stage,
}

/// What a version is on the way to its release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// A nightly or another development build.
    Dev(u64),
    /// An alpha.
    Alpha(u64),
    /// A beta.
    Beta(u64),
    /// A release candidate.
    Candidate(u64),
    /// The release.
    Final,
}

/// How a version is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// As crates are: `0.13.0-dev.87`.
    SemVer,
    /// As Python distributions are: `0.13.0.dev87`.
    Pep440,
    /// A release, which both spell alike.
    Both,
    /// Neither: `0.13.0-dev87`.
    Neither,
}

impl StatedVersion {
    /// Reads a version in either spelling; `None` for anything else, or anything more.
    pub fn parse(text: &str) -> Option<Self> {
        let mut tokens = super::token::tokens(text);
        let token = tokens.next()?;
        let is_all = token.start == 0 && token.end == text.len();
        let is_spelt = token.spelling != Spelling::Neither;
        if is_all && is_spelt { token.version } else { None }
    }

    /// Returns the version as `spelling` writes it; a release is the same in every one.
    pub fn spell(self, spelling: Spelling) -> String {
        match spelling {
            Spelling::Pep440 => self.to_string_pep440(),
            Spelling::SemVer | Spelling::Both | Spelling::Neither => self.to_string(),
        }
    }

    /// Returns the spelling of Python distributions. Source: PEP 440, "Public version identifiers".
    fn to_string_pep440(self) -> String {
        let [major, minor, patch] = self.release;
        let release = format!("{major}.{minor}.{patch}");
        match self.stage {
            Stage::Dev(number) => format!("{release}.dev{number}"),
            Stage::Alpha(number) => format!("{release}a{number}"),
            Stage::Beta(number) => format!("{release}b{number}"),
            Stage::Candidate(number) => format!("{release}rc{number}"),
            Stage::Final => release,
        }
    }

    /// Returns how many digits the number of a development build has, where it is long enough to be the mark of one project's nightlies.
    pub(super) fn nightly_digits(self) -> Option<usize> {
        let Stage::Dev(number) = self.stage else { return None };
        let digits = number.to_string().len();
        (digits >= NIGHTLY_DIGITS).then_some(digits)
    }
}

/// A date of eight digits alone is any project's; from twelve on the number is a date with a counter.
const NIGHTLY_DIGITS: usize = 12;

impl fmt::Display for StatedVersion {
    /// Writes the spelling of crates. Source: Semantic Versioning 2.0, items 2 and 9.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.release;
        write!(f, "{major}.{minor}.{patch}")?;
        match self.stage {
            Stage::Dev(number) => write!(f, "-dev.{number}"),
            Stage::Alpha(number) => write!(f, "-alpha.{number}"),
            Stage::Beta(number) => write!(f, "-beta.{number}"),
            Stage::Candidate(number) => write!(f, "-rc.{number}"),
            Stage::Final => Ok(()),
        }
    }
}

impl Spelling {
    /// Returns its name in messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SemVer => "SemVer",
            Self::Pep440 => "PEP 440",
            Self::Both => "either",
            Self::Neither => "neither",
        }
    }

    /// Returns whether a place that wants `wanted` may be written like this.
    pub(super) const fn suits(self, wanted: Self) -> bool {
        matches!(
            (self, wanted),
            (Self::Both, _)
                | (Self::SemVer, Self::SemVer | Self::Both)
                | (Self::Pep440, Self::Pep440 | Self::Both)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_version_has_two_spellings_and_each_reads_back() {
        for (semver, pep440) in [
            ("0.13.0-dev.202610290000000087", "0.13.0.dev202610290000000087"),
            ("1.2.3-alpha.4", "1.2.3a4"),
            ("1.2.3-beta.0", "1.2.3b0"),
            ("0.12.0-rc.1", "0.12.0rc1"),
            ("0.13.0", "0.13.0"),
        ] {
            let version = StatedVersion::parse(semver).expect("a version");
            assert_eq!(StatedVersion::parse(pep440), Some(version), "{pep440}");
            assert_eq!(version.to_string(), semver);
            assert_eq!(version.spell(Spelling::Pep440), pep440);
        }
    }

    #[test]
    fn nothing_else_is_a_version() {
        for text in [
            "",
            "0.13",
            "0.13.0.1",
            "=0.13.0",
            "0.13.0 ",
            "0.13.0-dev87",
            "0.13.0.dev.87",
            "0.13.0.post1",
            "0.13.0+cu12",
            "00.1.0",
            "0.13.0-dev.99999999999999999999",
        ] {
            assert_eq!(StatedVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        let of = |text| StatedVersion::parse(text).expect("a version");
        assert_ne!(of("0.13.0.dev87"), of("0.13.0.dev870"));
        assert_eq!(of("0.13.0.dev87"), of("0.13.0-dev.87"));
    }
}

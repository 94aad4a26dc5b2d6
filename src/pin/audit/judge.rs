//! What is to be said of one statement, and of one mention.

use crate::diag::{Code, Problem, SourceFile, Span};

use super::expected::Expected;
use super::statement::{Binds, Check, Statement, unquoted};
use super::token::{Token, tokens};
use super::version::Spelling;

/// What is to be said of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It states the version, and nothing else is wrong.
    Agrees,
    /// It states another version.
    OtherVersion,
    /// It states the version and allows others.
    Loose,
    /// It states none.
    Unstated,
    /// It states the version in the other scheme's spelling.
    Misspelt,
    /// It states the version with another checksum, or without one.
    Checksum,
    /// It names another version beside the places.
    Stray,
}

impl Verdict {
    /// Returns its words in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::OtherVersion => "another version",
            Self::Loose => "not exact",
            Self::Unstated => "states none",
            Self::Misspelt => "misspelt",
            Self::Checksum => "wrong checksum",
            Self::Stray => "stray version",
        }
    }
}

/// Judges what a place states.
pub(super) fn statement(
    statement: &Statement,
    source: &SourceFile,
    expected: &Expected,
) -> (Verdict, Option<Problem>) {
    let refused = |verdict, code, message: String, label: &str| {
        (verdict, Some(Problem::new(code, message).label(source, statement.span, label)))
    };
    let wanted = expected.version.spell(statement.wants);
    let Some(token) = token_in(source, statement.span) else {
        let message = format!("a version is expected here: `{wanted}`");
        return refused(Verdict::Unstated, Code::PinAuditUnstated, message, "no version");
    };
    let written = &source.text()[token.start..token.end];
    if token.version != Some(expected.version) {
        let message =
            format!("another version is pinned here: found `{written}`, expected `{wanted}`");
        return refused(Verdict::OtherVersion, Code::PinAuditVersion, message, "another version");
    }
    if !token.spelling.suits(statement.wants) {
        let message = format!(
            "the version is spelt as {}, and {} is read here: found `{written}`, expected `{wanted}`",
            token.spelling.name(),
            statement.wants.name()
        );
        return refused(Verdict::Misspelt, Code::PinAuditVersion, message, "misspelt");
    }
    match statement.binds {
        Binds::Exactly => checksum(statement.check, source, statement.span, expected),
        Binds::Nothing => {
            let message = format!("the place does not pin the version `{wanted}`");
            refused(Verdict::Unstated, Code::PinAuditUnstated, message, "no pin")
        }
        Binds::Loosely(form) => {
            let message =
                format!("the requirement allows other versions than `{wanted}`: write {form}");
            refused(Verdict::Loose, Code::PinAuditLoose, message, "not exact")
        }
    }
}

/// Judges the checksum that stands beside a version.
fn checksum(
    check: Check,
    source: &SourceFile,
    at: Span,
    expected: &Expected,
) -> (Verdict, Option<Problem>) {
    let pinned = expected.checksum.as_deref().unwrap_or("none");
    let (message, span) = match check {
        Check::None | Check::Archives => return (Verdict::Agrees, None),
        Check::NoChecksum => {
            ("the lock file states no checksum: the crate is not from a registry".to_owned(), at)
        }
        Check::Checksum(span) => {
            let written = &source.text()[span.offset()..span.offset() + span.length()];
            let found = unquoted(written);
            if Some(found) == expected.checksum.as_deref() {
                return (Verdict::Agrees, None);
            }
            (
                format!(
                    "the checksum is not that of the engine pin\npinned {pinned}\nfound  {found}"
                ),
                span,
            )
        }
    };
    let problem = Problem::new(Code::PinAuditChecksum, message).label(source, span, "other bytes");
    (Verdict::Checksum, Some(problem))
}

/// Judges a mention of the engine's version outside the places.
pub(super) fn mention(token: &Token, source: &SourceFile, expected: &Expected) -> Option<Problem> {
    if token.version == Some(expected.version) && token.spelling != Spelling::Neither {
        return None;
    }
    let written = &source.text()[token.start..token.end];
    let [semver, pep440] = [Spelling::SemVer, Spelling::Pep440].map(|s| expected.version.spell(s));
    let wanted =
        if semver == pep440 { format!("`{semver}`") } else { format!("`{semver}` or `{pep440}`") };
    let message =
        format!("another version of the engine is named: found `{written}`, expected {wanted}");
    let span = Span::new(token.start, token.end - token.start);
    let problem = Problem::new(Code::PinAuditStray, message).label(source, span, "stray");
    Some(problem.help(format!(
        "bring it up to date, or let the rules allow it: `allow \"{written}\" file=\"{}\" reason=\"…\"`",
        source.name()
    )))
}

/// Returns the first version in a stretch of a file; its offsets are those of the file.
pub(super) fn token_in(source: &SourceFile, span: Span) -> Option<Token> {
    let start = span.offset();
    let token = tokens(&source.text()[start..start + span.length()]).next()?;
    Some(Token { start: start + token.start, end: start + token.end, ..token })
}

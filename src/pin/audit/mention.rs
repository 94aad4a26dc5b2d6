//! Mentions of the engine's version in a text: which of the versions in it are the engine's.

use super::requirement::normalised;
use super::rules::Rules;
use super::token::{Token, tokens};
use super::version::{Spelling, StatedVersion};

/// The names by which texts speak of the engine and of other things, normalised.
#[derive(Debug, Clone)]
pub(super) struct Names {
    krate: String,
    distribution: String,
    engine: String,
    others: Vec<String>,
    nightly_digits: Option<usize>,
}

/// A version of the engine in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mention {
    /// The version; its offsets are those of the text.
    pub(super) token: Token,
    /// The spelling of the name nearest to it: how a release turns into a nightly here.
    pub(super) spelling: Spelling,
}

/// Whose version something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The engine's, named as a thing of that spelling.
    Engine(Spelling),
    /// Another thing's.
    Other,
    /// The words before it do not say.
    Unsaid,
}

/// Words before an operator that name no package.
const NEUTRAL: &[&str] = &[
    "", "version", "versions", "v", "tag", "rev", "ref", "release", "releases", "value", "default",
];

/// What may follow the name of a thing in the name of a variable that holds its version.
const SUFFIXES: &[&str] = &["-version", "-ver", "-tag", "-pin"];

impl Names {
    /// Returns the names of the rules; `expected` says what its nightlies look like.
    pub(super) fn of(rules: &Rules, expected: StatedVersion) -> Self {
        Self {
            krate: normalised(&rules.krate),
            distribution: normalised(&rules.distribution),
            engine: normalised(&rules.engine),
            others: rules.others.iter().map(|name| normalised(name)).collect(),
            nightly_digits: expected.nightly_digits(),
        }
    }

    /// Returns whose name a word is.
    fn owner(&self, word: &str) -> Owner {
        let word = normalised(word);
        let word = word.trim_matches('-');
        let word = SUFFIXES.iter().find_map(|suffix| word.strip_suffix(suffix)).unwrap_or(word);
        if word.is_empty() {
            Owner::Unsaid
        } else if word == self.krate {
            Owner::Engine(Spelling::SemVer)
        } else if word == self.distribution || word == self.engine {
            Owner::Engine(Spelling::Pep440)
        } else if self.others.iter().any(|other| other == word) {
            Owner::Other
        } else {
            Owner::Unsaid
        }
    }
}

/// Returns the versions of the engine in a text, in order.
///
/// A version is the engine's when the name nearest before it on its line is the engine's, or else one after it; when it opens a line whose
/// predecessor ends with the name (a wrapped sentence, `name` and `version` of a lock file); and when its number has the form
/// of the engine's nightlies. `protobuf>=6.33.5` on the same line is protobuf's.
pub(super) fn mentions(text: &str, names: &Names) -> Vec<Mention> {
    let mut found = Vec::new();
    let (mut at, mut carried) = (0, Owner::Unsaid);
    for line in text.split_inclusive('\n') {
        let mut last_end = 0;
        for token in tokens(line) {
            let before = &line[..token.start];
            let mut owner = adjacent(before, names);
            if owner == Owner::Unsaid {
                owner = nearest(before, names);
            }
            if owner == Owner::Unsaid {
                owner = engine_in(&line[token.end..], names);
            }
            if owner == Owner::Unsaid && last_end == 0 {
                owner = carried;
            }
            if owner == Owner::Unsaid && is_nightly(&token, names) {
                owner = Owner::Engine(Spelling::Pep440);
            }
            if let Owner::Engine(spelling) = owner {
                let token = Token { start: at + token.start, end: at + token.end, ..token };
                found.push(Mention { token, spelling });
            }
            last_end = token.end;
        }
        carried = nearest(&line[last_end..], names);
        at += line.len();
    }
    found
}

/// Returns whether a version has the form of the engine's nightlies.
fn is_nightly(token: &Token, names: &Names) -> bool {
    let digits = token.version.and_then(StatedVersion::nightly_digits);
    digits.is_some() && digits == names.nightly_digits
}

/// Returns what the operator before a version binds it to: `name==`, `name = "`, `name-`, `name@`.
fn adjacent(before: &str, names: &Names) -> Owner {
    let bare = before.strip_suffix(['v', 'V']).unwrap_or(before);
    let unquoted = bare.trim_end_matches(is_filler);
    let operator = unquoted.trim_end_matches(is_operator).trim_end_matches(is_filler);
    let operator = operator.trim_end_matches(is_operator);
    let left = operator.trim_end_matches(is_filler);
    let written = &bare[left.len()..];
    let joined = bare.ends_with(['-', '_', '/']) && left.len() == bare.len();
    if !joined && !written.contains(is_operator) {
        return Owner::Unsaid;
    }
    let left = if joined { left.trim_end_matches(['-', '_', '/']) } else { left };
    let left = left
        .strip_suffix(']')
        .and_then(|open| open.rfind('[').map(|at| &open[..at]))
        .unwrap_or(left);
    let word = last_word(left);
    match names.owner(word) {
        Owner::Unsaid if NEUTRAL.contains(&normalised(word).as_str()) => Owner::Unsaid,
        // `requires >= 1.2.3` and `Note: 1.2.3` are prose, `protobuf>=6.33.5` and `protobuf = "6.33.5"` are not.
        Owner::Unsaid if is_tight(written, joined) => Owner::Other,
        owner @ (Owner::Engine(_) | Owner::Other | Owner::Unsaid) => owner,
    }
}

/// Returns whether what stands between a word and a version makes the word the name of what has the version.
fn is_tight(written: &str, joined: bool) -> bool {
    let is_comparison = written.contains(['=', '~', '^', '@']);
    joined
        || (is_comparison && (!written.starts_with(' ') || written.trim_start().starts_with("= ")))
}

/// Returns whose name is nearest to the end of a text.
fn nearest(text: &str, names: &Names) -> Owner {
    let mut rest = text;
    while !rest.is_empty() {
        let word = last_word(rest);
        let owner = names.owner(word);
        if owner != Owner::Unsaid {
            return owner;
        }
        let kept = rest.len() - word.len();
        let separator = rest[..kept].chars().next_back().map_or(0, char::len_utf8);
        rest = &rest[..kept - separator];
    }
    Owner::Unsaid
}

/// Returns the engine's name in a text, if any word of it is one.
fn engine_in(text: &str, names: &Names) -> Owner {
    let words = text.split(|c| !is_word(c)).map(|word| names.owner(word));
    words.into_iter().find(|owner| matches!(owner, Owner::Engine(_))).unwrap_or(Owner::Unsaid)
}

/// Returns the word at the end of a text; empty where it does not end with one.
fn last_word(text: &str) -> &str {
    let start = text
        .rfind(|c| !is_word(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    &text[start..]
}

/// Returns whether a character is part of a name.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Returns whether a character may stand between a name, an operator and a version.
fn is_filler(c: char) -> bool {
    matches!(c, ' ' | '\t' | '"' | '\'' | '`' | '(')
}

/// Returns whether a character is part of an operator.
fn is_operator(c: char) -> bool {
    matches!(c, '=' | '<' | '>' | '~' | '!' | '^' | '@' | ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let names = Names {
            krate: "aisimulate-core".to_owned(),
            distribution: "aisimulate".to_owned(),
            engine: "aisimulate".to_owned(),
            others: vec!["vllm".to_owned()],
            nightly_digits: Some(18),
        };
        let mentions = mentions(text, &names);
        mentions.iter().map(|mention| &text[mention.token.start..mention.token.end]).collect()
    }

    #[test]
    fn a_version_belongs_to_the_name_before_it() {
        for (text, versions) in [
            ("pip install 'aisimulate==0.12.0.dev2' 'protobuf>=6.33.5,<7'", vec!["0.12.0.dev2"]),
            ("aisimulate-core = { version = \"=0.12.0\", optional = true }", vec!["0.12.0"]),
            ("Upgrade AISimulate from 0.12.0 to v0.13.0.", vec!["0.12.0", "0.13.0"]),
            ("aisimulate_core-0.12.0.dev1-cp311.whl, dynamo-1.6.1.whl", vec!["0.12.0.dev1"]),
            ("ARG AISIMULATE_VERSION=0.12.0", vec!["0.12.0"]),
            ("ARG DYNAMO_VERSION=1.6.1 # beside AISimulate", vec![]),
            ("- --aisimulate-version=0.12.0", vec!["0.12.0"]),
            ("| AISimulate | 0.12.0 | vLLM | 0.11.1 |", vec!["0.12.0"]),
            ("| 0.12.0 | AISimulate |", vec!["0.12.0"]),
            ("aisimulate[all]==0.12.0", vec!["0.12.0"]),
            ("github.com/ai-dynamo/aisimulate/releases/tag/v0.12.0", vec!["0.12.0"]),
            ("aisimulate-sweeper==0.1.2", vec![]),
            ("protobuf = \"6.33.5\" # aisimulate needs it", vec![]),
            ("nothing of it: 1.2.3", vec![]),
        ] {
            assert_eq!(found(text), versions, "{text}");
        }
    }

    #[test]
    fn a_version_may_open_the_line_after_the_name() {
        assert_eq!(found("name = \"aisimulate-core\"\nversion = \"0.12.0\"\n"), ["0.12.0"]);
        assert_eq!(found("as of AISimulate\n0.12.0, and 0.11.0\n"), ["0.12.0"]);
        assert_eq!(found("AISimulate\n\n0.12.0\n"), [""; 0]);
        assert_eq!(found("AISimulate 0.12.0\n1.2.3\n"), ["0.12.0"]);
    }

    #[test]
    fn a_nightly_is_known_by_its_number_alone() {
        assert_eq!(found("see 0.13.0.dev202610280000000086"), ["0.13.0.dev202610280000000086"]);
        assert_eq!(found("see 0.11.0.dev20260728"), [""; 0]);
    }
}

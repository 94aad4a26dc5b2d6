//! Why a pin cannot be had.

use crate::diag::{Bag, Code, Problem, SourceFile, Span};
use crate::scenario::scalar::nearest;

use super::PinKind;

/// Why a pin cannot be had.
#[derive(Debug)]
pub enum PinError {
    /// There is no pin of this kind and name.
    Unknown {
        /// The kind.
        kind: PinKind,
        /// The name that was asked for.
        name: String,
        /// The names there are, sorted.
        known: Vec<String>,
    },
    /// The engine has no pin of this version, or several that may be meant.
    NoVersion {
        /// The engine.
        name: String,
        /// The version that was asked for.
        version: String,
        /// The versions there are, oldest first.
        known: Vec<String>,
    },
    /// The pin's file, or a file it names, is wrong.
    Invalid(Bag),
}

impl PinError {
    /// Returns the findings; a name that is not known is labelled where `source` gives it.
    pub fn at(self, source: &SourceFile, span: Span) -> Bag {
        match self {
            Self::Unknown { kind, name, known } => {
                Bag::from(unknown(kind, &name, &known).label(source, span, "no such pin"))
            }
            Self::NoVersion { name, version, known } => {
                let problem = no_version(&name, &version, &known);
                Bag::from(problem.label(source, span, "no such version"))
            }
            Self::Invalid(bag) => bag,
        }
    }
}

impl From<PinError> for Bag {
    fn from(error: PinError) -> Self {
        match error {
            PinError::Unknown { kind, name, known } => unknown(kind, &name, &known).into(),
            PinError::NoVersion { name, version, known } => {
                no_version(&name, &version, &known).into()
            }
            PinError::Invalid(bag) => bag,
        }
    }
}

impl From<Bag> for PinError {
    fn from(bag: Bag) -> Self {
        Self::Invalid(bag)
    }
}

/// Says that an engine is not pinned at a version.
fn no_version(name: &str, version: &str, known: &[String]) -> Problem {
    let message = format!("engine `{name}` is not pinned at version `{version}`");
    let near = nearest(version, known.iter().map(String::as_str));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let help = format!("{near}it is pinned at {}; see `bench pins list`", quoted(known));
    Problem::new(Code::PinUnknown, message).help(help)
}

/// Says that there is no such pin.
fn unknown(kind: PinKind, name: &str, known: &[String]) -> Problem {
    let file = kind.file(name);
    let message = format!("no {} pin is called `{name}`: there is no `{file}`", kind.name());
    let near = nearest(name, known.iter().map(String::as_str));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let listed = if known.is_empty() {
        format!("no {} pins exist", kind.name())
    } else {
        format!("{} pins are {}", kind.name(), quoted(known))
    };
    Problem::new(Code::PinUnknown, message).help(format!("{near}{listed}; see `bench pins list`"))
}

/// Returns names in backticks.
fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

//! Where an engine and `native` are known to part, and why: `pins/engines/NAME.parity.kdl`.
//!
//! `bench parity` holds what it finds against this file: what is named is accepted, anything else is red, and so is what is named and does not happen.

use std::path::Path;

use crate::diag::{Bag, Code, SourceFile};
use crate::scenario::cursor::{self, View};
use crate::scenario::scalar::Datum;
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax;

use super::{EngineVersion, beside};

static REASON: Shape = Shape::new("reason", "Why, for whoever reads the comparison.")
    .once()
    .args(&[Field::text("TEXT", "A sentence or two.")]);

static VERSION: Shape =
    Shape::new("version", "Only of these versions of the engine; of all where none is named.")
        .rest(&Field::version("VERSION", "A version, a nightly by its number too."));

static CASE: Shape = Shape::new("case", "The recorded cases, or jobs of scenarios.")
    .once()
    .rest(&Field::text("NAME", "A case or a job."));

static ACCEPT: Shape = Shape::new("accept", "Cases that part, and for one reason.")
    .keyed()
    .args(&[Field::name("NAME", "Its name, for tables.")])
    .props(&[Field::word(
        "as",
        &["differs", "not-comparable"],
        "What comes of them: other answers, or none because one of the engines cannot be asked.",
    )])
    .block(&[&CASE, &VERSION, &REASON]);

static PARITY: Shape = Shape::new("parity", "Where an engine and `native` part.")
    .once()
    .args(&[Field::name("NAME", "The engine.")])
    .block(&[&ACCEPT]);

static FILE: Shape = Shape::root(&[&PARITY]);

/// Cases in which an engine and `native` are known to part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedParting {
    /// Its name.
    pub name: String,
    /// What comes of them.
    pub kind: Parting,
    /// The cases.
    pub cases: Vec<String>,
    /// The versions of the engine of which that holds; all where it names none.
    pub versions: Vec<EngineVersion>,
    /// Why.
    pub reason: String,
}

/// How an engine and `native` part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parting {
    /// They answer otherwise.
    Differs,
    /// One of them cannot be asked.
    NotComparable,
}

impl Parting {
    /// Returns the word of the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Differs => "differs",
            Self::NotComparable => "not-comparable",
        }
    }
}

impl AcceptedParting {
    /// Returns whether this speaks of a case under a version of the engine.
    pub fn speaks_of(&self, case: &str, version: &str) -> bool {
        let asked = EngineVersion::parse(version);
        let is_meant = |stated: &EngineVersion| {
            asked.as_ref().is_some_and(|version| version.is_meant_by(stated))
        };
        (self.versions.is_empty() || self.versions.iter().any(is_meant))
            && self.cases.iter().any(|name| name == case)
    }
}

/// Returns where an engine and `native` are known to part, in the order of the file in the project at `root`; nothing where there is no file.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn accepted_partings(root: &Path, engine: &str) -> Result<Vec<AcceptedParting>, Bag> {
    beside::listed(root, engine, "parity", read)
}

/// Reads the file.
fn read(source: &SourceFile, engine: &str) -> Result<Vec<AcceptedParting>, Bag> {
    let document = syntax::parse(source)?;
    let mut bag = Bag::new();
    let root = cursor::check(&document, &FILE, &mut bag);
    let mut accepted = Vec::new();
    if let Some(parity) = root.child("parity") {
        beside::check_engine(parity, engine, &mut bag);
        accepted.extend(parity.all("accept").filter_map(|view| accept(view, &mut bag)));
    }
    if bag.has_errors() { Err(bag) } else { Ok(accepted) }
}

/// Reads one node; a version that is none is complained of.
fn accept(view: &View<'_>, bag: &mut Bag) -> Option<AcceptedParting> {
    let mut versions = Vec::new();
    for node in view.all("version") {
        for text in words(node) {
            if let Some(version) = EngineVersion::parse(&text) {
                versions.push(version);
            } else {
                let message = format!("`{text}` is no version that the registry would take");
                bag.push(node.problem(Code::PinField, "VERSION", message, "no version"));
            }
        }
    }
    let kinds = [Parting::Differs, Parting::NotComparable];
    Some(AcceptedParting {
        name: view.text("NAME")?.to_owned(),
        kind: kinds.into_iter().find(|kind| Some(kind.word()) == view.text("as"))?,
        cases: view.child("case").map(words)?,
        versions,
        reason: view.child("reason")?.text("TEXT")?.to_owned(),
    })
}

/// Returns the arguments of which any number may stand. Their shapes make texts of all of them.
fn words(view: &View<'_>) -> Vec<String> {
    let text =
        |datum: &Datum| if let Datum::Text(text) = datum { Some(text.clone()) } else { None };
    view.rest().iter().filter_map(|(_, datum)| text(datum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Problem;

    const FILE: &str = "parity \"aisimulate\" {\n    accept \"drafts\" as=\"differs\" {\n        case \"087-ngram\" \"other\"\n        version \"0.13.0-dev.86\"\n        reason \"it drafts later\"\n    }\n}\n";

    fn found(text: &str) -> Result<Vec<AcceptedParting>, Vec<Code>> {
        read(&SourceFile::new("a.kdl", text), "aisimulate")
            .map_err(|bag| bag.into_sorted().iter().map(Problem::code).collect())
    }

    #[test]
    fn a_case_is_accepted_of_the_versions_that_are_named_or_of_all() {
        let known = found(FILE).expect("it is right").remove(0);
        let of = |case: &str, version: &str| known.speaks_of(case, version);
        assert!(of("087-ngram", "0.13.0-dev.202610280000000086"));
        assert!(!of("087-ngram", "0.13.0-dev.202610290000000087") && !of("087", "0.13.0-dev.86"));
        let all = found(&FILE.replace("        version \"0.13.0-dev.86\"\n", "")).expect("right");
        assert!(all[0].speaks_of("other", "0.12.1"));
    }

    #[test]
    fn what_is_wrong_with_the_file_is_told() {
        assert_eq!(found(&FILE.replace("\"aisimulate\"", "\"x\"")), Err(vec![Code::PinName]));
        assert_eq!(found(&FILE.replace("0.13.0-dev.86", "0.13")), Err(vec![Code::PinField]));
        assert!(found(&FILE.replace("reason \"it drafts later\"\n", "\n")).is_err());
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(accepted_partings(root, "nobody").expect("no file is no mistake").is_empty());
        assert!(!accepted_partings(root, "aisimulate").expect("the file is right").is_empty());
    }
}

//! The versions of an engine that the registry of crates has, with the checksum of each: `pins/engines/NAME.versions.kdl`.
//!
//! A version listed here need not have a pin of its own: a search among versions makes its runner from the nearest pin's.

use std::path::Path;

use crate::diag::{Bag, Code, SourceFile};
use crate::scenario::cursor::{self, View};
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax;

use super::{EngineVersion, beside};

static VERSION: Shape = Shape::new("version", "A version that the registry has.")
    .keyed_once()
    .args(&[Field::version("VERSION", "As the registry spells it.")])
    .props(&[Field::digest("checksum", "The registry's checksum of the package.")]);

static VERSIONS: Shape = Shape::new("versions", "The versions of an engine.")
    .once()
    .args(&[Field::name("NAME", "The engine.")])
    .block(&[&VERSION]);

static FILE: Shape = Shape::root(&[&VERSIONS]);

/// A version that the registry has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    /// The version.
    pub version: EngineVersion,
    /// The registry's checksum of the package, in hexadecimal digits.
    pub checksum: String,
}

/// Returns the versions of an engine that are listed in the project at `root`, in the registry's order; none where no file lists them.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn listed_versions(root: &Path, engine: &str) -> Result<Vec<ListedVersion>, Bag> {
    beside::listed(root, engine, "versions", read)
}

/// Reads the file.
fn read(source: &SourceFile, engine: &str) -> Result<Vec<ListedVersion>, Bag> {
    let document = syntax::parse(source)?;
    let mut bag = Bag::new();
    let root = cursor::check(&document, &FILE, &mut bag);
    let mut versions: Vec<ListedVersion> = Vec::new();
    if let Some(listed) = root.child("versions") {
        beside::check_engine(listed, engine, &mut bag);
        versions.extend(listed.all("version").filter_map(|view| version(view, &mut bag)));
    }
    if bag.has_errors() {
        return Err(bag);
    }
    versions.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(versions)
}

/// Reads one version; a text that is none is complained of.
fn version(view: &View<'_>, bag: &mut Bag) -> Option<ListedVersion> {
    let text = view.text("VERSION")?;
    let checksum = view.digest("checksum")?.hex();
    let Some(version) = EngineVersion::parse(text) else {
        let message = format!("`{text}` is no version that the registry would take");
        bag.push(view.problem(Code::PinField, "VERSION", message, "no version"));
        return None;
    };
    Some(ListedVersion { version, checksum })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Problem;

    fn found(text: &str) -> Result<Vec<String>, Vec<Code>> {
        let read = read(&SourceFile::new("versions.kdl", text), "aisimulate");
        let names = |versions: Vec<ListedVersion>| {
            versions.into_iter().map(|listed| listed.version.to_string()).collect()
        };
        read.map(names).map_err(|bag| bag.into_sorted().iter().map(Problem::code).collect())
    }

    #[test]
    fn versions_are_in_the_order_of_numbers_and_not_of_text() {
        let digest = "0".repeat(64);
        let line = |version: &str| format!("version \"{version}\" checksum=\"{digest}\"\n");
        let lines: String =
            ["0.13.0-dev.100", "0.13.0", "0.13.0-dev.9", "0.12.1"].map(line).concat();
        let text = format!("versions \"aisimulate\" {{\n{lines}}}\n");
        let expected = ["0.12.1", "0.13.0-dev.9", "0.13.0-dev.100", "0.13.0"];
        assert_eq!(found(&text), Ok(expected.map(str::to_owned).to_vec()));
        assert_eq!(found(&text.replace("0.12.1", "0.12")), Err(vec![Code::PinField]));
        assert_eq!(found(&text.replace("\"aisimulate\"", "\"other\"")), Err(vec![Code::PinName]));
    }

    #[test]
    fn an_engine_without_a_list_has_none() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(listed_versions(root, "nobody").expect("no file is no mistake").is_empty());
        assert!(listed_versions(root, "aisimulate").expect("the list is right").len() > 15);
    }
}

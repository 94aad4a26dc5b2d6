//! What a `Cargo.lock` says of one package: for whoever builds from it.

use crate::diag::{Problem, SourceFile};

use super::toml_file::{list, parse, text};

/// A package of a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// Its version.
    pub version: Option<String>,
    /// The registry's checksum; a package of another source has none.
    pub checksum: Option<String>,
}

/// Returns every package of a name in a lock file.
///
/// # Errors
/// `pin::audit_syntax` for a text that is no TOML.
pub fn locked(source: &SourceFile, name: &str) -> Result<Vec<Locked>, Problem> {
    let root = parse(source)?;
    let packages =
        list(&root, &["package"]).iter().filter_map(|package| package.get_ref().as_table());
    let named = packages.filter(|package| text(package, &["name"]) == Some(name));
    Ok(named
        .map(|package| Locked {
            version: text(package, &["version"]).map(str::to_owned),
            checksum: text(package, &["checksum"]).map(str::to_owned),
        })
        .collect())
}

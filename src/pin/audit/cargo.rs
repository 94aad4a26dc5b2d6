//! What Cargo's files state.

use super::statement::{Binds, Check, Statement};
use super::toml_file::{TomlTable, TomlValue, at, list, span, table, text};
use super::version::Spelling;

/// The tables of a manifest that hold dependencies.
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Returns what a manifest states of a crate. A dependency that is inherited from the workspace states nothing of its own.
pub(super) fn manifest(root: &TomlTable<'_>, name: &str) -> Vec<Statement> {
    let mut holders = vec![root];
    holders.extend(table(root, &["workspace"]));
    let targets = table(root, &["target"]).into_iter().flat_map(|targets| targets.values());
    holders.extend(targets.filter_map(|target| target.get_ref().as_table()));
    let mut statements = Vec::new();
    for holder in holders {
        for dependencies in DEPENDENCIES.iter().filter_map(|key| table(holder, &[key])) {
            for (key, value) in dependencies {
                let entry = value.get_ref().as_table();
                let package = entry.and_then(|entry| text(entry, &["package"]));
                if package.unwrap_or(key.get_ref()) == name {
                    statements.extend(dependency(value));
                }
            }
        }
    }
    statements
}

/// Returns what one dependency states; nothing where the workspace does.
fn dependency(value: &TomlValue<'_>) -> Option<Statement> {
    let stated = match value.get_ref().as_table() {
        None => Some(value),
        Some(entry) if at(entry, &["workspace"]).is_some() => return None,
        Some(entry) => at(entry, &["version"]),
    };
    let binds = match stated.and_then(|stated| stated.get_ref().as_str()) {
        None => Binds::Nothing,
        Some(requirement) if is_exact(requirement) => Binds::Exactly,
        Some(_) => Binds::Loosely("`=VERSION`"),
    };
    let span = span(stated.unwrap_or(value));
    Some(Statement { span, wants: Spelling::SemVer, binds, check: Check::None })
}

/// Returns whether a requirement of Cargo is one version: `=VERSION`, and nothing after it.
fn is_exact(requirement: &str) -> bool {
    let version = requirement.trim().strip_prefix('=').map(str::trim_start);
    version.is_some_and(|version| {
        version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains([',', '*'])
    })
}

/// Returns what a lock file states of a crate: a version and a checksum for each package of that name.
pub(super) fn lock(root: &TomlTable<'_>, name: &str) -> Vec<Statement> {
    let packages =
        list(root, &["package"]).iter().filter_map(|package| package.get_ref().as_table());
    let named = packages.filter(|package| text(package, &["name"]) == Some(name));
    named
        .filter_map(|package| {
            let checksum = at(package, &["checksum"]).map(|sum| Check::Checksum(span(sum)));
            Some(Statement {
                span: span(at(package, &["version"])?),
                wants: Spelling::SemVer,
                binds: Binds::Exactly,
                check: checksum.unwrap_or(Check::NoChecksum),
            })
        })
        .collect()
}

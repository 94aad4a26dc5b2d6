//! Versions of an engine that have no pin: each gets one, with its runner, from the pin that is nearest to it.
//!
//! In a project root of its own, which goes away: what a search among versions needs is no pin that anybody reviewed.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use crate::pin::{EnginePin, ListedVersion};

use super::run_command;

/// The folder of engine pins below a root.
const ENGINES: &str = "pins/engines";

/// The lock file of a runner, below its pin.
const LOCK: &str = "runner/Cargo.lock";

/// A project root with the pins of another, to which versions of engines are added.
#[derive(Debug)]
pub struct DerivedRoot {
    folder: TempDir,
}

impl DerivedRoot {
    /// Returns a root with the pins of the project at `project`: its engines copied, the rest as links.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(project: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("bench-versions-").tempdir()?;
        fs::create_dir(folder.path().join("pins"))?;
        for entry in fs::read_dir(project.join("pins"))? {
            let entry = entry?;
            let target = folder.path().join("pins").join(entry.file_name());
            if entry.file_name() == "engines" {
                copy_folder(&entry.path(), &target)?;
            } else {
                link(&std::path::absolute(entry.path())?, &target)?;
            }
        }
        Ok(Self { folder })
    }

    /// Returns its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Adds a version of an engine, made from `nearest`: the same runner, the same capabilities, another package. Its lock file is
    /// resolved by cargo, until `stop` is set, where the version depends on others than the nearest; the store holds its checksum against
    /// `listed`.
    ///
    /// # Errors
    /// What the system says, or cargo, in words.
    pub fn add(
        &self,
        nearest: &EnginePin,
        listed: &ListedVersion,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let engines = self.path().join(ENGINES);
        let target = engines.join(format!("{}-{}", nearest.name, listed.version));
        if target.is_dir() {
            return Ok(());
        }
        let exchange = Exchange { nearest, listed };
        let from = engines.join(&nearest.folder);
        copy_folder(&from, &target).map_err(|error| error.to_string())?;
        for file in ["pin.kdl", "runner/Cargo.toml", "runner/src/main.rs", LOCK] {
            let path = target.join(file);
            let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
            let text = if file == LOCK { exchange.lock(&text) } else { exchange.text(&text) };
            fs::write(&path, text).map_err(|error| format!("{file}: {error}"))?;
        }
        resolve(&target.join("runner"), stop)
    }
}

/// The nearest pin's version exchanged for another.
struct Exchange<'a> {
    nearest: &'a EnginePin,
    listed: &'a ListedVersion,
}

impl Exchange<'_> {
    /// Returns a text with version and checksum exchanged wherever they stand in quotes.
    fn text(&self, text: &str) -> String {
        let (old, new) = (&self.nearest.version, self.listed.version.as_str());
        let text = text
            .replace(&format!("\"{old}\""), &format!("\"{new}\""))
            .replace(&format!("\"={old}\""), &format!("\"={new}\""));
        match &self.nearest.checksum {
            Some(checksum) => text.replace(checksum.as_str(), &self.listed.checksum),
            None => text,
        }
    }

    /// Returns a lock file with both exchanged in the block of the engine's package: others may have the same version.
    fn lock(&self, text: &str) -> String {
        let package = self.nearest.package.as_deref().unwrap_or_default();
        let name = format!("\nname = \"{package}\"\n");
        let blocks = text
            .split("[[package]]")
            .map(|block| if block.contains(&name) { self.text(block) } else { block.to_owned() });
        blocks.collect::<Vec<_>>().join("[[package]]")
    }
}

/// Has cargo see to it that the lock file of a package fits: as it stands, else with what must change.
fn resolve(package: &Path, stop: &AtomicBool) -> Result<(), String> {
    let fetch = |options: &[&str]| {
        let mut command = Command::new("cargo");
        command.arg("fetch").args(options).current_dir(package);
        run_command(&mut command, Some(stop), &|_| {})
            .map_err(|error| format!("cannot run cargo: {error}"))
    };
    if fetch(&["--locked"])?.status.success() {
        return Ok(());
    }
    let output = fetch(&[])?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("cargo cannot resolve it: {}", said.trim()))
}

/// Copies a folder with all that is in it, but what builds leave.
///
/// # Errors
/// What the system says.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if !entry.file_type()?.is_dir() {
            fs::copy(entry.path(), target)?;
        } else if entry.file_name() != "target" {
            copy_folder(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Makes a link.
#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

/// Copies where links need a privilege.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() { copy_folder(from, to) } else { fs::copy(from, to).map(drop) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin::{EngineVersion, Registry};

    fn project() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn a_version_gets_the_pin_of_the_nearest_with_its_own_version_and_checksum() {
        let registry = Registry::open(project()).expect("the project");
        let nearest = registry.engine_at("aisimulate", "0.13.0-dev.86").expect("pinned");
        let version = EngineVersion::parse("0.13.0-dev.202610270000000085").expect("a version");
        let listed = ListedVersion { version, checksum: "5d".repeat(32) };
        let exchange = Exchange { nearest: &nearest, listed: &listed };
        let lock = "[[package]]\nname = \"other\"\nversion = \"0.13.0-dev.202610280000000086\"\n\n\
                    [[package]]\nname = \"aisimulate-core\"\nversion = \"0.13.0-dev.202610280000000086\"\n";
        let exchanged = exchange.lock(lock);
        assert!(exchanged.contains("\"other\"\nversion = \"0.13.0-dev.202610280000000086\""));
        assert!(
            exchanged.ends_with("version = \"0.13.0-dev.202610270000000085\"\n"),
            "{exchanged}"
        );
        let manifest = "aisimulate-core = \"=0.13.0-dev.202610280000000086\"\n";
        assert_eq!(
            exchange.text(manifest),
            "aisimulate-core = \"=0.13.0-dev.202610270000000085\"\n"
        );
        let checksum = nearest.checksum.as_deref().expect("upstream");
        assert_eq!(exchange.text(checksum), listed.checksum);
    }

    #[test]
    fn a_derived_root_has_the_pins_of_its_project() {
        let derived = DerivedRoot::new(project()).expect("writable");
        let (own, ours) = (Registry::open(derived.path()), Registry::open(project()));
        let (own, ours) = (own.expect("a root"), ours.expect("the project"));
        for kind in [crate::pin::PinKind::Engine, crate::pin::PinKind::Trace] {
            assert_eq!(own.names(kind).expect("listed"), ours.names(kind).expect("listed"));
        }
    }
}

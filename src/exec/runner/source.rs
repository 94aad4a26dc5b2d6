//! The package of a runner: the files that it is built from, and what its lock file says of the engine.

use std::path::{Path, PathBuf};

use crate::diag::{Bag, Code, Problem, SourceFile};
use crate::digest::{Hasher, Sha256};
use crate::pin::audit::{Locked, locked};
use crate::pin::{EnginePin, PinKind};

/// Where what several runners share lies, beside the pins.
const SHARED: &str = "runners";

/// The package of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerSource {
    /// Its folder.
    pub folder: PathBuf,
    /// The digest of everything that it is built from: its files, those that runners share, and the pin.
    pub digest: Sha256,
}

impl RunnerSource {
    /// Returns the folder below a project root that the runners of all versions of a pin's engine share; an engine may have none.
    pub(crate) fn shared(pin: &EnginePin) -> PathBuf {
        Path::new(PinKind::Engine.folder()).join(SHARED).join(&pin.name)
    }

    /// Reads the package of a pin's runner in the project at `root`, and holds its lock file against the pin.
    ///
    /// # Errors
    /// [`Code::EngineSource`] for a package that is not there or cannot be read, [`Code::EngineLock`] for a lock file that names another version
    /// or checksum than the pin, or none, `pin::audit_syntax` for one that is no TOML.
    pub fn read(root: &Path, pin: &EnginePin) -> Result<Self, Bag> {
        let engines = root.join(PinKind::Engine.folder());
        let folder = engines.join(&pin.folder).join("runner");
        let unreadable = |path: &Path, error: &std::io::Error| {
            let message = format!("cannot read `{}`: {error}", path.display());
            Problem::new(Code::EngineSource, message).help(format!(
                "a runner is a package of its own: `{}/{}/runner`",
                PinKind::Engine.folder(),
                pin.folder
            ))
        };
        let lock = folder.join("Cargo.lock");
        let text = std::fs::read_to_string(&lock).map_err(|error| unreadable(&lock, &error))?;
        check_lock(pin, (&lock.display().to_string(), &text))?;
        let mut files = vec![folder.join("Cargo.toml"), lock];
        for sources in [folder.join("src"), root.join(Self::shared(pin))] {
            if sources.is_dir() {
                files.extend(sorted(&sources).map_err(|error| unreadable(&sources, &error))?);
            }
        }
        let mut hasher = Hasher::new();
        hasher.update(pin.digest().bytes());
        for file in &files {
            let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
            let name = file.strip_prefix(&engines).unwrap_or(file).to_string_lossy();
            hasher.update(Sha256::of(name.as_bytes()).bytes());
            hasher.update(Sha256::of(&bytes).bytes());
        }
        Ok(Self { folder, digest: hasher.finish() })
    }
}

/// Returns the files of a folder, sorted by name.
fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

/// Holds what a lock file says of the engine's package against the pin.
fn check_lock(pin: &EnginePin, (name, text): (&str, &str)) -> Result<(), Problem> {
    let Some(package) = &pin.package else {
        let message = format!("engine `{}` {} has no `crate` to build", pin.name, pin.version);
        let help = "its pin names the package of the registry: `crate \"NAME\"`";
        return Err(Problem::new(Code::EngineSource, message).help(help));
    };
    let found = locked(&SourceFile::new(name, text), package)?;
    let pinned = Locked { version: Some(pin.version.clone()), checksum: pin.checksum.clone() };
    if found == [pinned] {
        return Ok(());
    }
    let shown = |version: Option<&str>, checksum: Option<&str>| {
        format!("{} {}", version.unwrap_or("none"), checksum.unwrap_or("without a checksum"))
    };
    let pinned = shown(Some(&pin.version), pin.checksum.as_deref());
    let locked: Vec<String> =
        found.iter().map(|it| shown(it.version.as_deref(), it.checksum.as_deref())).collect();
    let locked = if locked.is_empty() { "nothing".to_owned() } else { locked.join(", ") };
    let message = format!(
        "the lock file of `{}` is not that of its pin: package `{package}` differs",
        pin.folder
    );
    let help = format!(
        "pin  {pinned}\nlock {locked}\na runner is built from what is pinned, or not at all"
    );
    Err(Problem::new(Code::EngineLock, message).help(help))
}

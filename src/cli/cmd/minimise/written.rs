//! The reproduction as files: a project of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::{Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::gate::minimise::{Candidate, Rows, header, with_trace};
use crate::pin::{PinKind, Registry};

/// A project in the making.
#[derive(Debug)]
pub(super) struct Project {
    root: PathBuf,
    name: String,
}

/// The files of a reproduction.
#[derive(Debug)]
pub(super) struct Files {
    /// The scenario's path, and what it holds.
    pub(super) scenario: (PathBuf, String),
    /// The trace's path, and what it holds, where there is one.
    pub(super) trace: Option<(PathBuf, String)>,
}

impl Project {
    /// Makes a project in a folder that is empty or not there, with these pins of another.
    ///
    /// # Errors
    /// [`Code::MinimiseOutput`] where the folder holds something or cannot be written; what is wrong with a pin.
    pub(super) fn create(
        root: &Path,
        name: &str,
        registry: &Registry,
        pins: impl IntoIterator<Item = (PinKind, String)>,
    ) -> Result<Self, Failure> {
        let holds = fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some());
        if holds {
            let message = format!("`{}` holds something already", root.display());
            let help = "name a folder that is empty or not there: --output DIR";
            return Err(Problem::new(Code::MinimiseOutput, message).help(help).into());
        }
        let project = Self { root: root.to_path_buf(), name: format!("{name}-minimal") };
        for (kind, pin) in pins {
            if kind != PinKind::Trace {
                project.copy(registry, kind, &pin)?;
            }
        }
        project.write("pins/traces/.keep", "")?;
        Ok(project)
    }

    /// Copies a pin with everything beside it that it names; of an engine its whole folder.
    fn copy(&self, registry: &Registry, kind: PinKind, name: &str) -> Result<(), Failure> {
        let from = registry.root();
        let file = kind.file(name);
        if kind == PinKind::Engine {
            let folder = Path::new(&file).parent().unwrap_or(Path::new(&file)).to_path_buf();
            let copied = copy_folder(&from.join(&folder), &self.root.join(&folder));
            return copied.map_err(|error| self.unwritable(&error));
        }
        let pin = registry.pin(kind, name).map_err(Bag::from)?;
        let beside = pin.files().iter().map(|file| file.path.clone());
        for path in std::iter::once(file).chain(beside) {
            let target = self.root.join(&path);
            let folder = target.parent().unwrap_or(&self.root);
            fs::create_dir_all(folder).map_err(|error| self.unwritable(&error))?;
            fs::copy(from.join(&path), &target).map_err(|error| self.unwritable(&error))?;
        }
        Ok(())
    }

    /// Returns the folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what the trace is called.
    pub(super) fn trace(&self) -> &str {
        &self.name
    }

    /// Returns the digest of the pin of some rows, which is written for it.
    pub(super) fn digest_of(&self, rows: &Rows) -> Sha256 {
        // A pin that cannot be written has no digest; planning refuses the scenario that names it, and says so.
        let written = self.write_trace(rows).is_ok();
        let pin = Registry::open(&self.root).ok().filter(|_| written);
        let digest = pin.and_then(|registry| Some(registry.trace(&self.name).ok()?.digest()));
        digest.unwrap_or_else(|| Sha256::of(b""))
    }

    /// Writes the rows and their pin.
    fn write_trace(&self, rows: &Rows) -> Result<PathBuf, Failure> {
        let (name, about) = (&self.name, "Rows that `bench minimise` left.");
        self.write(&format!("pins/traces/{name}.kdl"), &rows.pin(name, about))?;
        self.write(&format!("pins/traces/{name}.jsonl"), &rows.text())
    }

    /// Writes the smallest candidate with a comment above it.
    ///
    /// # Errors
    /// [`Code::MinimiseOutput`] where it cannot be written.
    pub(super) fn finish(
        &self,
        smallest: &Candidate,
        comment: &[String],
    ) -> Result<Files, Failure> {
        let (scenario, trace) = match &smallest.rows {
            Some(rows) => {
                let path = self.write_trace(rows)?;
                let digest = self.digest_of(rows);
                (with_trace(&smallest.scenario, &self.name, &digest), Some((path, rows.text())))
            }
            None => (smallest.scenario.clone(), None),
        };
        let named = Candidate { scenario, rows: None }.text();
        let named = named.replacen("scenario \"job\"", &format!("scenario \"{}\"", self.name), 1);
        let text = format!("{}\n{named}", header(comment));
        let path = self.write(&format!("scenarios/{}.kdl", self.name), &text)?;
        let keep = self.root.join("pins/traces/.keep");
        fs::remove_file(keep).map_err(|error| self.unwritable(&error))?;
        Ok(Files { scenario: (path, text), trace })
    }

    /// Writes a file.
    fn write(&self, relative: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.root.join(relative);
        let folder = path.parent().unwrap_or(&self.root);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.map_err(|error| self.unwritable(&error))?;
        Ok(path)
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        let message = format!("cannot write below `{}`: {error}", self.root.display());
        Failure::new(Exit::Refused, Problem::new(Code::MinimiseOutput, message))
    }
}

/// Copies a folder with all that is in it, save what a build left.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
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

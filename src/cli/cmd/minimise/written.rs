//! The reproduction as files: a project of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::{Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::exec::copy_folder;
use crate::exec::runner::RunnerSource;
use crate::gate::minimise::{Candidate, Rows, header, with_trace};
use crate::pin::{PinKind, Registry};

/// A project in the making: beside the folder that it becomes, and gone where it becomes none.
#[derive(Debug)]
pub(super) struct Project {
    /// Removed with all that is in it when dropped.
    making: TempDir,
    root: PathBuf,
    /// What it becomes; nothing where it is only printed.
    output: Option<PathBuf>,
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
    /// Makes a project that becomes `output`, a folder that is empty or not there, or that nobody keeps, with these pins of another.
    ///
    /// # Errors
    /// [`Code::MinimiseOutput`] where that folder holds something or cannot be written; what is wrong with a pin.
    pub(super) fn create(
        output: Option<&Path>,
        name: &str,
        registry: &Registry,
        pins: impl IntoIterator<Item = (PinKind, String)>,
    ) -> Result<Self, Failure> {
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix(".minimise-");
        let making = match output {
            None => folder.tempdir().map_err(|error| unwritable(None, &error))?,
            Some(output) => {
                refuse_used(output)?;
                let making = folder.tempdir_in(beside(output));
                making.map_err(|error| unwritable(Some(output), &error))?
            }
        };
        let (root, output) = (making.path().join("project"), output.map(Path::to_path_buf));
        let project = Self { making, root, output, name: format!("{name}-minimal") };
        for (kind, pin) in pins {
            if kind != PinKind::Trace {
                project.copy(registry, kind, &pin)?;
            }
        }
        let traces = project.root.join(PinKind::Trace.folder());
        fs::create_dir_all(traces).map_err(|error| project.unwritable(&error))?;
        Ok(project)
    }

    /// Copies a pin with everything beside it that it names; of an engine its whole folder, and what its runners share.
    fn copy(&self, registry: &Registry, kind: PinKind, name: &str) -> Result<(), Failure> {
        let from = registry.root();
        let file = kind.file(name);
        if kind == PinKind::Engine {
            let folder = Path::new(&file).parent().unwrap_or(Path::new(&file)).to_path_buf();
            let shared = RunnerSource::shared(&registry.engine(name).map_err(Bag::from)?);
            for folder in [folder, shared].iter().filter(|folder| from.join(folder).is_dir()) {
                let copied = copy_folder(&from.join(folder), &self.root.join(folder));
                copied.map_err(|error| self.unwritable(&error))?;
            }
            return Ok(());
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

    /// Returns the folder as long as it is in the making.
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
        let (scenario, trace) = if let Some(rows) = &smallest.rows {
            let path = self.write_trace(rows)?;
            let digest = self.digest_of(rows);
            (with_trace(&smallest.scenario, &self.name, &digest), Some((path, rows.text())))
        } else {
            self.forget_trace().map_err(|error| self.unwritable(&error))?;
            (smallest.scenario.clone(), None)
        };
        let named = Candidate { scenario, rows: None }.text();
        let named = named.replacen("scenario \"job\"", &format!("scenario \"{}\"", self.name), 1);
        let text = format!("{}\n{named}", header(comment));
        let path = self.write(&format!("scenarios/{}.kdl", self.name), &text)?;
        Ok(Files { scenario: (path, text), trace })
    }

    /// Removes the rows of candidates that are not what was found.
    fn forget_trace(&self) -> io::Result<()> {
        let traces = self.root.join(PinKind::Trace.folder());
        fs::remove_dir_all(&traces)?;
        fs::create_dir(traces)
    }

    /// Puts the project where it was asked for, and returns its files there; where nobody asked, the files as a project names them.
    ///
    /// # Errors
    /// [`Code::MinimiseOutput`] where it cannot be put there.
    pub(super) fn publish(self, files: Files) -> Result<Files, Failure> {
        let Self { making, root, output, .. } = self;
        let place = |(path, text): (PathBuf, String)| {
            let below = path.strip_prefix(&root).unwrap_or(&path);
            (output.as_ref().map_or_else(|| below.to_path_buf(), |output| output.join(below)), text)
        };
        let files = Files { scenario: place(files.scenario), trace: files.trace.map(place) };
        let Some(output) = output else { return Ok(files) };
        let moved = || {
            fs::create_dir_all(output.parent().unwrap_or(&output))?;
            if !output.is_dir() {
                return fs::rename(&root, &output);
            }
            // A folder that is there stays the same one: whoever asked may be in it.
            fs::read_dir(&root)?.try_for_each(|entry| {
                let entry = entry?;
                fs::rename(entry.path(), output.join(entry.file_name()))
            })
        };
        moved().map_err(|error| unwritable(Some(&output), &error))?;
        drop(making);
        Ok(files)
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
        unwritable(self.output.as_deref(), error)
    }
}

/// Refuses a folder that holds something, and what is no folder.
fn refuse_used(output: &Path) -> Result<(), Failure> {
    let holds = fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_some());
    let is_other = output.exists() && !output.is_dir();
    if !holds && !is_other {
        return Ok(());
    }
    let what = if is_other { "is no folder" } else { "holds something already" };
    let message = format!("`{}` {what}", output.display());
    let help = "name a folder that is empty or not there: --output DIR";
    Err(Problem::new(Code::MinimiseOutput, message).help(help).into())
}

/// Returns the folder in which a path, or the first of those above it that is not there, would be made.
fn beside(output: &Path) -> PathBuf {
    let above = output.ancestors().skip(1).find(|folder| folder.is_dir());
    above.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn unwritable(output: Option<&Path>, error: &io::Error) -> Failure {
    let place = output.map_or_else(
        || "the folder for temporary files".to_owned(),
        |output| format!("`{}`", output.display()),
    );
    let message = format!("cannot write below {place}: {error}");
    let help = "name a folder that can be written, and is empty or not there: --output DIR";
    Failure::new(Exit::Refused, Problem::new(Code::MinimiseOutput, message).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_of_a_copied_pin_is_built_from_the_same_bytes() {
        let registry = Registry::open(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the project");
        let pin = registry.engine_at("aisimulate", "0.13.0-dev.87").expect("pinned");
        let place = tempfile::tempdir().expect("a folder");
        let output = place.path().join("a/b");
        let pins = [(PinKind::Engine, pin.folder.clone())];
        let project = Project::create(Some(&output), "x", &registry, pins).expect("writable");
        let digest = |root: &Path| RunnerSource::read(root, &pin).expect("a package").digest;
        assert_eq!(digest(project.root()), digest(registry.root()));
        drop(project);
        let left = fs::read_dir(place.path()).expect("a folder").count();
        assert_eq!(left, 0, "what becomes nothing leaves nothing");
    }
}

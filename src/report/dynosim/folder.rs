//! The output folder: what may be replaced, and writing it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The names that DynoSim's `predict` writes: all that `--overwrite` may remove.
const KNOWN: [&str; 5] = [
    "prediction.json",
    "requests.jsonl",
    "resource-runtime.json",
    "execution-events.jsonl",
    "resource-plan.json",
];

/// An output folder that may be written.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

/// Why an output folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    /// It holds something, and nobody allowed to replace it.
    #[error("output folder `{0}` is not empty")]
    NotEmpty(String),
    /// The system refused.
    #[error("cannot write `{path}`: {cause}")]
    Io {
        /// What was written.
        path: String,
        /// The answer of the system.
        cause: io::Error,
    },
}

impl Folder {
    /// Returns a folder that is absent or empty, or may be overwritten. Nothing is touched.
    ///
    /// # Errors
    /// [`FolderError::NotEmpty`], or the system's answer where the path is no folder.
    pub(crate) fn check(path: &Path, overwrite: Overwrite) -> Result<Self, FolderError> {
        let folder = Self { path: path.to_owned() };
        match fs::read_dir(path) {
            Ok(mut entries) => {
                if overwrite == Overwrite::Refuse && entries.next().is_some() {
                    return Err(FolderError::NotEmpty(path.display().to_string()));
                }
                Ok(folder)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(folder),
            Err(error) => Err(failed(path, error)),
        }
    }

    /// Makes the folder, and removes what an earlier run left under known names.
    ///
    /// # Errors
    /// [`FolderError::Io`] with the first path that cannot be made or removed.
    pub(crate) fn clear(&self) -> Result<(), FolderError> {
        fs::create_dir_all(&self.path).map_err(|error| failed(&self.path, error))?;
        for name in KNOWN {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes a file beside its place and renames it, so that a reader never sees half of one.
    ///
    /// # Errors
    /// [`FolderError::Io`] with the path and the first answer that was no success.
    pub(crate) fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let partial = self.path.join(format!(".{name}.partial"));
        let written =
            write_file(&partial, content).and_then(|()| fs::rename(&partial, self.path.join(name)));
        written.map_err(|error| {
            // The failure is reported; a leftover of it may stay where it cannot be removed either.
            let _leftover = fs::remove_file(&partial);
            failed(&self.path.join(name), error)
        })
    }
}

/// Writes a file through a buffer, to the end.
fn write_file(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(fs::File::create(path)?);
    content(&mut out)?;
    out.flush()
}

/// Whether a folder that holds something may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// No.
    Refuse,
    /// Known names are replaced, all others stay.
    KnownNames,
}

/// Returns the system's answer about a path.
fn failed(path: &Path, cause: io::Error) -> FolderError {
    FolderError::Io { path: path.display().to_string(), cause }
}

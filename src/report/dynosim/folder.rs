//! The output folder: what may be replaced, and writing it.

use std::fs;
use std::io;
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

    /// Removes what an earlier run left under known names, and writes the files.
    ///
    /// Each file is written beside and renamed, so that a reader never sees half of one.
    ///
    /// # Errors
    /// [`FolderError::Io`] with the first path that cannot be written.
    pub(crate) fn write(&self, files: &[(&str, &[u8])]) -> Result<(), FolderError> {
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
        for (name, bytes) in files {
            let path = self.path.join(name);
            self.replace(&path, bytes).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
        io::Write::write_all(&mut file, bytes)?;
        file.persist(path)?;
        Ok(())
    }
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

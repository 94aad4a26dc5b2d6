//! Runs the built binary in a folder of its own.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary folder to run `bench` in; removed when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    folder: TempDir,
}

/// What a run of `bench` left: its exit code and both streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    /// The exit code; `None` when a signal ended the process.
    pub(crate) code: Option<i32>,
    /// Everything on stdout.
    pub(crate) stdout: String,
    /// Everything on stderr.
    pub(crate) stderr: String,
}

impl Place {
    /// Returns an empty folder.
    pub(crate) fn empty() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder can be made") }
    }

    /// Returns a folder that is a project: it holds an empty `pins/`.
    pub(crate) fn project() -> Self {
        let place = Self::empty();
        fs::create_dir(place.path("pins")).expect("the folder is empty and writable");
        place
    }

    /// Returns a folder with copies of the repository's `pins/` and `scenarios/`.
    pub(crate) fn repository() -> Self {
        let place = Self::empty();
        for folder in ["pins", "scenarios"] {
            copy_folder(&repository_root().join(folder), &place.path(folder));
        }
        place
    }

    /// Returns a folder with a copy of the repository's `pins/`.
    pub(crate) fn with_pins() -> Self {
        let place = Self::empty();
        copy_folder(&repository_root().join("pins"), &place.path("pins"));
        place
    }

    /// Copies a folder of the repository.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        copy_folder(&repository_root().join(from), &self.path(to));
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        let folder = path.parent().expect("the path is below the folder");
        fs::create_dir_all(folder).expect("the folder is writable");
        fs::write(&path, content).expect("the folder is writable");
        path
    }

    /// Returns the text of a file.
    pub(crate) fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns `bench` with arguments, ready for more settings. Variables that steer it are unset.
    pub(crate) fn command<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        for variable in [
            "CI",
            "NO_COLOR",
            "TERM",
            "TOUCHSTONE_CACHE",
            "TOUCHSTONE_REVISION",
            "TOUCHSTONE_RUNNERS",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs `bench` with arguments.
    pub(crate) fn bench<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        Ran::of(&mut self.command(arguments))
    }
}

impl Ran {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary was built with this test");
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// Asserts the exit code, showing both streams where it differs.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {:?}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// Returns the repository's root.
pub(crate) fn repository_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Copies a folder with all that is in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the temporary folder is writable");
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries {
        let entry = entry.expect("the repository is readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the repository is readable");
        }
    }
}

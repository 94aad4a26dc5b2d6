//! Files that commands on traces write: as a whole or not at all, packed as their names say, never over what is read.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::cli::{Failure, print_as_written};
use crate::diag::{Bag, Code, Problem};
use crate::digest::{Hasher, Sha256};
use crate::trace::{PackWriter, TraceInput};

use super::trace_open::{Named, shown};

/// How many bytes are written at once.
const AT_ONCE: usize = 1 << 18;

/// A file in the making.
pub(super) struct NewFile {
    path: PathBuf,
    out: PackWriter<BufWriter<Hashed>>,
}

/// What a file is once it is there.
pub(super) struct Written {
    pub(super) path: PathBuf,
    pub(super) sha256: Sha256,
    pub(super) bytes: u64,
}

/// Counts and hashes what goes to a place.
struct Hashed {
    place: Place,
    hasher: Hasher,
    bytes: u64,
}

/// A file whose bytes are all there, not yet in its place.
pub(super) struct Ready {
    written: Written,
    place: ReadyPlace,
}

/// Where bytes go until the file is whole.
enum Place {
    /// Beside the file that they become, whose permissions are kept where it was there.
    Beside { file: NamedTempFile, target: PathBuf, kept: Option<Permissions> },
    /// Into what is no file, such as a pipe, once all is there; until then into a temporary file.
    Into { spool: Spool, target: File },
}

/// The same where no more bytes come; the file is not open.
enum ReadyPlace {
    Beside { file: TempPath, target: PathBuf },
    Into { spool: Spool, target: File },
}

/// Bytes that lie in a temporary file until all are there.
pub(super) struct Spool(BufWriter<File>);

impl NewFile {
    /// Begins a file.
    pub(super) fn create(path: &Path) -> Result<Self, Problem> {
        let unwritable = |error| unwritable(path, &error);
        let place = match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => {
                let target = std::fs::OpenOptions::new().write(true).open(path);
                Place::Into { spool: Spool::new()?, target: target.map_err(unwritable)? }
            }
            Ok(found) => beside(path, Some(found.permissions())).map_err(unwritable)?,
            Err(_) => beside(path, None).map_err(unwritable)?,
        };
        let hashed = Hashed { place, hasher: Hasher::new(), bytes: 0 };
        let name = path.to_string_lossy();
        let out = PackWriter::named(&name, BufWriter::with_capacity(AT_ONCE, hashed));
        Ok(Self { path: path.to_owned(), out })
    }

    /// Ends the file and closes it.
    pub(super) fn finish(self) -> Result<Ready, Problem> {
        let Self { path, out } = self;
        let unwritable = |error| unwritable(&path, &error);
        let buffered = out.finish().map_err(unwritable)?;
        let hashed = buffered.into_inner().map_err(|error| unwritable(error.into_error()))?;
        let (sha256, bytes) = (hashed.hasher.finish(), hashed.bytes);
        let place = hashed.place.close().map_err(unwritable)?;
        Ok(Ready { written: Written { path, sha256, bytes }, place })
    }
}

impl Ready {
    /// Puts the file in its place.
    pub(super) fn place(self) -> Result<Written, Problem> {
        let Self { written, place } = self;
        let placed = match place {
            ReadyPlace::Beside { file, target } => {
                file.persist(&target).map_err(|error| error.error)
            }
            ReadyPlace::Into { spool, mut target } => spool.copy(&mut target),
        };
        placed.map_err(|error| unwritable(&written.path, &error))?;
        Ok(written)
    }
}

impl Spool {
    /// Begins one.
    pub(super) fn new() -> Result<Self, Problem> {
        let file = tempfile::tempfile().map_err(|error| {
            let message =
                format!("what is written goes to a temporary file, and that failed: {error}");
            Problem::new(Code::TraceConvert, message)
        })?;
        Ok(Self(BufWriter::with_capacity(AT_ONCE, file)))
    }

    /// Copies all of it.
    fn copy(self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        io::copy(&mut file, out).map(drop)
    }

    /// Prints all of it.
    pub(super) fn print(self) -> Result<(), Failure> {
        print_as_written(|out| self.copy(out))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.place {
            Place::Beside { file, .. } => file.write(bytes)?,
            Place::Into { spool, .. } => spool.write(bytes)?,
        };
        self.hasher.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Beside { file, .. } => file.flush(),
            Place::Into { spool, .. } => spool.flush(),
        }
    }
}

impl Place {
    fn close(self) -> io::Result<ReadyPlace> {
        let (file, target, kept) = match self {
            Self::Beside { file, target, kept } => (file, target, kept),
            Self::Into { spool, target } => return Ok(ReadyPlace::Into { spool, target }),
        };
        if let Some(permissions) = kept {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        Ok(ReadyPlace::Beside { file: file.into_temp_path(), target })
    }
}

/// Makes a file beside the one at `path`; a symbolic link keeps leading where it led.
fn beside(path: &Path, kept: Option<Permissions>) -> io::Result<Place> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(Permissions::from_mode(0o666)); // without what the umask takes
    }
    let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    Ok(Place::Beside { file, target, kept })
}

/// Says that a file cannot be written.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> Problem {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let help = match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => format!("there is no folder `{}`: make it first", folder.display()),
        None => "name a file that can be written".to_owned(),
    };
    Problem::new(Code::TraceConvert, format!("cannot write `{}`: {error}", path.display()))
        .help(help)
}

/// Refuses a name that says of a file with a record a line that it is one value.
pub(super) fn check_lines(output: &Path) -> Result<(), Problem> {
    if !TraceInput::file(output, &shown(output)).is_document() {
        return Ok(());
    }
    let message = format!(
        "`{}` would be read as one JSON value, and holds a record a line",
        output.display()
    );
    Err(Problem::new(Code::TraceConvert, message).help("let its name end in `.jsonl`"))
}

/// Refuses an output that is one of the files that are read.
pub(super) fn check_output(output: &Path, inputs: &[Named]) -> Result<(), Bag> {
    let Ok(target) = output.canonicalize() else { return Ok(()) }; // nothing is there
    let is_target = |path: &Path| path.canonicalize().is_ok_and(|path| path == target);
    if let Some((_, name)) = inputs.iter().find(|(path, _)| is_target(path)) {
        let message = format!("`{}` is the input `{name}`, which is kept", output.display());
        let problem = Problem::new(Code::TraceConvert, message);
        return Err(problem.help("write to another file").into());
    }
    Ok(())
}

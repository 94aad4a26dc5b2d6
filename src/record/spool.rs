//! Bytes that are written once and read as often as needed: in memory while they are few, else in a file of a scratch folder.
//!
//! What a job leaves beside its report grows with its requests; a spool of any length takes the memory of [`IN_MEMORY`] bytes.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::{NamedTempFile, TempPath};

use crate::digest::{Hasher, Sha256};

/// How many bytes are kept in memory at the most.
const IN_MEMORY: usize = 1 << 20;
/// How many bytes are read at once.
const READ_AT_ONCE: usize = 1 << 16;

/// Bytes that are complete, with their digest. Copies share what is kept.
#[derive(Clone)]
pub struct Spool {
    kept: Arc<Kept>,
    digest: Sha256,
    length: u64,
}

/// Where the bytes are.
enum Kept {
    Memory(Vec<u8>),
    /// A file that goes away with the last copy.
    File(TempPath),
}

/// Takes bytes in order and hashes them on the way.
///
/// A write that fails is told by [`SpoolWriter::finish`]; what comes after it is dropped.
#[derive(Debug)]
pub struct SpoolWriter {
    scratch: Option<PathBuf>,
    at_most: usize,
    buffer: Vec<u8>,
    file: Option<NamedTempFile>,
    failed: Option<io::Error>,
    hasher: Hasher,
    length: u64,
}

impl SpoolWriter {
    /// Returns a writer of nothing yet. Its file, where it needs one, is made in `scratch`: that of the system without one.
    pub fn new(scratch: Option<&Path>) -> Self {
        Self::keeping(scratch, IN_MEMORY)
    }

    /// Returns a writer that keeps at most `at_most` bytes in memory.
    fn keeping(scratch: Option<&Path>, at_most: usize) -> Self {
        Self {
            scratch: scratch.map(Path::to_owned),
            at_most,
            buffer: Vec::new(),
            file: None,
            failed: None,
            hasher: Hasher::new(),
            length: 0,
        }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() > self.at_most {
            self.spill();
        }
    }

    /// Returns the bytes as a whole.
    ///
    /// # Errors
    /// The first answer of the system where the file could not be made or written.
    pub fn finish(mut self) -> io::Result<Spool> {
        if self.file.is_some() {
            self.spill();
        }
        if let Some(error) = self.failed {
            return Err(error);
        }
        let kept = match self.file {
            Some(file) => Kept::File(file.into_temp_path()),
            None => Kept::Memory(self.buffer),
        };
        Ok(Spool { kept: Arc::new(kept), digest: self.hasher.finish(), length: self.length })
    }

    /// Moves what is in memory to the file.
    fn spill(&mut self) {
        if self.failed.is_none() {
            self.failed = self.write_out().err();
        }
        self.buffer.clear();
    }

    /// Appends what is in memory to the file, which is made where there is none.
    fn write_out(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(create(self.scratch.as_deref())?),
        };
        file.write_all(&self.buffer)
    }
}

/// Makes the file of a spool. It may become the file of a run under another name, so others may read it.
fn create(scratch: Option<&Path>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".spool-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    match scratch {
        Some(folder) => builder.tempfile_in(folder),
        None => builder.tempfile(),
    }
}

impl Write for SpoolWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Spool {
    /// Returns what a file holds, copied and hashed: whoever changes the file afterwards does not change the spool.
    ///
    /// # Errors
    /// The answer of the system where the file cannot be read, or what it holds cannot be written.
    pub fn copy_of(file: &Path, scratch: Option<&Path>) -> io::Result<Self> {
        let mut writer = SpoolWriter::new(scratch);
        let mut from = BufReader::with_capacity(READ_AT_ONCE, File::open(file)?);
        io::copy(&mut from, &mut writer)?;
        writer.finish()
    }

    /// Returns the digest of the bytes.
    pub fn digest(&self) -> Sha256 {
        self.digest
    }

    /// Returns how many bytes there are.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns a reader of its own from the first byte.
    ///
    /// # Errors
    /// The answer of the system where the file cannot be opened.
    pub fn reader(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(match &*self.kept {
            Kept::Memory(bytes) => Box::new(Cursor::new(bytes.as_slice())),
            Kept::File(path) => Box::new(BufReader::with_capacity(READ_AT_ONCE, File::open(path)?)),
        })
    }

    /// Returns the bytes; for what is known to be short.
    ///
    /// # Errors
    /// As [`Spool::reader`].
    pub fn to_vec(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Leaves the bytes under `target`, where nothing is, and waits until the disk has them.
    ///
    /// A file of the same file system gets a second name; elsewhere it is copied.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn place(&self, target: &Path) -> io::Result<()> {
        if let Kept::File(path) = &*self.kept
            && fs::hard_link(path, target).is_ok()
        {
            return File::open(target)?.sync_all();
        }
        self.copy_to(target)
    }

    /// Copies the bytes to a file of its own and waits until the disk has them.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn copy_to(&self, target: &Path) -> io::Result<()> {
        let mut file = File::create(target)?;
        io::copy(&mut self.reader()?, &mut file)?;
        file.sync_all()
    }
}

impl From<Vec<u8>> for Spool {
    /// Takes bytes that are in memory.
    fn from(bytes: Vec<u8>) -> Self {
        let (digest, length) = (Sha256::of(&bytes), bytes.len() as u64);
        Self { kept: Arc::new(Kept::Memory(bytes)), digest, length }
    }
}

impl PartialEq for Spool {
    /// Spools are the same when their bytes are.
    fn eq(&self, other: &Self) -> bool {
        (self.digest, self.length) == (other.digest, other.length)
    }
}

impl Eq for Spool {}

impl std::fmt::Debug for Spool {
    /// Writes what decides equality: not where the bytes are.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spool")
            .field("digest", &self.digest)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

/// Returns the digest of what a file holds, which is never in memory as a whole.
///
/// # Errors
/// The answer of the system where it cannot be read.
pub fn file_digest(file: &Path) -> io::Result<Sha256> {
    let mut hasher = Hasher::new();
    io::copy(&mut BufReader::with_capacity(READ_AT_ONCE, File::open(file)?), &mut hasher)?;
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes lines of 10 bytes into a spool that keeps `at_most` bytes in memory.
    fn spool(folder: &Path, lines: usize, at_most: usize) -> Spool {
        let mut writer = SpoolWriter::keeping(Some(folder), at_most);
        for line in 0..lines {
            writer.push(format!("{line:09}\n").as_bytes());
            assert!(writer.buffer.len() <= at_most, "no more in memory than was asked for");
        }
        writer.finish().expect("a temporary file")
    }

    fn files_in(folder: &Path) -> usize {
        fs::read_dir(folder).expect("a folder").count()
    }

    #[test]
    fn a_file_gives_what_memory_gives_and_goes_away_with_the_last_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        let (small, large) = (spool(folder.path(), 100, 1000), spool(folder.path(), 100, 33));
        assert!(matches!(&*small.kept, Kept::Memory(_)) && matches!(&*large.kept, Kept::File(_)));
        assert_eq!(small, large);
        assert_eq!(small.to_vec().expect("memory"), large.to_vec().expect("a file"));
        assert_eq!(large.digest(), Sha256::of(&small.to_vec().expect("memory")));
        let copy = large.clone();
        drop(large);
        assert_eq!((copy.to_vec().expect("still there").len(), files_in(folder.path())), (1000, 1));
        drop(copy);
        assert_eq!(files_in(folder.path()), 0);
    }

    #[test]
    fn what_is_placed_stays_when_the_spool_goes_and_a_copy_is_a_file_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        for at_most in [7, 1000] {
            let spool = spool(folder.path(), 50, at_most);
            let at = |name: &str| folder.path().join(format!("{name}-{at_most}"));
            let (placed, copied, digest) = (at("placed"), at("copied"), spool.digest());
            spool.place(&placed).expect("writable");
            spool.copy_to(&copied).expect("writable");
            drop(spool);
            fs::write(&copied, "other").expect("writable");
            assert_eq!(file_digest(&placed).expect("readable"), digest);
        }
        assert_eq!(files_in(folder.path()), 4, "nothing but what was asked for");
    }

    #[test]
    fn a_copy_of_a_file_does_not_change_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "before").expect("writable");
        let copy = Spool::copy_of(&file, Some(folder.path())).expect("readable");
        fs::write(&file, "after").expect("writable");
        assert_eq!(copy, Spool::from(b"before".to_vec()));
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error_at_the_end_and_takes_no_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let nowhere = folder.path().join("nowhere");
        let mut writer = SpoolWriter::keeping(Some(&nowhere), 10);
        for _ in 0..100 {
            writer.push(b"0123456789");
            assert!(writer.buffer.len() <= 10);
        }
        assert_eq!(writer.finish().expect_err("no folder").kind(), io::ErrorKind::NotFound);
    }
}

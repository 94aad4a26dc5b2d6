//! The bytes of a file, in memory or mapped.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Blob {
    /// In memory.
    Memory(Vec<u8>),
    /// In the file.
    Mapped(Mmap),
}

impl Blob {
    /// Maps a file.
    ///
    /// # Errors
    /// What the system answers.
    pub(super) fn map(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self::Memory(Vec::new())); // nothing to map
        }
        #[expect(
            unsafe_code,
            reason = "the file is our own, read-only copy: whoever cuts it while it is read ends this process with SIGBUS, and alters no memory of it"
        )]
        // SAFETY: the map is read-only, and the store's files are written once, before they get their names, and never again.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self::Mapped(map))
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

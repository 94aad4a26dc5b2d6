//! The writing of goldens.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::{Golden, golden_text};

/// Writes a golden: beside, flushed, and put in its place in one step.
///
/// # Errors
/// Whatever the file system says; an old golden is untouched then.
pub fn write_golden(path: &Path, golden: &Golden) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(golden_text(golden).as_bytes())?;
    beside.as_file().sync_all()?;
    make_readable(beside.path())?;
    beside.persist(path)?;
    Ok(())
}

/// Lets others read the file: temporary files are private.
#[cfg(unix)]
fn make_readable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

/// Lets others read the file: nothing to do where files inherit.
#[cfg(not(unix))]
fn make_readable(_path: &Path) -> io::Result<()> {
    Ok(())
}

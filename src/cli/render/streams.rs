//! The two streams: results through one writer to stdout, lines to stderr.

use std::io::{self, ErrorKind, Write};

use crate::cli::{Exit, Failure};
use crate::diag::{Code, Problem};

/// Writes results to stdout. A reader that has gone away (`bench … | head`) is no failure.
///
/// # Errors
/// [`Code::Output`] with exit 1 when stdout cannot be written.
pub(crate) fn print(results: impl AsRef<[u8]>) -> Result<(), Failure> {
    print_as_written(|out| out.write_all(results.as_ref()))
}

/// Writes results to stdout as `write` makes them, for those that are too long for memory. As [`print()`] otherwise.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_as_written(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    // Standard output passes on each line; what is large goes in large pieces.
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    forgive(write(&mut out).and_then(|()| out.flush())).map_err(|error| {
        let problem = Problem::new(Code::Output, format!("cannot write the results: {error}"))
            .help("results go to stdout; see where it leads and whether there is room");
        Failure::new(Exit::JobFailed, problem)
    })
}

/// Writes a line to stderr.
pub(crate) fn stderr_line(line: &str) {
    stderr_text(&format!("{line}\n"));
}

/// Writes a text to stderr. A stderr that cannot be written is nobody's to tell.
pub(super) fn stderr_text(text: &str) {
    let _unwritable = io::stderr().lock().write_all(text.as_bytes());
}

/// Takes a broken pipe for success.
fn forgive(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_away_is_no_failure_and_a_full_disk_is() {
        assert!(forgive(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(forgive(Err(ErrorKind::StorageFull.into())).is_err());
    }
}

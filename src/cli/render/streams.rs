//! The two streams: results through one writer to stdout, lines to stderr.

use std::io::{self, ErrorKind, Write};

use crate::cli::{Exit, Failure};
use crate::diag::{Code, Problem};

/// Writes results to stdout. A reader that has gone away (`bench … | head`) is no failure.
///
/// # Errors
/// [`Code::Output`] with exit 1 when stdout cannot be written.
pub(crate) fn print(results: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_results(&mut io::stdout().lock(), results.as_ref()).map_err(|error| {
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

/// Writes and flushes; a broken pipe is success.
fn write_results(out: &mut impl Write, results: &[u8]) -> io::Result<()> {
    match out.write_all(results).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_gone_away_is_no_failure_and_a_full_disk_is() {
        assert!(write_results(&mut Failing(ErrorKind::BrokenPipe), b"x").is_ok());
        assert!(write_results(&mut Failing(ErrorKind::StorageFull), b"x").is_err());
    }
}

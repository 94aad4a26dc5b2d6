//! A command that is ended when someone asks to stop.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often the wish to stop is looked at.
const TICK: Duration = Duration::from_millis(20);

/// Why a command has not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// It could not be started, or its end is not known.
    #[error(transparent)]
    System(#[from] io::Error),
    /// Someone asked to stop, and it was ended.
    #[error("interrupted")]
    Interrupted,
}

/// What a command writes.
enum Part {
    /// A line of stderr.
    Line(Vec<u8>),
    /// All of stdout, at its end.
    Stdout(Vec<u8>),
}

/// Ends a process where nobody waited for its end.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait(); // nothing is asked of one that is dropped
    }
}

/// Runs a command without input to its end; `tell` hears each line of its stderr.
///
/// # Errors
/// [`CommandError::Interrupted`] when `stop` is set: the process is ended first. What the system says where it cannot be started.
pub(crate) fn run_command(
    command: &mut Command,
    stop: Option<&AtomicBool>,
    tell: &dyn Fn(&str),
) -> Result<Output, CommandError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Guarded(command.spawn()?);
    let heard = listen(&mut child.0);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        if stop.is_some_and(|stop| stop.load(Ordering::SeqCst)) {
            return Err(CommandError::Interrupted);
        }
        match heard.recv_timeout(TICK) {
            Ok(Part::Stdout(bytes)) => stdout = bytes,
            Ok(Part::Line(line)) => {
                tell(String::from_utf8_lossy(&line).trim_end());
                stderr.extend(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // Whoever has closed both ends may stay, and is still asked to stop.
    loop {
        match child.0.try_wait()? {
            Some(status) => return Ok(Output { status, stdout, stderr }),
            None if stop.is_some_and(|stop| stop.load(Ordering::SeqCst)) => {
                return Err(CommandError::Interrupted);
            }
            None => std::thread::park_timeout(TICK),
        }
    }
}

/// Reads both ends of a process in threads of their own, which nobody joins: what it leaves behind may hold its pipes open for ever.
fn listen(child: &mut Child) -> mpsc::Receiver<Part> {
    let mut stdout = child.stdout.take().expect("stdout was piped");
    let mut stderr = BufReader::new(child.stderr.take().expect("stderr was piped"));
    let (say, heard) = mpsc::channel();
    let answering = say.clone();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _read = stdout.read_to_end(&mut bytes); // what could be read is judged
        answering.send(Part::Stdout(bytes))
    });
    std::thread::spawn(move || {
        let mut line = Vec::new();
        while let Ok(1..) = stderr.read_until(b'\n', &mut line) {
            if say.send(Part::Line(std::mem::take(&mut line))).is_err() {
                break; // nobody listens any more
            }
        }
    });
    heard
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_of_stderr_are_told_and_both_ends_are_kept() {
        let told = RefCell::new(Vec::new());
        let tell = |line: &str| told.borrow_mut().push(line.to_owned());
        let output = run_command(&mut shell("echo a; echo b >&2; echo c >&2; exit 3"), None, &tell)
            .expect("it ends");
        assert_eq!(told.into_inner(), ["b", "c"]);
        assert_eq!((output.stdout, output.stderr), (b"a\n".to_vec(), b"b\nc\n".to_vec()));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_command_is_ended_when_someone_asks_to_stop() {
        let stop = AtomicBool::new(false);
        let tell = |_: &str| stop.store(true, Ordering::SeqCst);
        let ended = run_command(&mut shell("echo on >&2; exec cat /dev/zero"), Some(&stop), &tell);
        assert!(matches!(ended, Err(CommandError::Interrupted)), "{ended:?}");
    }
}

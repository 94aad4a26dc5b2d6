//! A runner's process: fed, read and ended within its limits.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::exec::JobError;

use super::RunnerError;

/// How often a runner's time and the wish to stop are looked at.
const TICK: Duration = Duration::from_millis(20);
/// How many such looks are a second.
const TICKS_A_SECOND: u64 = 50;
/// How much of stderr is kept: its end, where whoever fails says why.
const STDERR_KEPT: usize = 16 << 10;

/// What a runner may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may be silent before it is ended, in seconds of this program's waiting.
    pub seconds: u64,
    /// How many bytes its answer may have.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 3600, answer_bytes: 4 << 30 }
    }
}

/// What a process left.
struct Left {
    answer: Vec<u8>,
    is_cut: bool,
    stderr: String,
    status: ExitStatus,
}

/// Ends the process where nobody waited for its end.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait(); // nothing is asked of one that is dropped
    }
}

/// Runs a program on a request and returns the bytes of its answer with the end of its stderr.
///
/// # Errors
/// [`JobError::Interrupted`] when `stop` is set; a [`RunnerError`] for a program that cannot be started, does not end in time, ends otherwise
/// than with 0, or answers more than it may.
pub(super) fn ask(
    program: &Path,
    request: Vec<u8>,
    limits: Limits,
    stop: Option<&AtomicBool>,
) -> Result<(Vec<u8>, String), JobError> {
    let not_started = |error: std::io::Error| RunnerError::NotStarted {
        program: program.display().to_string(),
        cause: error.to_string(),
    };
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(not_started)?;
    let left = exchange(Guarded(child), request, limits, stop)?;
    let Left { answer, is_cut, stderr, status } = left;
    if !status.success() {
        return Err(RunnerError::Crashed { how: status.to_string(), stderr }.into());
    }
    if is_cut {
        let found = format!("it is longer than {} bytes", limits.answer_bytes);
        return Err(RunnerError::Nonsense { found, stderr }.into());
    }
    Ok((answer, stderr))
}

/// Feeds a process and reads what it writes, until it has closed both ends.
fn exchange(
    mut child: Guarded,
    request: Vec<u8>,
    limits: Limits,
    stop: Option<&AtomicBool>,
) -> Result<Left, JobError> {
    let mut stdin = child.0.stdin.take().expect("stdin was piped");
    let mut stdout = child.0.stdout.take().expect("stdout was piped");
    let mut stderr = child.0.stderr.take().expect("stderr was piped");
    // Neither thread is joined: what a process leaves behind may hold its pipes open for ever.
    let (say, heard) = mpsc::channel();
    std::thread::spawn(move || drop(stdin.write_all(&request))); // one that is gone does not read on
    let (answering, telling) = (say.clone(), say);
    let most = limits.answer_bytes;
    std::thread::spawn(move || answering.send(Part::Answer(read_at_most(&mut stdout, most))));
    std::thread::spawn(move || telling.send(Part::Stderr(read_end(&mut stderr, STDERR_KEPT))));
    let mut left = Heard::default();
    let mut patience = Patience { ticks: limits.seconds.saturating_mul(TICKS_A_SECOND), stop };
    let waited =
        hear(&heard, &mut patience, &mut left).and_then(|()| end(&mut child.0, &mut patience));
    if waited.is_err() {
        let _gone = child.0.kill();
        let _more = hear(&heard, &mut Patience { ticks: TICKS_A_SECOND, stop: None }, &mut left);
    }
    let stderr = left.stderr.unwrap_or_default();
    let status = match waited {
        Ok(status) => status,
        Err(Given::Up) => return Err(JobError::Interrupted),
        Err(Given::TooLong) => {
            return Err(RunnerError::TimedOut { seconds: limits.seconds, stderr }.into());
        }
        Err(Given::Unknown(how)) => return Err(RunnerError::Crashed { how, stderr }.into()),
    };
    let (answer, is_cut) = left.answer.unwrap_or_default();
    Ok(Left { answer, is_cut, stderr, status })
}

/// One of the two things that a process writes.
enum Part {
    /// Its answer, and whether it was longer.
    Answer((Vec<u8>, bool)),
    /// The end of its stderr.
    Stderr(String),
}

/// What was heard of a process so far.
#[derive(Default)]
struct Heard {
    answer: Option<(Vec<u8>, bool)>,
    stderr: Option<String>,
}

/// Why a process is waited for no longer.
enum Given {
    /// Someone asked to stop.
    Up,
    /// Its time is over.
    TooLong,
    /// The system does not say how it ended, for this reason.
    Unknown(String),
}

/// How much longer a process is waited for. Time is counted in ticks of waiting: no clock is asked.
struct Patience<'s> {
    ticks: u64,
    stop: Option<&'s AtomicBool>,
}

impl Patience<'_> {
    /// Returns whether someone asked to stop.
    fn check(&self) -> Result<(), Given> {
        let is_asked = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if is_asked { Err(Given::Up) } else { Ok(()) }
    }

    /// Takes the tick that has passed.
    fn spend(&mut self) -> Result<(), Given> {
        self.ticks = self.ticks.checked_sub(1).ok_or(Given::TooLong)?;
        Ok(())
    }
}

/// Waits until both readers have come to an end.
fn hear(
    heard: &mpsc::Receiver<Part>,
    patience: &mut Patience<'_>,
    left: &mut Heard,
) -> Result<(), Given> {
    while left.answer.is_none() || left.stderr.is_none() {
        patience.check()?;
        match heard.recv_timeout(TICK) {
            Ok(Part::Answer(answer)) => left.answer = Some(answer),
            Ok(Part::Stderr(stderr)) => left.stderr = Some(stderr),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => patience.spend()?,
        }
    }
    Ok(())
}

/// Waits until a process that writes no more has ended: one may close its pipes and stay.
fn end(child: &mut Child, patience: &mut Patience<'_>) -> Result<ExitStatus, Given> {
    loop {
        patience.check()?;
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => std::thread::park_timeout(TICK),
            Err(error) => return Err(Given::Unknown(error.to_string())),
        }
        patience.spend()?;
    }
}

/// Reads until the end and returns the first `most` bytes, and whether there were more.
fn read_at_most(from: &mut impl Read, most: usize) -> (Vec<u8>, bool) {
    let mut kept = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    let _read = from.take(limit).read_to_end(&mut kept); // what could be read is judged
    let more = std::io::copy(from, &mut std::io::sink()).unwrap_or(0);
    (kept, more > 0)
}

/// Reads until the end and returns the last `most` bytes as text.
fn read_end(from: &mut impl Read, most: usize) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = from.read(&mut piece) {
        kept.extend_from_slice(&piece[..count]);
        if kept.len() > 2 * most {
            kept.drain(..kept.len() - most);
        }
    }
    let from = kept.len().saturating_sub(most);
    String::from_utf8_lossy(&kept[from..]).into_owned()
}

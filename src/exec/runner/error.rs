//! Why a runner has no usable answer.

/// Why a runner has no usable answer. What it left on stderr goes with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunnerError {
    /// It could not be started.
    #[error("cannot start the runner `{program}`: {cause}")]
    NotStarted {
        /// What was started.
        program: String,
        /// What the system said.
        cause: String,
    },
    /// The engine refused the job, or gave it up.
    #[error("the engine refuses the job: {message}")]
    Refused {
        /// Its words.
        message: String,
    },
    /// It ended without an answer.
    #[error("the runner ended without an answer: {how}{}", told(stderr))]
    Crashed {
        /// How it ended.
        how: String,
        /// The end of what it wrote on stderr.
        stderr: String,
    },
    /// It was still running when its time was over.
    #[error("the runner gave no answer in {seconds} s and was ended{}", told(stderr))]
    TimedOut {
        /// How long it had.
        seconds: u64,
        /// The end of what it wrote on stderr.
        stderr: String,
    },
    /// What it wrote is no answer to what was asked.
    #[error("the runner's answer is none: {found}{}", told(stderr))]
    Nonsense {
        /// What is wrong with it.
        found: String,
        /// The end of what it wrote on stderr.
        stderr: String,
    },
}

/// Returns what a runner wrote on stderr, on lines of its own.
fn told(stderr: &str) -> String {
    let text = stderr.trim_end();
    if text.is_empty() { String::new() } else { format!("\nits stderr ends:\n{text}") }
}

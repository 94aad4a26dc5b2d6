//! Why live traffic cannot be sent.

use crate::digest::Sha256;
use crate::mock::MockError;
use crate::replay::http::ClientError;

/// Why live traffic cannot be sent. What goes wrong with single requests is no error: it is measured.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// No client can be had.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server in `bench` itself does not start.
    #[error(transparent)]
    Mock(#[from] MockError),
    /// The file of the tokenizer, which was there when the job was planned, cannot be read.
    #[error(
        "cannot read the tokenizer `{path}`, which was there when the job was planned: {reason}"
    )]
    Unreadable {
        /// The path, as the scenario states it.
        path: String,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The tokenizer that the scenario names is none.
    #[error("{0}")]
    Tokenizer(String),
    /// The file of the tokenizer is another than the one that the job was planned with.
    #[error("`{path}` has changed since the job was planned: {planned} then, {found} now")]
    Changed {
        /// The path, as the scenario states it.
        path: String,
        /// Its digest when the job was planned.
        planned: Sha256,
        /// Its digest now.
        found: Sha256,
    },
    /// The system has no thread or no file descriptor to give.
    #[error("cannot send live traffic: {0}")]
    System(#[from] std::io::Error),
}

impl LiveError {
    /// Returns what to do about it.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Client(_) => {
                "set what the scenario names, or name another; the scenario states the variable of a key, never the key"
            }
            Self::Mock(_) => {
                "the server in `bench` needs a thread and a free port of the loopback device: end what holds them, or name a server in `endpoint`"
            }
            Self::Tokenizer(_) => {
                "name another file in `tokenizer \"file\"`, or count by `tokenizer \"builtin\"`"
            }
            Self::Unreadable { .. } => {
                "put the file back below the project root as it was planned, and run again: it may not go while jobs run"
            }
            Self::Changed { .. } => "run it again: each run plans with the file as it finds it",
            Self::System(_) => {
                "let the process have more files and threads (`ulimit -n`, `ulimit -u`), or end what holds them"
            }
        }
    }
}

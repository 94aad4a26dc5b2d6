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

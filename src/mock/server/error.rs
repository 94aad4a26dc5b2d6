//! Why the server cannot be started.

/// Why the server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum MockError {
    /// The address cannot be had.
    #[error("cannot listen on `{address}`: {cause}")]
    Bind {
        /// The address.
        address: String,
        /// What the system answered.
        cause: std::io::Error,
    },
    /// The system gives no thread or no event queue.
    #[error("cannot start the mock server's thread: {0}")]
    Thread(std::io::Error),
    /// The certificate cannot be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
    /// The thread ended before the server stood.
    #[error("the mock server's thread ended before it listened")]
    Gone,
}

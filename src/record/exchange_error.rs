//! How a request over the wire fails.

/// How a request over the wire failed. No variant holds a header of the request or a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// HTTP has no words for the request; nothing was sent.
    #[error("unsendable request: {0}")]
    Unsendable(String),
    /// No connection could be had.
    #[error("no connection: {stage}: {reason}")]
    Connect {
        /// What failed.
        stage: ConnectStage,
        /// Why.
        reason: String,
    },
    /// It took longer than the scenario allows.
    #[error("timed out: {0}")]
    Timeout(Limit),
    /// The server refused it.
    #[error("status {status}: {message}")]
    Status {
        /// The status, not one of success.
        status: u16,
        /// What the body says, shortened.
        message: String,
        /// The `Retry-After` header, as it stands.
        retry_after: Option<String>,
    },
    /// A successful status, and an error in the answer.
    #[error("error in the answer: {message}")]
    InBand {
        /// What it says, shortened.
        message: String,
        /// Its code, where it has one.
        code: Option<String>,
    },
    /// The answer ended before its end.
    #[error("truncated: {0}")]
    Truncated(Truncation),
    /// The answer was whole and held no output.
    #[error("no output event")]
    NoOutput,
    /// The answer is not what the API sends.
    #[error("malformed answer at byte {offset}: {reason}")]
    Malformed {
        /// The offset in the body.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// A line or a body longer than is kept.
    #[error("more than {cap} bytes in one {what}")]
    TooLong {
        /// `line`, `message` or `body`.
        what: &'static str,
        /// The most that is kept.
        cap: u64,
    },
    /// The connection broke.
    #[error("connection lost: {0}")]
    Lost(String),
    /// The run ended first.
    #[error("cancelled")]
    Cancelled,
}

/// What of connecting failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectStage {
    /// Looking the name up.
    Resolve,
    /// The transport.
    Connect,
    /// The proxy's tunnel.
    Tunnel,
    /// TLS.
    Tls,
    /// The first words of HTTP.
    Http,
}

/// A limit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Until the connection stands.
    Connect,
    /// From sending to the first byte of the answer.
    FirstByte,
    /// Between two reads of the answer.
    Idle,
    /// Altogether.
    Total,
}

/// How an answer fell short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// The stream ended cleanly without its last event and without a reason to finish.
    NoTerminalEvent,
    /// The stream ended within a line or an event.
    PartialEvent,
    /// The connection closed before the body's announced end.
    PartialBody,
}

impl ExchangeError {
    /// Returns the kind by which failures are counted.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unsendable(_) => "unsendable",
            Self::Connect { .. } => "connect",
            Self::Timeout(Limit::Connect) => "timeout-connect",
            Self::Timeout(Limit::FirstByte) => "timeout-first-byte",
            Self::Timeout(Limit::Idle) => "timeout-idle",
            Self::Timeout(Limit::Total) => "timeout-total",
            Self::Status { .. } => "status",
            Self::InBand { .. } => "in-band",
            Self::Truncated(_) => "truncated",
            Self::NoOutput => "no-output",
            Self::Malformed { .. } => "malformed",
            Self::TooLong { .. } => "too-long",
            Self::Lost(_) => "lost",
            Self::Cancelled => "cancelled",
        }
    }
}

impl std::fmt::Display for ConnectStage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Resolve => "name",
            Self::Connect => "transport",
            Self::Tunnel => "proxy",
            Self::Tls => "TLS",
            Self::Http => "HTTP",
        })
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::FirstByte => "first byte",
            Self::Idle => "idle",
            Self::Total => "total",
        })
    }
}

impl std::fmt::Display for Truncation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoTerminalEvent => "the stream ended without its last event",
            Self::PartialEvent => "the stream ended within an event",
            Self::PartialBody => "the connection closed within the body",
        })
    }
}

//! Why no client can be had.

use std::path::PathBuf;

use super::key::ApiKey;
use crate::record::ExchangeError;

/// Why no client can be had: the scenario, or a file or a variable that it names.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is none that a client connects to.
    #[error("`{url}` is no address of a server: {reason}")]
    Address {
        /// The URL.
        url: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The scenario names a variable for the key of the API, and the environment has no key in it.
    #[error("the environment variable `{variable}` holds no key")]
    Key {
        /// The variable.
        variable: String,
    },
    /// A file of certificates or keys cannot be read.
    #[error("cannot read {role} `{path}`: {reason}", path = path.display())]
    File {
        /// What it is for: `ca`, `SSL_CERT_FILE`, `client-cert`, `client-key`.
        role: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The system has no certificate authorities, and the scenario and `SSL_CERT_FILE` name none.
    #[error("this system has no certificate authorities{detail}")]
    NoRoots {
        /// What looking for them met; empty where nothing.
        detail: String,
    },
    /// The certificate and the key of the client are none together.
    #[error("the client's certificate and key do not fit: {0}")]
    Identity(String),
    /// The target is a mock that has not been started.
    #[error("the mock server has no address yet")]
    Mock,
}

/// Returns an error without the key, should a server have repeated it.
pub(super) fn redacted(error: ExchangeError, key: &ApiKey) -> ExchangeError {
    match error {
        ExchangeError::Status { status, message, retry_after } => ExchangeError::Status {
            status,
            message: key.redacted(&message),
            retry_after: retry_after.map(|text| key.redacted(&text)),
        },
        ExchangeError::InBand { message, code } => ExchangeError::InBand {
            message: key.redacted(&message),
            code: code.map(|text| key.redacted(&text)),
        },
        ExchangeError::Connect { stage, reason } => {
            ExchangeError::Connect { stage, reason: key.redacted(&reason) }
        }
        ExchangeError::Malformed { offset, reason } => {
            ExchangeError::Malformed { offset, reason: key.redacted(&reason) }
        }
        ExchangeError::Lost(reason) => ExchangeError::Lost(key.redacted(&reason)),
        ExchangeError::Unsendable(reason) => ExchangeError::Unsendable(key.redacted(&reason)),
        ExchangeError::Timeout(_)
        | ExchangeError::Truncated(_)
        | ExchangeError::NoOutput
        | ExchangeError::TooLong { .. }
        | ExchangeError::Cancelled => error,
    }
}

//! Why no client can be had.

use std::path::PathBuf;

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

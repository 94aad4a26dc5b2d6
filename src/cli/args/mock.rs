//! Commands on the mock server.

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::Format;

/// Arguments of `mock`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MockArgs {
    /// The port of the loopback device [default: one that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Listen on a socket of the file system instead; it is removed in the end
    #[arg(long, value_name = "PATH", conflicts_with = "port")]
    pub(crate) unix: Option<PathBuf>,
    /// Answer as a script says: exact delays and faults by request (docs/mock.md)
    #[arg(long, value_name = "FILE", group = "behaviour")]
    pub(crate) script: Option<PathBuf>,
    /// Write the first output so long after a request was there, such as `50ms`
    #[arg(long, value_name = "DURATION", group = "behaviour")]
    pub(crate) first_token: Option<String>,
    /// Write each further output so long after the one before
    #[arg(long, value_name = "DURATION", requires = "first_token")]
    pub(crate) gap: Option<String>,
    /// Answer as fast as possible
    #[arg(long, group = "behaviour")]
    pub(crate) fast: bool,
    /// Answer as the native engine does with a deployment of this scenario, in real time
    #[arg(long, value_name = "FILE", group = "behaviour", requires = "deployment")]
    pub(crate) scenario: Option<PathBuf>,
    /// The deployment; of several jobs with it the first counts
    #[arg(long, value_name = "NAME", requires = "scenario")]
    pub(crate) deployment: Option<String>,
    /// Speak TLS, and HTTP/2 with whoever asks for it, with certificates made at the start
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, default_missing_value = "server")]
    pub(crate) tls: Option<TlsKind>,
    /// Write the authority and a client's certificate and key there: `ca.pem`, `client.pem`, `client.key`
    #[arg(long, value_name = "DIR", requires = "tls")]
    pub(crate) credentials: Option<PathBuf>,
    /// End when standard input does, as well as on a signal
    #[arg(long)]
    pub(crate) while_stdin: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    /// Measure so many requests in flight, in place of 1, 32 and 256
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=4096))]
    pub(crate) in_flight: Vec<u64>,
    /// Measure so many requests a second, in place of 100, 250, 500 and 1000
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=100_000))]
    pub(crate) per_second: Vec<u64>,
    /// Exit with 3 where something that is measured is not safe
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `perf replay`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PerfReplayArgs {
    /// Exit with 3 where a bar is missed
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Who shows a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TlsKind {
    /// The server alone.
    Server,
    /// Clients too.
    Mutual,
}

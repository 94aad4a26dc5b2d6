//! Where requests go, and how a connection comes about.

use crate::digest::canonical::{Value, object};
use crate::units::Nanos;

use super::RequestSettings;

/// Where requests go, and what they say beside the recorded calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSettings {
    /// Where.
    pub target: Target,
    /// What requests say.
    pub request: RequestSettings,
    /// The environment variable that holds the key of the API; the key itself stands nowhere.
    pub api_key_env: Option<String>,
    /// A file of PEM certificates to trust beside those of the system, relative to the project root.
    pub ca: Option<String>,
    /// Who the client is to a server that asks for a certificate.
    pub client: Option<ClientIdentity>,
    /// The URL of a proxy, `http://host:port`. Proxy variables of the environment count for nothing.
    pub proxy: Option<String>,
    /// Further headers of every request, in the order written; names as written.
    pub headers: Vec<(String, String)>,
    /// How long what may take.
    pub timeouts: Timeouts,
}

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A server: `http://` or `https://`, host, port, and the path that its API lies below, without a `/` at the end.
    Url(String),
    /// A Unix socket: the absolute path of the file.
    Unix(String),
    /// The server in `bench` itself, started for the job on the loopback device.
    Mock(MockSettings),
}

/// What the server in `bench` itself does with every request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MockSettings {
    /// The deployment whose native engine answers in real time; by the delays below where absent.
    pub deployment: Option<String>,
    /// From a request's last byte to its first token.
    pub first_token: Nanos,
    /// From one token to the next.
    pub gap: Nanos,
}

/// A certificate and its key: PEM files relative to the project root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The certificate, with those that lead to its authority.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

/// How long what may take; absent is without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands, TLS included.
    pub connect: Option<Nanos>,
    /// From the last byte of the request to the first of the answer.
    pub first_byte: Option<Nanos>,
    /// Between two reads of the answer.
    pub idle: Option<Nanos>,
    /// The whole request, from its sending to its end.
    pub total: Option<Nanos>,
}

impl Target {
    /// Returns the path that the API lies below: empty, or `/base` without a `/` at its end.
    pub fn base_path(&self) -> &str {
        let Self::Url(url) = self else { return "" };
        let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        authority.find('/').map_or("", |at| &authority[at..])
    }

    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        match self {
            Self::Url(url) => object([("kind", Value::text("url")), ("url", Value::text(url))]),
            Self::Unix(path) => {
                object([("kind", Value::text("unix")), ("path", Value::text(path))])
            }
            Self::Mock(mock) => object([
                ("first_token_ns", mock.first_token.into()),
                ("gap_ns", mock.gap.into()),
                ("kind", Value::text("mock")),
            ]),
        }
    }
}

impl EndpointSettings {
    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        let text = |text: &Option<String>| text.as_ref().map_or(Value::Null, Value::text);
        let header = |(name, value): &(String, String)| {
            object([("name", Value::text(name)), ("value", Value::text(value))])
        };
        let client = self.client.as_ref().map_or(Value::Null, |client| {
            object([
                ("certificate", Value::text(&client.certificate)),
                ("key", Value::text(&client.key)),
            ])
        });
        object([
            ("api_key_env", text(&self.api_key_env)),
            ("ca", text(&self.ca)),
            ("client", client),
            ("headers", Value::List(self.headers.iter().map(header).collect())),
            ("proxy", text(&self.proxy)),
            ("request", self.request.canonical()),
            ("target", self.target.canonical()),
            ("timeouts", self.timeouts.canonical()),
        ])
    }
}

impl Timeouts {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        let limit = |limit: Option<Nanos>| limit.map_or(Value::Null, Value::from);
        object([
            ("connect_ns", limit(self.connect)),
            ("first_byte_ns", limit(self.first_byte)),
            ("idle_ns", limit(self.idle)),
            ("total_ns", limit(self.total)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_path_is_what_follows_the_authority() {
        for (url, path) in
            [("http://host", ""), ("https://host:8000/v1", "/v1"), ("http://[::1]:80/a/b", "/a/b")]
        {
            assert_eq!(Target::Url(url.to_owned()).base_path(), path);
        }
        assert_eq!(Target::Unix("/run/x".to_owned()).base_path(), "");
    }
}

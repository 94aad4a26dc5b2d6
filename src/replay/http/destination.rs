//! Where connections go, read from URLs.

use std::path::PathBuf;

use super::ClientError;
use crate::workload::live::Target;

/// Where connections go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    /// How to get there.
    pub(super) transport: Transport,
    /// Whether TLS is spoken there.
    pub(super) security: Security,
    /// The `host` header: the authority as the URL writes it.
    pub(super) authority: String,
}

/// How to get to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Transport {
    /// A name or an address (IPv6 without brackets), and a port.
    Tcp {
        /// The name or address.
        host: String,
        /// The port.
        port: u16,
    },
    /// A socket of the file system.
    Unix(PathBuf),
}

/// Whether TLS is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Security {
    /// Plain bytes.
    Plain,
    /// TLS.
    Tls,
}

impl Destination {
    /// Reads a target.
    ///
    /// # Errors
    /// [`ClientError::Address`] for a URL that names no server, [`ClientError::Mock`] for a mock, which has a URL once it runs.
    pub(super) fn of(target: &Target) -> Result<Self, ClientError> {
        match target {
            Target::Url(url) => Self::parse(url),
            Target::Unix(path) => Ok(Self {
                transport: Transport::Unix(path.into()),
                security: Security::Plain,
                authority: "localhost".to_owned(),
            }),
            Target::Mock(_) => Err(ClientError::Mock),
        }
    }

    /// Reads a URL of `http` or `https`; its path is not looked at.
    ///
    /// # Errors
    /// [`ClientError::Address`].
    pub(super) fn parse(url: &str) -> Result<Self, ClientError> {
        // Whatever stands before an `@` may be a password, where the rest is no URL too.
        let told =
            url.rsplit_once('@').map_or_else(|| url.to_owned(), |(_, host)| format!("…@{host}"));
        let refuse = |reason| ClientError::Address { url: told.clone(), reason };
        let uri: hyper::Uri = url.parse().map_err(|_| refuse("it is no URL"))?;
        let (security, default_port) = match uri.scheme_str() {
            Some("http") => (Security::Plain, 80),
            Some("https") => (Security::Tls, 443),
            _ => return Err(refuse("it begins with neither `http://` nor `https://`")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(refuse("it holds a user or a password, which belong into no file"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(refuse("it has no host"));
        }
        let port = authority.port_u16().unwrap_or(default_port);
        let transport = Transport::Tcp { host, port };
        Ok(Self { transport, security, authority: authority.to_string() })
    }

    /// Returns host and port, as a proxy is asked for them.
    pub(super) fn host_and_port(&self) -> String {
        match &self.transport {
            Transport::Tcp { host, port } if host.contains(':') => format!("[{host}]:{port}"),
            Transport::Tcp { host, port } => format!("{host}:{port}"),
            Transport::Unix(_) => self.authority.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_host_port_and_security() {
        let read = |url: &str| {
            let found = Destination::parse(url).expect("it is a server");
            (found.host_and_port(), found.security, found.authority)
        };
        let expected =
            |pair: &str, security, authority: &str| (pair.into(), security, authority.into());
        assert_eq!(read("http://h"), expected("h:80", Security::Plain, "h"));
        assert_eq!(read("https://h/v1"), expected("h:443", Security::Tls, "h"));
        assert_eq!(read("http://[::1]:8"), expected("[::1]:8", Security::Plain, "[::1]:8"));
    }

    #[test]
    fn other_urls_are_refused_and_passwords_are_not_repeated() {
        for url in ["ftp://h", "h:80", "", "http://", "/x"] {
            assert!(Destination::parse(url).is_err(), "{url}");
        }
        for url in ["http://me:sesame@h", "http://me:sesame@", "me:sesame@h", "ftp://me:ses@me@h"] {
            let error = Destination::parse(url).expect_err("a password").to_string();
            assert!(error.starts_with("`…@") && !error.contains("ses"), "{error}");
        }
    }
}

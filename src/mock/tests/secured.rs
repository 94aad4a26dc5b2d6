//! TLS, HTTP/2 and sockets of the file system.

use std::io::{Read, Write};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::support::{chat_body, connect, parse, request, server_of};
use crate::mock::{Behaviour, Bind, Credentials, MockServer, Script, Security, Settings, start};
use crate::replay::Wall;

/// Returns what a client speaks TLS with.
fn client(credentials: &Credentials, shows_certificate: bool, protocol: &[u8]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(credentials.authority.as_bytes());
    roots.add(authority.expect("PEM")).expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots);
    let mut config = if shows_certificate {
        let own = CertificateDer::from_pem_slice(credentials.client_certificate.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(credentials.client_key.as_bytes());
        builder.with_client_auth_cert(vec![own.expect("PEM")], key.expect("PEM")).expect("a key")
    } else {
        builder.with_no_client_auth()
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    config
}

/// Asks over TLS; returns what came back, or nothing where the handshake failed.
fn ask(server: &MockServer, shows_certificate: bool) -> Option<Vec<u8>> {
    let credentials = server.credentials().expect("TLS");
    let config = client(credentials, shows_certificate, b"http/1.1");
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream = StreamOwned::new(connection, connect(server));
    let bytes = request("/v1/chat/completions", "connection: close\r\n", &chat_body(2));
    stream.write_all(&bytes).ok()?;
    let mut all = Vec::new();
    // A server that closes without a farewell of TLS has said all that it says.
    let _closed = stream.read_to_end(&mut all);
    Some(all).filter(|all| !all.is_empty())
}

#[test]
fn tls_is_spoken_with_a_certificate_of_an_authority_of_its_own() {
    let server = server_of(Script::fast(), Security::Tls);
    assert!(server.url().starts_with("https://127.0.0.1:"));
    let answer = parse(&ask(&server, false).expect("an answer"));
    assert_eq!((answer.status(), answer.contents()), ("200", 2));
}

#[test]
fn a_client_without_a_certificate_is_turned_away_where_one_is_asked_for() {
    let server = server_of(Script::fast(), Security::MutualTls);
    assert_eq!(ask(&server, false), None);
    assert!(ask(&server, true).is_some());
}

#[test]
fn http2_is_agreed_on_by_name() {
    let server = server_of(Script::fast(), Security::Tls);
    let config = client(server.credentials().expect("TLS"), false, b"h2");
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream = StreamOwned::new(connection, connect(&server));
    // The preface and an empty frame of settings.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").expect("written");
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).expect("a frame");
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
    assert_eq!(frame[3], 4, "the server's settings come first");
}

#[cfg(unix)]
#[test]
fn a_socket_of_the_file_system_is_served_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mock.sock");
    let server = start(Settings {
        bind: Bind::Unix(path.clone()),
        security: Security::Plain,
        behaviour: Behaviour::Scripted(Script::fast()),
        wall: Wall::start(),
    })
    .expect("a server");
    let mut stream = std::os::unix::net::UnixStream::connect(&path).expect("connected");
    let bytes = request("/v1/chat/completions", "connection: close\r\n", &chat_body(2));
    stream.write_all(&bytes).expect("written");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("read");
    assert_eq!(parse(&all).contents(), 2);
    drop(server);
    assert!(!path.exists());
}

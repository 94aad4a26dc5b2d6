//! TLS: whom the client trusts, who it is, and which HTTP both agree on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Bytes;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::server::*;
use crate::record::{ConnectStage, ExchangeError, Protocol};
use crate::replay::Wall;
use crate::replay::http::{Client, ClientError, Surroundings};
use crate::workload::live::{ClientIdentity, EndpointSettings, Target};

/// An authority of its own, with the certificates of a server and of a client, in files.
pub(super) struct Authority {
    /// Its certificate.
    pub(super) ca: String,
    folder: PathBuf,
}

/// A connection of TLS, as its server sees it.
pub(super) type Secured = StreamOwned<ServerConnection, std::net::TcpStream>;

/// Whether a server asks for certificates.
#[derive(Clone, Copy)]
pub(super) struct AsksClients;

impl Authority {
    /// Makes one in a folder.
    pub(super) fn new(folder: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority");
        let write = |name: &str, text: String| {
            std::fs::write(folder.join(name), text).expect("the folder is writable");
        };
        write("ca.pem", issuer.pem());
        for (name, host) in [("server", "localhost"), ("client", "bench")] {
            let params = CertificateParams::new(vec![host.to_owned(), "127.0.0.1".to_owned()]);
            let key = KeyPair::generate().expect("a key");
            let signed = params.expect("a name").signed_by(&key, &issuer).expect("it signs");
            write(&format!("{name}.pem"), signed.pem());
            write(&format!("{name}.key"), key.serialize_pem());
        }
        let ca = folder.join("ca.pem").to_str().expect("it is text").to_owned();
        Self { ca, folder: folder.to_owned() }
    }

    /// Returns the settings of a server.
    fn config(&self, protocols: &[&[u8]], clients: Option<AsksClients>) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has them");
        let builder = if let Some(AsksClients) = clients {
            let mut roots = RootCertStore::empty();
            let ca = CertificateDer::from_pem_file(&self.ca).expect("it was written");
            roots.add(ca).expect("it is one");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().expect("it has a root"))
        } else {
            builder.with_no_client_auth()
        };
        let chain = CertificateDer::from_pem_file(self.folder.join("server.pem"));
        let key = PrivateKeyDer::from_pem_file(self.folder.join("server.key"));
        let chain = vec![chain.expect("it was written")];
        let config = builder.with_single_cert(chain, key.expect("it was written"));
        let mut config = config.expect("they fit");
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }

    /// Starts a server of HTTP/1.1 over TLS, which answers one token.
    pub(super) fn serve(&self, protocols: &[&[u8]], clients: Option<AsksClients>) -> Server {
        serve_by(self.config(protocols, clients), answer_all)
    }

    /// Starts a server of HTTP/1.1 over TLS, which a function serves.
    pub(super) fn serve_http1(
        &self,
        serve: impl Fn(&mut Secured) + Send + Sync + 'static,
    ) -> Server {
        serve_by(self.config(&[b"http/1.1"], None), serve)
    }

    /// Starts a server of HTTP/2 over TLS, which answers as a function says.
    pub(super) fn serve_http2<F, R, B>(&self, answer: F) -> Server
    where
        F: Fn(hyper::Request<hyper::body::Incoming>) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<hyper::Response<B>, hyper::http::Error>> + Send + 'static,
        B: hyper::body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + 'static,
    {
        let config = self.config(&[b"h2"], None);
        Server::start(move |socket, _| {
            let (config, answer) = (Arc::clone(&config), answer.clone());
            block_on(async move {
                socket.set_nonblocking(true).expect("it is a socket");
                let socket = tokio::net::TcpStream::from_std(socket).expect("it is open");
                let acceptor = tokio_rustls::TlsAcceptor::from(config);
                let Ok(stream) = acceptor.accept(socket).await else { return };
                let io = hyper_util::rt::TokioIo::new(stream);
                let service = hyper::service::service_fn(answer);
                let executor = hyper_util::rt::TokioExecutor::new();
                let _ = hyper::server::conn::http2::Builder::new(executor)
                    .serve_connection(io, service)
                    .await;
            });
        })
    }

    /// Returns settings that go to a server and trust the authority.
    pub(super) fn settings(&self, server: &Server) -> EndpointSettings {
        EndpointSettings { ca: Some(self.ca.clone()), ..secure(server) }
    }

    /// Returns the path of a file, as text.
    fn file(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("it is text").to_owned()
    }
}

/// Starts a server with these settings, which a function serves.
fn serve_by(
    config: Arc<ServerConfig>,
    serve: impl Fn(&mut Secured) + Send + Sync + 'static,
) -> Server {
    Server::start(move |socket, _| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("it is set up");
        serve(&mut StreamOwned::new(connection, socket));
    })
}

/// Answers one token; a request with a body of more than two bytes is answered with a token of as many.
async fn echo(
    request: hyper::Request<hyper::body::Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, hyper::http::Error> {
    let is_right =
        request.uri().path() == "/v1/chat/completions" && request.uri().authority().is_some();
    let body =
        request.into_body().collect().await.map_or_else(|_| Bytes::new(), Collected::to_bytes);
    let text = "x".repeat(body.len().max(3) - 2);
    let status = if is_right { 200 } else { 400 };
    let answer = Full::new(Bytes::from(ONE.replacen('x', &text, 1)));
    hyper::Response::builder().status(status).body(answer)
}

/// Returns settings that go to a server over TLS.
fn secure(server: &Server) -> EndpointSettings {
    settings(Target::Url(format!("https://{}", server.address)))
}

/// Returns surroundings with `SSL_CERT_FILE`.
fn with_roots(path: &str) -> Surroundings {
    Surroundings { ssl_cert_file: Some(path.into()), ..nothing() }
}

#[test]
fn an_authority_of_the_scenario_is_trusted_and_the_handshake_has_its_own_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let server = authority.serve(&[b"http/1.1"], None);
    let all = send_all(&client(&authority.settings(&server)), 100);
    assert!(all.iter().all(|exchange| exchange.outcome == Ok(())));
    let cold: Vec<_> = all.iter().filter(|exchange| exchange.is_cold()).collect();
    let handshake = cold[0].connection.and_then(|connection| connection.handshake);
    assert_eq!((cold.len(), server.connections()), (1, 1));
    assert!(handshake.expect("it is cold").tls.is_some());
}

#[test]
fn the_file_of_the_environment_stands_for_the_authorities_of_the_system() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let server = authority.serve(&[b"http/1.1"], None);
    let trusting = Client::new(&secure(&server), &with_roots(&authority.ca), Wall::start());
    assert_eq!(send(&trusting.expect("a client")).outcome, Ok(()));
    let stranger = tempfile::tempdir().expect("a folder");
    let other = Authority::new(stranger.path());
    let client = Client::new(&secure(&server), &with_roots(&other.ca), Wall::start());
    let outcome = send(&client.expect("a client")).outcome;
    let Err(ExchangeError::Connect { stage: ConnectStage::Tls, reason }) = outcome else {
        panic!("a stranger was trusted: {outcome:?}");
    };
    assert!(reason.contains("invalid peer certificate"), "{reason}");
}

#[test]
fn a_missing_file_is_named_and_plain_http_reads_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let server = Server::start(|mut socket, _| answer_all(&mut socket));
    let missing = with_roots("/nowhere/roots.pem");
    let error = refused(&secure(&server), &missing).to_string();
    assert!(error.starts_with("cannot read SSL_CERT_FILE `/nowhere/roots.pem`: "), "{error}");
    let plain = Client::new(&server.settings(), &missing, Wall::start());
    assert_eq!(send(&plain.expect("a client")).outcome, Ok(()));
    let mut settings = authority.settings(&server);
    settings.ca = Some("/nowhere/ca.pem".to_owned());
    assert!(matches!(refused(&settings, &nothing()), ClientError::File { role: "ca", .. }));
    settings.ca = Some(authority.file("server.key"));
    let error = refused(&settings, &nothing()).to_string();
    assert!(error.ends_with("it holds no certificate"), "{error}");
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_the_clients() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let server = authority.serve(&[b"http/1.1"], Some(AsksClients));
    let mut settings = authority.settings(&server);
    assert!(send(&client(&settings)).outcome.is_err());
    let certificate = authority.file("client.pem");
    settings.client = Some(ClientIdentity { certificate, key: authority.file("client.key") });
    assert_eq!(send(&client(&settings)).outcome, Ok(()));
    let certificate = authority.file("client.pem");
    settings.client = Some(ClientIdentity { certificate, key: authority.file("server.key") });
    assert!(matches!(refused(&settings, &nothing()), ClientError::Identity(_)));
}

#[test]
fn http_2_is_spoken_where_the_server_offers_it_and_its_connections_are_used_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let server = authority.serve_http2(echo);
    let all = send_all(&client(&authority.settings(&server)), 20);
    for exchange in &all {
        let protocol = exchange.connection.map(|connection| connection.protocol);
        assert_eq!((&exchange.outcome, protocol), (&Ok(()), Some(Protocol::Http2)));
        assert!(exchange.first_byte == exchange.headers && exchange.headers.is_some());
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn bodies_larger_than_every_window_go_and_come_over_http_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path());
    let server = authority.serve_http2(echo);
    let client = client(&authority.settings(&server));
    let mut large = request("");
    large.body = vec![b' '; 4 << 20].into();
    let exchange = block_on(client.send(large, |_| ()));
    assert_eq!((exchange.outcome, exchange.reply.text.len()), (Ok(()), (4 << 20) - 2));
}

//! Certificates that are made when the server starts.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::MockError;

/// How connections are secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Security {
    /// Not at all.
    #[default]
    Plain,
    /// TLS with a certificate for `localhost` and the loopback addresses, signed by an authority made for this server.
    Tls,
    /// The same, and clients must show a certificate of that authority.
    MutualTls,
}

/// What a client needs to trust the server and to be trusted by it, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The certificate of the authority.
    pub authority: String,
    /// A client's certificate that the authority has signed.
    pub client_certificate: String,
    /// Its key.
    pub client_key: String,
}

/// Makes certificates; returns what accepts connections with them, and what clients need. It speaks HTTP/2 and HTTP/1.1.
///
/// # Errors
/// [`MockError::Certificate`] where the library refuses.
pub(crate) fn make(security: Security) -> Result<Option<(TlsAcceptor, Credentials)>, MockError> {
    if security == Security::Plain {
        return Ok(None);
    }
    let failed = |error: &dyn std::fmt::Display| MockError::Certificate(error.to_string());
    let (authority, issuer) = authority().map_err(|error| failed(&error))?;
    let (server, server_key) =
        signed(&issuer, &["localhost", "127.0.0.1", "::1"]).map_err(|error| failed(&error))?;
    let (client, client_key) = signed(&issuer, &["client.mock"]).map_err(|error| failed(&error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?;
    let builder = if security == Security::MutualTls {
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).map_err(|error| failed(&error))?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| failed(&error))?;
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let chain: Vec<CertificateDer<'static>> = vec![server.der().clone()];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
    let mut config = builder.with_single_cert(chain, key).map_err(|error| failed(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let credentials = Credentials {
        authority: authority.pem(),
        client_certificate: client.pem(),
        client_key: client_key.serialize_pem(),
    };
    Ok(Some((TlsAcceptor::from(Arc::new(config)), credentials)))
}

/// Makes an authority.
fn authority() -> Result<(rcgen::Certificate, Issuer<'static, KeyPair>), rcgen::Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec!["Touchstone mock authority".to_owned()])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let certificate = params.self_signed(&key)?;
    Ok((certificate, Issuer::new(params, key)))
}

/// Makes a certificate for names, signed by an authority.
fn signed(
    issuer: &Issuer<'static, KeyPair>,
    names: &[&str],
) -> Result<(rcgen::Certificate, KeyPair), rcgen::Error> {
    let key = KeyPair::generate()?;
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certificate = CertificateParams::new(names)?.signed_by(&key, issuer)?;
    Ok((certificate, key))
}

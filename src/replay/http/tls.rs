//! Whom TLS trusts, and who it says it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::ClientError;

/// The files that TLS reads.
#[derive(Debug)]
pub(super) struct TlsFiles<'a> {
    /// `SSL_CERT_FILE`: the authorities of the system are those of this file.
    pub(super) system: Option<&'a Path>,
    /// The scenario's authority, trusted beside those of the system.
    pub(super) ca: Option<PathBuf>,
    /// The client's certificate and key.
    pub(super) client: Option<(PathBuf, PathBuf)>,
}

impl TlsFiles<'_> {
    /// Returns the settings of TLS; HTTP/2 and HTTP/1.1 are offered, in this order.
    ///
    /// # Errors
    /// [`ClientError::File`], [`ClientError::NoRoots`] and [`ClientError::Identity`].
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, ClientError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has the suites of TLS 1.2 and 1.3");
        let builder = builder.with_root_certificates(self.roots()?);
        let mut config = match &self.client {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates("client-cert", certificate)?;
                let key = PrivateKeyDer::from_pem_file(key).map_err(|error| ClientError::File {
                    role: "client-key",
                    path: key.clone(),
                    reason: error.to_string(),
                })?;
                let identified = builder.with_client_auth_cert(chain, key);
                identified.map_err(|error| ClientError::Identity(error.to_string()))?
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Returns whom TLS trusts: the system, or `SSL_CERT_FILE` in its place, and the scenario's authority.
    fn roots(&self) -> Result<RootCertStore, ClientError> {
        let mut roots = RootCertStore::empty();
        let mut detail = String::new();
        if let Some(file) = self.system {
            add(&mut roots, "SSL_CERT_FILE", file)?;
        } else {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            detail = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        }
        if let Some(ca) = &self.ca {
            add(&mut roots, "ca", ca)?;
        }
        if roots.is_empty() { Err(ClientError::NoRoots { detail }) } else { Ok(roots) }
    }
}

/// Trusts the authorities of a file.
fn add(roots: &mut RootCertStore, role: &'static str, path: &Path) -> Result<(), ClientError> {
    for certificate in certificates(role, path)? {
        roots.add(certificate).map_err(|error| ClientError::File {
            role,
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
    }
    Ok(())
}

/// Reads the certificates of a file; one at least.
fn certificates(
    role: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let refuse = |reason| ClientError::File { role, path: path.to_owned(), reason };
    let read = CertificateDer::pem_file_iter(path).map_err(|error| refuse(error.to_string()))?;
    let all: Result<Vec<_>, _> = read.collect();
    let all = all.map_err(|error| refuse(error.to_string()))?;
    if all.is_empty() { Err(refuse("it holds no certificate".to_owned())) } else { Ok(all) }
}

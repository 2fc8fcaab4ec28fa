//! Encryption of the studio's connections.

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Certificate and key of a studio, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, then those of its issuers.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Reason why certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{option} {path}: {problem}; write a PEM file of the studio's own certificate and key", path = path.display())]
pub struct TlsError {
    option: &'static str,
    path: PathBuf,
    problem: String,
}

impl TlsFiles {
    /// Reads both files.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or they do not fit together.
    pub fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let certificates: Vec<CertificateDer<'static>> =
            CertificateDer::pem_file_iter(&self.certificate)
                .and_then(Iterator::collect)
                .map_err(|error| problem("--cert", &self.certificate, &error))?;
        // The iterator skips other PEM sections, so a file with only a key is no error for it.
        if certificates.is_empty() {
            return Err(problem("--cert", &self.certificate, &"it has no certificate"));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| problem("--key", &self.key, &error))?;
        // The cryptography of the load, so that the program has one implementation.
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(certificates, key));
        let mut config = config.map_err(|error| problem("--key", &self.key, &error))?;
        // The connections of the studio speak no HTTP/2.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn problem(option: &'static str, path: &Path, error: &dyn fmt::Display) -> TlsError {
    TlsError { option, path: path.to_owned(), problem: error.to_string() }
}

//! Encryption of the studio's connections.

use brunt_wire::tls::files;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Certificate and key of a studio, as PEM or DER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, then those of its issuers.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Reason why certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{option} {path}: {problem}; write PEM files of the studio's own certificate and its key, not encrypted", path = path.display())]
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
        let certificates = files::certificates(&self.certificate)
            .map_err(|wrong| problem("--cert", &self.certificate, &wrong.problem))?;
        let key = files::private_key(&self.key)
            .map_err(|wrong| problem("--key", &self.key, &wrong.problem))?;
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

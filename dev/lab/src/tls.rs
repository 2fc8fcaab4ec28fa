//! Makes a certificate for this run, and TLS sessions over the same sockets.
//!
//! [`crate::conn`] reads and writes the bytes; this module only converts them.

use std::io;
use std::sync::Arc;

use crate::h2::options::Versions;
use rustls::{ServerConfig, ServerConnection};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Key material of sessions.
#[derive(Debug, Clone)]
pub struct TlsKeys {
    config: Arc<ServerConfig>,
    /// The certificate, for clients that verify it.
    pub certificate_pem: String,
}

impl TlsKeys {
    /// Makes a key and a self-signed certificate for localhost, 127.0.0.1 and `::1`.
    ///
    /// # Errors
    ///
    /// If the key or certificate cannot be made.
    pub fn self_signed(versions: Versions) -> io::Result<Self> {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let certificate = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key =
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate.cert.der().clone()], key)
            })
            .map_err(io::Error::other)?;
        let http1: &[&[u8]] = &[b"http/1.1", b"http/1.0"];
        let http2: &[&[u8]] = &[b"h2"];
        // `rustls` chooses the first of these that the client offers.
        let protocols = match versions {
            Versions::Http1 => http1.to_vec(),
            Versions::Http2 => http2.to_vec(),
            Versions::Both => [http2, http1].concat(),
        };
        config.alpn_protocols = protocols.into_iter().map(<[u8]>::to_vec).collect();
        Ok(Self { config: Arc::new(config), certificate_pem: certificate.cert.pem() })
    }

    /// Returns the configuration for QUIC: TLS 1.3, `h3`, and 0-RTT.
    #[cfg(feature = "http3")]
    pub fn for_quic(&self, options: &crate::args::LabOptions) -> io::Result<ServerConfig> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.config.cert_resolver));
        config.alpn_protocols = vec![b"h3".to_vec()];
        // QUIC allows no other value except 0 (RFC 9001, section 4.6.1).
        config.max_early_data_size = u32::MAX;
        // Clients receive tickets and send early data, but the server does not find the session.
        if options.http3.refuse_early_data {
            config.session_storage = Arc::new(Forgetful);
        }
        Ok(config)
    }

    /// Returns a session for a new connection.
    pub fn session(&self) -> io::Result<Box<ServerConnection>> {
        let mut session =
            ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        // At a limit, the session would accept 0 bytes, which the outbox takes for an error.
        session.set_buffer_limit(None);
        Ok(Box::new(session))
    }
}

/// Accepts sessions, and returns none.
#[cfg(feature = "http3")]
#[derive(Debug)]
struct Forgetful;

#[cfg(feature = "http3")]
impl rustls::server::StoresServerSessions for Forgetful {
    fn put(&self, _: Vec<u8>, _: Vec<u8>) -> bool {
        true
    }

    fn get(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn take(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn can_cache(&self) -> bool {
        true
    }
}

/// Decrypts `cipher` into `plain`, as far as the session can.
///
/// # Errors
///
/// If the peer breaks TLS.
pub fn decrypt(
    session: &mut ServerConnection,
    mut cipher: &[u8],
    plain: &mut Vec<u8>,
) -> io::Result<()> {
    while !cipher.is_empty() {
        session.read_tls(&mut cipher)?;
        let state = session.process_new_packets().map_err(io::Error::other)?;
        let before = plain.len();
        plain.resize(before + state.plaintext_bytes_to_read(), 0);
        io::Read::read_exact(&mut session.reader(), &mut plain[before..])?;
    }
    Ok(())
}

//! TLS: a certificate made for this run, and sessions over the same sockets.
//!
//! The bytes are read and written by [`crate::conn`]; this only turns them into others.

use std::io;
use std::sync::Arc;

use crate::h2::options::Versions;
use rustls::{ServerConfig, ServerConnection};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// The key material of sessions.
#[derive(Debug, Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    /// The certificate, to be trusted by clients that check.
    pub certificate_pem: String,
}

impl Tls {
    /// Makes a key and a self-signed certificate for localhost, 127.0.0.1 and `::1`.
    ///
    /// # Errors
    ///
    /// If the key or certificate cannot be made.
    pub fn self_signed(versions: Versions) -> io::Result<Self> {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key))
            .map_err(io::Error::other)?;
        let (one, two): (&[&[u8]], &[&[u8]]) = (&[b"http/1.1", b"http/1.0"], &[b"h2"]);
        let offered = match versions {
            Versions::One => one.to_vec(),
            Versions::Two => two.to_vec(),
            Versions::Both => [two, one].concat(),
        };
        config.alpn_protocols = offered.into_iter().map(<[u8]>::to_vec).collect();
        Ok(Self { config: Arc::new(config), certificate_pem: made.cert.pem() })
    }

    /// What QUIC uses of it: TLS 1.3, `h3`, and 0-RTT.
    ///
    /// # Errors
    ///
    /// If it cannot be had.
    #[cfg(feature = "http3")]
    pub fn for_quic(&self, options: &crate::args::Options) -> io::Result<ServerConfig> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.config.cert_resolver));
        config.alpn_protocols = vec![b"h3".to_vec()];
        config.max_early_data_size = u32::MAX;
        if options.http3.refuse_early_data {
            config.session_storage = Arc::new(Forgetful);
        }
        Ok(config)
    }

    /// A session for a new connection.
    ///
    /// # Errors
    ///
    /// If the session cannot be made.
    pub fn session(&self) -> io::Result<Box<ServerConnection>> {
        let mut session = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        session.set_buffer_limit(None);
        Ok(Box::new(session))
    }
}

/// Takes sessions, and gives none back.
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

/// Decrypts `cipher` into `plain`, as far as the session is.
///
/// # Errors
///
/// If the peer does not keep to TLS.
pub fn decrypt(session: &mut ServerConnection, mut cipher: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
    while !cipher.is_empty() {
        session.read_tls(&mut cipher)?;
        let state = session.process_new_packets().map_err(io::Error::other)?;
        let before = plain.len();
        plain.resize(before + state.plaintext_bytes_to_read(), 0);
        io::Read::read_exact(&mut session.reader(), &mut plain[before..])?;
    }
    Ok(())
}

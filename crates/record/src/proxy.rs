//! A proxy that records the requests of its clients, such as phones and other programs.
//!
//! ```text
//! client ─▶ ProxyServer ─▶ Servers (with `Via`) ─▶ server
//!              │ TLS with a certificate of the authority
//!              └▶ Traffic ─▶ pages ─▶ Recording
//! ```

mod access;
mod authority;
mod body;
mod fields;
mod forward;
mod pages;
mod server;
mod socket;
mod text;
mod traffic;
mod welcome;

pub use access::ProxyCredentials;
pub use authority::{CERTIFICATE_FILE, CertificateAuthority, KEY_FILE};
pub use fields::VIA_NAME;
pub use welcome::WELCOME_HOST;

use crate::error::RecordError;
use crate::recording::Recording;
use bytes::Bytes;
use forward::Servers;
use http_body_util::combinators::UnsyncBoxBody;
use server::{ProxyServer, serve};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;
use traffic::Traffic;

/// Body of a reply to a client.
type ReplyBody = UnsyncBoxBody<Bytes, hyper::Error>;

/// Options of a proxy.
#[derive(Clone)]
pub struct ProxyOptions {
    /// Address to listen at. Port 0 is any free one.
    pub address: SocketAddr,
    /// Directory of the certificate and its key.
    pub directory: PathBuf,
    /// User name and password of clients; required if other machines can reach the address.
    pub credentials: Option<ProxyCredentials>,
    /// Accept any certificate of servers.
    pub accepts_any_certificate: bool,
    /// PEM file of the authorities of servers, in place of those of the system.
    pub cacert: Option<PathBuf>,
}

impl ProxyOptions {
    /// Options of a proxy at this address, with its certificate in this directory.
    pub fn new(address: SocketAddr, directory: PathBuf) -> Self {
        Self { address, directory, credentials: None, accepts_any_certificate: false, cacert: None }
    }
}

/// A proxy that records until it is dropped.
pub struct ProxyRecorder {
    proxy: Arc<ProxyServer>,
    /// Ends the thread when it is dropped.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProxyRecorder {
    /// Starts a proxy.
    ///
    /// # Errors
    ///
    /// The address cannot be used, or other machines can reach it without a password; or the certificate cannot be
    /// read or made.
    pub fn start(options: &ProxyOptions) -> Result<Self, RecordError> {
        let address = options.address;
        if !address.ip().is_loopback() && options.credentials.is_none() {
            return Err(RecordError::NoPassword(address));
        }
        let authority = Arc::new(CertificateAuthority::open(&options.directory)?);
        let servers = Servers::new(options)?;
        let listener = bind(address).map_err(|reason| RecordError::Listen { address, reason })?;
        let address = listener.local_addr()?;
        let credentials = options.credentials.clone();
        let traffic = Traffic::default();
        let proxy = Arc::new(ProxyServer { address, authority, credentials, servers, traffic });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&proxy);
        let thread = thread::Builder::new().name("brunt-proxy".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = serve(listener, served) => {}
                    _ = stopped => {}
                }
            });
            // A name that is being resolved would delay the end.
            runtime.shutdown_background();
        })?;
        Ok(Self { proxy, stop: Some(stop), thread: Some(thread) })
    }

    /// Address of the proxy, with its port.
    pub fn address(&self) -> SocketAddr {
        self.proxy.address
    }

    /// The authority that clients must trust.
    pub fn authority(&self) -> &CertificateAuthority {
        &self.proxy.authority
    }

    /// Number of requests so far.
    pub fn count(&self) -> usize {
        self.proxy.traffic.count()
    }

    /// Returns the messages for the user since the last call.
    pub fn take_notices(&self) -> Vec<String> {
        self.proxy.traffic.take_notices()
    }

    /// Returns the recording so far, and begins another one. Replies in progress have the bytes that have arrived.
    pub fn take_recording(&self, name: &str) -> Recording {
        self.proxy.traffic.take_recording(name)
    }
}

impl Drop for ProxyRecorder {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is printed by itself.
            let _ = thread.join();
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

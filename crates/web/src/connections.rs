//! The connections of a studio: their number, their encryption, and their time limits.

use crate::shared::READ_TIMEOUT;
use axum::Router;
use brunt_model::sync::IgnorePoison;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 256;

/// Maximum number of connections of another machine.
const MAX_CONNECTIONS_OF_ONE: usize = 64;

/// Maximum time in which a peer takes nothing of a reply.
const MAX_WRITING: Duration = Duration::from_secs(30);

/// Answers connections.
pub struct Connections {
    routes: Router,
    acceptor: Option<TlsAcceptor>,
    places: Arc<Semaphore>,
    peers: Arc<Peers>,
}

/// Number of connections of each other machine.
#[derive(Default)]
struct Peers(Mutex<HashMap<IpAddr, usize>>);

/// A connection of another machine, as long as it is open.
struct PeerPlace {
    peers: Arc<Peers>,
    address: IpAddr,
}

impl Peers {
    fn enter(self: &Arc<Self>, address: IpAddr) -> Option<PeerPlace> {
        let mut counts = self.0.lock().ignore_poison();
        let count = counts.entry(address).or_default();
        // All programs of this machine have one address.
        if *count >= MAX_CONNECTIONS_OF_ONE && !address.is_loopback() {
            return None;
        }
        *count += 1;
        Some(PeerPlace { peers: Arc::clone(self), address })
    }
}

impl Drop for PeerPlace {
    fn drop(&mut self) {
        let mut counts = self.peers.0.lock().ignore_poison();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            // Addresses of all visitors would fill the map.
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

impl Connections {
    /// Creates the connections of a studio with these routes.
    pub fn new(routes: Router, acceptor: Option<TlsAcceptor>) -> Self {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Self { routes, acceptor, places, peers: Arc::default() }
    }

    /// Waits until another connection is allowed. Fails when the studio ends.
    pub async fn place(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.places).acquire_owned().await
    }

    /// Answers a connection in a task of its own.
    pub fn spawn(&self, connection: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
        // A connection that is closed without a reply costs nothing.
        let Some(peer_place) = self.peers.enter(peer.ip()) else { return };
        let routes = self.routes.clone();
        let acceptor = self.acceptor.clone();
        tokio::spawn(async move {
            // Both end with the connection.
            let _places = (place, peer_place);
            let mut connection = TimeoutStream::new(connection);
            // hyper limits the time of requests, not that of replies.
            connection.set_write_timeout(Some(MAX_WRITING));
            let connection = Box::pin(connection);
            match acceptor {
                None => answer(connection, routes).await,
                Some(acceptor) => {
                    // Peers that speak no TLS, or slowly, are not answered.
                    if let Ok(Ok(connection)) =
                        timeout(READ_TIMEOUT, acceptor.accept(connection)).await
                    {
                        answer(Box::pin(connection), routes).await;
                    }
                }
            }
        });
    }
}

/// Answers the requests of one connection.
async fn answer(
    connection: Pin<Box<impl AsyncRead + AsyncWrite + Send + 'static>>,
    routes: Router,
) {
    // Browsers notice connections that break.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_TIMEOUT)
        .serve_connection(TokioIo::new(connection), TowerToHyperService::new(routes))
        .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_has_a_limited_number_of_connections() {
        let peers = Arc::<Peers>::default();
        let other = IpAddr::from([10, 0, 0, 7]);
        let mut places: Vec<PeerPlace> =
            (0..MAX_CONNECTIONS_OF_ONE).filter_map(|_| peers.enter(other)).collect();
        assert_eq!(places.len(), MAX_CONNECTIONS_OF_ONE);
        assert!(peers.enter(other).is_none());
        assert!(peers.enter(IpAddr::from([10, 0, 0, 8])).is_some());
        places.pop();
        assert!(peers.enter(other).is_some());
        drop(places);
        assert!(peers.0.lock().unwrap().is_empty());
    }
}

//! The destinations of requests: scheme, host and port, and their addresses.

use brunt_model::plan::{ConnectionSettings, Resolve};
use brunt_model::{Failure, Tick};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of an origin within one transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OriginId(pub u32);

/// Scheme, host and port of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// True for https, false for http.
    pub https: bool,
    /// Host name or address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// For a WebSocket: path and query of the URL that it is opened with.
    pub websocket: Option<String>,
}

/// Time of the lookup and the addresses, by host and port.
type ResolvedHosts = HashMap<(String, u16), (Tick, Vec<SocketAddr>)>;

/// The addresses of hosts. Each is looked up once for a run, by the first worker that needs it.
#[derive(Debug)]
pub struct Directory {
    /// Addresses that the plan sets.
    configured: Vec<Resolve>,
    /// The address of all hosts, if the plan sets one.
    all: Option<SocketAddr>,
    /// Time after which a name is looked up again.
    lookup_interval: Option<Duration>,
    resolved: Mutex<ResolvedHosts>,
}

impl Directory {
    /// Creates a directory that contains only the addresses that the plan sets.
    pub fn new(settings: &ConnectionSettings) -> Self {
        let all = settings.resolve_all.map(|all| all.address);
        Self {
            configured: settings.resolve.clone(),
            all,
            lookup_interval: settings.resolve_every,
            resolved: Mutex::default(),
        }
    }

    fn resolved(&self) -> MutexGuard<'_, ResolvedHosts> {
        // A panic of another worker leaves the map complete: entries are inserted whole.
        self.resolved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the addresses of a host, if they are known and recent enough at `now`.
    fn lookup(&self, host: &str, port: u16, now: Tick) -> Option<Vec<SocketAddr>> {
        if let Some(all) = self.all {
            return Some(vec![all]);
        }
        let configured = self.configured.iter().filter(|r| r.is_of(host, port));
        let configured: Vec<_> = configured.map(|r| SocketAddr::new(r.address, port)).collect();
        if !configured.is_empty() {
            return Some(configured);
        }
        if let Ok(address) = host.parse() {
            return Some(vec![SocketAddr::new(address, port)]);
        }
        let resolved = self.resolved();
        let (looked_up, addresses) = resolved.get(&(host.to_owned(), port))?;
        let is_fresh = self.lookup_interval.is_none_or(|interval| now < *looked_up + interval);
        is_fresh.then(|| addresses.clone())
    }

    /// Looks up the addresses of a host with the system's resolver. Returns each once,
    /// in the resolver's order.
    async fn resolve(&self, host: &str, port: u16, now: Tick) -> Result<Vec<SocketAddr>, String> {
        let results =
            tokio::net::lookup_host((host, port)).await.map_err(|e| format!("{host}: {e}"))?;
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in results {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(format!("{host} has no address"));
        }
        self.resolved().insert((host.to_owned(), port), (now, addresses.clone()));
        Ok(addresses)
    }
}

/// An origin with its addresses, as one transport knows them.
#[derive(Debug)]
pub struct OriginAddresses {
    /// The destination of the route.
    pub origin: Origin,
    addresses: RefCell<Rc<[SocketAddr]>>,
    looked_up: Cell<Option<Tick>>,
    next_index: Cell<usize>,
}

impl OriginAddresses {
    /// Creates a route with unknown addresses. The first connection uses the address at
    /// `first_index`, modulo their number.
    pub fn new(origin: Origin, first_index: usize) -> Self {
        Self {
            origin,
            addresses: RefCell::new(Rc::new([])),
            looked_up: Cell::new(None),
            next_index: Cell::new(first_index),
        }
    }

    /// Returns the address for the next connection; all addresses are used in turn. The second
    /// value is true if a name was looked up.
    ///
    /// # Errors
    ///
    /// The failure and its reason in words, if the name has no address.
    pub async fn next_address(
        &self,
        directory: &Directory,
        host: &str,
        port: u16,
        now: Tick,
    ) -> Result<(SocketAddr, bool), (Failure, String)> {
        let mut was_looked_up = false;
        if self.is_stale(directory, now) {
            let addresses = if let Some(addresses) = directory.lookup(host, port, now) {
                addresses
            } else {
                was_looked_up = true;
                directory.resolve(host, port, now).await.map_err(|e| (Failure::Resolve, e))?
            };
            *self.addresses.borrow_mut() = addresses.into();
            self.looked_up.set(Some(now));
        }
        let addresses = self.addresses.borrow();
        let index = self.next_index.get();
        self.next_index.set(index.wrapping_add(1));
        Ok((addresses[index % addresses.len()], was_looked_up))
    }

    fn is_stale(&self, directory: &Directory, now: Tick) -> bool {
        match (self.looked_up.get(), directory.lookup_interval) {
            (None, _) => true,
            (Some(looked_up), Some(interval)) => now >= looked_up + interval,
            (Some(_), None) => false,
        }
    }

    /// Returns the addresses known so far.
    pub fn addresses(&self) -> Vec<String> {
        self.addresses.borrow().iter().map(ToString::to_string).collect()
    }
}

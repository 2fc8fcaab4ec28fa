//! The destinations of requests: scheme, host and port, and their addresses.

use crate::targets::{AllowedTargets, TargetRefusal};
use brunt_model::plan::{ConnectionSettings, Resolve};
use brunt_model::sync::IgnorePoison;
use brunt_model::{Failure, Tick};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard};
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

/// An address to connect to, or why brunt may not connect to it.
type TargetAddress = Result<SocketAddr, TargetRefusal>;

/// The addresses of hosts. Each is looked up once for a run, by the first worker that needs it.
#[derive(Debug)]
pub struct Directory {
    /// Addresses that the plan sets.
    configured: Vec<Resolve>,
    /// The address of all hosts, if the plan sets one.
    all: Option<SocketAddr>,
    /// Time after which a name is looked up again.
    lookup_interval: Option<Duration>,
    /// The hosts to which brunt may connect; None: all.
    allowed: Option<AllowedTargets>,
    resolver: Resolver,
    /// Lookups by host. A name has the same addresses for all ports.
    resolved: Mutex<HashMap<String, ResolvedHost>>,
}

/// Addresses of a name, with any port.
#[derive(Debug)]
struct ResolvedHost {
    /// Time of the last lookup.
    looked_up: Tick,
    /// Addresses of the last lookup.
    addresses: Vec<SocketAddr>,
    /// Addresses of the first lookup. With allowed targets, brunt connects only to these, and to
    /// listed addresses.
    first: Vec<SocketAddr>,
}

impl Directory {
    /// Creates a directory that contains only the addresses that the plan sets. Without `allowed`,
    /// it permits all hosts.
    pub fn new(settings: &ConnectionSettings, allowed: Option<AllowedTargets>) -> Self {
        Self {
            configured: settings.resolve.clone(),
            all: settings.resolve_all.map(|all| all.address),
            lookup_interval: settings.resolve_every,
            allowed,
            resolver: Resolver::System,
            resolved: Mutex::default(),
        }
    }

    fn resolved(&self) -> MutexGuard<'_, HashMap<String, ResolvedHost>> {
        // A panic of another worker leaves the map complete: entries are inserted whole.
        self.resolved.lock().ignore_poison()
    }

    /// Returns the addresses of a host, if they are known and recent enough at `now`.
    fn lookup(&self, host: &str, port: u16, now: Tick) -> Option<Vec<TargetAddress>> {
        if let Some(configured) = self.configured_addresses(host, port) {
            let addresses = configured.into_iter();
            return Some(addresses.map(|address| self.check_configured(host, address)).collect());
        }
        if let Ok(address) = host.parse() {
            // The host is allowed, so its only address is.
            return Some(vec![Ok(SocketAddr::new(address, port))]);
        }
        let resolved = self.resolved();
        let entry = resolved.get(host)?;
        let is_fresh = self.lookup_interval.is_none_or(|interval| now < entry.looked_up + interval);
        is_fresh.then(|| self.addresses_of(host, entry, port))
    }

    /// Returns the addresses that the plan sets for a host.
    fn configured_addresses(&self, host: &str, port: u16) -> Option<Vec<SocketAddr>> {
        if let Some(all) = self.all {
            return Some(vec![all]);
        }
        let configured = self.configured.iter().filter(|r| r.is_of(host, port));
        let configured: Vec<_> = configured.map(|r| SocketAddr::new(r.address, port)).collect();
        (!configured.is_empty()).then_some(configured)
    }

    /// Looks up the addresses of a host. Returns each once, in the resolver's order.
    async fn resolve(
        &self,
        host: &str,
        port: u16,
        now: Tick,
    ) -> Result<Vec<TargetAddress>, String> {
        let is_first = !self.resolved().contains_key(host);
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in self.resolver.addresses(host, port).await? {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(format!("{host} has no address"));
        }
        let mut resolved = self.resolved();
        // Several connections may look a new name up at the same time, and a resolver may return a
        // part of many addresses. All of them use the result that came first.
        let entry = resolved.entry(host.to_owned()).or_insert_with(|| ResolvedHost {
            looked_up: now,
            addresses: addresses.clone(),
            first: addresses.clone(),
        });
        if !is_first {
            entry.looked_up = now;
            entry.addresses = addresses;
        }
        Ok(self.addresses_of(host, entry, port))
    }

    /// Returns the addresses of the last lookup with a port.
    fn addresses_of(&self, host: &str, entry: &ResolvedHost, port: u16) -> Vec<TargetAddress> {
        let addresses = entry.addresses.iter();
        addresses.map(|address| self.check_resolved(host, *address, entry, port)).collect()
    }

    fn check_resolved(
        &self,
        host: &str,
        mut address: SocketAddr,
        entry: &ResolvedHost,
        port: u16,
    ) -> TargetAddress {
        if let Some(allowed) = &self.allowed {
            allowed.check_resolved(host, address.ip(), &entry.first)?;
        }
        address.set_port(port);
        Ok(address)
    }

    fn check_configured(&self, host: &str, address: SocketAddr) -> TargetAddress {
        if let Some(allowed) = &self.allowed {
            allowed.check_configured(host, address.ip())?;
        }
        Ok(address)
    }
}

/// Looks up the addresses of names.
#[derive(Debug)]
enum Resolver {
    /// The system's resolver.
    System,
    /// Results of consecutive lookups. The lookup after the last one panics.
    #[cfg(test)]
    Scripted(Mutex<std::collections::VecDeque<Vec<SocketAddr>>>),
}

impl Resolver {
    async fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
        match self {
            Self::System => {
                let found = tokio::net::lookup_host((host, port)).await;
                found.map(Iterator::collect).map_err(|e| format!("{host}: {e}"))
            }
            #[cfg(test)]
            Self::Scripted(results) => {
                tokio::task::yield_now().await;
                Ok(results.lock().unwrap().pop_front().expect("a result"))
            }
        }
    }
}

/// An origin with its addresses, as one transport knows them.
#[derive(Debug)]
pub struct OriginAddresses {
    /// The destination of the route.
    pub origin: Origin,
    addresses: RefCell<Rc<[TargetAddress]>>,
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
    /// value is true if a name was looked up. `host` is the proxy's, if there is one.
    ///
    /// This is the only way from a host to an address, so that every protocol obeys the allowed
    /// targets.
    ///
    /// # Errors
    ///
    /// The failure and its reason in words, if the name has no address, or if a host or the address
    /// is not allowed. A host that is not allowed is not looked up.
    pub async fn next_address(
        &self,
        directory: &Directory,
        host: &str,
        port: u16,
        now: Tick,
    ) -> Result<(SocketAddr, bool), (Failure, String)> {
        let mut was_looked_up = false;
        if self.is_stale(directory, now) {
            if let Some(allowed) = &directory.allowed {
                let checked = allowed.check_hosts(&self.origin.host, host);
                checked.map_err(|refusal| (Failure::NotAllowed, refusal.to_string()))?;
            }
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
        match &addresses[index % addresses.len()] {
            Ok(address) => Ok((*address, was_looked_up)),
            Err(refusal) => Err((Failure::NotAllowed, refusal.to_string())),
        }
    }

    fn is_stale(&self, directory: &Directory, now: Tick) -> bool {
        match (self.looked_up.get(), directory.lookup_interval) {
            (None, _) => true,
            (Some(looked_up), Some(interval)) => now >= looked_up + interval,
            (Some(_), None) => false,
        }
    }

    /// Returns the addresses known so far to which brunt may connect.
    pub fn addresses(&self) -> Vec<String> {
        self.addresses.borrow().iter().flatten().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests;

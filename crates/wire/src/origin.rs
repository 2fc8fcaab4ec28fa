//! Where requests go: scheme, host and port, and the addresses behind them.

use brunt_model::plan::{Connection, Resolve};
use brunt_model::{Failure, Tick};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of an origin within one wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OriginId(pub u32);

/// Scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// https rather than http.
    pub https: bool,
    /// A name or address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Of a WebSocket: the path and query that it is opened with.
    pub websocket: Option<String>,
}

/// By host and port: when the addresses were looked up, and which they are.
type Known = HashMap<(String, u16), (Tick, Vec<SocketAddr>)>;

/// The addresses of hosts: looked up once for a run, by whichever worker asks first.
#[derive(Debug)]
pub struct Directory {
    given: Vec<Resolve>,
    /// Of all hosts.
    all: Option<SocketAddr>,
    every: Option<Duration>,
    known: Mutex<Known>,
}

impl Directory {
    /// An empty directory with the addresses that the plan gives.
    pub fn new(settings: &Connection) -> Self {
        let all = settings.resolve_all.map(|all| all.address);
        Self { given: settings.resolve.clone(), all, every: settings.resolve_every, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The addresses of a host where they are known and fresh at `now`.
    fn lookup(&self, host: &str, port: u16, now: Tick) -> Option<Vec<SocketAddr>> {
        if let Some(all) = self.all {
            return Some(vec![all]);
        }
        let given = self.given.iter().filter(|r| r.is_of(host, port));
        let given: Vec<_> = given.map(|r| SocketAddr::new(r.address, port)).collect();
        if !given.is_empty() {
            return Some(given);
        }
        if let Ok(address) = host.parse() {
            return Some(vec![SocketAddr::new(address, port)]);
        }
        let known = self.known();
        let (at, addresses) = known.get(&(host.to_owned(), port))?;
        let fresh = self.every.is_none_or(|every| now < *at + every);
        fresh.then(|| addresses.clone())
    }

    /// The addresses of a host, asked of the system's resolver; each once, in the resolver's order.
    async fn resolve(&self, host: &str, port: u16, now: Tick) -> Result<Vec<SocketAddr>, String> {
        let found = tokio::net::lookup_host((host, port)).await.map_err(|e| format!("{host}: {e}"))?;
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in found {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(format!("{host} has no address"));
        }
        self.known().insert((host.to_owned(), port), (now, addresses.clone()));
        Ok(addresses)
    }
}

/// What one wire knows of an origin.
#[derive(Debug)]
pub struct Route {
    /// The origin.
    pub origin: Origin,
    addresses: RefCell<Rc<[SocketAddr]>>,
    looked_up: Cell<Option<Tick>>,
    turn: Cell<usize>,
}

impl Route {
    /// A route whose addresses are not known yet; the first connection takes address number `turn`.
    pub fn new(origin: Origin, turn: usize) -> Self {
        Self { origin, addresses: RefCell::new(Rc::new([])), looked_up: Cell::new(None), turn: Cell::new(turn) }
    }

    /// The address for the next connection: all are used in turn. The second value tells whether names were looked up.
    ///
    /// # Errors
    ///
    /// What failed, and the reason in words, if the name has no address.
    pub async fn next_address(
        &self,
        directory: &Directory,
        host: &str,
        port: u16,
        now: Tick,
    ) -> Result<(SocketAddr, bool), (Failure, String)> {
        let mut asked = false;
        if self.stale(directory, now) {
            let known = directory.lookup(host, port, now);
            let found = if let Some(known) = known {
                known
            } else {
                asked = true;
                directory.resolve(host, port, now).await.map_err(|e| (Failure::Resolve, e))?
            };
            *self.addresses.borrow_mut() = found.into();
            self.looked_up.set(Some(now));
        }
        let addresses = self.addresses.borrow();
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1));
        Ok((addresses[turn % addresses.len()], asked))
    }

    fn stale(&self, directory: &Directory, now: Tick) -> bool {
        match (self.looked_up.get(), directory.every) {
            (None, _) => true,
            (Some(at), Some(every)) => now >= at + every,
            (Some(_), None) => false,
        }
    }

    /// The addresses known so far.
    pub fn addresses(&self) -> Vec<String> {
        self.addresses.borrow().iter().map(ToString::to_string).collect()
    }
}

//! The way to the server of a plan, and whether anything listens there.
//!
//! No request is made. Names that the resolver does not know at once are not waited for. Out of scope: the look of
//! `brunt check`, which asks the server.

use brunt_model::plan::{Connection, HttpVersion};
use brunt_model::{Plan, Route};
use brunt_wire::request::origin_of;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a name may take. Names in /etc/hosts, and those that a resolver of this machine remembers, take less.
const PATIENCE: Duration = Duration::from_millis(10);
/// How long one address may take to accept a connection.
const REFUSAL: Duration = Duration::from_secs(2);

/// The way to the server, where it is known without a connection.
pub fn route(plan: &Plan) -> Option<Route> {
    if plan.connection.unix_socket.is_some() {
        return Some(Route { same_host: Some(true), ..Route::default() });
    }
    addresses(plan).first().copied().map(brunt_probe::route)
}

/// Why nothing can be reached there: each address of the server refuses a connection. None where one is accepted, and where
/// the addresses are not known at once, or HTTP/3 is spoken: what listens on TCP tells nothing of QUIC.
pub fn refused(plan: &Plan) -> Option<String> {
    if plan.connection.http == HttpVersion::V3 {
        return None;
    }
    let url = plan.main().scenario.requests.first().map_or("", |request| request.url.as_str());
    if let Some(path) = &plan.connection.unix_socket {
        let error = UnixStream::connect(path).err()?;
        return Some(format!("{url} at {}: {error}", path.display()));
    }
    let timeout = plan.connection.connect_timeout.min(plan.connection.timeout).min(REFUSAL);
    let mut last = None;
    for address in addresses(plan) {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(_) => return None,
            Err(error) => last = Some(format!("{url} at {address}: {error}")),
        }
    }
    last
}

/// The addresses that the first request goes to; empty where they are not known at once.
pub fn addresses(plan: &Plan) -> Vec<SocketAddr> {
    let first = plan.connection.proxy.as_ref().or(plan.main().scenario.requests.first().map(|r| &r.url));
    let Some((_, origin)) = first.and_then(|url| origin_of(url).ok()) else { return Vec::new() };
    given(&plan.connection, &origin.host, origin.port).unwrap_or_else(|| looked_up(origin.host, origin.port))
}

/// Those that need no resolver.
fn given(connection: &Connection, host: &str, port: u16) -> Option<Vec<SocketAddr>> {
    if let Some(all) = connection.resolve_all {
        return Some(vec![all.address]);
    }
    let given = connection.resolve.iter().filter(|r| r.is_of(host, port));
    let given: Vec<_> = given.map(|r| SocketAddr::new(r.address, port)).collect();
    if !given.is_empty() {
        return Some(given);
    }
    host.parse::<IpAddr>().ok().map(|address| vec![SocketAddr::new(address, port)])
}

fn looked_up(host: String, port: u16) -> Vec<SocketAddr> {
    let (found, wait) = mpsc::channel();
    // A resolver that takes longer answers nobody; the thread ends with it.
    let started = thread::Builder::new().name("brunt-resolve".into()).spawn(move || {
        let addresses = (&*host, port).to_socket_addrs().map(Vec::from_iter).unwrap_or_default();
        let _ = found.send(addresses);
    });
    let mut addresses = started.ok().and_then(|_| wait.recv_timeout(PATIENCE).ok()).unwrap_or_default();
    addresses.dedup();
    addresses
}

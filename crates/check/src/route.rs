//! The route to the server of a plan, and a check that it accepts connections.
//!
//! No request is sent, and slow name resolution is not waited for. Out of scope: `brunt
//! check`, which sends requests.

use brunt_model::plan::{ConnectionSettings, HttpVersion};
use brunt_model::{Plan, Route};
use brunt_wire::request::origin_of;
use brunt_wire::targets::AllowedTargets;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Time limit of the name resolution. Names in /etc/hosts, and those in the cache of a
/// local resolver, take less.
pub const RESOLVE_TIMEOUT: Duration = Duration::from_millis(10);
/// Time limit for one address to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Route to the server, if it is known without a connection.
pub fn route(plan: &Plan) -> Option<Route> {
    if plan.connection.unix_socket.is_some() {
        return Some(Route { same_host: Some(true), ..Route::default() });
    }
    addresses(plan, RESOLVE_TIMEOUT).first().copied().map(brunt_probe::route)
}

/// Reason why the server is unreachable: each of its addresses refuses a connection. None if
/// one is accepted, or if the addresses are not known at once. Also None for HTTP/3, since TCP
/// shows nothing about QUIC.
pub fn connection_error(plan: &Plan) -> Option<String> {
    if plan.connection.http == HttpVersion::V3 {
        return None;
    }
    let url = plan.main().scenario.requests.first().map_or("", |request| request.url.as_str());
    if let Some(path) = &plan.connection.unix_socket {
        let error = UnixStream::connect(path).err()?;
        return Some(format!("{url} at {}: {error}", path.display()));
    }
    let timeout = plan.connection.connect_timeout.min(plan.connection.timeout).min(CONNECT_TIMEOUT);
    let mut last = None;
    for address in addresses(plan, RESOLVE_TIMEOUT) {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(_) => return None,
            Err(error) => last = Some(format!("{url} at {address}: {error}")),
        }
    }
    last
}

/// Addresses for the first request to which brunt may connect; empty if they are not known within
/// this time.
pub fn addresses(plan: &Plan, timeout: Duration) -> Vec<SocketAddr> {
    let first = plan.main().scenario.requests.first();
    let url = first.map(|request| request.base.as_deref().unwrap_or(&request.url));
    let proxy = plan.connection.proxy.as_deref();
    let url_origin = url.and_then(|url| origin_of(url).ok());
    let peer = proxy.or(url).and_then(|url| origin_of(url).ok());
    let Some((_, origin)) = peer else { return Vec::new() };
    let allowed = AllowedTargets::from_hosts(&plan.allowed_targets);
    if let Some(allowed) = &allowed {
        let url_host = url_origin.map_or_else(|| origin.host.clone(), |(_, origin)| origin.host);
        // The run counts such requests as failed. A lookup would leave this machine before.
        if allowed.check_hosts(&url_host, &origin.host).is_err() {
            return Vec::new();
        }
    }
    let Some(mut addresses) = known_addresses(&plan.connection, &origin.host, origin.port) else {
        return resolve(origin.host, origin.port, timeout);
    };
    if let Some(allowed) = allowed {
        addresses.retain(|address| allowed.check_configured(&origin.host, address.ip()).is_ok());
    }
    addresses
}

/// Addresses that are known without a resolver.
fn known_addresses(
    connection: &ConnectionSettings,
    host: &str,
    port: u16,
) -> Option<Vec<SocketAddr>> {
    if let Some(all) = connection.resolve_all {
        return Some(vec![all.address]);
    }
    let addresses = connection.resolve.iter().filter(|r| r.is_of(host, port));
    let addresses: Vec<_> = addresses.map(|r| SocketAddr::new(r.address, port)).collect();
    if !addresses.is_empty() {
        return Some(addresses);
    }
    host.parse::<IpAddr>().ok().map(|address| vec![SocketAddr::new(address, port)])
}

fn resolve(host: String, port: u16, timeout: Duration) -> Vec<SocketAddr> {
    let (sender, receiver) = mpsc::channel();
    // The result of a slower resolution is discarded; the thread ends with it.
    let thread = thread::Builder::new().name("brunt-resolve".into()).spawn(move || {
        let addresses = (&*host, port).to_socket_addrs().map(Vec::from_iter).unwrap_or_default();
        let _ = sender.send(addresses);
    });
    let mut addresses =
        thread.ok().and_then(|_| receiver.recv_timeout(timeout).ok()).unwrap_or_default();
    addresses.dedup();
    addresses
}

/// The URL with `https` in place of `http`, and the same port; None for any other scheme.
pub(crate) fn with_tls(url: &str) -> Option<String> {
    let rest = url.strip_prefix("http://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    // Without a port, `https` would use 443.
    let port = if has_port { "" } else { ":80" };
    Some(format!("https://{authority}{port}{path}"))
}

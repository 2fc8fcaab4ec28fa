//! Resolves the addresses that ab needs before its first request. Failures end the run.

use super::args::AbArgs;
use super::classic::Fatal;
use brunt_model::plan::Resolve;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

/// Timeout for connecting to one of several addresses before ab tries the next.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Resolves the name of the server or proxy. The result is empty if it already is an address.
///
/// ab tries a name's addresses in turn until one answers, and stays with that one.
pub fn resolve(args: &AbArgs) -> Result<Vec<Resolve>, Fatal> {
    let target = &args.target;
    let (host, port) =
        args.proxy.as_ref().map_or((&*target.host, target.port), |(host, port)| (&**host, *port));
    if host.parse::<IpAddr>().is_ok() {
        return Ok(Vec::new());
    }
    let addresses = look_up(host, port)?;
    let first = match &addresses[..] {
        // A single address needs no trial connection, which the server would see.
        [only] => Some(only),
        several => several.iter().find(|address| accepts_connection(address)).or(several.first()),
    };
    Ok(first
        .map(|address| Resolve { host: host.to_owned(), port, address: address.ip() })
        .into_iter()
        .collect())
}

/// Resolves the address of `-B`, which must be an address of this machine.
pub fn source(args: &AbArgs) -> Result<Option<IpAddr>, Fatal> {
    let Some(name) = &args.source else { return Ok(None) };
    let addresses = look_up(name, 0)?;
    let address = addresses.first().map(SocketAddr::ip);
    // Binding fails unless the address belongs to this machine.
    match address.map(|ip| UdpSocket::bind((ip, 0))) {
        Some(Err(_)) => Err(Fatal::new("bind", "Cannot assign requested address", 99)),
        _ => Ok(address),
    }
}

fn accepts_connection(address: &SocketAddr) -> bool {
    TcpStream::connect_timeout(address, CONNECT_TIMEOUT).is_ok()
}

fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, Fatal> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| lookup_error(host, &error))?;
    let mut all: Vec<SocketAddr> = Vec::new();
    for address in addresses {
        // The resolver may list an address more than once.
        if !all.contains(&address) {
            all.push(address);
        }
    }
    Ok(all)
}

/// Formats the resolver's error with the message and number of APR, ab's library.
fn lookup_error(host: &str, error: &io::Error) -> Fatal {
    let text = error.to_string();
    // The error begins with a prefix of Rust; the part after it is from getaddrinfo.
    let text = text.rsplit(": ").next().unwrap_or("Name or service not known");
    let number = if text.starts_with("Temporary") { 670_003 } else { 670_002 };
    Fatal::new(&format!("apr_sockaddr_info_get() for {host}"), text, number)
}

//! What ab finds out, and may end of, before its first request: names, addresses, certificates.

use super::args::Args;
use super::classic::Fatal;
use brunt_model::plan::Resolve;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

/// How long one of several addresses may take to answer before the next is tried.
const PATIENCE: Duration = Duration::from_secs(3);

/// The address that the server's name, or the proxy's, stands for; none where it is one already.
///
/// ab tries a name's addresses in turn until one answers, and stays with that one.
pub fn resolve(args: &Args) -> Result<Vec<Resolve>, Fatal> {
    let target = &args.target;
    let (host, port) = args.proxy.as_ref().map_or((&*target.host, target.port), |(host, port)| (&**host, *port));
    if host.parse::<IpAddr>().is_ok() {
        return Ok(Vec::new());
    }
    let found = look_up(host, port)?;
    let answers = |address: &&SocketAddr| TcpStream::connect_timeout(address, PATIENCE).is_ok();
    let first = match &found[..] {
        [only] => Some(only),
        several => several.iter().find(answers).or(several.first()),
    };
    Ok(first.map(|a| Resolve { host: host.to_owned(), port, address: a.ip() }).into_iter().collect())
}

/// The address of `-B`, which must be one of ours.
pub fn source(args: &Args) -> Result<Option<IpAddr>, Fatal> {
    let Some(asked) = &args.source else { return Ok(None) };
    let found = look_up(asked, 0)?;
    let address = found.first().map(SocketAddr::ip);
    match address.map(|ip| UdpSocket::bind((ip, 0))) {
        Some(Err(_)) => Err(Fatal::new("bind", "Cannot assign requested address", 99)),
        _ => Ok(address),
    }
}

fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, Fatal> {
    let found = (host, port).to_socket_addrs().map_err(|error| unknown(host, &error))?;
    let mut all: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    Ok(all)
}

/// The resolver's error in the words and with the number of the library that ab is made with.
fn unknown(host: &str, error: &io::Error) -> Fatal {
    let text = error.to_string();
    let text = text.rsplit(": ").next().unwrap_or("Name or service not known");
    let number = if text.starts_with("Temporary") { 670_003 } else { 670_002 };
    Fatal::new(&format!("apr_sockaddr_info_get() for {host}"), text, number)
}

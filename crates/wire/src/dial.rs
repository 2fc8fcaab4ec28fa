//! Connects a socket to an address.

use crate::sys;
use rustix::io::Errno;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use tokio::io::unix::AsyncFd;

/// The address to connect to, and the local address to connect from.
#[derive(Debug, Clone, Copy)]
pub enum Destination<'a> {
    /// TCP, from a local address if one is given.
    Tcp(SocketAddr, Option<IpAddr>),
    /// A Unix socket.
    Unix(&'a Path),
}

/// Sizes of the kernel's socket buffers, in bytes. None leaves the kernel's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Buffers {
    /// Send buffer.
    pub send: Option<usize>,
    /// Receive buffer. A small one makes the client a slow reader.
    pub receive: Option<usize>,
}

/// Connects to an address and waits until the connection is open.
///
/// # Errors
///
/// If the system provides no socket, or the connection is refused.
pub async fn dial(destination: Destination<'_>, buffers: Buffers) -> io::Result<AsyncFd<Socket>> {
    let (domain, address) = match destination {
        Destination::Tcp(address, _) => (Domain::for_address(address), SockAddr::from(address)),
        Destination::Unix(path) => (Domain::UNIX, SockAddr::unix(path)?),
    };
    let socket = new_socket(domain)?;
    if let Some(bytes) = buffers.send {
        socket.set_send_buffer_size(bytes)?;
    }
    if let Some(bytes) = buffers.receive {
        // Before connect(2), since the handshake announces the window scale (RFC 7323 section 2.2).
        socket.set_recv_buffer_size(bytes)?;
    }
    if let Destination::Tcp(_, source) = destination {
        // Nagle's algorithm would delay the last packet of a request until an acknowledgment.
        socket.set_tcp_nodelay(true)?;
        if let Some(source) = source {
            // Otherwise bind(2) reserves a port for all destinations, and ports run out sooner.
            sys::bind_without_port(&socket)?;
            let bound = socket.bind(&SockAddr::from(SocketAddr::new(source, 0)));
            bound.map_err(|e| bind_error(source, e))?;
        }
    }
    let is_in_progress = match socket.connect(&address) {
        Ok(()) => false,
        Err(e) if Errno::from_io_error(&e) == Some(Errno::INPROGRESS) => true,
        Err(e) => return Err(e),
    };
    // On the same machine the connection is open when connect(2) returns, even
    // if it returned EINPROGRESS.
    let is_in_progress = is_in_progress && socket.peer_addr().is_err();
    let io = sys::watch(socket)?;
    if is_in_progress {
        io.writable().await?.retain_ready();
        // A writable socket may also be a failed one: SO_ERROR tells them apart (connect(2)).
        if let Some(error) = io.get_ref().take_error()? {
            return Err(error);
        }
    }
    Ok(io)
}

/// Explains EADDRNOTAVAIL of bind(2). No port was requested, so it does not mean exhausted ports.
fn bind_error(source: IpAddr, error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::ADDRNOTAVAIL) => {
            io::Error::other(format!("{source} is no address of this machine; see --source"))
        }
        _ => error,
    }
}

#[cfg(target_os = "linux")]
fn new_socket(domain: Domain) -> io::Result<Socket> {
    Socket::new_raw(domain, Type::STREAM.nonblocking().cloexec(), None)
}

#[cfg(not(target_os = "linux"))]
fn new_socket(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

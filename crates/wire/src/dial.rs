//! From an address to a connected socket.

use crate::sys;
use rustix::io::Errno;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use tokio::io::unix::AsyncFd;

/// Where to connect, and from where.
#[derive(Debug, Clone, Copy)]
pub enum Destination<'a> {
    /// TCP, from a local address where one is given.
    Tcp(SocketAddr, Option<IpAddr>),
    /// A Unix socket.
    Unix(&'a Path),
}

/// Bytes that the kernel is asked to keep for each direction of a connection; None: as it likes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Buffers {
    /// For what is sent.
    pub send: Option<usize>,
    /// For what comes: clients that are to read slowly have a small one.
    pub receive: Option<usize>,
}

/// Connects.
///
/// # Errors
///
/// If the system grants no socket, or the connection is not accepted.
pub async fn dial(to: Destination<'_>, buffers: Buffers) -> io::Result<AsyncFd<Socket>> {
    let (domain, address) = match to {
        Destination::Tcp(address, _) => (Domain::for_address(address), SockAddr::from(address)),
        Destination::Unix(path) => (Domain::UNIX, SockAddr::unix(path)?),
    };
    let socket = new_socket(domain)?;
    if let Some(bytes) = buffers.send {
        socket.set_send_buffer_size(bytes)?;
    }
    if let Some(bytes) = buffers.receive {
        socket.set_recv_buffer_size(bytes)?;
    }
    if let Destination::Tcp(_, source) = to {
        socket.set_tcp_nodelay(true)?;
        if let Some(source) = source {
            sys::bind_without_port(&socket)?;
            let bound = socket.bind(&SockAddr::from(SocketAddr::new(source, 0)));
            bound.map_err(|e| not_ours(source, e))?;
        }
    }
    let connecting = match socket.connect(&address) {
        Ok(()) => false,
        Err(e) if Errno::from_io_error(&e) == Some(Errno::INPROGRESS) => true,
        Err(e) => return Err(e),
    };
    // On the same machine the connection stands when connect(2) returns, whatever it says.
    let connecting = connecting && socket.peer_addr().is_err();
    let io = sys::watch(socket)?;
    if connecting {
        io.writable().await?.retain_ready();
        if let Some(error) = io.get_ref().take_error()? {
            return Err(error);
        }
    }
    Ok(io)
}

/// No port was asked for yet: it is not that none is left.
fn not_ours(source: IpAddr, error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::ADDRNOTAVAIL) => io::Error::other(format!("{source} is no address of this machine; see --source")),
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

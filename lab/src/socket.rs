//! Sockets: listening, and reading with the kernel's receive stamp.
//!
//! `SO_TIMESTAMPNS` works for TCP on Linux: the stamp of a read is that of the last packet which it drained. It is set
//! on the listener, from which accepted sockets inherit it. Unix sockets carry none.

use std::io::{self, IoSliceMut, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::args::Listen;

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// A listening socket, and the address that it has got.
///
/// # Errors
///
/// If the address cannot be had.
pub fn listen(at: &Listen, backlog: i32, stamped: bool) -> io::Result<(OwnedFd, Listen)> {
    let socket = match at {
        Listen::Tcp(address) => {
            let socket = net::socket_with(AddressFamily::of(address), SocketType::STREAM, FLAGS, None)?;
            net::sockopt::set_socket_reuseaddr(&socket, true)?;
            net::bind(&socket, address)?;
            socket
        }
        Listen::Unix(path) => {
            let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
            net::bind(&socket, &net::SocketAddrUnix::new(path)?)?;
            socket
        }
    };
    let is_tcp = matches!(at, Listen::Tcp(_));
    if stamped && is_tcp {
        setsockopt(&socket, ReceiveTimestampns, &true)?;
    }
    net::listen(&socket, backlog)?;
    let bound = match at {
        Listen::Tcp(_) => Listen::Tcp(net::getsockname(&socket)?.try_into()?),
        Listen::Unix(_) => at.clone(),
    };
    Ok((socket, bound))
}

trait OfAddress {
    fn of(address: &std::net::SocketAddr) -> Self;
}

impl OfAddress for AddressFamily {
    fn of(address: &std::net::SocketAddr) -> Self {
        if address.is_ipv4() { Self::INET } else { Self::INET6 }
    }
}

/// The next connection of a listener, ready for use in an event loop.
///
/// # Errors
///
/// If there is none, or the system grants no descriptor.
pub fn accept(listener: &OwnedFd, is_tcp: bool) -> io::Result<OwnedFd> {
    let socket = net::accept_with(listener, FLAGS)?;
    if is_tcp {
        net::sockopt::set_tcp_nodelay(&socket, true)?;
    }
    Ok(socket)
}

/// Makes closing this socket send a reset.
///
/// # Errors
///
/// If the option cannot be set.
pub fn reset_on_close(socket: &OwnedFd) -> io::Result<()> {
    Ok(net::sockopt::set_socket_linger(socket, Some(std::time::Duration::ZERO))?)
}

/// Reads what there is.
///
/// # Errors
///
/// If there is nothing, or the connection is broken.
pub fn read(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(net::recv(socket, buffer, RecvFlags::empty())?.0)
}

/// Reads what there is, and when the kernel received the last of it (nanoseconds of `CLOCK_REALTIME`).
///
/// # Errors
///
/// If there is nothing, or the connection is broken.
pub fn read_stamped(socket: &OwnedFd, buffer: &mut [u8], control: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(control), MsgFlags::empty())?;
    let stamp = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(time) => Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64),
        _ => None,
    });
    Ok((message.bytes, stamp))
}

/// Room for the control message of [`read_stamped`].
pub fn control_buffer() -> Vec<u8> {
    nix::cmsg_space!(nix::sys::time::TimeSpec)
}

/// A socket as a writer that never raises SIGPIPE.
#[derive(Debug)]
pub struct Writer<'a>(pub &'a OwnedFd);

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(net::send(self.0.as_fd(), bytes, SendFlags::NOSIGNAL)?)
    }

    fn write_vectored(&mut self, slices: &[io::IoSlice<'_>]) -> io::Result<usize> {
        let mut none = net::SendAncillaryBuffer::default();
        Ok(net::sendmsg(self.0.as_fd(), slices, &mut none, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

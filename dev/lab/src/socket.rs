//! Opens sockets, and reads with the kernel's receive stamp.
//!
//! On Linux, `SO_TIMESTAMPNS` works for TCP: the stamp of a read is that of the last packet which
//! it drained. It is set on the listener; accepted sockets inherit it. Unix sockets have none.

use std::io::{self, IoSliceMut, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage, recvmsg, setsockopt,
    sockopt::ReceiveTimestampns,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::time::Timespec;

use crate::args::Listen;

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// Size of the kernel's buffer for each direction of UDP, in bytes.
const UDP_BUFFER: usize = 4 << 20;

/// Maximum wait for space in the socket's buffer.
// The only thread waits, so that all other replies are late by this time.
const SEND_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Returns a listening socket, and its address.
///
/// # Errors
///
/// If the address is not available.
pub fn listen(address: &Listen, backlog: i32, stamped: bool) -> io::Result<(OwnedFd, Listen)> {
    let socket = match address {
        Listen::Tcp(ip) => {
            let socket = net::socket_with(AddressFamily::of(ip), SocketType::STREAM, FLAGS, None)?;
            // Closed connections of an earlier server must not keep the port (TIME_WAIT).
            net::sockopt::set_socket_reuseaddr(&socket, true)?;
            net::bind(&socket, ip)?;
            socket
        }
        Listen::Unix(path) => {
            let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
            net::bind(&socket, &net::SocketAddrUnix::new(path)?)?;
            socket
        }
    };
    let is_tcp = matches!(address, Listen::Tcp(_));
    // Accepted sockets inherit the option, so no packet precedes it.
    if stamped && is_tcp {
        setsockopt(&socket, ReceiveTimestampns, &true)?;
    }
    net::listen(&socket, backlog)?;
    let bound = match address {
        Listen::Tcp(_) => Listen::Tcp(net::getsockname(&socket)?.try_into()?),
        Listen::Unix(_) => address.clone(),
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

/// Accepts the next connection of a listener, ready for an event loop.
///
/// # Errors
///
/// If there is none, or the system provides no descriptor.
pub fn accept(listener: &OwnedFd, is_tcp: bool) -> io::Result<OwnedFd> {
    let socket = net::accept_with(listener, FLAGS)?;
    if is_tcp {
        // Small replies must not wait for acknowledgements of earlier ones (Nagle's algorithm).
        net::sockopt::set_tcp_nodelay(&socket, true)?;
    }
    Ok(socket)
}

/// Makes closing this socket send a reset.
pub fn reset_on_close(socket: &OwnedFd) -> io::Result<()> {
    // socket(7): with a linger time of 0, close(2) discards unsent data and sends RST.
    Ok(net::sockopt::set_socket_linger(socket, Some(std::time::Duration::ZERO))?)
}

/// Reads the available bytes.
///
/// # Errors
///
/// If there is nothing, or the connection is broken.
pub fn read(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(net::recv(socket, buffer, RecvFlags::empty())?.0)
}

/// Reads the available bytes. Also returns when the kernel received the last of
/// them (nanoseconds of `CLOCK_REALTIME`).
///
/// # Errors
///
/// If there is nothing, or the connection is broken.
pub fn read_stamped(
    socket: &OwnedFd,
    buffer: &mut [u8],
    control: &mut [u8],
) -> io::Result<(usize, Option<u64>)> {
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(control), MsgFlags::empty())?;
    Ok((message.bytes, stamp_of(&message)?))
}

fn stamp_of<S>(message: &RecvMsg<'_, '_, S>) -> io::Result<Option<u64>> {
    Ok(message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(time) => {
            Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
        }
        _ => None,
    }))
}

/// Returns a UDP socket at this address.
///
/// # Errors
///
/// If the address is not available.
pub fn bind_udp(address: std::net::SocketAddr, stamped: bool) -> io::Result<OwnedFd> {
    let socket = net::socket_with(AddressFamily::of(&address), SocketType::DGRAM, FLAGS, None)?;
    net::bind(&socket, &address)?;
    if stamped {
        setsockopt(&socket, ReceiveTimestampns, &true)?;
    }
    // The kernel may grant less. Smaller buffers lose packets only if many arrive at once.
    let _ = net::sockopt::set_socket_recv_buffer_size(&socket, UDP_BUFFER);
    let _ = net::sockopt::set_socket_send_buffer_size(&socket, UDP_BUFFER);
    Ok(socket)
}

/// Reads a packet. Returns its length, when the kernel received it (see
/// [`read_stamped`]), and its source.
///
/// # Errors
///
/// If there is none.
pub fn receive_from(
    socket: &OwnedFd,
    buffer: &mut [u8],
    control: &mut [u8],
) -> io::Result<(usize, Option<u64>, std::net::SocketAddr)> {
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<SockaddrStorage>(
        socket.as_raw_fd(),
        &mut slices,
        Some(control),
        MsgFlags::empty(),
    )?;
    let address = message.address.ok_or(io::ErrorKind::InvalidData)?;
    let v4 = address.as_sockaddr_in().map(|from| std::net::SocketAddrV4::from(*from).into());
    let v6 = || address.as_sockaddr_in6().map(|from| std::net::SocketAddrV6::from(*from).into());
    let from = v4.or_else(v6).ok_or(io::ErrorKind::InvalidData)?;
    Ok((message.bytes, stamp_of(&message)?, from))
}

/// Sends a packet. Waits briefly if the socket's buffer is full.
pub fn send_to(socket: &OwnedFd, packet: &[u8], to: std::net::SocketAddr) -> io::Result<usize> {
    match net::sendto(socket, packet, SendFlags::NOSIGNAL, &to) {
        Err(rustix::io::Errno::AGAIN) => {
            // A lost packet would be sent again only after a timeout of QUIC, and spoil the
            // computed times.
            let mut wait = [PollFd::new(socket, PollFlags::OUT)];
            poll(&mut wait, Some(&SEND_TIMEOUT))?;
            Ok(net::sendto(socket, packet, SendFlags::NOSIGNAL, &to)?)
        }
        result => Ok(result?),
    }
}

/// Returns a buffer for the control message of [`read_stamped`].
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
        // writev(2) has no flag against SIGPIPE, which would end the process.
        Ok(net::sendmsg(self.0.as_fd(), slices, &mut none, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

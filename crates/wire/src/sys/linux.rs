//! System calls that only Linux has.

use super::Received;
use super::raw::{receive, set_option};
#[cfg(feature = "http3")]
use rustix::net::RecvFlags;
use socket2::Socket;
use std::io;
#[cfg(feature = "http3")]
use std::net::SocketAddr;

/// Drops up to `most` received bytes inside the kernel, without copying them.
///
/// `MSG_TRUNC` on a TCP socket consumes without copying (tcp(7)). `spare` only limits the call
/// and is not written.
pub(crate) fn discard(socket: &Socket, spare: &mut [u8], most: u64) -> io::Result<Received> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX).min(spare.len());
    receive(socket, &mut spare[..limit], libc::MSG_TRUNC)
}

/// Asks the kernel to report with each read how many bytes remain in the socket (`TCP_INQ`).
pub(crate) fn report_remaining(socket: &Socket) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_INQ, 1)
}

/// Asks the kernel to signal readability only when `bytes` are available, or at the end.
pub(crate) fn set_low_water_mark(socket: &Socket, bytes: u32) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes as libc::c_int)
}

/// Defers the choice of the local port to connect(2), so that one port may
/// serve many destinations (ip(7)).
pub(crate) fn bind_without_port(socket: &Socket) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

/// Asks the kernel to timestamp received bytes (socket(7)).
pub(crate) fn enable_timestamps(socket: &Socket) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Reads the available bytes, and returns the timestamp of their last segment.
pub(crate) fn recv_timestamped(socket: &Socket, buffer: &mut [u8]) -> io::Result<Received> {
    receive(socket, buffer, 0)
}

/// Asks the kernel to report packets that were refused on their way (ip(7), ipv6(7)).
#[cfg(feature = "http3")]
pub(crate) fn report_refusals(socket: &Socket, ipv6: bool) -> io::Result<()> {
    if ipv6 {
        set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1)
    } else {
        set_option(socket, libc::IPPROTO_IP, libc::IP_RECVERR, 1)
    }
}

/// Returns the destination of a packet that was refused on its way. None if there are no more.
#[cfg(feature = "http3")]
pub(crate) fn take_refusal(socket: &Socket) -> Option<SocketAddr> {
    let mut packet = [0_u8; 64];
    let (_, _, destination) =
        rustix::net::recvfrom(socket, &mut packet[..], RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT)
            .ok()?;
    SocketAddr::try_from(destination?).ok()
}

//! What only Linux has.

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
/// `MSG_TRUNC` on a TCP socket consumes and does not copy (tcp(7)); `spare` only bounds the call and is not written.
pub(crate) fn discard(socket: &Socket, spare: &mut [u8], most: u64) -> io::Result<Received> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(spare.len());
    receive(socket, &mut spare[..most], libc::MSG_TRUNC)
}

/// Asks the kernel to report with each read how many bytes remain in the socket (`TCP_INQ`).
pub(crate) fn tell_left(socket: &Socket) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_INQ, 1)
}

/// Asks not to be woken before `bytes` are there, or the end.
pub(crate) fn wake_at(socket: &Socket, bytes: u32) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes as libc::c_int)
}

/// Leaves the choice of the local port to connect(2), so that a port may serve many destinations (ip(7)).
pub(crate) fn bind_without_port(socket: &Socket) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

/// Asks the kernel to keep with what comes when it came (socket(7)).
pub(crate) fn stamp_receipt(socket: &Socket) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Reads what is there, and tells when its last segment came.
pub(crate) fn read_stamped(socket: &Socket, buffer: &mut [u8]) -> io::Result<Received> {
    receive(socket, buffer, 0)
}

/// Asks the kernel to tell which packets were refused on their way (ip(7), ipv6(7)).
#[cfg(feature = "http3")]
pub(crate) fn tell_refusals(socket: &Socket, ipv6: bool) -> io::Result<()> {
    if ipv6 {
        set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1)
    } else {
        set_option(socket, libc::IPPROTO_IP, libc::IP_RECVERR, 1)
    }
}

/// Where a packet was going that was refused on its way; None: no more were.
#[cfg(feature = "http3")]
pub(crate) fn take_refusal(socket: &Socket) -> Option<SocketAddr> {
    let mut packet = [0_u8; 64];
    let (_, _, to) = rustix::net::recvfrom(socket, &mut packet[..], RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT).ok()?;
    SocketAddr::try_from(to?).ok()
}

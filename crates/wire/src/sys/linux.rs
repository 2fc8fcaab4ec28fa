//! What only Linux has.

use super::raw::set_option;
use rustix::net::RecvFlags;
use socket2::Socket;
use std::io;

/// Drops up to `most` received bytes inside the kernel, without copying them; how many were there.
///
/// `MSG_TRUNC` on a TCP socket consumes and does not copy (tcp(7)); `spare` only bounds the call and is not written.
pub(crate) fn discard(socket: &Socket, spare: &mut [u8], most: u64) -> io::Result<usize> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(spare.len());
    let (_, n) = rustix::net::recv(socket, &mut spare[..most], RecvFlags::TRUNC)?;
    Ok(n)
}

/// Asks not to be woken before `bytes` are there, or the end.
pub(crate) fn wake_at(socket: &Socket, bytes: u32) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes as libc::c_int)
}

/// Leaves the choice of the local port to connect(2), so that a port may serve many destinations (ip(7)).
pub(crate) fn bind_without_port(socket: &Socket) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

//! What serves where Linux's own calls are not to be had: correct, and slower for long bodies.

use rustix::net::RecvFlags;
use socket2::Socket;
use std::io;

/// Reads up to `most` received bytes and forgets them; how many there were.
pub(crate) fn discard(socket: &Socket, spare: &mut [u8], most: u64) -> io::Result<usize> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(spare.len());
    let (n, _) = rustix::net::recv(socket, &mut spare[..most], RecvFlags::empty())?;
    Ok(n)
}

/// Not to be had: one is woken for every packet.
pub(crate) fn wake_at(_: &Socket, _: u32) -> io::Result<()> {
    Ok(())
}

/// Not to be had: bind(2) chooses the port.
pub(crate) fn bind_without_port(_: &Socket) -> io::Result<()> {
    Ok(())
}

//! What serves where Linux's own calls are not to be had: correct, and slower for long bodies.

use rustix::net::RecvFlags;
use socket2::Socket;
use std::io;
use std::time::Duration;

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

/// Not to be had.
pub(crate) fn stamp_receipt(_: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads what is there; when it came is not known.
pub(crate) fn read_stamped(socket: &Socket, buffer: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    let (n, _) = rustix::net::recv(socket, buffer, RecvFlags::empty())?;
    Ok((n, None))
}

/// The same as [`discard`]; when it came is not known.
pub(crate) fn discard_stamped(socket: &Socket, spare: &mut [u8], most: u64) -> io::Result<(usize, Option<Duration>)> {
    discard(socket, spare, most).map(|n| (n, None))
}

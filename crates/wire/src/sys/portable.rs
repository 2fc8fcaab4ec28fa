//! What serves where Linux's own calls are not to be had: correct, and slower for long bodies.

use super::Received;
use rustix::net::RecvFlags;
use socket2::Socket;
use std::io;

/// Reads up to `most` received bytes and forgets them.
pub(crate) fn discard(socket: &Socket, spare: &mut [u8], most: u64) -> io::Result<Received> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(spare.len());
    read_stamped(socket, &mut spare[..most])
}

/// Not to be had.
pub(crate) fn tell_left(_: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
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
pub(crate) fn read_stamped(socket: &Socket, buffer: &mut [u8]) -> io::Result<Received> {
    let (bytes, _) = rustix::net::recv(socket, buffer, RecvFlags::empty())?;
    Ok(Received::from(bytes))
}

/// Not to be had.
#[cfg(feature = "http3")]
pub(crate) fn tell_refusals(_: &Socket, _: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not to be had.
#[cfg(feature = "http3")]
pub(crate) fn take_refusal(_: &Socket) -> Option<std::net::SocketAddr> {
    None
}

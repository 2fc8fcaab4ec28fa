//! Substitutes for Linux's system calls on other systems: correct, but slower for long bodies.

use super::Received;
use rustix::net::RecvFlags;
use socket2::Socket;
use std::io;

/// Reads up to `most` received bytes and discards them.
pub(crate) fn discard(socket: &Socket, spare: &mut [u8], most: u64) -> io::Result<Received> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX).min(spare.len());
    recv_timestamped(socket, &mut spare[..limit])
}

/// Returns an error: unavailable.
pub(crate) fn report_remaining(_: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: unavailable. A task is woken for every packet.
pub(crate) fn set_low_water_mark(_: &Socket, _: u32) -> io::Result<()> {
    Ok(())
}

/// Does nothing: unavailable. bind(2) chooses the port.
pub(crate) fn bind_without_port(_: &Socket) -> io::Result<()> {
    Ok(())
}

/// Returns an error: unavailable.
pub(crate) fn enable_timestamps(_: &Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads the available bytes, without a timestamp.
pub(crate) fn recv_timestamped(socket: &Socket, buffer: &mut [u8]) -> io::Result<Received> {
    let (bytes, _) = rustix::net::recv(socket, buffer, RecvFlags::empty())?;
    Ok(Received::from(bytes))
}

/// Returns an error: unavailable.
#[cfg(feature = "http3")]
pub(crate) fn report_refusals(_: &Socket, _: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns nothing: unavailable.
#[cfg(feature = "http3")]
pub(crate) fn take_refusal(_: &Socket) -> Option<std::net::SocketAddr> {
    None
}

//! The one file with unsafe code: registering a descriptor with the runtime, and socket options that no library names.
#![allow(unsafe_code)]

use socket2::Socket;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use tokio::io::unix::AsyncFd;

/// Descriptors that own a file for as long as they live and never change which.
pub trait Owner: AsRawFd + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Socket {}
impl Owner for Socket {}
impl sealed::Sealed for OwnedFd {}
impl Owner for OwnedFd {}

/// Registers a descriptor with the runtime of this thread, for reading and writing, edge-triggered.
pub fn watch<T: Owner>(descriptor: T) -> io::Result<AsyncFd<T>> {
    // SAFETY: `Owner` is sealed over types that own one open file for their whole life and always name the same; the
    // `AsyncFd` owns the value and no code here takes the file out of it.
    Ok(unsafe { AsyncFd::register(descriptor) }?)
}

#[cfg(all(target_os = "linux", not(brunt_portable)))]
pub(super) fn set_option(socket: &Socket, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open for as long as `socket` lives; `value` is an int that outlives the call, and
    // `size` is its size.
    let answer = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

//! Contains all unsafe code: registering a descriptor with the runtime, and socket options and
//! messages that no library supports.
#![allow(unsafe_code)]

#[cfg(all(target_os = "linux", not(brunt_portable)))]
use super::Received;
use socket2::Socket;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
#[cfg(all(target_os = "linux", not(brunt_portable)))]
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Descriptors that own one open file for their whole life.
pub trait SocketOwner: AsRawFd + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Socket {}
impl SocketOwner for Socket {}
impl sealed::Sealed for OwnedFd {}
impl SocketOwner for OwnedFd {}

/// Registers a descriptor with the runtime of this thread, for reading and writing, edge-triggered.
///
/// # Errors
///
/// If the system cannot watch the descriptor.
pub fn watch<T: SocketOwner>(descriptor: T) -> io::Result<AsyncFd<T>> {
    // SAFETY: `SocketOwner` is sealed over types that own one open file for their whole life and
    // always refer to the same one. The `AsyncFd` owns the value, and no code here takes the
    // file out of it.
    Ok(unsafe { AsyncFd::register(descriptor) }?)
}

#[cfg(all(target_os = "linux", not(brunt_portable)))]
pub(super) fn set_option(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `socket` lives. `value` is an int that outlives the
    // call, and `size` is its size.
    let answer = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size)
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads into `buffer`, with the data that the kernel adds. With `SO_TIMESTAMPNS`, that
/// is the timestamp of the last segment that was read. With `TCP_INQ`, it is the number
/// of bytes that remain.
#[cfg(all(target_os = "linux", not(brunt_portable)))]
pub(super) fn receive(
    socket: &Socket,
    buffer: &mut [u8],
    flags: libc::c_int,
) -> io::Result<Received> {
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // An array of u64, so that the headers in it are aligned.
    let mut control = [0_u64; 16];
    // SAFETY: all fields are numbers and pointers, for which zero is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the descriptor is open as long as `socket` lives. `message` refers to `buffer` and
    // `control` with their sizes, and both outlive the call.
    let n = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let bytes = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
    let mut received = Received { bytes, timestamp: None, remaining: None };
    // SAFETY: recvmsg(2) has filled `message`. Each header is null or lies in `control` with all of
    // its data, and its level and type determine the type of the data.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
                    received.timestamp =
                        Some(Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32));
                }
                (libc::SOL_TCP, libc::TCP_CM_INQ) => {
                    let remaining = libc::CMSG_DATA(header).cast::<libc::c_int>().read_unaligned();
                    received.remaining = Some(remaining.max(0) as u32);
                }
                _ => {}
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    Ok(received)
}

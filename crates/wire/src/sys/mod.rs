//! The interface to the operating system: calls that only Linux has, and portable substitutes.

use std::time::Duration;

mod raw;
pub use raw::{SocketOwner, watch};

#[cfg(all(target_os = "linux", not(brunt_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(brunt_portable)))]
pub(crate) use linux::{
    bind_without_port, discard, enable_timestamps, recv_timestamped, report_remaining,
    set_low_water_mark,
};
#[cfg(all(feature = "http3", target_os = "linux", not(brunt_portable)))]
pub(crate) use linux::{report_refusals, take_refusal};

#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
mod portable;
#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
pub(crate) use portable::{
    bind_without_port, discard, enable_timestamps, recv_timestamped, report_remaining,
    set_low_water_mark,
};
#[cfg(all(feature = "http3", not(all(target_os = "linux", not(brunt_portable)))))]
pub(crate) use portable::{report_refusals, take_refusal};

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Number of bytes; 0 is the end.
    pub bytes: usize,
    /// When their last segment was received, since 1970; None if unknown.
    pub timestamp: Option<Duration>,
    /// Number of bytes that remain in the socket (the end counts as one); None if unknown.
    pub remaining: Option<u32>,
}

impl From<usize> for Received {
    fn from(bytes: usize) -> Self {
        Self { bytes, timestamp: None, remaining: None }
    }
}

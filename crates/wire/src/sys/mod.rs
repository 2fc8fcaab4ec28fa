//! The seam to the operating system: what Linux does better, and what serves elsewhere.

use std::time::Duration;

mod raw;
pub use raw::{Owner, watch};

#[cfg(all(target_os = "linux", not(brunt_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(brunt_portable)))]
pub(crate) use linux::{bind_without_port, discard, read_stamped, stamp_receipt, tell_left, wake_at};
#[cfg(all(feature = "http3", target_os = "linux", not(brunt_portable)))]
pub(crate) use linux::{take_refusal, tell_refusals};

#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
mod portable;
#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
pub(crate) use portable::{bind_without_port, discard, read_stamped, stamp_receipt, tell_left, wake_at};
#[cfg(all(feature = "http3", not(all(target_os = "linux", not(brunt_portable)))))]
pub(crate) use portable::{take_refusal, tell_refusals};

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Number of bytes; 0 is the end.
    pub bytes: usize,
    /// When the last segment of them came, since 1970; None where that is not known.
    pub at: Option<Duration>,
    /// Number of bytes left (the end counts as one); None where that is not known.
    pub left: Option<u32>,
}

impl From<usize> for Received {
    fn from(bytes: usize) -> Self {
        Self { bytes, at: None, left: None }
    }
}

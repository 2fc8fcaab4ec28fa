//! The seam to the operating system: what Linux does better, and what serves elsewhere.

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

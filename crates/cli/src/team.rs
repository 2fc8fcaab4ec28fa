//! A run as a part of a team: it leases its servers from a studio, and is sent there when it is over.

#[cfg(feature = "studio")]
mod lease;
#[cfg(not(feature = "studio"))]
mod none;
#[cfg(feature = "studio")]
mod session;

#[cfg(not(feature = "studio"))]
pub use none::TeamRun;
#[cfg(feature = "studio")]
pub use session::{TeamRun, send, server};

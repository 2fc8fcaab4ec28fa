//! Checks a server and this machine before a load. Each run begins with a short
//! form of the check.
//!
//! It measures nothing: it opens a few connections and sends at most two requests. Their times only
//! show what kind of network path it is.
//!
//! * [`facts`]: the results. [`advice`]: likely problems.
//! * [`agent`]: the check on an agent. `calibration`: the load that a core carries.
//! * [`look`]: the check itself.
//! * `certificate`: reads a certificate.
//! * `machine_load`: CPU time of other processes.
//! * [`route`]: the route to the server, without a request.
//! * [`rules`]: find the problems.
//! * [`short`]: the check at the start of a run.
//! * [`text`]: the report.
//! * [`reflection`]: reads descriptors from a gRPC server.

pub mod advice;
pub mod agent;
mod calibration;
mod certificate;
mod error;
pub mod facts;
pub mod look;
mod machine_load;
pub mod reflection;
pub mod route;
pub mod rules;
pub mod short;
pub mod text;

pub use error::CheckError;

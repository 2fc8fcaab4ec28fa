//! Checks the server and this machine before a load. Each run begins with a short
//! form of the check.
//!
//! It measures nothing: it opens a few connections and sends at most two requests. Their times only
//! show what kind of network path it is.
//!
//! * [`facts`]: the results.
//! * `agent`: the check on an agent. `calibration`: the load that a core carries.
//! * [`look`]: the check itself.
//! * `certificate`: reads a certificate.
//! * `machine_load`: CPU time of other processes.
//! * [`rules`]: likely problems, and their remedies.
//! * [`short`]: the check at the start of a run.
//! * [`text`]: the report.

pub(crate) mod agent;
mod calibration;
mod certificate;
pub mod facts;
pub mod look;
mod machine_load;
pub mod rules;
pub mod short;
pub mod text;

//! A careful look at the server and at this machine before a load, and the short form of it at the start of each run.
//!
//! It measures nothing: it opens a few connections and sends at most two requests. Their times only show what kind of network
//! path it is.
//!
//! * [`facts`]: what was found. [`look`]: how. `certificate`: reads a certificate. `machine_load`: CPU time of other processes.
//! * [`rules`]: likely problems, and what mends them. [`short`]: at the start of a run. [`text`]:
//!   the report for people.

mod certificate;
pub mod facts;
pub mod look;
mod machine_load;
pub mod rules;
pub mod short;
pub mod text;

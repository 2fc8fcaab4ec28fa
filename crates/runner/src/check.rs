//! A careful look at the server and at this machine before a load, and the short form of it at the start of each run.
//!
//! What it is **not**: a measurement. A few connects and at most two requests are made, and their times are shown only
//! to tell what kind of way it is.
//!
//! * [`facts`]: what was found. [`look`]: how. `certificate`: a certificate, read.
//! * [`rules`]: likely problems, and what mends them. [`short`]: at the start of a run.

mod certificate;
pub mod facts;
pub mod look;
pub mod rules;
pub mod short;

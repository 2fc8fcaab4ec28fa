//! Sends the figures of a run to other systems while it runs: InfluxDB and Graphite, with
//! the names of JMeter.
//!
//! ```text
//! events ─▶ mailbox (a thread for each system) ─▶ fold ─▶ interval ─▶ lines ─▶ sender ─▶ system
//! ```
//!
//! A slow or absent system delays neither the run nor its log: events wait in a mailbox, which
//! merges snapshots, and unsent lines wait in a bounded queue. Lines that remain at the end of a
//! run are lost; a warning of the run counts them. One [`LiveOutputs`] serves all runs of a test,
//! one after the other.
//!
//! * `outputs`: the systems. `labels`: the labels with figures.
//! * `fold`: events → figures of intervals. `influx`, `graphite`: figures → lines.
//! * `sender`: the queue of lines.
//! * `transport`: one attempt to send, with a time limit.

mod fold;
mod graphite;
mod influx;
mod labels;
mod outputs;
mod sender;
mod transport;

pub use labels::LabelPatternError;
pub use outputs::LiveOutputs;
pub use sender::Notify;

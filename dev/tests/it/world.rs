//! Servers, processes and files that tests need.
//!
//! Values stop their processes when they are dropped. Files lie in temporary directories. Every
//! address is a loopback address.

pub mod apache;
pub mod brunt;
pub mod caddy;
pub mod certs;
pub mod lab;
pub mod log;
pub mod lossy;
pub mod machine;
pub mod namespace;
pub mod nginx;
pub mod odd;
pub mod port;
pub mod quic;
pub mod server;
pub mod skip;
pub mod sshd;

pub use brunt::{BruntOutput, command, measure, measure_words, start, start_logged, stdout_of};
pub use lab::{Lab, lab};
pub use nginx::{Nginx, nginx};
pub use odd::{ScriptedServer, serve_reply};

use std::thread::sleep;
use std::time::Duration;

/// Waits until a condition holds. Panics after two minutes: a machine with many busy processes is slow.
pub fn wait_until(condition: &str, mut holds: impl FnMut() -> bool) {
    assert!((0..12_000).any(|_| holds() || wait_a_moment()), "waited in vain: {condition}");
}

/// Sleeps for 10 ms. Returns false, so that it can stand after `||` in a loop.
pub fn wait_a_moment() -> bool {
    sleep(Duration::from_millis(10));
    false
}

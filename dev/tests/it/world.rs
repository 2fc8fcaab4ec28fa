//! What tests need of the world, each thing gone when the test is over: processes end with the value that stands for
//! them, files lie in directories of their own, and every address is a loopback address.

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

pub use brunt::{Ran, command, measure, measure_words, start, told};
pub use lab::{Lab, lab};
pub use nginx::{Nginx, nginx};
pub use odd::{Odd, replying};

use std::thread::sleep;
use std::time::Duration;

/// Waits until it is so, for half a minute at most.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    assert!((0..3000).any(|_| so() || wait_a_moment()), "waited in vain: {what}");
}

/// A hundredth of a second; never true.
pub fn wait_a_moment() -> bool {
    sleep(Duration::from_millis(10));
    false
}

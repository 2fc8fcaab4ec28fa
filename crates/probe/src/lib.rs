//! Readings from the server under test and from ourselves.
//!
//! It decides nothing. It reads, and says what it read.
//!
//! * [`ourselves`]: what we use of our machine, and what the machine gives; one row of `SOURCES` (`sources`) a place.
//! * [`machine`]: where a run is made: kernel, CPU, limits, settings.
//! * [`mod@route`]: the way to the server, and who listens there. [`settings`]: kernel settings that limit a load.
//! * [`limits`]: how many descriptors we may have; raised as far as the system lets us.
//! * [`mod@watch`]: a server under test: its machines, processes and status pages, read again and again beside the load.
//! * [`root`]: where the system's files are, and files that are kept open between readings.

pub mod limits;
pub mod machine;
pub mod ourselves;
pub mod root;
pub mod route;
pub mod settings;
mod sources;
pub mod watch;

pub use ourselves::Ourselves;
pub use root::Root;
pub use route::route;
pub use watch::{Observed, Watch};

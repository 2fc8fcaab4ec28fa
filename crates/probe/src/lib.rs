//! Readings from the server under test and from ourselves.
//!
//! What it is **not**: it decides nothing. It reads, and says what it read.
//!
//! * [`ourselves`]: our own CPU time and memory.
//! * [`machine`]: where a run is made: kernel, CPU, limits, settings.
//! * [`mod@route`]: the way to the server, and who listens there. [`settings`]: kernel settings that limit a load.
//! * [`limits`]: how many descriptors we may have; raised as far as the system lets us.

pub mod limits;
pub mod machine;
pub mod ourselves;
pub mod route;
pub mod settings;

pub use ourselves::Ourselves;
pub use route::route;

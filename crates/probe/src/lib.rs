//! Reads the server under test, this machine and this process. It decides nothing.
//!
//! * [`self_probe`]: the resources that this process uses and the machine provides; `sources` has
//!   one row of `SOURCES` per place.
//! * [`machine`]: the environment of a run: kernel, CPU, limits, settings.
//! * [`mod@route`]: the route to the server, and the process that listens there. [`settings`]:
//!   kernel settings that limit a load.
//! * [`limits`]: the limit on file descriptors, and how it is raised.
//! * [`mod@watch`]: reads a server under test during the load: its machines,
//!   processes and status pages.
//! * [`root`]: access to the system's files, some of which stay open between readings.

pub mod limits;
pub mod machine;
pub mod root;
pub mod route;
pub mod self_probe;
pub mod settings;
mod sources;
pub mod watch;

pub use root::Root;
pub use route::route;
pub use self_probe::SelfProbe;
pub use sources::ReadingMoment;
pub use watch::{ReadingTask, WatchEvent};

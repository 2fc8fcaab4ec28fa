//! Words of the command line and of plan files → values of `model`.
//!
//! A word that cannot be read is a [`WordError`], which says what to write instead. What it is **not**: nothing here has a
//! default, and the only file that is read is a list of URLs.
//!
//! * [`duration`], [`bytes`]: `1.5s`, `124k`.
//! * [`shape`]: a load, `500` or `0..500/30s,500/2m`, or a sweep of many; [`think`], [`arrivals`]: pauses and spacing.
//! * [`objective`], [`goal`], [`compare`], [`status`]: `p99 < 50ms`, `p99±5%`, `p99 worse by 5%`, `200,3xx`.
//! * [`find`]: `capacity > 3000/s`, `2s..20s`.
//! * [`target`]: a URL as people write it; [`urls`]: a file of them.

pub mod arrivals;
pub mod bytes;
pub mod compare;
pub mod duration;
pub mod find;
pub mod goal;
mod number;
pub mod objective;
pub mod shape;
pub mod status;
pub mod target;
pub mod think;
pub mod urls;

pub use brunt_script::WordError;

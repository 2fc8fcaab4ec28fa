//! Parsers of single values of the command line and of plan files, to values of `model`.
//!
//! An invalid value is a [`WordError`] with the remedy. Files that a value names are read: a list
//! of URLs, header fields, a certificate. Out of scope: rules between several values.
//!
//! * [`duration`], [`bytes`]: `1.5s`, `124k`.
//! * [`shape`]: a load such as `500` or `0..500/30s,500/2m`, or a sweep of many loads.
//! * [`think`], [`arrivals`]: pauses and spacing.
//! * [`objective`], [`goal`], [`compare`], [`status`]: `p99 < 50ms`, `p99±5%`, `p99 worse by 5%`,
//!   `200,3xx`.
//! * [`find`]: `capacity > 3000/s`, `2s..20s`.
//! * [`probe`]: a probe such as `nginx=http://127.0.0.1/status`.
//! * [`values`]: header fields, files, secrets and all other values.
//! * [`named`]: tables of values with names.
//! * [`live_output`]: `influx=URL`, a system that receives figures while a load runs.
//! * [`target`]: a URL, absolute or shortened; [`urls`]: a file of them.

pub mod arrivals;
pub mod bytes;
pub mod compare;
pub mod duration;
pub mod events;
pub mod find;
pub mod goal;
pub mod live_output;
pub mod named;
pub(crate) mod number;
pub mod objective;
pub mod placement;
pub mod probe;
pub mod shape;
pub mod status;
pub mod target;
pub mod think;
pub mod urls;
pub mod values;

pub use brunt_script::WordError;

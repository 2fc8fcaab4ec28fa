//! Words of the command line and of plan files → values of `model`.
//!
//! A word that cannot be read is a [`WordError`], which says what to write instead. Out of scope: rules between several words
//! are not here. Files are read that a word names: a list of URLs, headers, a certificate.
//!
//! * [`duration`], [`bytes`]: `1.5s`, `124k`.
//! * [`shape`]: a load, `500` or `0..500/30s,500/2m`, or a sweep of many; [`think`], [`arrivals`]: pauses and spacing.
//! * [`objective`], [`goal`], [`compare`], [`status`]: `p99 < 50ms`, `p99±5%`, `p99 worse by 5%`, `200,3xx`.
//! * [`find`]: `capacity > 3000/s`, `2s..20s`.
//! * [`probe`]: `nginx=http://127.0.0.1/status`. [`values`]: headers, files, secrets and what else has no other place.
//! * [`live_output`]: `influx=URL`, where figures are sent while a load runs.
//! * [`target`]: a URL as people write it; [`urls`]: a file of them.

pub mod arrivals;
pub mod bytes;
pub mod compare;
pub mod duration;
pub mod events;
pub mod find;
pub mod goal;
pub mod live_output;
pub(crate) mod number;
pub mod objective;
pub mod probe;
pub mod shape;
pub mod status;
pub mod target;
pub mod think;
pub mod urls;
pub mod values;

pub use brunt_script::WordError;

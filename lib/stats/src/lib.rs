//! The mathematics of load tests, standing alone.
//!
//! It does no I/O, reads no clock and knows nothing of HTTP. Everything here is a pure function
//! of numbers, so that it can be checked against published answers.
//!
//! * [`histogram`]: counts of durations, exact in count, 0.1 % in value, mergeable in any order.
//! * [`sketch`]: the same at 0.8 % and a few hundred bytes, one for each point of a time series.
//! * [`mser`]: where a series of figures became steady, and whether it did.
//! * [`trend`]: whether a series rises or falls over its whole length.
//! * [`blocks`]: how much a sum varies in a series whose points hang together.
//! * [`order`]: the interval of a quantile, as shares of the sorted values.
//! * [`isotonic`]: the nearest curve that never falls. [`kneedle`]: where a curve bends.
//! * [`saturation`]: where what grows stops growing. [`usl`]: how throughput grows with the number of those who ask.
//! * [`robust`]: middle and width of values of which some may be wrong.
//! * [`bootstrap`]: how sure a figure is, by drawing again. [`rank`]: whether two groups of values differ.
//! * [`permutation`]: whether what was paired in blocks differs, by exchanging the two in each; [`sequential`]: the same, looked
//!   at again and again. [`spending`]: what each look may cost. [`holm`]: many tests at once.
//! * [`shift`]: by how much two groups differ, with an interval; [`bands`]: the same of many quantiles at once.
//! * [`foresight`]: how many blocks it would take.
//! * [`quantile`]: which rank a quantile is, and what may be said where it falls among unfinished requests.

pub mod bands;
pub mod blocks;
pub mod bootstrap;
pub mod foresight;
pub mod histogram;
pub mod holm;
pub mod isotonic;
pub mod kneedle;
pub mod mser;
pub mod order;
pub mod permutation;
pub mod quantile;
pub mod rank;
pub mod robust;
pub mod saturation;
pub mod sequential;
pub mod shift;
pub mod sketch;
pub mod spending;
pub mod trend;
pub mod usl;

pub use histogram::Histogram;
pub use quantile::Quantile;
pub use sketch::Sketch;

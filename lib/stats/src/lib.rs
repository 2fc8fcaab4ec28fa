//! The mathematics of load tests, without dependencies on the rest of brunt.
//!
//! The crate does no I/O, reads no clock and does not know HTTP. Every function is a pure function
//! of numbers, so it can be checked against published results.
//!
//! * [`histogram`]: counts of durations; exact in count, 0.1 % in value, mergeable in any order.
//! * [`sketch`]: histograms with 0.8 % and a few hundred bytes, for the points of a time series.
//! * [`mser`]: finds where a series becomes steady, and whether it does.
//! * [`trend`]: tests whether a series rises or falls over its whole length.
//! * [`growth`]: decides whether a level, such as memory, grows steadily to the end.
//! * [`blocks`]: estimates the variance of a sum over an autocorrelated series.
//! * [`order`]: computes the interval of a quantile, as shares of the sorted values.
//! * [`isotonic`]: fits the nearest non-decreasing curve. [`kneedle`]: finds the knee of a curve.
//! * [`saturation`]: finds where a curve stops growing. [`usl`]: fits throughput over concurrency.
//! * [`robust`]: estimates location and scale of values with outliers.
//! * [`changes`]: finds the change points of a short series with outliers.
//! * [`bootstrap`]: estimates the uncertainty of a figure by resampling. [`rank`]: tests whether
//!   two unpaired groups differ.
//! * [`permutation`]: tests whether values paired in blocks differ, by exchanging the values of
//!   blocks. [`sequential`]: the same test, repeated after each block. [`spending`]: distributes
//!   the significance level over the repetitions. [`holm`]: corrects for many tests at once.
//! * [`shift`]: estimates the difference of two groups with an interval. [`bands`]: the same for
//!   many figures at once.
//! * [`foresight`]: estimates how many more blocks a decision needs.
//! * [`quantile`]: computes the rank of a quantile, also with unfinished requests.

pub mod bands;
pub mod blocks;
pub mod bootstrap;
pub mod changes;
pub mod foresight;
pub mod growth;
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

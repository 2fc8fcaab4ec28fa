//! Formats and limits that plans and scripts written for Java expect.
//!
//! * [`date`]: patterns of `SimpleDateFormat` and `DateTimeFormatter`.
//!   [`number`]: `Double.toString` and `Float.toString`.
//! * [`deadline`]: a time limit for a regular expression that backtracks, and for other
//!   computations that cannot be interrupted.

pub mod date;
pub mod deadline;
pub mod number;

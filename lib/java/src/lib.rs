//! What plans and scripts written for Java expect of texts.
//!
//! * [`date`]: patterns of `SimpleDateFormat` and `DateTimeFormatter`. [`number`]: `Double.toString` and `Float.toString`.
//! * [`deadline`]: a time limit for a regular expression that backtracks, and for anything else that nothing can interrupt.

pub mod date;
pub mod deadline;
pub mod number;

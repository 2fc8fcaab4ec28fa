//! Options, plan files and other forms of input → a `Plan` or an `Experiment`.

pub mod plan;
pub mod words;

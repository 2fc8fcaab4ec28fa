//! Servers made of formulas, in virtual time, whose capacity is known.
//!
//! Requests arrive by a Poisson process and are followed one by one through a queue: first come, first served by c workers
//! (the recursion of Kiefer & Wolfowitz 1955), or a station whose workers hinder one another. Blocks count what ended in
//! them, as those of a real run do.

pub mod machine;
pub mod servers;
pub mod shapes;
pub mod trial;

pub use servers::KINDS;

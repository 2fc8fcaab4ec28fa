//! Compares drop-ins with the tools that they replace: arguments, bytes, exit codes, and the output
//! that programs parse.
//!
//! No expected output is recorded: each test runs the real tool. Measured numbers are masked; all
//! others must be equal.

mod ab;
mod ab_failures;
mod ab_files;
mod ab_parsers;
mod ab_wire;
mod autobench;
mod autobench_admin;
mod bench2graph;
pub mod both;
mod false_httperf;
mod httperf;
mod httperf_failures;
mod httperf_parsers;
mod httperf_wire;
mod jmeter;
mod k6;
mod names;
mod published;
mod recorder;
mod siege;
mod siege_failures;
mod siege_parsers;
mod siege_wire;

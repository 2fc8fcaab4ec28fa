//! Drop-ins beside the tools whose names they bear: the same words, bytes and exit codes, and what programs read of them.
//!
//! Nothing is kept by hand: what is expected is what the real tool says in the test itself. Numbers that are measured are
//! masked; all others must be the same.

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
mod names;
mod published;
mod recorder;
mod siege;
mod siege_failures;
mod siege_parsers;
mod siege_wire;

//! The benchmark suite: brunt beside wrk, ab and h2load, and beside the least that any generator must do.
//!
//! It starts an nginx of its own on a loopback port, lets every tool load it in interleaved rounds, and takes
//! its figures from outside the tools: requests from nginx's own count, CPU time and memory from the kernel's
//! accounting of the finished process.
//!
//! **It is not** a test of correctness, and it believes no tool's own figures, with one exception that has no
//! other source: the lag of an open loop.
//!
//! From the command line to the page:
//!
//! * [`options`] – the command line
//! * [`cases`] – what is measured, and the targets of each
//! * [`tools`], [`command`] – who is measured, and how each is told what to do
//! * [`nginx`], [`status`] – the server, and its count of requests
//! * [`child`], [`usage`], [`clock`], [`machine`] – running a process and reading the machine
//! * [`account`], [`measure`] – what a tool says of a run, and what was seen of it from outside
//! * [`session`], [`memory`] – all rounds; the memory cases
//! * [`overload`] – the overload case: what is offered beyond the joint limit of client and server
//! * [`pacing`], [`lab`] – the pacing case, and the server that it counts arrivals with
//! * [`maths`], [`summary`], [`check`] – medians and ratios; a row a tool; the targets
//! * [`table`], [`report`], [`output`] – Markdown and JSON
#![allow(missing_docs)] // the modules of a program, shared by its binaries
#![allow(clippy::missing_errors_doc)] // its only callers are the programs of this crate

pub mod account;
pub mod cases;
pub mod check;
pub mod child;
pub mod clock;
pub mod command;
pub mod lab;
pub mod machine;
pub mod maths;
pub mod measure;
pub mod memory;
pub mod nginx;
pub mod options;
pub mod output;
pub mod overload;
pub mod pacing;
pub mod report;
pub mod session;
pub mod status;
pub mod summary;
pub mod table;
pub mod tools;
pub mod usage;

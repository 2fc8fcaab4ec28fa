//! The benchmark suite: compares brunt with wrk, ab and h2load, and with the minimum work
//! of any load generator.
//!
//! It starts an nginx on a loopback port and runs every tool against it in interleaved rounds. Its
//! figures come from outside the tools: nginx counts the requests, and the kernel accounts for the
//! CPU time and memory of the finished process.
//!
//! It does not test correctness, and does not use the tools' own figures. The only exception is the
//! lag of an open loop, which has no other source.
//!
//! From the command line to the page:
//!
//! * [`options`]: the command line
//! * [`cases`]: the measured cases with their targets
//! * [`tools`], [`command`]: the measured tools and their command lines
//! * [`nginx`], [`status`]: the server and its count of requests
//! * [`child`], [`usage`], [`clock`], [`machine`]: running a process, and reading the machine
//! * [`account`], [`measure`]: a tool's own report of a run, and the measurement from outside
//! * [`session`], [`memory`]: all rounds; the memory cases
//! * [`overload`]: the overload case, with more load than client and server can process together
//! * [`pacing`], [`lab`]: the pacing case, and the server that counts its arrivals
//! * [`maths`], [`summary`], [`check`]: medians and ratios; a row for each tool; the targets
//! * [`table`], [`report`], [`output`]: Markdown and JSON
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

//! Runs all tests that need a real server, a real process or a real tool.
//!
//! Each module is a subject. `world` starts brunt, the lab, nginx, Apache, and scripted servers.

#![allow(
    clippy::print_stderr,
    reason = "tests print skips, and errors of servers that do not start"
)]

mod accuracy;
mod baseline;
mod capacities;
mod certify;
mod charts;
mod check;
mod cli;
mod compare;
mod compat;
mod connections;
mod deadlines;
mod events;
mod examples;
mod exchange;
mod exits;
mod experiment;
mod explain;
mod failures;
mod faults;
mod find;
mod fleet;
mod fleet_kubernetes;
mod fleet_nats;
mod framing;
mod grpc;
mod history;
mod http2;
mod http3;
mod import;
mod interruption;
mod jmx;
mod live_outputs;
mod load;
mod main_job;
mod memory;
mod options;
mod overload;
mod pieces;
mod plan;
mod populations;
mod probes;
mod processes;
mod record;
mod recorded;
mod remedies;
mod requests;
mod result_files;
mod retention;
mod scenario;
mod secrets;
mod stages;
mod studio;
mod tls;
mod truth;
mod verdict;
mod websocket;
mod world;

//! The floor: the minimum work of any load generator, as a reference for brunt.
//!
//! It is no usable generator. It checks replies only for `200`, and has no timeouts, no
//! histogram and no reconnects; anything unexpected ends it with an error. Either loop ends with
//! one line of JSON.
#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;

use anyhow::{Context, Result};
use clap::Parser;
use rustix::time::{ClockId, clock_gettime};

mod closed;
mod open;

const SECOND: u64 = 1_000_000_000;

#[derive(Parser)]
enum Job {
    /// Send one request at each due instant
    Open(open::OpenLoad),
    /// Send the next request as soon as a reply has arrived
    Closed(closed::ClosedLoad),
}

fn main() -> Result<()> {
    let account = match Job::parse() {
        Job::Open(job) => open::run(&job),
        Job::Closed(job) => closed::run(&job),
    }?;
    println!("{account}");
    Ok(())
}

fn connect(address: SocketAddr) -> Result<OwnedFd> {
    let stream = TcpStream::connect(address).with_context(|| format!("connecting to {address}"))?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream.into())
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

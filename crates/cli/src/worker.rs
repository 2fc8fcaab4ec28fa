//! `brunt worker`: one process's part of a run, for the process that started it.
//!
//! Ctrl-C in a terminal goes to all processes of its group: it leaves that to the process that started it.

use crate::exit::Exit;
use anyhow::Result;
use brunt_runner::processes::worker::attend;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Carries out the assignment that is read from stdin.
pub fn worker() -> Result<Exit> {
    for signal in [SIGINT, SIGTERM] {
        // A flag that nobody looks at.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    brunt_probe::limits::raise_descriptors();
    attend(BufReader::new(io::stdin()), io::stdout(), quit)?;
    Ok(Exit::Measured)
}

fn quit() -> ! {
    std::process::exit(i32::from(Exit::Failed.code()))
}

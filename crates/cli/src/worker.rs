//! The command `brunt worker`: runs one process's share of a run, for the process that started it.
//!
//! It ignores Ctrl-C, which a terminal sends to the whole process group:
//! the parent process handles it.

use crate::exit::Exit;
use anyhow::Result;
use brunt_runner::processes::worker::run_worker;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs the assignment from stdin.
pub fn worker() -> Result<Exit> {
    for signal in [SIGINT, SIGTERM] {
        // Registering a flag that is never read makes the process ignore the signal.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    brunt_probe::limits::raise_descriptors();
    run_worker(BufReader::new(io::stdin()), io::stdout(), quit)?;
    Ok(Exit::Measured)
}

fn quit() -> ! {
    std::process::exit(i32::from(Exit::Failed.code()))
}

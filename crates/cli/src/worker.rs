//! The command `brunt worker`: an agent, which carries out its share of runs for the controller that
//! started it.
//!
//! It ignores Ctrl-C, which a terminal sends to the whole process group: the controller handles it. It also starts with
//! these signals blocked, if the controller is on this machine.

use crate::exit::Exit;
use crate::languages::LANGUAGES;
use anyhow::Result;
use brunt_agents::agent::{FileSource, run_agent};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Carries out assignments from stdin.
pub fn worker(source: FileSource) -> Result<Exit> {
    for signal in [SIGINT, SIGTERM] {
        // Registering a flag that is never read makes the process ignore the signal.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    brunt_probe::limits::raise_descriptors();
    let facts = brunt_probe::machine::agent_facts();
    run_agent(facts, LANGUAGES, source, [BufReader::new(io::stdin())], io::stdout(), quit)?;
    Ok(Exit::Measured)
}

fn quit(is_running: bool) -> ! {
    let exit = if is_running { Exit::Failed } else { Exit::Measured };
    std::process::exit(i32::from(exit.code()))
}

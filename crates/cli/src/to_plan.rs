//! From what was said on the command line to a plan: each rule that holds between options is checked here, once, with a
//! message that says what to write instead.
//!
//! Files that options name (a body, a list of URLs, rows for placeholders) are read here, so that a plan needs nothing
//! but the rows. What it is **not**: it measures nothing, and asks the system nothing: that is told in [`System`].

mod connection;
mod load;
mod processes;
mod script;
mod sweep;

use crate::args::RunArgs;
use crate::args::checks::CheckArgs;
use anyhow::Result;
use brunt_model::Plan;
use brunt_model::plan::{Checks, Record};
use brunt_spec::words::target;
pub use processes::with_sources;
pub use script::{body_from, script};
pub use sweep::sweep_steps;

/// What the plan must know of the system that carries it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// Files that this process may have open, once the limit is raised as far as it goes.
    pub descriptors: u64,
    /// Cores of this machine.
    pub cores: u32,
    /// Local ports that lead from one address to another; None where the system does not show it.
    pub ports: Option<u64>,
    /// The seed where none was given.
    pub seed: u64,
}

/// The plan, and notes that the user should be told.
pub fn to_plan(args: &RunArgs, system: &System) -> Result<(Plan, Vec<String>)> {
    let script = script(args)?;
    let connection = connection::connection(args)?;
    let load = load::load(&args.load, system)?;
    let stop = load::stop(&args.load, &load)?;
    let local = connection.unix_socket.is_some()
        || connection.resolve.iter().any(|r| r.address.is_loopback())
        || script.requests.iter().any(|r| target::is_local(&r.url));
    let (processes, note) = processes::processes(&args.load, &load, system)?;
    let mut notes = Vec::from_iter(note);
    let (threads, told) = load::threads(&args.load, &load, processes, system.cores, local);
    notes.extend(told);
    let (precise, note) = load::precise(args.load.precise, threads * processes, system.cores, local);
    notes.extend(note);
    let mut plan = Plan {
        script,
        load,
        stop,
        connection,
        checks: checks(&args.checks),
        objectives: args.checks.objectives.concat(),
        until: load::until(&args.load)?,
        record: Record { interval: args.output.interval, labels: args.output.labels, samples: false },
        seed: args.load.seed.unwrap_or(system.seed),
        threads,
        processes,
        precise,
    };
    notes.extend(processes::sources(&args.load, &mut plan, system));
    Ok((plan, notes))
}

fn checks(args: &CheckArgs) -> Checks {
    Checks { status: args.expect_status.concat(), body: args.expect_body.clone(), same_length: args.expect_same_length }
}

#[cfg(test)]
mod tests;

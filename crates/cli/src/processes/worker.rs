//! `brunt worker`: one process's part of a run, for the process that started it.
//!
//! It prints no report and decides nothing. Ctrl-C in a terminal goes to all processes of its group: it leaves that to the
//! process that started it, and ends when that one says so, or is gone: then its stdin is closed.

use crate::exit::Exit;
use crate::world::Real;
use anyhow::{Context, Result};
use brunt_engine::{Epoch, Leash, run_part};
use brunt_model::codec::write_account;
use brunt_model::{Account, Assignment, Environment, Event, Word};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, BufRead, StdinLock};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

/// What it is called; no command that anybody types.
pub const COMMAND: &str = "worker";

/// Carries out the assignment that is read from stdin.
pub fn worker() -> Result<Exit> {
    for signal in [SIGINT, SIGTERM] {
        // A flag that nobody looks at.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    brunt_probe::limits::raise_descriptors();
    let assignment = assignment(&mut io::stdin().lock())?;
    let world = Real::at(&assignment.plan, Epoch::Real(assignment.epoch_nanos))?;
    let leash = Leash::new(&assignment.plan, assignment.part, |at| say(&Account::Ready(at)));
    let hears = leash.clone();
    thread::Builder::new().name("brunt-hears".into()).spawn(move || obey(&hears))?;
    run_part(&assignment.plan, Environment::default(), &world, &leash, &mut |event: &Event| pass_on(event))?;
    Ok(Exit::Measured)
}

fn assignment(from: &mut StdinLock<'_>) -> Result<Assignment> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    serde_json::from_str(&line).context("this is a part of brunt, and reads what another process of it says")
}

/// Hears what is said, until nobody is there to say anything: then there is nobody to measure for.
fn obey(leash: &Leash) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if let Ok(word) = serde_json::from_str::<Word>(&line) {
            leash.hear(word);
        }
    }
    quit();
}

/// What the process that started us knows already does not go back to it.
fn pass_on(event: &Event) {
    if !matches!(event, Event::Started { .. } | Event::Stage { .. }) {
        say(&Account::Event(event.clone()));
    }
}

fn say(account: &Account) {
    if write_account(&mut io::stdout().lock(), account).is_err() {
        quit();
    }
}

fn quit() -> ! {
    std::process::exit(i32::from(Exit::Failed.code()))
}

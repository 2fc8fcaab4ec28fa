//! Runs one process's share of the load, for the process that started it: what `brunt worker` does between its pipes.
//!
//! It writes no report and decides nothing. Signals are the caller's, who is to leave them to the process that started it;
//! it ends when that one says so, or is gone: then `from` is closed.

use crate::error::RunError;
use crate::world::Real;
use brunt_engine::{Epoch, PartHandle, run_part};
use brunt_model::codec::write_account;
use brunt_model::{Account, Assignment, Environment, Event, PartCommand};
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The name of the internal subcommand.
pub const COMMAND: &str = "worker";

/// Ends this process: nobody is there any more to measure for.
pub type Quit = fn() -> !;

/// Carries out the assignment that is read from `from`, and then does what is said there; accounts go to `to`.
///
/// # Errors
///
/// The assignment cannot be read, the run cannot be carried out, or accounts cannot be written.
pub fn attend(
    mut from: impl BufRead + Send + 'static,
    to: impl Write + Send + 'static,
    quit: Quit,
) -> Result<(), RunError> {
    let assignment = assignment(&mut from)?;
    let accounts = Accounts { to: Arc::new(Mutex::new(to)), quit };
    let world = Real::at(&assignment.plan, Epoch::Real(assignment.epoch_nanos))?;
    let says = accounts.clone();
    let handle = PartHandle::new(&assignment.plan, assignment.part, move |account| says.say(account));
    let hears = handle.clone();
    thread::Builder::new().name("brunt-hears".into()).spawn(move || obey(from, &hears, quit))?;
    let mut pass_on = |event: &Event| accounts.pass_on(event);
    run_part(&assignment.plan, Environment::default(), &world, &handle, &mut pass_on)?;
    Ok(())
}

fn assignment(from: &mut impl BufRead) -> Result<Assignment, RunError> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    serde_json::from_str(&line).map_err(RunError::Assignment)
}

/// Hears what is said, until nobody is there to say anything: then there is nobody to measure for.
fn obey(from: impl BufRead, handle: &PartHandle, quit: Quit) {
    for line in from.lines().map_while(Result::ok) {
        if let Ok(word) = serde_json::from_str::<PartCommand>(&line) {
            handle.hear(word);
        }
    }
    quit();
}

/// Where accounts go.
struct Accounts<W> {
    to: Arc<Mutex<W>>,
    quit: Quit,
}

impl<W> Clone for Accounts<W> {
    fn clone(&self) -> Self {
        Self { to: Arc::clone(&self.to), quit: self.quit }
    }
}

impl<W: Write> Accounts<W> {
    /// What the process that started us knows already does not go back to it.
    fn pass_on(&self, event: &Event) {
        if !matches!(event, Event::Started { .. } | Event::Stage { .. }) {
            self.say(&Account::Event(event.clone()));
        }
    }

    fn say(&self, account: &Account) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        if write_account(&mut *to, account).is_err() {
            (self.quit)();
        }
    }
}

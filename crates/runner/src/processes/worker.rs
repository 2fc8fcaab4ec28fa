//! Runs the share of one process for the process that started it: the work of `brunt
//! worker` between its pipes.
//!
//! It writes no report and decides nothing. The caller must ignore signals and leave them to the
//! process that started it. It ends on command of that process, or when that process has ended:
//! then `input` is closed.

use crate::error::RunError;
use crate::world::RealWorld;
use brunt_engine::{PartHandle, RunEpoch, run_part};
use brunt_model::codec::write_message;
use brunt_model::{Assignment, Environment, Event, PartCommand, ProcessMessage};
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Name of the internal subcommand.
pub const COMMAND: &str = "worker";

/// Ends this process, because no process receives its measurements.
pub type Quit = fn() -> !;

/// Performs the assignment from `input`, and then follows the commands from there. Writes messages
/// to `output`.
///
/// # Errors
///
/// The assignment cannot be read, the run fails, or messages cannot be written.
pub fn run_worker(
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    quit: Quit,
) -> Result<(), RunError> {
    let assignment = assignment(&mut input)?;
    let sender = MessageSender { output: Arc::new(Mutex::new(output)), quit };
    let world = RealWorld::with_epoch(&assignment.plan, RunEpoch::Real(assignment.epoch_nanos))?;
    let own_messages = sender.clone();
    let handle = PartHandle::new(&assignment.plan, assignment.part, move |message| {
        own_messages.send(message);
    });
    let receiver = handle.clone();
    thread::Builder::new()
        .name("brunt-hears".into())
        .spawn(move || follow_commands(input, &receiver, quit))?;
    run_part(&assignment.plan, Environment::default(), &world, &handle, &mut |event: &Event| {
        sender.pass_on(event);
    })?;
    Ok(())
}

fn assignment(input: &mut impl BufRead) -> Result<Assignment, RunError> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    serde_json::from_str(&line).map_err(RunError::Assignment)
}

/// Follows commands until the input is closed. Then no process needs the measurements.
fn follow_commands(input: impl BufRead, handle: &PartHandle, quit: Quit) {
    for line in input.lines().map_while(Result::ok) {
        if let Ok(word) = serde_json::from_str::<PartCommand>(&line) {
            handle.apply(word);
        }
    }
    quit();
}

/// Sends the messages of a worker to the process that started it.
struct MessageSender<W> {
    output: Arc<Mutex<W>>,
    quit: Quit,
}

impl<W> Clone for MessageSender<W> {
    fn clone(&self) -> Self {
        Self { output: Arc::clone(&self.output), quit: self.quit }
    }
}

impl<W: Write> MessageSender<W> {
    /// Sends an event, unless the process that started this one knows it already.
    fn pass_on(&self, event: &Event) {
        if !matches!(event, Event::Started { .. } | Event::Stage { .. }) {
            self.send(&ProcessMessage::Event(event.clone()));
        }
    }

    fn send(&self, message: &ProcessMessage) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // The process that started this one has ended, so no process needs the measurements.
        if write_message(&mut *output, message).is_err() {
            (self.quit)();
        }
    }
}

//! Runs a plan in several processes, because the number of open files of one process is limited.
//!
//! Each process is `brunt worker` ([`worker`]), an internal command. The assignment and then
//! commands go to its stdin as lines of JSON; its stdout returns framed messages. Two threads serve
//! each process, one for each direction, so that a stopped process delays neither the others nor
//! this one. `engine::parts` evaluates the messages.
//!
//! Out of scope: runs on other machines.

pub mod worker;

use crate::error::RunError;
use crate::world::RealWorld;
use brunt_engine::parts::{DistributedRun, WorkerChannels, WorkerEvent, join};
use brunt_engine::{RunControl, RunEnvironment, RunEpoch, Sink};
use brunt_model::codec::read_message;
use brunt_model::{Assignment, Environment, PartCommand, Plan, ProcessPart};
use std::io::{self, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Maximum number of messages that were read and not yet processed.
const MAX_UNREAD: usize = 64;

/// Channel for the messages of the processes, with the index of the process.
type Inbox = SyncSender<(usize, WorkerEvent)>;

/// Carries out a plan in the number of processes that it specifies.
///
/// # Errors
///
/// No process can be started, or a command cannot be sent to one.
pub fn run(
    plan: &Plan,
    environment: Environment,
    world: &RealWorld,
    control: &RunControl,
    sink: &mut dyn Sink,
) -> Result<(), RunError> {
    // Bounded: a slow reader slows down the processes' pipes instead of filling memory.
    let (out, inbox) = sync_channel(MAX_UNREAD);
    let mut senders: Vec<Sender<PartCommand>> = Vec::new();
    for part in ProcessPart::all(plan) {
        let assignment = Assignment { plan: plan.clone(), part, epoch_nanos: nanos(world.epoch()) };
        senders.push(start(assignment, out.clone()).map_err(RunError::Process)?);
    }
    // Only the readers hold senders now, so the inbox closes when all processes have ended.
    drop(out);
    // Sending to a process that has ended fails; its reader reports the end.
    let mut channels = WorkerChannels {
        inbox: &inbox,
        send: &mut |command: PartCommand| {
            for sender in &senders {
                _ = sender.send(command);
            }
        },
    };
    let distributed_run = DistributedRun { plan, epoch: world.epoch(), labels: world.labels() };
    Ok(join(&distributed_run, environment, &mut channels, control, sink)?)
}

fn nanos(epoch: RunEpoch) -> u64 {
    match epoch {
        RunEpoch::Real(nanos) => nanos,
        RunEpoch::Fake => 0,
    }
}

/// Starts a process and the threads that serve it. When the sender is dropped, its stdin
/// closes and it ends.
fn start(assignment: Assignment, out: Inbox) -> io::Result<Sender<PartCommand>> {
    let number = assignment.part.number as usize;
    let mut command = Command::new(own_program()?);
    // Lists of processes would show `/proc/self/exe` without it.
    command.arg0("brunt").arg(worker::COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let stdin = child.stdin.take().ok_or_else(|| io::Error::other("no stdin"))?;
    let (sender, commands) = channel();
    thread_builder("tells", number).spawn(move || write(stdin, &assignment, &commands))?;
    thread_builder("hears", number).spawn(move || read(child, number, &out))?;
    Ok(sender)
}

fn thread_builder(role: &str, number: usize) -> thread::Builder {
    thread::Builder::new().name(format!("brunt-{role}-{number}"))
}

/// Path of the running program. On Linux it is valid even if its file was renamed or
/// replaced after the start.
fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Sends the assignment to a process, and then commands until the sender is dropped. The reader of
/// the process detects its end.
fn write(mut stdin: ChildStdin, assignment: &Assignment, commands: &Receiver<PartCommand>) {
    // On its own thread: an assignment may exceed the capacity of a pipe.
    let result = line(&mut stdin, assignment);
    let _ =
        result.and_then(|()| commands.iter().try_for_each(|command| line(&mut stdin, &command)));
}

fn line(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

/// Passes on the messages of a process until it ends.
fn read(mut child: Child, number: usize, out: &Inbox) {
    if let Some(stdout) = child.stdout.take() {
        let mut from = BufReader::new(stdout);
        // A partial frame is the end of the output of a process that died.
        while let Some(message) = read_message(&mut from) {
            if out.send((number, WorkerEvent::Message(Box::new(message)))).is_err() {
                break;
            }
        }
    }
    // `wait` after the end of its output also removes the zombie.
    let why = child.wait().map_or_else(|e| Some(e.to_string()), exit_error);
    let _ = out.send((number, WorkerEvent::Exited(why)));
}

/// Description of the failed exit of a process; None for success.
fn exit_error(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit code {code}")),
        (None, Some(signal)) => Some(format!("killed by signal {signal}")),
        (None, None) => Some("killed".into()),
    }
}

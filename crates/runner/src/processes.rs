//! A run in several processes of ourselves, because one may have only so many open files: started, listened to, told.
//!
//! Each is `brunt worker` ([`worker`]), which nobody types. The assignment and then words go to its stdin as lines of JSON;
//! framed accounts come from its stdout. Two threads serve each: one writes, one reads; a process that stands still
//! keeps neither the others nor us from going on. What is made of the accounts is `engine::parts`' doing.
//!
//! Out of scope: a way to other machines.

pub mod worker;

use crate::error::RunError;
use crate::world::Real;
use brunt_engine::parts::{Heard, Joint, Lines, join};
use brunt_engine::{Control, Epoch, Sink, World};
use brunt_model::codec::read_account;
use brunt_model::{Assignment, Environment, Part, PartCommand, Plan};
use std::io::{self, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Accounts that were read and not yet looked at, at most.
const ROOM: usize = 64;

/// What is heard of which process.
type Inbox = SyncSender<(usize, Heard)>;

/// Carries out a plan in as many processes as it says.
///
/// # Errors
///
/// No process can be started, or one cannot be told what to do.
pub fn run(
    plan: &Plan,
    environment: Environment,
    world: &Real,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<(), RunError> {
    let (out, inbox) = sync_channel(ROOM);
    let mut lines: Vec<Sender<PartCommand>> = Vec::new();
    for part in Part::all(plan) {
        let assignment = Assignment { plan: plan.clone(), part, epoch_nanos: nanos(world.epoch()) };
        lines.push(start(assignment, out.clone()).map_err(RunError::Process)?);
    }
    drop(out);
    // Whoever is gone hears nothing.
    let mut tell = |word: PartCommand| lines.iter().for_each(|line| _ = line.send(word));
    let mut lines = Lines { inbox: &inbox, tell: &mut tell };
    let joint = Joint { plan, epoch: world.epoch(), labels: world.labels() };
    Ok(join(&joint, environment, &mut lines, control, sink)?)
}

fn nanos(epoch: Epoch) -> u64 {
    match epoch {
        Epoch::Real(nanos) => nanos,
        Epoch::Fake => 0,
    }
}

/// Starts a process and the threads that serve it. When the sender is dropped, its stdin closes and it ends.
fn start(assignment: Assignment, out: Inbox) -> io::Result<Sender<PartCommand>> {
    let number = assignment.part.number as usize;
    let mut command = Command::new(ourselves()?);
    command.arg0("brunt").arg(worker::COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let stdin = child.stdin.take().ok_or_else(|| io::Error::other("no stdin"))?;
    let (tell, words) = channel();
    let name = |what: &str| thread::Builder::new().name(format!("brunt-{what}-{number}"));
    name("tells").spawn(move || write(stdin, &assignment, &words))?;
    name("hears").spawn(move || read(child, number, &out))?;
    Ok(tell)
}

/// The very program that runs, whatever it is called and whether or not its file has been replaced meanwhile.
fn ourselves() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Tells a process what it is to do, for as long as somebody has something to say. That it is gone is for its reader to
/// find out.
fn write(mut stdin: ChildStdin, assignment: &Assignment, words: &Receiver<PartCommand>) {
    let told = line(&mut stdin, assignment);
    let _ = told.and_then(|()| words.iter().try_for_each(|word| line(&mut stdin, &word)));
}

fn line(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

/// Hands over what a process says, until it is gone.
fn read(mut child: Child, number: usize, out: &Inbox) {
    if let Some(stdout) = child.stdout.take() {
        let mut from = BufReader::new(stdout);
        // A torn frame is the last word of a process that died.
        while let Some(account) = read_account(&mut from) {
            if out.send((number, Heard::Account(Box::new(account)))).is_err() {
                break;
            }
        }
    }
    let why = child.wait().map_or_else(|e| Some(e.to_string()), why_not_well);
    let _ = out.send((number, Heard::Gone(why)));
}

/// How a process ended, where that was not well.
fn why_not_well(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit code {code}")),
        (None, Some(signal)) => Some(format!("killed by signal {signal}")),
        (None, None) => Some("killed".into()),
    }
}

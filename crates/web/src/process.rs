//! Processes that the studio starts, with their messages and their status.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Maximum number of bytes of messages that are shown: the last ones.
const MESSAGE_BYTES: u64 = 16 << 10;

/// Number of processes of a kind that are kept, if the others have ended.
pub const MOST_KEPT: usize = 20;

/// The latest processes of a kind, the oldest first.
pub struct StartedList<T> {
    list: Vec<Started<T>>,
    /// Number of the latest one.
    latest: u32,
}

/// A process of a list.
pub struct Started<T> {
    /// Number in the list, from 1.
    pub number: u32,
    /// The process.
    pub process: StartedProcess,
    /// Further facts on it, and its files.
    pub details: T,
}

impl<T> Default for StartedList<T> {
    fn default() -> Self {
        Self { list: Vec::new(), latest: 0 }
    }
}

impl<T> StartedList<T> {
    /// Adds a process, and returns its number in the list. The oldest one that has ended is removed if there are too
    /// many.
    pub fn add(&mut self, process: StartedProcess, details: T) -> u32 {
        let ended = self.list.iter().position(|one| one.process.status().is_some());
        // Files of a try may fill the disk, and a program that started a run may never read its state.
        if let Some(ended) = ended.filter(|_| self.list.len() >= MOST_KEPT) {
            self.list.remove(ended);
        }
        self.latest += 1;
        self.list.push(Started { number: self.latest, process, details });
        self.latest
    }

    /// Returns a process by its number in the list.
    pub fn get(&self, number: u32) -> Option<&Started<T>> {
        self.iter().find(|one| one.number == number)
    }

    /// Returns all processes.
    pub fn iter(&self) -> impl Iterator<Item = &Started<T>> {
        self.list.iter()
    }

    /// Returns the processes that have not ended.
    pub fn active(&self) -> impl Iterator<Item = &Started<T>> {
        self.iter().filter(|one| one.process.status().is_none())
    }

    /// Removes a process by its number in the list.
    pub fn remove(&mut self, number: u32) {
        self.list.retain(|one| one.number != number);
    }
}

/// A process that this studio has started.
pub struct StartedProcess {
    /// Number of the process.
    pub number: u32,
    /// Its messages.
    errors: File,
    /// Status, when it has ended.
    status: Arc<OnceLock<ExitStatus>>,
}

/// Variable with the name of the visitor that started a process. The run takes a lease for that visitor.
pub const HOLDER_VARIABLE: &str = "BRUNT_STUDIO_HOLDER";

impl StartedProcess {
    /// Starts brunt with these arguments, and with this store. With a holder, its run takes a lease.
    pub fn start(
        program: &Path,
        arguments: &[String],
        store: &Path,
        holder: Option<&str>,
    ) -> io::Result<Self> {
        let holder = holder.map(|holder| (HOLDER_VARIABLE, holder));
        let mut command = Command::new(program);
        Self::spawn(command.args(arguments).envs(holder).arg("--store").arg(store))
    }

    /// Starts a command of brunt that has no store.
    pub fn start_without_store(program: &Path, arguments: &[String]) -> io::Result<Self> {
        Self::spawn(Command::new(program).args(arguments))
    }

    fn spawn(command: &mut Command) -> io::Result<Self> {
        // A full pipe would block the run, and it would break when the studio ends (pipe(7)).
        let errors = tempfile::tempfile()?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors.try_clone()?)
            // Ctrl-C in the terminal of the studio does not end the run.
            .process_group(0)
            .spawn()?;
        let number = child.id();
        let status = Arc::new(OnceLock::new());
        let of_thread = Arc::clone(&status);
        // The system keeps an ended process until its parent has its exit code.
        thread::spawn(move || child.wait().map(|status| of_thread.set(status)));
        Ok(Self { number, errors, status })
    }

    /// Its status; None while it is active.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status.get().copied()
    }

    /// Asks the process to end, as Ctrl-C does.
    pub fn interrupt(&self) -> io::Result<()> {
        // The number of an ended process may be that of another one.
        if self.status().is_some() {
            return Ok(());
        }
        let number = i32::try_from(self.number).ok().and_then(Pid::from_raw);
        number.map_or(Ok(()), |number| kill_process(number, Signal::INT).map_err(io::Error::from))
    }

    /// The last of its messages.
    pub fn messages(&self) -> io::Result<String> {
        let length = self.errors.metadata()?.len();
        let start = length.saturating_sub(MESSAGE_BYTES);
        let mut bytes = vec![0; (length - start) as usize];
        self.errors.read_exact_at(&mut bytes, start)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

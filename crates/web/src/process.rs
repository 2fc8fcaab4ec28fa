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
use tempfile::TempDir;

/// Maximum number of bytes of messages that are shown: the last ones.
const MESSAGE_BYTES: u64 = 16 << 10;

/// A process that this studio has started.
pub struct StartedProcess {
    /// Number of the process.
    pub number: u32,
    /// Its messages.
    errors: File,
    /// Status, when it has ended.
    status: Arc<OnceLock<ExitStatus>>,
    /// Folder with files for its start.
    pub folder: Option<TempDir>,
}

/// Variable with the name of the visitor that started a process. The run takes a lease for that visitor.
pub const HOLDER_VARIABLE: &str = "BRUNT_STUDIO_HOLDER";

impl StartedProcess {
    /// Starts brunt with these arguments, and with this store. With a holder, its run takes a lease.
    ///
    /// # Errors
    ///
    /// The system does not allow it.
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
    ///
    /// # Errors
    ///
    /// The system does not allow it.
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
        Ok(Self { number, errors, status, folder: None })
    }

    /// Its status; None while it is active.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status.get().copied()
    }

    /// Asks the process to end, as Ctrl-C does.
    ///
    /// # Errors
    ///
    /// The system does not allow it.
    pub fn interrupt(&self) -> io::Result<()> {
        // The number of an ended process may be that of another one.
        if self.status().is_some() {
            return Ok(());
        }
        let number = i32::try_from(self.number).ok().and_then(Pid::from_raw);
        number.map_or(Ok(()), |number| kill_process(number, Signal::INT).map_err(io::Error::from))
    }

    /// The last of its messages.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn messages(&self) -> io::Result<String> {
        let length = self.errors.metadata()?.len();
        let start = length.saturating_sub(MESSAGE_BYTES);
        let mut bytes = vec![0; (length - start) as usize];
        self.errors.read_exact_at(&mut bytes, start)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

//! The folder of an experiment's files (`${dir}` in plans). It is private, and removed
//! however the program ends.

use crate::guard::GuardCommand;
use crate::guarded_command::RigContext;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A folder that only its owner can enter. It is removed on drop; if the program is killed,
/// its guard removes it.
#[derive(Debug)]
pub struct ExperimentFolder {
    path: PathBuf,
    guard: Child,
}

impl ExperimentFolder {
    /// Creates the folder, and starts its guard.
    ///
    /// # Errors
    ///
    /// The path already exists, or the folder or the guard cannot be created.
    pub fn make(path: &Path, context: &RigContext) -> io::Result<Self> {
        // Not `create_dir_all`: it accepts an existing folder, which another
        // user may have prepared.
        DirBuilder::new().mode(0o700).create(path)?;
        let guard = start_guard(path, context).inspect_err(|_| {
            let _ = fs::remove_dir(path);
        })?;
        Ok(Self { path: path.to_owned(), guard })
    }
}

fn start_guard(path: &Path, context: &RigContext) -> io::Result<Child> {
    let (program, arguments) = &context.guard;
    let mut command = Command::new(program);
    // In a separate process group: Ctrl-C in the terminal must not end the guard.
    command
        .args(arguments)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut guard = command.spawn()?;
    if let Some(commands) = &mut guard.stdin {
        write!(commands, "{}\0", GuardCommand::Folder(path.to_owned()).text())?;
    }
    Ok(guard)
}

impl Drop for ExperimentFolder {
    fn drop(&mut self) {
        // Files that a server still holds open are removed as well; only their
        // data stays until then.
        let _ = fs::remove_dir_all(&self.path);
        // Closes the pipe, so that the guard ends.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

//! The folder of an experiment's files (`${dir}` in plans): private, and removed however the program ends.

use crate::guard::GuardCommand;
use crate::ward::RigContext;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A folder that its owner alone can enter. It is removed on drop; if the program is killed, its guard removes it.
#[derive(Debug)]
pub struct ExperimentFolder {
    path: PathBuf,
    guard: Child,
}

impl ExperimentFolder {
    /// Makes the folder, and starts its guard.
    ///
    /// # Errors
    ///
    /// Something has this path already, or the folder or the guard cannot be made.
    pub fn make(path: &Path, context: &RigContext) -> io::Result<Self> {
        // Not `create_dir_all`: another user must not be able to prepare it.
        DirBuilder::new().mode(0o700).create(path)?;
        let guard = guard_of(path, context).inspect_err(|_| {
            let _ = fs::remove_dir(path);
        })?;
        Ok(Self { path: path.to_owned(), guard })
    }
}

fn guard_of(path: &Path, context: &RigContext) -> io::Result<Child> {
    let (program, arguments) = &context.guard;
    let mut command = Command::new(program);
    // A process group of its own: Ctrl-C in the terminal must not end the guard.
    command.args(arguments).process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut guard = command.spawn()?;
    if let Some(words) = &mut guard.stdin {
        write!(words, "{}\0", GuardCommand::Folder(path.to_owned()).text())?;
    }
    Ok(guard)
}

impl Drop for ExperimentFolder {
    fn drop(&mut self) {
        // A server may hold files open in it; they are removed all the same.
        let _ = fs::remove_dir_all(&self.path);
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

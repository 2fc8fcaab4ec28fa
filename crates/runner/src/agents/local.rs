//! Starts agents as processes of this machine.

use super::link::AgentPipes;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Name of the internal subcommand that is an agent.
pub const COMMAND: &str = "worker";

/// Starts an agent. It ends when its input is closed.
///
/// # Errors
///
/// The system permits no further process.
pub fn start() -> io::Result<AgentPipes> {
    let mut command = Command::new(own_program()?);
    // Lists of processes would show `/proc/self/exe` without it.
    command.arg0("brunt").arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let input = child.stdin.take().ok_or_else(|| io::Error::other("no stdin"))?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
    Ok(AgentPipes {
        input: Box::new(input),
        output: Box::new(output),
        reason: Box::new(move || exit_reason(&mut child)),
    })
}

/// Path of the running program. On Linux it is valid even if its file was renamed or
/// replaced after the start.
pub fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Waits for the end of a process, which also removes the zombie, and describes it.
pub fn exit_reason(child: &mut Child) -> String {
    child.wait().map_or_else(|error| error.to_string(), status_text)
}

fn status_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "killed".into(),
    }
}

//! Starts agents as processes of this machine.

use super::link::AgentPipes;
use brunt_model::sync::IgnorePoison;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

/// Name of the internal subcommand that is an agent.
pub const COMMAND: &str = "worker";

/// Option of an agent on the machine of its controller: it reads the files of the plan itself.
pub const OWN_FILES: &str = "--own-files";

/// Starts an agent. It ends when its input is closed.
pub fn start() -> io::Result<AgentPipes> {
    let mut command = Command::new(own_program()?);
    // Lists of processes would show `/proc/self/exe` without it.
    command.arg0("brunt").args([COMMAND, OWN_FILES]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = spawn_without_signals(&mut command)?;
    let input = child.stdin.take().ok_or_else(|| io::Error::other("no stdin"))?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
    Ok(pipes_of(child, input, output, |reason| reason))
}

/// Returns the pipes of a process. `describe` completes the reason of its end.
pub fn pipes_of(
    child: Child,
    input: impl Write + Send + 'static,
    output: impl Read + Send + 'static,
    describe: impl FnOnce(String) -> String + Send + 'static,
) -> AgentPipes {
    let child = Arc::new(Mutex::new(child));
    let same_child = Arc::clone(&child);
    AgentPipes {
        input: Box::new(input),
        output: Box::new(output),
        reason: Box::new(move || describe(exit_reason(&mut child.lock().ignore_poison()))),
        kill: Box::new(move || {
            // The lock is held if another thread waits for the end of the process, which is near then.
            if let Ok(mut child) = same_child.try_lock() {
                // The process may have ended before.
                _ = child.kill();
            }
        }),
    }
}

/// Starts a process that SIGINT and SIGTERM do not end, because a terminal also sends them to processes that have no
/// handler yet. It inherits the signal mask of this thread.
fn spawn_without_signals(command: &mut Command) -> io::Result<Child> {
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    let mask = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let child = command.spawn();
    mask.thread_set_mask()?;
    child
}

/// Path of the running program. On Linux it is valid even if its file was renamed or
/// replaced after the start.
pub fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Waits for the end of a process, which also removes the zombie, and describes it.
fn exit_reason(child: &mut Child) -> String {
    child.wait().map_or_else(|error| error.to_string(), status_text)
}

fn status_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "killed".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    #[test]
    fn a_process_without_a_handler_does_not_end_by_a_signal_of_the_terminal() {
        let mut child = spawn_without_signals(Command::new("sleep").arg("60")).unwrap();
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap();
        let pending = u64::from_str_radix(pending.trim(), 16).unwrap();
        // Bit 0 is signal 1.
        let expected = [Signal::SIGINT, Signal::SIGTERM].map(|signal| 1 << (signal as u64 - 1));
        assert_eq!(pending, expected.iter().sum::<u64>(), "{status}");
        assert!(!SigSet::thread_get_mask().unwrap().contains(Signal::SIGINT), "this thread");
    }
}

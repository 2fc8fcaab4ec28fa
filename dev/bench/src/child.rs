//! Runs one child process until it ends, reaches its time limit, or the suite
//! is interrupted; never longer.
//!
//! Every process gets a separate process group, and only that group is ever signalled. The kernel's
//! accounting of the process is returned unchanged.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::clock::Stopwatch;
use crate::usage::{self, ChildUsage, Usage};

/// Interval at which a running child is polled.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Set by Ctrl-C, SIGTERM or SIGHUP. Everything that waits checks it and returns an error.
#[derive(Clone, Debug, Default)]
pub struct InterruptFlag(Arc<AtomicBool>);

impl InterruptFlag {
    pub fn install() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))?;
        }
        Ok(interrupt)
    }

    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        Ok(())
    }

    pub fn pause(&self, length: Duration) -> Result<()> {
        let watch = Stopwatch::start();
        while watch.elapsed() < length {
            self.check()?;
            thread::sleep(Duration::from_millis(50).min(length.saturating_sub(watch.elapsed())));
        }
        self.check()
    }
}

/// A child process, which is killed if this is dropped before [`OwnedProcess::reap`].
#[derive(Debug)]
pub struct OwnedProcess {
    pid: Pid,
    reaped: bool,
}

impl OwnedProcess {
    pub fn spawn(command: &mut Command) -> Result<Self> {
        Self::adopt(&start(command.stdin(Stdio::null()))?)
    }

    /// Starts a process, and returns it with its standard input and output.
    pub fn spawn_with_pipes(command: &mut Command) -> Result<(Self, ChildStdin, ChildStdout)> {
        let mut child = start(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let ours = Self::adopt(&child)?;
        let input = child.stdin.take().context("a process without an input")?;
        let output = child.stdout.take().context("a process without an output")?;
        Ok((ours, input, output))
    }

    fn adopt(child: &Child) -> Result<Self> {
        let pid = Pid::from_raw(child.id() as i32).context("a process without an id")?;
        Ok(Self { pid, reaped: false })
    }

    pub fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get() as u32
    }

    /// Waits for at most `length`. Returns true if the process has ended.
    pub fn ended_within(&self, length: &Timespec) -> Result<bool> {
        // A pidfd becomes readable when the process ends, and does not reap it.
        let handle = pidfd_open(self.pid, PidfdFlags::empty())?;
        let mut handles = [PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut handles, Some(length)) {
            Err(rustix::io::Errno::INTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }

    pub fn signal(&self, signal: Signal) {
        // The process may have ended meanwhile. Its id is not reused before it is reaped.
        let _ = kill_process_group(self.pid, signal);
    }

    pub fn reap(mut self) -> Result<ChildUsage> {
        self.reaped = true;
        Ok(usage::wait(self.id())?)
    }
}

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
            let _ = usage::wait(self.id());
        }
    }
}

fn start(command: &mut Command) -> Result<Child> {
    let name = format!("starting {}", command.get_program().display());
    // A signal of the terminal then reaches only the suite, which ends its children.
    command.process_group(0).spawn().context(name)
}

/// Result of a process that has ended.
#[derive(Clone, Debug)]
pub struct ChildResult {
    /// Exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    pub usage: Usage,
    pub elapsed: Duration,
    /// Standard output and standard error together.
    pub output: String,
}

/// Runs `command` to its end. Calls `tick` with the time since its start every 50 ms.
pub fn run(
    command: &mut Command,
    limit: Duration,
    interrupt: &InterruptFlag,
    mut tick: impl FnMut(Duration) -> Result<()>,
) -> Result<ChildResult> {
    // A pipe could fill up and block the child, because it is read only at the end.
    let mut output = tempfile::tempfile()?;
    command.stdout(output.try_clone()?).stderr(output.try_clone()?);
    // Without a backtrace, the error is at the end of the output.
    command.env_remove("RUST_BACKTRACE");
    let watch = Stopwatch::start();
    let child = OwnedProcess::spawn(command)?;
    let mut observed_rss = 0;
    while !child.ended_within(&TICK)? {
        interrupt.check()?;
        if watch.elapsed() > limit {
            bail!("still running after {} s: killed", limit.as_secs());
        }
        // The process may have ended since the poll; the last value then counts.
        observed_rss = peak_rss_bytes(child.id()).unwrap_or(observed_rss);
        tick(watch.elapsed())?;
    }
    let elapsed = watch.elapsed();
    let mut ended = child.reap()?;
    ended.usage.peak_rss_bytes = true_peak(ended.usage.peak_rss_bytes, observed_rss)?;
    Ok(ChildResult { code: ended.code, usage: ended.usage, elapsed, output: text(&mut output)? })
}

/// Returns the peak memory of a child. The kernel starts it at the peak of the parent at the time
/// of the fork; below that, only our own readings count.
fn true_peak(accounted: u64, observed: u64) -> Result<u64> {
    let ours = usage::of_this_process()?.peak_rss_bytes;
    Ok(if accounted > ours || observed == 0 { accounted } else { observed })
}

fn peak_rss_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<ChildResult> {
        run(Command::new("sh").args(["-c", script]), limit, &InterruptFlag::default(), |_| Ok(()))
    }

    #[test]
    fn output_and_exit_code_are_returned() {
        let finished = shell("echo out; echo err >&2; exit 3", Duration::from_secs(10)).unwrap();
        assert_eq!(finished.code, Some(3));
        assert_eq!(finished.output, "out\nerr\n");
    }

    #[test]
    fn the_hard_limit_kills_the_whole_group() {
        let scratch = tempfile::tempdir().unwrap();
        let note = scratch.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", note.display());
        let error = shell(&script, Duration::from_millis(300)).unwrap_err();
        assert!(error.to_string().contains("killed"), "{error}");
        let grandchild = fs::read_to_string(note).unwrap();
        let state =
            || fs::read_to_string(format!("/proc/{}/stat", grandchild.trim())).unwrap_or_default();
        let is_gone = |state: &str| state.is_empty() || state.contains(") Z");
        // A signal that was sent is not yet one that has arrived.
        let gone = (0..200).any(|_| {
            let gone = is_gone(&state());
            if !gone {
                std::thread::sleep(Duration::from_millis(10));
            }
            gone
        });
        assert!(gone, "{}", state());
    }

    #[test]
    fn a_child_that_reads_from_this_process_ends_with_it() {
        let (reader, input, _output) =
            OwnedProcess::spawn_with_pipes(&mut Command::new("cat")).unwrap();
        assert!(!reader.ended_within(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 }).unwrap());
        drop(input);
        assert!(reader.ended_within(&Timespec { tv_sec: 10, tv_nsec: 0 }).unwrap());
        assert!(reader.reap().unwrap().success());
    }

    #[test]
    fn an_interruption_ends_the_run() {
        let interrupt = InterruptFlag::default();
        interrupt.0.store(true, Ordering::Relaxed);
        let error =
            run(Command::new("sleep").arg("60"), Duration::from_mins(1), &interrupt, |_| Ok(()))
                .unwrap_err();
        assert_eq!(error.to_string(), "interrupted");
    }
}

//! Reads the kernel's accounting of a process: CPU time and peak memory.
//!
//! It is the only file of this crate with `unsafe` code, because neither the standard library nor
//! rustix has `wait4` or `getrusage`. [`crate::child`] decides how the figures are used.
#![allow(unsafe_code)]

use std::io;
use std::time::Duration;

/// CPU time and peak memory of one process, and of its children that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub user: Duration,
    pub system: Duration,
    /// Peak resident memory. After `exec`, the kernel starts it at the peak of the parent at the
    /// time of the fork.
    pub peak_rss_bytes: u64,
}

/// Exit code and resource usage of a child that has ended.
#[derive(Clone, Copy, Debug)]
pub struct ChildUsage {
    /// Exit code; `None` if a signal ended the child.
    pub code: Option<i32>,
    pub usage: Usage,
}

impl ChildUsage {
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

/// Waits for the child `pid`, and returns its accounting (wait4(2)).
pub fn wait(pid: u32) -> io::Result<ChildUsage> {
    let mut status: libc::c_int = 0;
    let mut usage = empty();
    loop {
        // SAFETY: both pointers are to live, writable values of the types that wait4(2) asks for.
        let waited = unsafe { libc::wait4(pid as libc::pid_t, &raw mut status, 0, &raw mut usage) };
        if waited >= 0 {
            let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
            return Ok(ChildUsage { code, usage: usage_of(&usage) });
        }
        let error = io::Error::last_os_error();
        // A signal interrupts the wait without ending the child.
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Returns the accounting of this process so far (getrusage(2)).
pub fn of_this_process() -> io::Result<Usage> {
    let mut usage = empty();
    // SAFETY: the pointer is to a live, writable `rusage`.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usage_of(&usage))
}

fn empty() -> libc::rusage {
    // SAFETY: `rusage` is a plain C structure of integers, for which all zeros is a value.
    unsafe { std::mem::zeroed() }
}

fn usage_of(raw: &libc::rusage) -> Usage {
    Usage {
        user: duration(raw.ru_utime),
        system: duration(raw.ru_stime),
        // Linux counts in kilobytes of 1024 bytes.
        peak_rss_bytes: raw.ru_maxrss as u64 * 1024,
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::OwnedProcess;
    use std::process::Command;

    #[test]
    fn the_cpu_time_of_a_child_is_measured() {
        let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let ended =
            OwnedProcess::spawn(Command::new("sh").args(["-c", script])).unwrap().reap().unwrap();
        assert!(ended.success());
        assert!(ended.usage.user + ended.usage.system > Duration::ZERO);
        assert!(ended.usage.peak_rss_bytes > 100_000);
    }

    #[test]
    fn the_exit_code_of_a_failed_child_is_reported() {
        let code_of = |script| {
            OwnedProcess::spawn(Command::new("sh").args(["-c", script]))
                .unwrap()
                .reap()
                .unwrap()
                .code
        };
        assert_eq!(code_of("exit 5"), Some(5));
        assert_eq!(code_of("kill -9 $$"), None);
    }

    #[test]
    fn the_peak_memory_of_this_process_is_measured() {
        assert!(of_this_process().unwrap().peak_rss_bytes > 100_000);
    }
}

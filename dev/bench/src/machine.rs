//! Describes the machine, reads its load, and pins processes to CPUs.
//!
//! The data come from /proc and from the version lines of a few programs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::Serialize;

use crate::tools::{self, Toolbox};

/// Ticks per second of the times in /proc; equal on every Linux that Rust supports.
const TICKS_PER_SECOND: f64 = 100.0;

/// Environment for which absolute figures are valid.
#[derive(Clone, Debug, Serialize)]
pub struct BenchMachine {
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub kernel: String,
    pub date: String,
    pub commit: String,
    pub command: String,
    pub versions: Vec<(&'static str, String)>,
}

impl BenchMachine {
    pub fn describe(toolbox: &Toolbox) -> Self {
        let nginx = tools::in_path("nginx").and_then(|path| tools::first_line(&path, "-v"));
        let nginx = nginx.map(|line| ("nginx", line.replace("nginx version: ", "")));
        Self {
            cpu: line_of("/proc/cpuinfo", "model name\t: "),
            cores: thread::available_parallelism().map_or(0, usize::from),
            system: line_of("/etc/os-release", "PRETTY_NAME=").replace('"', ""),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            date: output_of(&["date", "-u", "+%Y-%m-%d %H:%M UTC"]),
            commit: commit(),
            command: command_line(std::env::args()),
            versions: nginx.into_iter().chain(toolbox.versions()).collect(),
        }
    }
}

/// CPU time that all processors together spent working since boot, in seconds. Time taken by the
/// hypervisor counts as work.
pub fn busy_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<f64> =
        stat.lines().next()?.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    // Fields: user nice system idle iowait irq softirq steal; guest time
    // is included in user (proc_stat(5)).
    let working = [0, 1, 2, 5, 6, 7].iter().map(|&field| fields.get(field).copied().unwrap_or(0.0));
    Some(working.sum::<f64>() / TICKS_PER_SECOND)
}

/// CPU time of one process so far, in seconds.
pub fn process_seconds(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain any character. After it follow the state and field 4; utime and stime
    // are fields 14 and 15.
    let (_, rest) = stat.rsplit_once(')')?;
    let times = rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok());
    Some(times.sum::<f64>() / TICKS_PER_SECOND)
}

/// Pins this process, and all later children, to one CPU.
pub fn pin_to(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Raises the limit on open files to the maximum, for this process and its children.
pub fn raise_file_limit() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?)
}

fn commit() -> String {
    let commit = output_of(&["git", "rev-parse", "--short=12", "HEAD"]);
    // Uncommitted changes make the commit an incomplete description.
    let changed = !output_of(&["git", "status", "--porcelain", "--untracked-files=no"]).is_empty();
    if changed { format!("{commit} and uncommitted changes") } else { commit }
}

/// Returns the output of a program; empty if it fails.
fn output_of(words: &[&str]) -> String {
    let output = Command::new(words[0])
        .args(&words[1..])
        .output()
        .ok()
        .filter(|output| output.status.success());
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}

fn line_of(file: &str, start: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or("unknown").to_owned()
}

/// Returns the command line, with the name of the program instead of its path.
fn command_line(mut words: impl Iterator<Item = String>) -> String {
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program)
        .file_name()
        .map_or(program.clone(), |name| name.to_string_lossy().into_owned());
    std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_use_of_the_machine_includes_this_process() {
        let ours = process_seconds(std::process::id()).unwrap();
        assert!(busy_seconds().unwrap() >= ours);
    }

    #[test]
    fn a_command_line_names_the_program_without_its_folder() {
        let words = ["/a/b/brunt-bench", "--rounds", "2"].map(str::to_owned);
        assert_eq!(command_line(words.into_iter()), "brunt-bench --rounds 2");
    }

    #[test]
    fn a_failed_program_has_no_output_line() {
        assert_eq!(output_of(&["false"]), "");
        assert_eq!(output_of(&["no-such-program-here"]), "");
        assert_eq!(output_of(&["echo", "word"]), "word");
    }
}

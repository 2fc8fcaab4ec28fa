//! Runs autobench in a home directory with its configuration file and a fake httperf, which prints
//! a fixed report at once and records its arguments.

use super::both::ToolOutput;
use crate::world::command;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A home directory with a fake httperf.
pub struct Home {
    pub dir: TempDir,
}

impl Home {
    /// Creates a home whose configuration file has these lines.
    pub fn new(conf: &str) -> Self {
        let home = Self { dir: TempDir::new().expect("a directory") };
        fs::write(home.path(".autobench.conf"), conf).expect("a file");
        home
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Command of a tool of autobench with this home.
    pub fn command(&self, name: &str, line: &str) -> Command {
        let mut command = command(name);
        command
            .args(line.split_whitespace())
            .env("HOME", self.dir.path())
            .current_dir(self.dir.path());
        command
    }

    /// Runs a tool of autobench.
    pub fn run(&self, name: &str, line: &str) -> ToolOutput {
        ToolOutput::from_output(&self.command(name, line).output().expect("brunt"))
    }

    /// Writes a program that appends its arguments to `words` and prints a text. Returns its path.
    pub fn httperf(&self, says: &str) -> String {
        fs::write(self.path("says"), says).expect("a file");
        self.script("printf '[%s]' \"$@\" >>DIR/words; echo >>DIR/words; cat DIR/says")
    }

    /// Writes a program that replaces httperf; `DIR` stands for this home.
    pub fn script(&self, body: &str) -> String {
        let path = self.path("false-httperf");
        let dir = self.dir.path().display().to_string();
        // A program that is open for writing cannot be started, and a process that another test
        // forks meanwhile inherits open files. So another process writes it.
        let text = self.path("text");
        let aside = self.path("aside");
        fs::write(&text, format!("#!/bin/sh\n{}\n", body.replace("DIR", &dir))).expect("a file");
        let copied = Command::new("install")
            .args(["-m", "755"])
            .args([&text, &aside])
            .status()
            .expect("install");
        assert!(copied.success(), "the program cannot be written: {copied}");
        fs::rename(&aside, &path).expect("a name");
        path.display().to_string()
    }

    /// Arguments of all runs of the fake httperf, one line each.
    pub fn arguments(&self) -> Vec<String> {
        fs::read_to_string(self.path("words"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

/// Returns a report of 40 requests with these numbers of replies and errors.
pub fn report(replies: u64, errors: u64) -> String {
    format!(
        "Maximum connect burst length: 1\n
Total: connections 20 requests 40 replies {replies} test-duration 1.901 s\n
Connection rate: 10.5 conn/s (95.1 ms/conn, <=3 concurrent connections)
Request rate: 21.0 req/s (47.5 ms/req)\n
Reply rate [replies/s]: min 19.8 avg 20.0 max 20.4 stddev 0.2 (3 samples)
Reply time [ms]: response 12.3 transfer 0.0
Reply status: 1xx=0 2xx={replies} 3xx=0 4xx=0 5xx=0\n
CPU time [s]: user 0.05 system 0.14 (user 24.2% system 71.0% total 95.2%)
Net I/O: 8.7 KB/s (0.1*10^6 bps)\n
Errors: total {errors} client-timo {errors} socket-timo 0 connrefused 0 connreset 0
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
"
    )
}

//! Reads another machine's files through `ssh`. Nothing needs to be installed there.
//!
//! One `ssh -T HOST sh` runs as long as the watch. Each round sends one line to that shell. It
//! prints the requested files with their paths before each line (`grep '' /dev/null FILE…`),
//! between two marks. It runs only `grep`, `ss` and `sed` there, and only reads. `ssh` uses its
//! normal configuration, and never asks for a password.
//!
//! This module does not parse the files. The texts go into a `Root`, where the same sources read
//! them as on this machine.

use super::ProbeError;
use super::machine::ReadList;
use brunt_model::probe_spec::ProbeAccess;
use brunt_model::sync::IgnorePoison;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};

/// Options for `ssh` unless the plan sets them: of several settings of one
/// option, the first counts.
const DEFAULT_OPTIONS: [&str; 4] =
    ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=2"];
/// Functions for the remote shell: `r` prints files, `c` counts the entries of folders
/// that are not empty.
const FUNCTIONS: &str = r#"exec 2>/dev/null; LC_ALL=C; export LC_ALL; r() { grep '' /dev/null "$@" </dev/null; }; e() { [ -L "$2" ] && echo "$1/count:$(($#-1))"; }; c() { for d do e "$d" "$d"/*; done; }"#;
/// Path of the text with the listening sockets and their owners.
pub(super) const SOCKETS: &str = "/ss";
/// Maximum number of rounds that are skipped before a retry.
const MAX_SKIPPED: u32 = 15;
/// Maximum length of an answer, in bytes.
const MAX_ANSWER: u64 = 32 << 20;

/// A machine that is reached by `ssh`.
pub(super) struct SshSession {
    host: String,
    options: Vec<String>,
    shell: Option<Shell>,
    child_handle: ChildHandle,
    round: u64,
    /// Number of failures since the last success.
    failures: u32,
    /// Number of rounds to skip before the next attempt.
    skips: u32,
    why: String,
}

/// A running shell on that machine.
struct Shell {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
}

/// Ends the `ssh` process from any thread.
#[derive(Clone, Default)]
pub(super) struct ChildHandle(Arc<Mutex<ChildState>>);

#[derive(Default)]
enum ChildState {
    #[default]
    None,
    Running(Child),
    /// No further process may be started.
    Ended,
}

impl ChildHandle {
    /// Ends the process. No further one can be started.
    pub fn end(&self) {
        self.replace(ChildState::Ended);
    }

    /// Replaces the process, and ends the previous one. After `end`, the new
    /// process is ended, too.
    fn replace(&self, next: ChildState) {
        let mut state = self.state();
        let next = if matches!(*state, ChildState::Ended) { end(next) } else { next };
        let previous = std::mem::replace(&mut *state, next);
        if let ChildState::Running(mut child) = previous {
            end_child(&mut child);
        }
    }

    fn state(&self) -> MutexGuard<'_, ChildState> {
        self.0.lock().ignore_poison()
    }
}

fn end(state: ChildState) -> ChildState {
    if let ChildState::Running(mut child) = state {
        end_child(&mut child);
    }
    ChildState::Ended
}

fn end_child(child: &mut Child) {
    // If it has already ended, killing it fails, and waiting for it is enough.
    let _ = child.kill();
    let _ = child.wait();
}

impl SshSession {
    /// Returns None for this machine.
    pub fn new(via: &ProbeAccess) -> Option<Self> {
        let ProbeAccess::Ssh { host, options } = via else { return None };
        Some(Self {
            host: host.clone(),
            options: options.clone(),
            shell: None,
            child_handle: ChildHandle::default(),
            round: 0,
            failures: 0,
            skips: 0,
            why: String::new(),
        })
    }

    pub fn child_handle(&self) -> ChildHandle {
        self.child_handle.clone()
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// Reads files of the machine. Returns their paths and texts. Waits for the answer.
    pub fn read(&mut self, list: &ReadList) -> Result<Vec<(String, String)>, ProbeError> {
        if self.skips > 0 {
            self.skips -= 1;
            return Err(self.trouble());
        }
        match self.try_read(list) {
            Ok(files) => {
                self.failures = 0;
                Ok(files)
            }
            Err(why) => {
                self.why = self.error_output().unwrap_or(why);
                self.shell = None;
                self.child_handle.replace(ChildState::None);
                self.failures += 1;
                // Each failure doubles the pause, so that an unreachable
                // machine costs few attempts.
                self.skips = (1 << self.failures.min(4)).min(MAX_SKIPPED) - 1;
                Err(self.trouble())
            }
        }
    }

    fn trouble(&self) -> ProbeError {
        ProbeError::Ssh { host: self.host.clone(), why: self.why.clone() }
    }

    fn try_read(&mut self, list: &ReadList) -> Result<Vec<(String, String)>, String> {
        if self.shell.is_none() {
            self.shell = Some(self.start()?);
        }
        self.round += 1;
        let Some(shell) = &mut self.shell else { return Err("it ended".into()) };
        let command = command_line(self.round, list);
        shell
            .stdin
            .write_all(command.as_bytes())
            .and_then(|()| shell.stdin.flush())
            .map_err(|e| e.to_string())?;
        parse_answer(self.round, &mut shell.stdout)
    }

    fn start(&self) -> Result<Shell, String> {
        let default_options = DEFAULT_OPTIONS.iter().flat_map(|option| ["-o", option]);
        let mut command = Command::new("ssh");
        // No terminal, which would echo the commands. After `--`, a host that begins with a
        // dash is no option.
        command.arg("-T").args(&self.options).args(default_options).args(["--", &self.host, "sh"]);
        // A separate process group: Ctrl-C first ends brunt's load, and `ssh`
        // together with the watch.
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(|e| format!("cannot be started: {e}"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        self.child_handle.replace(ChildState::Running(child));
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("it has no pipes".into());
        };
        // Reading it must not wait: see `error_output`.
        let _ = rustix::io::ioctl_fionbio(&stderr, true);
        stdin.write_all(format!("{FUNCTIONS}\n").as_bytes()).map_err(|e| e.to_string())?;
        Ok(Shell { stdin, stdout: BufReader::new(stdout), stderr })
    }

    /// Returns the last line that `ssh` printed to stderr, if any.
    fn error_output(&mut self) -> Option<String> {
        let stderr = &mut self.shell.as_mut()?.stderr;
        let mut bytes = vec![0; 4096];
        // It does not wait: a connection that other processes share keeps this pipe open.
        let n = stderr.read(&mut bytes).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Returns the line that the remote shell runs.
fn command_line(round: u64, list: &ReadList) -> String {
    let sockets =
        if list.processes { format!("ss -lntp | sed 's,^,{SOCKETS}:,'; ") } else { String::new() };
    let count = if list.counts.is_empty() {
        String::new()
    } else {
        format!("c {}; ", list.counts.join(" "))
    };
    format!(
        "echo brunt-begin {round}; r {}; {count}{sockets}echo brunt-end {round}\n",
        list.files.join(" ")
    )
}

/// Reads up to the end mark. Text before the begin mark, such as a banner, is skipped.
fn parse_answer(round: u64, stdout: &mut impl BufRead) -> Result<Vec<(String, String)>, String> {
    let begin_mark = format!("brunt-begin {round}");
    let end_mark = format!("brunt-end {round}");
    let mut files: Vec<(String, String)> = Vec::new();
    // A machine that sends without an end must not fill the memory.
    let mut stdout = stdout.take(MAX_ANSWER);
    let mut line = Vec::new();
    let mut has_begun = false;
    loop {
        line.clear();
        if stdout.read_until(b'\n', &mut line).map_err(|e| e.to_string())? == 0 {
            return Err("it ended".into());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\n');
        if text == end_mark {
            return Ok(files);
        }
        if !has_begun {
            has_begun = text == begin_mark;
            continue;
        }
        // grep(1) writes the path before each line, because it was given several files.
        let Some((path, rest)) = text.split_once(':').filter(|(path, _)| path.starts_with('/'))
        else {
            continue;
        };
        match files.last_mut() {
            Some((last, whole)) if last == path => whole.extend([rest, "\n"]),
            _ => files.push((path.to_owned(), format!("{rest}\n"))),
        }
    }
}

/// Quotes a path as one word for the shell.
pub(super) fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_after_banners_up_to_its_marker() {
        let output = "Welcome: /proc/stat:9\nbrunt-begin 7\n/proc/stat:cpu  1 2\n/proc/stat:intr: 5\n/proc/9/fd/count:12\nnoise\nbrunt-end 7\nmore";
        let files = parse_answer(7, &mut output.as_bytes()).unwrap();
        let expected = [("/proc/stat", "cpu  1 2\nintr: 5\n"), ("/proc/9/fd/count", "12\n")];
        assert_eq!(files, expected.map(|(p, t)| (p.to_owned(), t.to_owned())));
        assert!(parse_answer(8, &mut output.as_bytes()).is_err());
    }

    #[test]
    fn a_shell_replies_to_a_request() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("it's"), "one\ntwo").unwrap();
        let path = dir.path().join("it's").display().to_string();
        let list = ReadList {
            files: vec![quoted(&path), "/proc/self/sta[t]".into(), "/proc/none".into()],
            counts: vec!["/proc/self/fd".into(), "/proc/none".into()],
            processes: true,
        };
        let script = format!("{FUNCTIONS}\n{}", command_line(3, &list));
        let mut sh =
            Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        sh.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let files = parse_answer(3, &mut BufReader::new(sh.stdout.take().unwrap())).unwrap();
        sh.wait().unwrap();
        let text = |path: &str| files.iter().find(|f| f.0 == path).map(|f| f.1.as_str());
        assert_eq!(text(&path), Some("one\ntwo\n"));
        assert!(text("/proc/self/stat").is_some_and(|t| t.contains("(grep)")), "{files:?}");
        assert!(
            text("/proc/self/fd/count").is_some_and(|t| t.trim().parse::<u32>().unwrap() >= 3),
            "{files:?}"
        );
        assert_eq!(text("/proc/none/count"), None);
    }
}

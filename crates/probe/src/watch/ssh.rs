//! Another machine's files through `ssh`, with nothing installed there.
//!
//! One `ssh -T HOST sh` lives as long as the watch. Each round is one line for that shell, which prints the files asked
//! for with their paths before each line (`grep '' /dev/null FILE…`), between two marks. What it runs there is `grep`,
//! `ss` and `sed`; it only reads. `ssh` is used as it is configured, and never asks for a password.
//!
//! Out of scope: a parser; texts go into a `Root`, where the same sources read them as on this machine.

use super::Trouble;
use super::machine::ReadList;
use brunt_model::probe_spec::ProbeAccess;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What we ask of `ssh` unless the options of the plan say otherwise: the first mention of an option counts.
const MANNERS: [&str; 4] = ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=2"];
/// Functions for the shell there: `r` prints files, `c` counts the entries of folders that have any.
const FUNCTIONS: &str = r#"exec 2>/dev/null; LC_ALL=C; export LC_ALL; r() { grep '' /dev/null "$@" </dev/null; }; e() { [ -L "$2" ] && echo "$1/count:$(($#-1))"; }; c() { for d do e "$d" "$d"/*; done; }"#;
/// The listening sockets with their owners, told as a file of this name.
pub(super) const SOCKETS: &str = "/ss";
/// Before it is tried again, at most so many rounds are left out.
const MOST_LEFT_OUT: u32 = 15;
/// Bytes of an answer, at most.
const LONGEST: u64 = 32 << 20;

/// A machine behind `ssh`.
pub(super) struct Link {
    host: String,
    options: Vec<String>,
    session: Option<Session>,
    child_handle: ChildHandle,
    round: u64,
    /// How often it failed without a success between, and how many rounds are left out before it is tried again.
    failures: u32,
    left_out: u32,
    why: String,
}

/// A shell there.
struct Session {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    errors: ChildStderr,
}

/// What ends an `ssh`, from whatever thread.
#[derive(Clone, Default)]
pub(super) struct ChildHandle(Arc<Mutex<Held>>);

#[derive(Default)]
enum Held {
    #[default]
    Nothing,
    Child(Child),
    /// No new one may be started.
    Over,
}

impl ChildHandle {
    /// Ends it, for good.
    pub fn end(&self) {
        self.hold(Held::Over);
    }

    /// Holds another one in place of the one before, which is ended; that one too where it is over.
    fn hold(&self, next: Held) {
        let mut held = self.held();
        let next = if matches!(*held, Held::Over) { end(next) } else { next };
        let before = std::mem::replace(&mut *held, next);
        if let Held::Child(mut child) = before {
            end_child(&mut child);
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end(held: Held) -> Held {
    if let Held::Child(mut child) = held {
        end_child(&mut child);
    }
    Held::Over
}

fn end_child(child: &mut Child) {
    // It may have ended by itself: then there is nothing to do but to wait for it.
    let _ = child.kill();
    let _ = child.wait();
}

impl Link {
    /// None where the machine is this one.
    pub fn of(via: &ProbeAccess) -> Option<Self> {
        let ProbeAccess::Ssh { host, options } = via else { return None };
        Some(Self {
            host: host.clone(),
            options: options.clone(),
            session: None,
            child_handle: ChildHandle::default(),
            round: 0,
            failures: 0,
            left_out: 0,
            why: String::new(),
        })
    }

    pub fn child_handle(&self) -> ChildHandle {
        self.child_handle.clone()
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// Files there by path, with their texts. Waits for the answer.
    pub fn ask(&mut self, wants: &ReadList) -> Result<Vec<(String, String)>, Trouble> {
        if self.left_out > 0 {
            self.left_out -= 1;
            return Err(self.trouble());
        }
        match self.try_ask(wants) {
            Ok(files) => {
                self.failures = 0;
                Ok(files)
            }
            Err(why) => {
                self.why = self.last_words().unwrap_or(why);
                self.session = None;
                self.child_handle.hold(Held::Nothing);
                self.failures += 1;
                self.left_out = (1 << self.failures.min(4)).min(MOST_LEFT_OUT) - 1;
                Err(self.trouble())
            }
        }
    }

    fn trouble(&self) -> Trouble {
        Trouble::Ssh { host: self.host.clone(), why: self.why.clone() }
    }

    fn try_ask(&mut self, wants: &ReadList) -> Result<Vec<(String, String)>, String> {
        if self.session.is_none() {
            self.session = Some(self.begin()?);
        }
        self.round += 1;
        let Some(session) = &mut self.session else { return Err("it ended".into()) };
        let question = question(self.round, wants);
        session.to.write_all(question.as_bytes()).and_then(|()| session.to.flush()).map_err(|e| e.to_string())?;
        answer(self.round, &mut session.from)
    }

    fn begin(&self) -> Result<Session, String> {
        let manners = MANNERS.iter().flat_map(|one| ["-o", one]);
        let mut command = Command::new("ssh");
        command.arg("-T").args(&self.options).args(manners).args(["--", &self.host, "sh"]);
        // A group of its own: Ctrl-C ends brunt's load first, and this with the watch.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|e| format!("cannot be started: {e}"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        self.child_handle.hold(Held::Child(child));
        let (Some(mut to), Some(from), Some(errors)) = pipes else { return Err("it has no pipes".into()) };
        let _ = rustix::io::ioctl_fionbio(&errors, true);
        to.write_all(format!("{FUNCTIONS}\n").as_bytes()).map_err(|e| e.to_string())?;
        Ok(Session { to, from: BufReader::new(from), errors })
    }

    /// The last line that `ssh` itself said, where it has ended.
    fn last_words(&mut self) -> Option<String> {
        let errors = &mut self.session.as_mut()?.errors;
        let mut said = vec![0; 4096];
        // Not waited for: a connection that others share keeps this pipe open.
        let n = errors.read(&mut said).unwrap_or(0);
        let text = String::from_utf8_lossy(&said[..n]).into_owned();
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// A line for the shell there.
fn question(round: u64, wants: &ReadList) -> String {
    let sockets = if wants.processes { format!("ss -lntp | sed 's,^,{SOCKETS}:,'; ") } else { String::new() };
    let count = if wants.counts.is_empty() { String::new() } else { format!("c {}; ", wants.counts.join(" ")) };
    format!("echo brunt-begin {round}; r {}; {count}{sockets}echo brunt-end {round}\n", wants.files.join(" "))
}

/// Reads to the mark of the end. What comes before the mark of the beginning is some banner.
fn answer(round: u64, from: &mut impl BufRead) -> Result<Vec<(String, String)>, String> {
    let (begin, end) = (format!("brunt-begin {round}"), format!("brunt-end {round}"));
    let mut files: Vec<(String, String)> = Vec::new();
    let mut from = from.take(LONGEST);
    let (mut line, mut begun) = (Vec::new(), false);
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line).map_err(|e| e.to_string())? == 0 {
            return Err("it ended".into());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\n');
        if text == end {
            return Ok(files);
        }
        if !begun {
            begun = text == begin;
            continue;
        }
        let Some((path, rest)) = text.split_once(':').filter(|(path, _)| path.starts_with('/')) else { continue };
        match files.last_mut() {
            Some((last, whole)) if last == path => whole.extend([rest, "\n"]),
            _ => files.push((path.to_owned(), format!("{rest}\n"))),
        }
    }
}

/// A path as one word of the shell, whatever is in it.
pub(super) fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_past_banners_and_to_its_mark() {
        let said = "Welcome: /proc/stat:9\nbrunt-begin 7\n/proc/stat:cpu  1 2\n/proc/stat:intr: 5\n/proc/9/fd/count:12\nnoise\nbrunt-end 7\nmore";
        let files = answer(7, &mut said.as_bytes()).unwrap();
        let expected = [("/proc/stat", "cpu  1 2\nintr: 5\n"), ("/proc/9/fd/count", "12\n")];
        assert_eq!(files, expected.map(|(p, t)| (p.to_owned(), t.to_owned())));
        assert!(answer(8, &mut said.as_bytes()).is_err());
    }

    #[test]
    fn a_shell_answers_a_question() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("it's"), "one\ntwo").unwrap();
        let path = dir.path().join("it's").display().to_string();
        let wants = ReadList {
            files: vec![quoted(&path), "/proc/self/sta[t]".into(), "/proc/none".into()],
            counts: vec!["/proc/self/fd".into(), "/proc/none".into()],
            processes: true,
        };
        let script = format!("{FUNCTIONS}\n{}", question(3, &wants));
        let mut sh = Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        sh.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let files = answer(3, &mut BufReader::new(sh.stdout.take().unwrap())).unwrap();
        sh.wait().unwrap();
        let text = |path: &str| files.iter().find(|f| f.0 == path).map(|f| f.1.as_str());
        assert_eq!(text(&path), Some("one\ntwo\n"));
        assert!(text("/proc/self/stat").is_some_and(|t| t.contains("(grep)")), "{files:?}");
        assert!(text("/proc/self/fd/count").is_some_and(|t| t.trim().parse::<u32>().unwrap() >= 3), "{files:?}");
        assert_eq!(text("/proc/none/count"), None);
    }
}

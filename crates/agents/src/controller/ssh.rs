//! Starts agents on other machines through the system's `ssh`.
//!
//! `ssh` has the user's configuration, keys and known hosts. One connection carries everything: a
//! short script on the other machine names its architecture, and receives brunt itself if its copy is
//! missing there. Then it becomes the agent. No port is opened and no daemon is left; the copy stays
//! in the user's cache directory, under a name with its hash.

use super::link::AgentPipes;
use super::local::{own_program, pipes_of};
use aws_lc_rs::digest::{SHA256, digest};
use brunt_model::numbers::hexadecimal;
use brunt_model::sync::IgnorePoison;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The first words of the script's first line. Lines before it come from the user's shell.
const GREETING: &str = "brunt-agent 1 ";

/// The command on the other machine. `sh`, because the user's shell may be of another kind. Messages
/// of the script go to stderr, which is shown if the agent ends.
const SCRIPT: &str = r#"exec sh -c '
echo "brunt-agent 1 $(uname -s) $(uname -m)"
read -r hash size || exit 1
folder="${XDG_CACHE_HOME:-$HOME/.cache}/brunt"
file="$folder/agent-$hash"
if [ -x "$file" ] && [ "$(wc -c < "$file")" -eq "$size" ]; then
  echo found
else
  mkdir -p "$folder" || exit 1
  copy="$file.$$"
  trap "rm -f \"$copy\"" EXIT
  echo send
  head -c "$size" > "$copy" || exit 1
  chmod 700 "$copy" && mv "$copy" "$file" || exit 1
  trap - EXIT
  echo stored
fi
exec "$file" worker
'"#;

/// Maximum number of lines that the user's shell may print before the script.
const MAX_LINES: usize = 200;

/// Maximum length of the text of stderr that is kept.
const MAX_MESSAGE: usize = 2_000;

/// Time to wait for the rest of stderr after an agent has ended.
const MESSAGE_WAIT: Duration = Duration::from_secs(1);

/// A program that agents run: brunt for one architecture.
pub struct AgentProgram {
    bytes: Vec<u8>,
    hash: String,
    architecture: &'static str,
}

impl AgentProgram {
    /// Reads the running program.
    ///
    /// # Errors
    ///
    /// Its file cannot be read, or is no program for Linux.
    pub fn own() -> io::Result<Self> {
        Self::read(&own_program()?)
    }

    /// Reads a program from a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no program for Linux.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bytes = fs::read(path)?;
        let architecture = architecture_of(&bytes)
            .ok_or_else(|| io::Error::other("it is no program for Linux on x86_64 or aarch64"))?;
        let hash = hexadecimal(&digest(&SHA256, &bytes).as_ref()[..16]);
        Ok(Self { bytes, hash, architecture })
    }
}

/// Returns the architecture of an ELF file, as `uname -m` names it.
fn architecture_of(program: &[u8]) -> Option<&'static str> {
    if !program.starts_with(b"\x7fELF") {
        return None;
    }
    // `e_machine` of the ELF header: 62 and 183 (elf.h).
    match program.get(18..20)? {
        [62, 0] => Some("x86_64"),
        [183, 0] => Some("aarch64"),
        _ => None,
    }
}

/// Starts an agent on a host.
///
/// # Errors
///
/// `ssh` cannot be started or fails, the machine has another architecture, or brunt cannot be
/// copied. The text has what `ssh` printed.
pub fn start(host: &str, programs: &[AgentProgram]) -> Result<AgentPipes, String> {
    let mut child = Command::new("ssh")
        .args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"])
        // An empty host, or one that begins with `-`, is an error of ssh and not an option.
        .args(["--", host, SCRIPT])
        // Ctrl-C in a terminal reaches all processes of the group. It must not cut the connection.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("ssh cannot be started: {error}"))?;
    let messages = messages_of(&mut child);
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("ssh has no pipes".into());
    };
    let mut output = BufReader::new(output);
    match prepare(&mut input, &mut output, programs) {
        Ok(()) => Ok(pipes_of(child, input, output, move |reason| messages.with(&reason))),
        Err(error) => {
            // The script ends when its input closes.
            drop(input);
            _ = child.kill();
            _ = child.wait();
            Err(messages.with(&error))
        }
    }
}

/// Has brunt copied if it is missing, so that the agent runs afterwards.
fn prepare(
    input: &mut impl Write,
    output: &mut impl BufRead,
    programs: &[AgentProgram],
) -> Result<(), String> {
    let ended = |error: io::Error| format!("the connection failed: {error}");
    let machine = greeting(output)?;
    let (system, architecture) = machine.split_once(' ').unwrap_or((&machine, ""));
    let architecture = if architecture == "arm64" { "aarch64" } else { architecture };
    let program = programs
        .iter()
        .find(|program| system == "Linux" && program.architecture == architecture)
        .ok_or_else(|| {
            format!(
                "there is no brunt for {system} {architecture}; name its file with --agent-binary FILE"
            )
        })?;
    writeln!(input, "{} {}", program.hash, program.bytes.len()).map_err(ended)?;
    input.flush().map_err(ended)?;
    match line(output)?.as_str() {
        "found" => return Ok(()),
        "send" => {}
        other => return Err(format!("unexpected output of its shell: {other}")),
    }
    input.write_all(&program.bytes).and_then(|()| input.flush()).map_err(ended)?;
    match line(output)?.as_str() {
        "stored" => Ok(()),
        other => Err(format!("unexpected output of its shell: {other}")),
    }
}

/// Skips what the user's shell prints, and returns the rest of the greeting.
fn greeting(output: &mut impl BufRead) -> Result<String, String> {
    for _ in 0..MAX_LINES {
        if let Some(machine) = line(output)?.strip_prefix(GREETING) {
            return Ok(machine.to_owned());
        }
    }
    Err(format!("its shell printed more than {MAX_LINES} lines before a command"))
}

fn line(output: &mut impl BufRead) -> Result<String, String> {
    let mut line = Vec::new();
    // Bounded, because the output may be anything.
    let count = output.take(10_000).read_until(b'\n', &mut line).map_err(|e| e.to_string())?;
    if count == 0 {
        return Err("the connection closed".into());
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// The last text that a process printed to stderr.
struct Messages {
    text: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

/// Collects stderr of a process, so that it never blocks.
fn messages_of(child: &mut Child) -> Messages {
    let text: Arc<Mutex<Vec<u8>>> = Arc::default();
    let (sender, ended) = channel();
    if let Some(mut stderr) = child.stderr.take() {
        let collected = Arc::clone(&text);
        thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(count @ 1..) = stderr.read(&mut buffer) {
                let mut text = collected.lock().ignore_poison();
                text.extend_from_slice(&buffer[..count]);
                let excess = text.len().saturating_sub(MAX_MESSAGE);
                text.drain(..excess);
            }
            _ = sender.send(());
        });
    }
    Messages { text, ended }
}

impl Messages {
    /// Adds what the process printed to a reason.
    fn with(&self, reason: &str) -> String {
        // A process that outlives ssh may keep stderr open.
        _ = self.ended.recv_timeout(MESSAGE_WAIT);
        let text = self.text.lock().ignore_poison();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() { reason.to_owned() } else { format!("{reason}: {}", lines.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> AgentProgram {
        AgentProgram { bytes: vec![7; 5], hash: "ab".into(), architecture: "x86_64" }
    }

    /// What is written to the script, or the error, if it prints this.
    fn after(output: &str) -> Result<Vec<u8>, String> {
        let mut input = Vec::new();
        prepare(&mut input, &mut output.as_bytes(), &[program()])?;
        Ok(input)
    }

    #[test]
    fn a_copy_that_exists_is_not_sent() {
        assert_eq!(after("brunt-agent 1 Linux x86_64\nfound\n").unwrap(), b"ab 5\n");
    }

    #[test]
    fn lines_of_the_shell_are_skipped_and_a_missing_copy_is_sent() {
        let output = "Welcome!\n\nbrunt-agent 1 Linux x86_64\nsend\nstored\n";
        assert_eq!(after(output).unwrap(), b"ab 5\n\x07\x07\x07\x07\x07");
    }

    #[test]
    fn another_architecture_is_named() {
        let error = after("brunt-agent 1 Linux aarch64\nfound\n").unwrap_err();
        assert!(error.starts_with("there is no brunt for Linux aarch64; name its file"), "{error}");
        let error = after("brunt-agent 1 Darwin x86_64\n").unwrap_err();
        assert!(error.starts_with("there is no brunt for Darwin x86_64"), "{error}");
        let aarch64 = AgentProgram { architecture: "aarch64", hash: "cd".into(), ..program() };
        let mut input = Vec::new();
        let mut output = "brunt-agent 1 Linux arm64\nfound\n".as_bytes();
        prepare(&mut input, &mut output, &[program(), aarch64]).unwrap();
        assert_eq!(input, b"cd 5\n");
    }

    #[test]
    fn the_architecture_of_this_program_is_known() {
        assert_eq!(AgentProgram::own().unwrap().architecture, std::env::consts::ARCH);
        assert_eq!(architecture_of(b"#!/bin/sh"), None);
    }

    #[test]
    fn a_closed_connection_and_other_output_are_errors() {
        assert_eq!(after(""), Err("the connection closed".into()));
        assert_eq!(after("brunt-agent 1 Linux x86_64\n"), Err("the connection closed".into()));
        let error = after("brunt-agent 1 Linux x86_64\nsend\nNo space left\n").unwrap_err();
        assert_eq!(error, "unexpected output of its shell: No space left");
        assert!(after(&"x\n".repeat(300)).unwrap_err().contains("more than 200 lines"));
    }
}

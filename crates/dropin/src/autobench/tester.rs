//! Who answers an httperf command line with the text of its report.

use super::super::httperf;
use super::NO_NOTES;
use super::settings::Settings;
use crate::caller::Caller;
use brunt_runner::Interrupt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// One that answers.
pub trait Tester {
    /// The command line as it could be typed.
    fn named(&self, words: &[String]) -> String;

    /// Its report; or why there is none. `ours` are words that only our own understands.
    fn report(&mut self, words: &[String], ours: &[String]) -> Result<String, String>;
}

/// Who answers: the httperf that was asked for, or our own.
pub fn tester(settings: &Settings, caller: &Arc<Caller>) -> Result<Box<dyn Tester>, String> {
    Ok(match &settings.httperf {
        Some(path) if settings.side.iter().all(|aside| aside.is(NO_NOTES)) => Box::new(Program(path.clone())),
        Some(path) => {
            return Err(format!("{} knows no --brunt- options; leave out either these or --httperf", path.display()));
        }
        None => Box::new(Ours((caller.interrupt)().map_err(|error| error.to_string())?, Arc::clone(caller))),
    })
}

/// Our own, in this process.
struct Ours(Interrupt, Arc<Caller>);

impl Tester for Ours {
    fn named(&self, words: &[String]) -> String {
        typed(Path::new("httperf"), words)
    }

    fn report(&mut self, words: &[String], ours: &[String]) -> Result<String, String> {
        let Self(interrupt, caller) = self;
        let answer = httperf::answer(&[words, ours].concat(), interrupt, caller);
        if interrupt.is_stopped() {
            return Err("stopped; the table holds the completed tests".into());
        }
        match answer.refusal {
            Some(why) => Err(why.trim_end().to_owned()),
            None => Ok(answer.text),
        }
    }
}

/// A program of that kind.
#[derive(Debug)]
struct Program(PathBuf);

impl Tester for Program {
    fn named(&self, words: &[String]) -> String {
        typed(&self.0, words)
    }

    fn report(&mut self, words: &[String], _: &[String]) -> Result<String, String> {
        let Self(path) = self;
        let ended = Command::new(&*path).args(words).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let output = ended.map_err(|error| format!("{}: {error}; name another with --httperf PATH", path.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() { Ok(text) } else { Err(format!("{} failed: {}", path.display(), output.status)) }
    }
}

/// A process that is to be httperf: the one that was asked for, or our own.
pub fn program(asked: Option<&Path>, caller: &Caller) -> Result<Command, String> {
    if let Some(path) = asked {
        return Ok(Command::new(path));
    }
    let ours = (caller.program)().map_err(|error| format!("this program cannot be started again: {error}"))?;
    let mut command = Command::new(ours);
    command.arg("httperf");
    Ok(command)
}

/// A command line as a shell would take it.
fn typed(program: &Path, words: &[String]) -> String {
    let program = program.display().to_string();
    let words = [program.as_str()].into_iter().chain(words.iter().map(String::as_str));
    shlex::try_join(words).unwrap_or_default()
}

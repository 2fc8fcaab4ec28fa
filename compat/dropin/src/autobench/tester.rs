//! Runs httperf, brunt's own or an external one, and returns the text of its report.

use super::super::httperf;
use super::NO_NOTES;
use super::settings::AutobenchSettings;
use crate::caller::Caller;
use brunt_runner::Interrupt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

pub trait Tester {
    /// The command line, quoted for a shell.
    fn command_line(&self, words: &[String]) -> String;

    /// Runs a test and returns its report. Only brunt's own httperf accepts `brunt_options`.
    fn report(&mut self, words: &[String], brunt_options: &[String]) -> Result<String, String>;
}

/// Selects the requested httperf or brunt's own.
pub fn tester(
    settings: &AutobenchSettings,
    caller: &Arc<Caller>,
) -> Result<Box<dyn Tester>, String> {
    Ok(match &settings.httperf {
        Some(path) if settings.brunt_options.iter().all(|option| option.is(NO_NOTES)) => {
            Box::new(External(path.clone()))
        }
        Some(path) => {
            return Err(format!(
                "{} knows no --brunt- options; leave out either these or --httperf",
                path.display()
            ));
        }
        None => Box::new(BuiltIn(
            (caller.interrupt)().map_err(|error| error.to_string())?,
            Arc::clone(caller),
        )),
    })
}

/// brunt's httperf, in this process.
struct BuiltIn(Interrupt, Arc<Caller>);

impl Tester for BuiltIn {
    fn command_line(&self, words: &[String]) -> String {
        shell_line(Path::new("httperf"), words)
    }

    fn report(&mut self, words: &[String], brunt_options: &[String]) -> Result<String, String> {
        let Self(interrupt, caller) = self;
        let answer = httperf::answer(&[words, brunt_options].concat(), interrupt, caller);
        // The report of a stopped test is incomplete.
        if interrupt.is_stopped() {
            return Err("stopped; the table holds the completed tests".into());
        }
        match answer.refusal {
            Some(why) => Err(why.trim_end().to_owned()),
            None => Ok(answer.text),
        }
    }
}

#[derive(Debug)]
struct External(PathBuf);

impl Tester for External {
    fn command_line(&self, words: &[String]) -> String {
        shell_line(&self.0, words)
    }

    fn report(&mut self, words: &[String], _: &[String]) -> Result<String, String> {
        let Self(path) = self;
        let result =
            Command::new(&*path).args(words).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let output = result.map_err(|error| {
            format!("{}: {error}; name another with --httperf PATH", path.display())
        })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            Ok(text)
        } else {
            Err(format!("{} failed: {}", path.display(), output.status))
        }
    }
}

/// Command that starts the requested httperf or brunt's own.
pub fn program(path: Option<&Path>, caller: &Caller) -> Result<Command, String> {
    if let Some(path) = path {
        return Ok(Command::new(path));
    }
    let brunt = (caller.program)()
        .map_err(|error| format!("this program cannot be started again: {error}"))?;
    let mut command = Command::new(brunt);
    command.arg("httperf");
    Ok(command)
}

/// Quotes a command line for a shell.
fn shell_line(program: &Path, words: &[String]) -> String {
    let program = program.display().to_string();
    let words = [program.as_str()].into_iter().chain(words.iter().map(String::as_str));
    shlex::try_join(words).unwrap_or_default()
}

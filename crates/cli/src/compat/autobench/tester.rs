//! Who answers an httperf command line with the text of its report.

use super::settings::Settings;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One that answers.
pub trait Tester {
    /// The command line as it could be typed.
    fn named(&self, words: &[String]) -> String;

    /// Its report; or why there is none.
    fn report(&mut self, words: &[String]) -> Result<String, String>;
}

/// Who answers: the httperf that was asked for, or our own.
pub fn tester(settings: &Settings) -> Box<dyn Tester> {
    let program = settings.httperf.clone().unwrap_or_else(|| PathBuf::from("httperf"));
    Box::new(Program(program))
}

/// A process that is to be httperf: the one that was asked for, or our own.
pub fn program(asked: Option<&Path>) -> Command {
    Command::new(asked.unwrap_or(Path::new("httperf")))
}

/// A program of that kind.
#[derive(Debug)]
pub struct Program(pub PathBuf);

impl Tester for Program {
    fn named(&self, words: &[String]) -> String {
        typed(&self.0, words)
    }

    fn report(&mut self, words: &[String]) -> Result<String, String> {
        let Self(path) = self;
        let ended = Command::new(&*path).args(words).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let output = ended.map_err(|error| format!("{}: {error}; name another with --httperf PATH", path.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() { Ok(text) } else { Err(format!("{} failed: {}", path.display(), output.status)) }
    }
}

/// A command line as a shell would take it.
pub fn typed(program: &Path, words: &[String]) -> String {
    let program = program.display().to_string();
    let words = [program.as_str()].into_iter().chain(words.iter().map(String::as_str));
    shlex::try_join(words).unwrap_or_default()
}

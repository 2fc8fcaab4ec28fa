//! The process that a tool runs in: its output streams, environment, clock and store.
//!
//! The caller of a tool passes it in. Nothing here prints, ends the process or
//! reads the environment by itself.

use crate::error::ToolError;
use brunt_agents::Fleet;
use brunt_k6::driver::PROGRAM;
use brunt_model::sync::IgnorePoison;
use brunt_model::{FleetSettings, Judgement, Run};
use brunt_runner::{CommandSession, Interrupt};
use brunt_script::Languages;
use brunt_script::driver::ProgramRow;
use brunt_spec::System;
use brunt_spec::settings::EnvironmentVariable;
use brunt_spec::words::values::Output;
use brunt_store::{Redactor, Store};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

/// A stream that several threads may write to.
pub type SharedOutput = Mutex<Box<dyn Write + Send>>;

/// The process that a tool runs in.
pub struct Caller {
    /// Receives the tool's own text.
    pub stdout: SharedOutput,
    /// Receives its error messages.
    pub stderr: SharedOutput,
    /// Reads a line of standard input.
    pub line: fn() -> io::Result<String>,
    /// Reads an environment variable.
    pub environment: EnvironmentVariable,
    /// Reads all environment variables.
    pub all_variables: fn() -> Vec<(String, String)>,
    /// Reads the properties of this machine.
    pub system: fn() -> System,
    /// Home directory of the user.
    pub home: Option<PathBuf>,
    /// The whole command line, for reports.
    pub command: String,
    /// Path of this executable, to start it again.
    pub program: fn() -> io::Result<PathBuf>,
    /// Installs the Ctrl-C handler.
    pub interrupt: fn() -> io::Result<Interrupt>,
    /// Installs the handlers of the signals that end a daemon, and returns the flag that they set.
    pub stop_flag: fn() -> io::Result<Arc<AtomicBool>>,
    /// Replaces secrets in everything that is stored or printed.
    pub redactor: fn() -> Arc<Redactor>,
    /// Opens the store of runs.
    pub store: fn(&StorePlace) -> Result<Store, ToolError>,
    /// Opens the report files before the run.
    pub reports: OpenReports,
    /// Starts agents.
    pub start_agents: fn(&FleetSettings) -> Result<Fleet, ToolError>,
    /// Agents that were started, for all runs of the tool.
    pub agents: Mutex<Option<Arc<Fleet>>>,
}

/// The languages of scripts in plans, and of other tools' scripts.
pub const LANGUAGES: Languages = brunt_languages::LANGUAGES.with_programs(PROGRAMS);

const PROGRAMS: &[ProgramRow] = &[PROGRAM];

/// A function that opens report files before the run.
pub type OpenReports = fn(&[Output]) -> Result<Box<dyn Reports>, ToolError>;

/// Directory in which a run is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePlace {
    /// The default store of this user.
    Default,
    /// A store in this directory.
    Directory(PathBuf),
}

/// Reports with open files, to be written after the run.
pub trait Reports {
    /// Writes all reports to their files.
    fn write(self: Box<Self>, run: &Run, judgement: &Judgement) -> Result<(), ToolError>;
}

impl Caller {
    /// Starts the agents of these settings, unless they run already. None without settings.
    ///
    /// # Errors
    ///
    /// An agent cannot be started.
    pub fn fleet(&self, settings: Option<&FleetSettings>) -> Result<Option<Arc<Fleet>>, ToolError> {
        let Some(settings) = settings else { return Ok(None) };
        let mut agents = self.agents.lock().ignore_poison();
        if agents.is_none() {
            *agents = Some(Arc::new((self.start_agents)(settings)?));
        }
        Ok(agents.clone())
    }

    /// Creates a session of this process, with the store and the agents if there are any.
    pub fn session(
        &self,
        store: Option<Store>,
        interrupt: Interrupt,
        fleet: Option<Arc<Fleet>>,
    ) -> CommandSession {
        let environment =
            brunt_probe::machine::environment(self.command.clone(), env!("CARGO_PKG_VERSION"));
        CommandSession {
            environment,
            store,
            redactor: (self.redactor)(),
            interrupt,
            fleet,
            languages: LANGUAGES,
        }
    }

    /// Returns an environment variable.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    /// Writes text to stdout and flushes it. Write errors are ignored, since the reader
    /// may close the pipe early.
    pub fn out(&self, text: &str) {
        self.out_bytes(text.as_bytes());
    }

    /// Writes bytes to stdout and flushes them.
    pub fn out_bytes(&self, bytes: &[u8]) {
        let mut out = lock(&self.stdout);
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Writes text to stderr, unchanged.
    pub fn err(&self, text: &str) {
        let mut out = lock(&self.stderr);
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// Writes a line to stderr.
    pub fn err_line(&self, text: &str) {
        self.err(&format!("{text}\n"));
    }

    /// Writes a line of brunt's own to stderr, without secrets.
    pub fn err_redacted(&self, line: &str) {
        self.err_line(&(self.redactor)().text(line));
    }
}

/// Standard output as a writer, for callers that need to see write errors.
pub struct Stdout(pub Arc<Caller>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0.stdout).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        lock(&self.0.stdout).flush()
    }
}

fn lock(stream: &SharedOutput) -> MutexGuard<'_, Box<dyn Write + Send>> {
    stream.lock().ignore_poison()
}

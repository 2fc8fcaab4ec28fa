//! What a tool has of the process that it runs in: where its text goes, and what it may ask for. Whoever calls the tool hands
//! it in; nothing here prints, ends the process or reads the environment by itself.

use crate::error::ToolError;
use brunt_model::{Judgement, Run};
use brunt_runner::{Interrupt, Session};
use brunt_spec::System;
use brunt_spec::settings::Environment;
use brunt_spec::words::values::Output;
use brunt_store::{Redactor, Store};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A stream that several threads may write to.
pub type Stream = Mutex<Box<dyn Write + Send>>;

/// The process that a tool runs in.
pub struct Caller {
    /// Where the tool's own text goes.
    pub stdout: Stream,
    /// Where its complaints go.
    pub stderr: Stream,
    /// A line of standard input.
    pub line: fn() -> io::Result<String>,
    /// A variable of the environment.
    pub environment: Environment,
    /// The machine.
    pub system: fn() -> System,
    /// The folder of whoever calls.
    pub home: Option<PathBuf>,
    /// The whole command line, for reports.
    pub command: String,
    /// This program, to be started again.
    pub program: fn() -> io::Result<PathBuf>,
    /// Listens to Ctrl-C.
    pub interrupt: fn() -> io::Result<Interrupt>,
    /// Set by the signals that end a daemon.
    pub ended: fn() -> io::Result<Arc<AtomicBool>>,
    /// Replaces secrets in all that is kept or told.
    pub redactor: fn() -> Arc<Redactor>,
    /// Opens a store.
    pub store: fn(&StorePlace) -> Result<Store, ToolError>,
    /// Opens the files of reports, before anything is measured.
    pub reports: OpenReports,
}

/// Opens the files of reports.
pub type OpenReports = fn(&[Output]) -> Result<Box<dyn Reports>, ToolError>;

/// Where a run is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePlace {
    /// Where all runs are.
    Usual,
    /// In this directory.
    Directory(PathBuf),
}

/// Reports whose files are open.
pub trait Reports {
    /// Writes them.
    ///
    /// # Errors
    ///
    /// [`ToolError`] if a file cannot be written.
    fn write(self: Box<Self>, run: &Run, judgement: &Judgement) -> Result<(), ToolError>;
}

impl Caller {
    /// A session of this process, with a store where there is one.
    pub fn session(&self, store: Option<Store>, interrupt: Interrupt) -> Session {
        let environment = brunt_probe::machine::environment(self.command.clone(), env!("CARGO_PKG_VERSION"));
        Session { environment, store, redactor: (self.redactor)(), interrupt }
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    /// Writes on stdout, at once. Whoever reads it may stop when it has seen enough.
    pub fn out(&self, text: &str) {
        self.out_bytes(text.as_bytes());
    }

    /// The same for bytes.
    pub fn out_bytes(&self, bytes: &[u8]) {
        let mut out = held(&self.stdout);
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Writes on stderr, as it stands.
    pub fn err(&self, text: &str) {
        let mut out = held(&self.stderr);
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// The same with the end of a line.
    pub fn err_line(&self, text: &str) {
        self.err(&format!("{text}\n"));
    }

    /// A line of ours on stderr, without secrets.
    pub fn say(&self, line: &str) {
        self.err_line(&(self.redactor)().text(line));
    }
}

/// Standard output, for whoever must know that it cannot be written.
pub struct Stdout(pub Arc<Caller>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        held(&self.0.stdout).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        held(&self.0.stdout).flush()
    }
}

fn held(stream: &Stream) -> MutexGuard<'_, Box<dyn Write + Send>> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Where reports go.

use crate::args;
use crate::args::values::Output;
use crate::defaults;
use crate::measure::Listen;
use anyhow::{Context, Result};
use brunt_model::codec::LogWriter;
use brunt_model::{Analysis, Event, Judgement, Run, Study};
use brunt_report::{Format, REPORTS};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Reports whose files have been opened, so that a name that cannot be written is known before anything is measured.
pub struct Outputs {
    to_files: Vec<(&'static Format, PathBuf, File)>,
    to_stdout: Vec<&'static Format>,
}

impl Outputs {
    /// Opens the files. Where nothing else goes to stdout, the text does, unless all is to be quiet.
    pub fn open(outputs: &[Output], quiet: bool) -> Result<Self> {
        let names: Vec<_> = REPORTS.iter().map(|r| r.name).collect();
        args::output::check(outputs, &names)?;
        let mut opened = Self { to_files: Vec::new(), to_stdout: Vec::new() };
        for output in outputs {
            let Some(format) = brunt_report::format(&output.format) else { continue };
            match &output.file {
                Some(path) => opened.to_files.push((format, path.clone(), create(path)?)),
                None => opened.to_stdout.push(format),
            }
        }
        if opened.to_stdout.is_empty() && !quiet {
            opened.to_stdout.extend(brunt_report::format(defaults::OUTPUT));
        }
        Ok(opened)
    }

    /// Writes every report of a run.
    pub fn write(self, run: &Run, judgement: &Judgement) -> Result<()> {
        self.each(|format, out| (format.write)(run, judgement, out))
    }

    /// Writes every report of a study.
    pub fn write_study(self, study: &Study, analysis: &Analysis) -> Result<()> {
        self.each(|format, out| (format.write_study)(study, analysis, out))
    }

    /// One that cannot be written does not keep the others from it; the first error is returned.
    fn each(self, write: impl Fn(&Format, &mut dyn io::Write) -> io::Result<()>) -> Result<()> {
        let mut outcome = Ok(());
        for format in self.to_stdout {
            let written = write(format, &mut io::stdout().lock()).and_then(|()| io::stdout().flush());
            outcome = outcome.and(written.or_else(ignore_closed_pipe).context("stdout"));
        }
        for (format, path, file) in self.to_files {
            let mut out = BufWriter::new(file);
            let written = write(format, &mut out).and_then(|()| out.flush());
            outcome = outcome.and(written.with_context(|| path.display().to_string()));
        }
        outcome
    }
}

/// Whoever reads our stdout may stop when it has seen enough, as `head` does.
pub(crate) fn ignore_closed_pipe(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("{} cannot be written", path.display()))
}

/// The event log of a run.
pub struct Log {
    writer: Option<LogWriter<BufWriter<File>>>,
    path: PathBuf,
    /// Why it ends before the run did.
    pub error: Option<anyhow::Error>,
}

impl Log {
    /// Begins the log in a file.
    pub fn create(path: &Path) -> Result<Self> {
        let writer = LogWriter::new(BufWriter::new(create(path)?)).with_context(|| path.display().to_string())?;
        Ok(Self { writer: Some(writer), path: path.to_owned(), error: None })
    }
}

impl Listen for Log {
    /// Appends an event. A full disk ends the log, not the run.
    fn hear(&mut self, event: &Event) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(e) = writer.write(event) {
            self.writer = None;
            let what = format!("{}: the event log ends before the run does", self.path.display());
            self.error = Some(anyhow::Error::new(e).context(what));
        }
    }
}

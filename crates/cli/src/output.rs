//! Writes reports to their destinations.

use crate::{args, live_outputs, view};
use anyhow::{Context, Result, bail};
use brunt_model::{Analysis, Judgement, Run, Study};
use brunt_report::ci::JobSummary;
use brunt_report::picture::Charts;
use brunt_report::{FormatContent, REPORTS, ReportFormat, ReportSubject};
use brunt_runner::{CommandSession, EventLog};
use brunt_spec::defaults;
use brunt_spec::settings::OutputSettings;
use brunt_spec::words::values::Output;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reports with open files. Files are opened before the run, so that errors show early.
pub struct Outputs {
    places: Vec<(&'static ReportFormat, Destination)>,
    /// Format of an additional report on stdout. None if a requested report goes to stdout, and
    /// with `--quiet`.
    default_format: Option<&'static ReportFormat>,
}

/// Destination of a report.
enum Destination {
    Stdout,
    File(PathBuf, File),
    /// A directory, for charts.
    Directory(PathBuf, Charts),
    /// End of the file of a CI system.
    JobSummary(PathBuf, File, &'static JobSummary),
}

impl Outputs {
    /// Opens the reports of the settings. `--trace` writes to stdout, so it excludes requested
    /// reports on stdout and live outputs. The caller removes the default report.
    pub fn from_settings(output: &OutputSettings) -> Result<Self> {
        if output.trace
            && let Some(report) = output.outputs.iter().find(|report| report.file.is_none())
        {
            let format = &report.format;
            bail!(
                "--trace writes to standard output, and so does -o {format}; write -o {format}=FILE"
            );
        }
        if output.trace {
            live_outputs::refuse(output, "--trace shows single requests in place of a load")?;
        }
        Self::open(&output.outputs, output.quiet)
    }

    /// Opens the reports, and adds the default report (text) on stdout unless another report goes
    /// there or `quiet` is true. A report for a CI system opens the summary of the job, too.
    pub fn open(outputs: &[Output], quiet: bool) -> Result<Self> {
        let names: Vec<_> = REPORTS.iter().map(|r| r.name).collect();
        args::output::check(outputs, &names)?;
        let mut places = Vec::new();
        for output in outputs {
            let Some(format) = brunt_report::format(&output.format) else { continue };
            places.push((format, Destination::open(format, output.file.as_deref())?));
            let has_summary =
                places.iter().any(|place| matches!(place.1, Destination::JobSummary(..)));
            if let Some(summary) = format.job_summary.filter(|_| !has_summary) {
                places.extend(Destination::open_summary(summary)?);
            }
        }
        // Commands for a CI system are part of its log, after the text.
        let uses_stdout = places.iter().any(|(format, place)| {
            matches!(place, Destination::Stdout) && format.job_summary.is_none()
        });
        let default_format =
            if uses_stdout || quiet { None } else { brunt_report::format(defaults::OUTPUT) };
        Ok(Self { places, default_format })
    }

    /// Removes the default report on stdout.
    pub fn without_default(self) -> Self {
        Self { default_format: None, ..self }
    }

    /// Writes every report of a run, without the findings that the user hides. All reports are
    /// tried; the first error is returned.
    pub fn write(self, run: &Run, judgement: &Judgement) -> Result<()> {
        let findings = view::without_hidden(&judgement.findings);
        let judgement = Judgement { findings, ..judgement.clone() };
        self.write_all(ReportSubject::Run(run, &judgement))
    }

    /// Writes every report of a study, like [`Self::write`].
    pub fn write_study(self, study: &Study, analysis: &Analysis) -> Result<()> {
        let findings = view::without_hidden(&analysis.findings);
        let analysis = Analysis { findings, ..analysis.clone() };
        self.write_all(ReportSubject::Study(study, &analysis))
    }

    fn write_all(self, subject: ReportSubject<'_>) -> Result<()> {
        let default_output = self.default_format.map(|format| (format, Destination::Stdout));
        let mut places: Vec<_> = default_output.into_iter().chain(self.places).collect();
        // Standard output comes first, since the user is reading it.
        places.sort_by_key(|place| !matches!(place.1, Destination::Stdout));
        let written = places.into_iter().map(|(format, place)| place.write(format, subject));
        // Not `collect`, which would stop at the first error.
        written.fold(Ok(()), Result::and)
    }
}

impl Destination {
    /// Opens a destination: stdout without a path; a directory if the path ends in `/` or is an
    /// existing directory; otherwise a file, which is truncated.
    fn open(format: &ReportFormat, path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else {
            if !format.for_terminals && io::stdout().is_terminal() {
                bail!("-o {0}: {0} is not for a terminal; write -o {0}=FILE", format.name);
            }
            return Ok(Self::Stdout);
        };
        if !path.to_string_lossy().ends_with('/') && !path.is_dir() {
            return Ok(Self::File(path.to_owned(), create(path)?));
        }
        let name = path.display();
        let FormatContent::Charts(charts) = format.content else {
            bail!(
                "-o {0}={name}: that is a directory, and {0} makes one file; write -o {0}=FILE",
                format.name
            );
        };
        fs::create_dir_all(path).with_context(|| format!("{name} cannot be made"))?;
        Ok(Self::Directory(path.to_owned(), charts))
    }

    /// Opens the file of a job's summary, with the format of the summary. Returns None if the
    /// environment names no file.
    fn open_summary(summary: &'static JobSummary) -> Result<Option<(&'static ReportFormat, Self)>> {
        let path = std::env::var_os(summary.variable).filter(|path| !path.is_empty());
        let Some((path, format)) = path.zip(brunt_report::format(summary.format)) else {
            return Ok(None);
        };
        let path = PathBuf::from(path);
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.with_context(|| {
            format!("{}={} cannot be written", summary.variable, path.display())
        })?;
        Ok(Some((format, Self::JobSummary(path, file, summary))))
    }

    fn write(self, format: &ReportFormat, subject: ReportSubject<'_>) -> Result<()> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                let written =
                    format.write(subject, &view::of_stdout(), &mut out).and_then(|()| out.flush());
                written.or_else(ignore_closed_pipe).context("stdout")
            }
            Self::File(path, file) => {
                // Dropping the writer would ignore an error of its last write, so it is flushed.
                let mut out = BufWriter::new(file);
                let written =
                    format.write(subject, &view::of_file(), &mut out).and_then(|()| out.flush());
                written.with_context(|| path.display().to_string())
            }
            Self::JobSummary(path, file, summary) => {
                append(format, subject, file, summary).with_context(|| path.display().to_string())
            }
            Self::Directory(path, charts) => {
                let files = subject.files(charts).with_context(|| path.display().to_string())?;
                files.into_iter().try_for_each(|(name, bytes)| {
                    let file = path.join(name);
                    fs::write(&file, bytes).with_context(|| file.display().to_string())
                })
            }
        }
    }
}

/// Appends a report to a summary, as far as there is room.
fn append(
    format: &ReportFormat,
    subject: ReportSubject<'_>,
    mut file: File,
    summary: &JobSummary,
) -> Result<()> {
    // In memory, because the limit applies to the whole file.
    let mut report = Vec::new();
    format.write(subject, &view::of_file(), &mut report)?;
    let report = String::from_utf8(report)?;
    let used = usize::try_from(file.metadata()?.len())?;
    // An empty line separates it from an earlier report.
    let separator = if used > 0 { "\n" } else { "" };
    let text = format!("{separator}{report}");
    file.write_all(summary.fitted(&text, used).as_bytes())?;
    Ok(())
}

/// Ignores a closed pipe: the reader of stdout may stop early, like `head`.
pub(crate) fn ignore_closed_pipe(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// Writes a text to standard output. A closed pipe is not an error.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_ref()).and_then(|()| out.flush());
    written.or_else(ignore_closed_pipe).context("stdout")
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("{} cannot be written", path.display()))
}

/// Creates the event log, with secrets redacted; None if it is not requested.
pub fn event_log(output: &OutputSettings, session: &CommandSession) -> Result<Option<EventLog>> {
    let Some(path) = &output.events else { return Ok(None) };
    Ok(Some(EventLog::create(path, Arc::clone(&session.redactor))?))
}

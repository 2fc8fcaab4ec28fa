//! Where reports go.

use crate::{args, live_outputs, view};
use anyhow::{Context, Result, bail};
use brunt_jmx::jtl::{Field, JtlFormat, JtlSettings};
use brunt_model::plan::RecordDetail;
use brunt_model::{Analysis, Judgement, Run, Study};
use brunt_report::picture::Charts;
use brunt_report::{Content, Format, REPORTS, Subject};
use brunt_runner::{EventLog, ResultFile, Session};
use brunt_spec::settings::OutputSettings;
use brunt_spec::words::values::Output;
use brunt_spec::{defaults, to_plan};
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reports whose files have been opened, so that a name that cannot be written is known before anything is measured.
pub struct Outputs {
    places: Vec<(&'static Format, Place)>,
    /// What goes to stdout though it was not asked for.
    usual: Option<&'static Format>,
}

/// Where a report goes.
enum Place {
    Stdout,
    File(PathBuf, File),
    /// A directory, for charts.
    Directory(PathBuf, Charts),
}

impl Outputs {
    /// Opens the files of what the settings ask for. A trace has standard output for itself.
    pub fn of(output: &OutputSettings) -> Result<Self> {
        if output.trace
            && let Some(report) = output.outputs.iter().find(|report| report.file.is_none())
        {
            let format = &report.format;
            bail!("--trace writes to standard output, and so does -o {format}; write -o {format}=FILE");
        }
        if output.trace {
            live_outputs::refuse(output, "--trace shows single requests in place of a load")?;
        }
        Self::open(&output.outputs, output.quiet)
    }

    /// Opens the files. Where nothing else goes to stdout, the text does, unless all is to be quiet.
    pub fn open(outputs: &[Output], quiet: bool) -> Result<Self> {
        let names: Vec<_> = REPORTS.iter().map(|r| r.name).collect();
        args::output::check(outputs, &names)?;
        let mut places = Vec::new();
        for output in outputs {
            let Some(format) = brunt_report::format(&output.format) else { continue };
            places.push((format, Place::open(format, output.file.as_deref())?));
        }
        let any = places.iter().any(|place| matches!(place.1, Place::Stdout));
        let usual = if any || quiet { None } else { brunt_report::format(defaults::OUTPUT) };
        Ok(Self { places, usual })
    }

    /// Without the text that nobody asked for.
    pub fn asked_for(self) -> Self {
        Self { usual: None, ..self }
    }

    /// Writes every report of a run. One that cannot be written does not keep the others from it; the first error is
    /// returned.
    pub fn write(self, run: &Run, judgement: &Judgement) -> Result<()> {
        let shown = Judgement { findings: view::shown(&judgement.findings), ..judgement.clone() };
        self.write_all(Subject::Run(run, &shown))
    }

    /// Writes every report of a study, as [`Self::write`].
    pub fn write_study(self, study: &Study, analysis: &Analysis) -> Result<()> {
        let shown = Analysis { findings: view::shown(&analysis.findings), ..analysis.clone() };
        self.write_all(Subject::Study(study, &shown))
    }

    fn write_all(self, subject: Subject<'_>) -> Result<()> {
        let usual = self.usual.map(|format| (format, Place::Stdout));
        let mut places: Vec<_> = usual.into_iter().chain(self.places).collect();
        // What is read at once comes first.
        places.sort_by_key(|place| !matches!(place.1, Place::Stdout));
        let written = places.into_iter().map(|(format, place)| place.write(format, subject));
        written.fold(Ok(()), Result::and)
    }
}

impl Place {
    /// A name that ends in `/` is a directory.
    fn open(format: &Format, path: Option<&Path>) -> Result<Self> {
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
        let Content::Charts(charts) = format.content else {
            bail!("-o {0}={name}: that is a directory, and {0} makes one file; write -o {0}=FILE", format.name);
        };
        fs::create_dir_all(path).with_context(|| format!("{name} cannot be made"))?;
        Ok(Self::Directory(path.to_owned(), charts))
    }

    fn write(self, format: &Format, subject: Subject<'_>) -> Result<()> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                let written = format.write(subject, &view::of_stdout(), &mut out).and_then(|()| out.flush());
                written.or_else(ignore_closed_pipe).context("stdout")
            }
            Self::File(path, file) => {
                let mut out = BufWriter::new(file);
                let written = format.write(subject, &view::of_file(), &mut out).and_then(|()| out.flush());
                written.with_context(|| path.display().to_string())
            }
            Self::Directory(path, charts) => {
                let made = subject.files(charts).with_context(|| path.display().to_string())?;
                made.into_iter().try_for_each(|(name, bytes)| {
                    let file = path.join(name);
                    fs::write(&file, bytes).with_context(|| file.display().to_string())
                })
            }
        }
    }
}

/// Whoever reads our stdout may stop when it has seen enough, as `head` does.
pub(crate) fn ignore_closed_pipe(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// Writes a text to standard output. A reader that leaves early is no error.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_ref()).and_then(|()| out.flush());
    written.or_else(ignore_closed_pipe).context("stdout")
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("{} cannot be written", path.display()))
}

/// Opens the result file that is asked for.
pub fn result_file(output: &OutputSettings) -> Result<Option<ResultFile>> {
    let (Some(path), Some(records)) = (&output.jtl, to_plan::records(output)) else { return Ok(None) };
    let is_xml = records.detail == RecordDetail::Full;
    let format = if is_xml { JtlFormat::Xml } else { JtlFormat::Csv };
    let mut settings = JtlSettings { format, ..JtlSettings::default() };
    for field in [Field::RequestHeaders, Field::ResponseHeaders, Field::SamplerData, Field::ResponseDataOnError] {
        settings.save(field, is_xml);
    }
    ResultFile::open(path, settings).map(Some).with_context(|| path.display().to_string())
}

/// Whether all samples are in the result file.
pub fn whole(file: Option<&ResultFile>) -> Result<()> {
    file.and_then(ResultFile::trouble).map_or(Ok(()), |trouble| Err(anyhow::anyhow!(trouble)))
}

/// Creates the event log that is asked for.
pub fn event_log(output: &OutputSettings, session: &Session) -> Result<Option<EventLog>> {
    let Some(path) = &output.events else { return Ok(None) };
    Ok(Some(EventLog::create(path, Arc::clone(&session.redactor))?))
}

//! `--trace`: a run of one user and one iteration, unless more are asked for, each of whose samples is shown in full.
//!
//! Secrets are redacted as everywhere: equal ones look alike, so that a cookie can be followed from reply to request. On a
//! terminal, `--show-secrets` shows them. `--trace-only` chooses samples, `--trace-bodies` writes bodies to files.

use crate::exit::Exit;
use crate::live::say;
use crate::output::ignore_closed_pipe;
use crate::{redact, view};
use anyhow::{Context, Result, ensure};
use brunt_model::load::{Load, Shape, Think};
use brunt_model::{Event, Experiment, Plan, Question, SampleRecord, numbers};
use brunt_report::trace;
use brunt_runner::Listen;
use brunt_spec::settings::{OutputSettings, RunSettings, TraceFilter, TraceView};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Further samples are not shown.
const MOST_SHOWN: u64 = 10_000;

/// Labels that are listed where no sample is shown.
const MOST_LABELS: usize = 10;

/// A run that is traced takes no longer.
const LONGEST: Duration = Duration::from_hours(1);

/// Options that may be said beside a plan file with `--trace`.
pub const BESIDE: [&str; 2] = ["connections", "iterations"];

/// Shows samples on standard output.
#[derive(Default)]
pub struct Tracer {
    view: TraceView,
    /// Samples so far, over all stages of a plan.
    numbered: u64,
    /// Samples of this stage.
    samples: u64,
    shown: u64,
    failed: u64,
    labels: BTreeSet<String>,
    /// Why the bodies of further replies are not written.
    error: Option<anyhow::Error>,
    /// Nobody reads any more.
    is_over: bool,
}

impl Tracer {
    /// A tracer, where the settings ask for one.
    pub fn requested(output: &OutputSettings) -> Result<Option<Self>> {
        let view = output.trace_view.clone();
        ensure!(
            !view.shows_secrets || io::stdout().is_terminal(),
            "--show-secrets: standard output is no terminal, and secrets are shown on a terminal only; leave --show-secrets \
             out, or do not redirect the output"
        );
        if let Some(folder) = &view.bodies {
            fs::create_dir_all(folder)
                .with_context(|| format!("--trace-bodies: cannot make `{}`", folder.display()))?;
        }
        Ok(output.trace.then(|| Self { view, ..Self::default() }))
    }

    fn show(&mut self, record: &SampleRecord) -> io::Result<()> {
        if record.is_transaction {
            record.sub_results.iter().try_for_each(|within| self.show(within))?;
            if !self.chooses(record, None) {
                return Ok(());
            }
            let text = trace::transaction(&view::of_stdout(), record);
            return io::stdout().lock().write_all(text.as_bytes());
        }
        let is_sample = record.sample_count > 0;
        if is_sample {
            self.numbered += 1;
            self.samples += 1;
            self.failed += u64::from(!record.success);
            if self.labels.len() <= MOST_LABELS {
                self.labels.insert(record.label.clone());
            }
        }
        if self.shown >= MOST_SHOWN || !self.chooses(record, is_sample.then_some(self.numbered)) {
            return Ok(());
        }
        self.shown += u64::from(is_sample);
        let mut redacted = record.clone();
        if !self.view.shows_secrets {
            redact::current().record(&mut redacted);
        }
        let files = self.write_bodies(record, &redacted);
        let text = trace::sample(&view::of_stdout(), self.numbered, &redacted, &files);
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Whether a sample is shown; `number` is none for a transaction and for the end of an iteration.
    fn chooses(&self, record: &SampleRecord, number: Option<u64>) -> bool {
        self.view.only.iter().all(|filter| match filter {
            TraceFilter::Failed => !record.success && (number.is_some() || record.is_transaction),
            TraceFilter::Label(label) => record.label == *label,
            TraceFilter::Numbers { first, last } => number.is_some_and(|number| (*first..=*last).contains(&number)),
        })
    }

    /// Writes the body of a sample, or one for each of its parts, and returns the files. A redacted body is written as it is
    /// shown.
    fn write_bodies(&mut self, record: &SampleRecord, redacted: &SampleRecord) -> Vec<PathBuf> {
        let Some(folder) = self.view.bodies.clone().filter(|_| self.error.is_none()) else { return Vec::new() };
        let name = format!("{:05}", self.numbered);
        let parts: Vec<(String, &SampleRecord, &SampleRecord)> = if record.sub_results.is_empty() {
            vec![(name, record, redacted)]
        } else {
            let parts = record.sub_results.iter().zip(&redacted.sub_results).enumerate();
            parts.map(|(part, (record, redacted))| (format!("{name}-{}", part + 1), record, redacted)).collect()
        };
        let mut files = Vec::new();
        for (name, record, redacted) in parts {
            let Some(bytes) = body(record, redacted).filter(|bytes| !bytes.is_empty()) else { continue };
            let file = folder.join(format!("{name}.{}", extension(record)));
            match fs::write(&file, bytes) {
                Ok(()) => files.push(file),
                Err(error) => {
                    self.error = Some(anyhow::Error::new(error).context(format!("cannot write `{}`", file.display())));
                    break;
                }
            }
        }
        files
    }

    /// Reports the counts of a stage, and how brunt is to exit.
    pub fn end(&mut self, interrupted: bool) -> Result<Exit> {
        let samples = std::mem::take(&mut self.samples);
        let failed = std::mem::take(&mut self.failed);
        let shown = std::mem::take(&mut self.shown);
        let cut = match shown {
            MOST_SHOWN if samples > shown => format!(", the first {MOST_SHOWN} shown"),
            _ if self.view.only.is_empty() => String::new(),
            _ => format!(", {shown} shown"),
        };
        say(&format!("{}, {failed} failed{cut}", numbers::plural(samples, "sample")));
        let labels = std::mem::take(&mut self.labels);
        if shown == 0 && self.view.only.iter().any(|filter| matches!(filter, TraceFilter::Label(_))) {
            let names: Vec<String> = labels.iter().take(MOST_LABELS).map(|label| format!("`{label}`")).collect();
            let more = if labels.len() > MOST_LABELS { ", …" } else { "" };
            say(&redact::text(&format!("no sample matches --trace-only; labels: {}{more}", names.join(", "))));
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        Ok(match (interrupted, samples) {
            (true, _) => Exit::Interrupted,
            (_, 0) => Exit::NothingMeasured,
            (_, samples) if samples == failed => Exit::ObjectiveMissed,
            _ => Exit::Measured,
        })
    }
}

/// The content of the file of a body: its bytes, or its text if the text is redacted or converted (gRPC).
fn body<'r>(record: &'r SampleRecord, redacted: &'r SampleRecord) -> Option<&'r [u8]> {
    let trace = record.trace.as_ref()?;
    let shown = redacted.details.body.as_deref();
    let is_redacted = shown != record.details.body.as_deref();
    if is_redacted || trace.body.is_empty() { shown.map(str::as_bytes) } else { Some(&trace.body) }
}

/// The ending of a file for a body, by the media type of the reply.
fn extension(record: &SampleRecord) -> &'static str {
    const ENDINGS: [(&str, &str); 15] = [
        ("html", "html"),
        ("json", "json"),
        ("svg", "svg"),
        ("xml", "xml"),
        ("javascript", "js"),
        ("css", "css"),
        ("csv", "csv"),
        ("text/", "txt"),
        ("png", "png"),
        ("jpeg", "jpg"),
        ("gif", "gif"),
        ("webp", "webp"),
        ("pdf", "pdf"),
        ("zip", "zip"),
        ("grpc", "json"),
    ];
    let headers = record.details.response_headers.as_deref().unwrap_or_default().to_ascii_lowercase();
    let media_type = headers.lines().find_map(|line| line.strip_prefix("content-type:")).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default();
    ENDINGS.iter().find(|(part, _)| media_type.contains(part)).map_or("bin", |(_, ending)| ending)
}

impl Listen for Tracer {
    fn hear(&mut self, event: &Event) {
        let Event::Records(records) = event else { return };
        if self.is_over {
            return;
        }
        // A pipe that nobody reads ends the trace, not the run.
        let shown = records.iter().try_for_each(|record| self.show(record));
        self.is_over = shown.or_else(ignore_closed_pipe).is_err();
    }
}

/// Makes a plan one of few users and iterations, as the settings say: without a warm-up, until all have done their part, or the plan's
/// own duration or number of requests is over.
pub fn reduce(plan: &mut Plan, settings: &RunSettings) {
    let users = settings.load.connections.as_ref().map_or(1.0, |loads| loads.lowest_peak().max(1.0));
    let iterations = settings.load.iterations.unwrap_or(1);
    for population in &mut plan.populations {
        let think = match &population.load {
            Load::Closed { think, .. } => *think,
            Load::Open { .. } => Think::NONE,
        };
        population.load = Load::Closed { users: Shape::constant(users), think };
        population.stop.warmup = Duration::ZERO;
        population.stop.warmup_until_steady = false;
        population.stop.duration = Some(population.stop.duration.map_or(LONGEST, |planned| planned.min(LONGEST)));
        population.stop.iterations_per_user = Some(iterations);
    }
    (plan.threads, plan.processes, plan.until, plan.precise) = (1, 1, None, false);
    plan.objectives.clear();
}

/// Makes an experiment one of a single such run of each contender.
pub fn reduce_all(experiment: &mut Experiment, settings: &RunSettings) {
    (experiment.repetitions, experiment.cooldown, experiment.question) = (1, Duration::ZERO, Question::Sweep);
    for contender in &mut experiment.contenders {
        contender.steps.truncate(1);
        contender.probes.clear();
        contender.steps.iter_mut().for_each(|step| reduce(&mut step.plan, settings));
    }
}

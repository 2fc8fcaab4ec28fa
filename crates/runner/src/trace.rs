//! A listener that shows each sample of a run in full: `--trace`.
//!
//! Secrets are redacted: equal secrets have equal replacements, so that a cookie can be
//! followed from reply to request. A [`TraceView`] selects samples, writes them to files,
//! and may show secrets.

use crate::run::EventListener;
use brunt_model::{Event, SampleRecord, numbers};
use brunt_report::trace;
use brunt_report::view::View;
use brunt_spec::settings::{TraceFilter, TraceView};
use brunt_store::Redactor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of samples that are shown.
const MAX_SHOWN: u64 = 10_000;

/// Maximum number of labels that are listed if no sample is shown.
const MAX_LABELS: usize = 10;

/// Name of the file with a line of JSON, a [`TracedSample`], for each sample.
pub const SAMPLES_FILE: &str = "samples.jsonl";

/// A sample of a trace. Its bodies are in separate files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracedSample {
    /// Number of the sample in the trace, from 1; 0 for the end of an iteration.
    pub number: u64,
    /// The sample, redacted and without bodies.
    pub record: SampleRecord,
    /// Names of the files with its bodies, in order.
    pub bodies: Vec<String>,
}

/// Writes samples as text.
pub struct Tracer {
    view: TraceView,
    text: View,
    out: Box<dyn Write>,
    redactor: Arc<Redactor>,
    /// Number of the last sample, over all stages of a plan.
    sample_number: u64,
    stage: TraceCounts,
    labels: BTreeSet<String>,
    /// File for the lines of JSON, if it was opened.
    samples_file: Option<File>,
    /// Error after which no more files are written.
    error: Option<io::Error>,
    /// True if the output is closed.
    is_over: bool,
}

/// The samples of one stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TraceCounts {
    samples: u64,
    shown: u64,
    failed: u64,
}

/// The end of the trace of a stage.
#[derive(Debug)]
pub struct TraceSummary {
    /// Number of all samples of the stage.
    pub samples: u64,
    /// Number of samples that failed.
    pub failed: u64,
    /// Lines of the summary.
    pub lines: Vec<String>,
    /// Error because of which some files were not written.
    pub error: Option<io::Error>,
}

impl Tracer {
    /// Creates a tracer that writes to `out`.
    pub fn new(view: TraceView, text: View, out: Box<dyn Write>, redactor: Arc<Redactor>) -> Self {
        Self {
            view,
            text,
            out,
            redactor,
            sample_number: 0,
            stage: TraceCounts::default(),
            labels: BTreeSet::new(),
            samples_file: None,
            error: None,
            is_over: false,
        }
    }

    fn show(&mut self, record: &SampleRecord) -> io::Result<()> {
        if record.is_transaction {
            // A transaction is written after its samples, so the trace has the order of time.
            record.sub_results.iter().try_for_each(|within| self.show(within))?;
            if !self.chooses(record, None) {
                return Ok(());
            }
            let text = trace::transaction(&self.text, record);
            return self.out.write_all(text.as_bytes());
        }
        let is_sample = record.sample_count > 0;
        if is_sample {
            self.sample_number += 1;
            self.stage.samples += 1;
            self.stage.failed += u64::from(!record.success);
            // One more than the summary lists, so that it can show that there are more.
            if self.labels.len() <= MAX_LABELS {
                self.labels.insert(record.label.clone());
            }
        }
        if self.stage.shown >= MAX_SHOWN
            || !self.chooses(record, is_sample.then_some(self.sample_number))
        {
            return Ok(());
        }
        self.stage.shown += u64::from(is_sample);
        let mut redacted = record.clone();
        if !self.view.shows_secrets {
            self.redactor.record(&mut redacted);
        }
        let number = if is_sample { self.sample_number } else { 0 };
        let files = self.write_files(number, record, &redacted);
        let text = trace::sample(&self.text, self.sample_number, &redacted, &files);
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// True if a sample is shown. `number` is None for a transaction and for the
    /// end of an iteration.
    fn chooses(&self, record: &SampleRecord, number: Option<u64>) -> bool {
        self.view.only.iter().all(|filter| match filter {
            TraceFilter::Failed => !record.success && (number.is_some() || record.is_transaction),
            TraceFilter::Label(label) => record.label == *label,
            TraceFilter::Numbers { first, last } => {
                number.is_some_and(|number| (*first..=*last).contains(&number))
            }
        })
    }

    /// Writes a sample, and the body of each of its parts. Returns the files of the bodies.
    fn write_files(
        &mut self,
        number: u64,
        record: &SampleRecord,
        redacted: &SampleRecord,
    ) -> Vec<PathBuf> {
        let Some(folder) = self.view.files.clone().filter(|_| self.error.is_none()) else {
            return Vec::new();
        };
        let files = self.write_bodies(&folder, record, redacted);
        let names = files.iter().filter_map(|file| file.file_name());
        let sample = TracedSample {
            number,
            record: without_bodies(redacted.clone()),
            bodies: names.map(|name| name.to_string_lossy().into_owned()).collect(),
        };
        if let Err(error) = self.write_sample(&folder, &sample) {
            let file = folder.join(SAMPLES_FILE);
            let message = format!("cannot write `{}`: {error}", file.display());
            self.error = Some(io::Error::new(error.kind(), message));
        }
        files
    }

    fn write_sample(&mut self, folder: &Path, sample: &TracedSample) -> io::Result<()> {
        let mut line = serde_json::to_vec(sample)?;
        line.push(b'\n');
        if self.samples_file.is_none() {
            // An earlier trace of the folder would be mistaken for a part of this one.
            self.samples_file = Some(File::create(folder.join(SAMPLES_FILE))?);
        }
        self.samples_file.as_mut().map_or(Ok(()), |file| file.write_all(&line))
    }

    /// Writes the body of a sample, or of each of its parts, and returns the files. A redacted body
    /// is written as it is shown.
    fn write_bodies(
        &mut self,
        folder: &Path,
        record: &SampleRecord,
        redacted: &SampleRecord,
    ) -> Vec<PathBuf> {
        let name = format!("{:05}", self.sample_number);
        let parts: Vec<(String, &SampleRecord, &SampleRecord)> = if record.sub_results.is_empty() {
            vec![(name, record, redacted)]
        } else {
            let parts = record.sub_results.iter().zip(&redacted.sub_results).enumerate();
            parts
                .map(|(part, (record, redacted))| {
                    (format!("{name}-{}", part + 1), record, redacted)
                })
                .collect()
        };
        let mut files = Vec::new();
        for (name, record, redacted) in parts {
            let Some(bytes) = body(record, redacted).filter(|bytes| !bytes.is_empty()) else {
                continue;
            };
            let file = folder.join(format!("{name}.{}", extension(record)));
            match fs::write(&file, bytes) {
                Ok(()) => files.push(file),
                Err(error) => {
                    let message = format!("cannot write `{}`: {error}", file.display());
                    self.error = Some(io::Error::new(error.kind(), message));
                    break;
                }
            }
        }
        files
    }

    /// Ends a stage and returns the counts of its samples.
    pub fn end(&mut self) -> TraceSummary {
        let TraceCounts { samples, shown, failed } = std::mem::take(&mut self.stage);
        let cut = match shown {
            MAX_SHOWN if samples > shown => format!(", the first {MAX_SHOWN} shown"),
            _ if self.view.only.is_empty() => String::new(),
            _ => format!(", {shown} shown"),
        };
        let mut lines =
            vec![format!("{}, {failed} failed{cut}", numbers::plural(samples, "sample"))];
        let labels = std::mem::take(&mut self.labels);
        if shown == 0 && self.view.only.iter().any(|filter| matches!(filter, TraceFilter::Label(_)))
        {
            let names: Vec<String> =
                labels.iter().take(MAX_LABELS).map(|label| format!("`{label}`")).collect();
            let suffix = if labels.len() > MAX_LABELS { ", …" } else { "" };
            let line =
                format!("no sample matches --trace-only; labels: {}{suffix}", names.join(", "));
            lines.push(self.redactor.text(&line));
        }
        TraceSummary { samples, failed, lines, error: self.error.take() }
    }
}

/// Removes the bodies of a sample and of its parts, and texts that its request has, too.
fn without_bodies(mut record: SampleRecord) -> SampleRecord {
    let details = &mut record.details;
    let twice = [&mut details.query, &mut details.cookies, &mut details.request_headers];
    twice.into_iter().chain([&mut details.body]).for_each(|text| *text = None);
    record.sub_results = record.sub_results.into_iter().map(without_bodies).collect();
    if let Some(trace) = &mut record.trace {
        trace.body.clear();
        let challenged = std::mem::take(&mut trace.challenged);
        trace.challenged = challenged.into_iter().map(without_bodies).collect();
    }
    record
}

/// Content of the file of a body: its bytes, or its text if that is redacted or converted (gRPC).
fn body<'r>(record: &'r SampleRecord, redacted: &'r SampleRecord) -> Option<&'r [u8]> {
    let trace = record.trace.as_ref()?;
    let text = redacted.details.body.as_deref();
    // Bytes cannot be redacted, so a redacted body is written as text.
    let is_redacted = text != record.details.body.as_deref();
    if is_redacted || trace.body.is_empty() { text.map(str::as_bytes) } else { Some(&trace.body) }
}

/// Extension of the file of a body, by the media type of the reply.
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
    let headers =
        record.details.response_headers.as_deref().unwrap_or_default().to_ascii_lowercase();
    let media_type =
        headers.lines().find_map(|line| line.strip_prefix("content-type:")).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default();
    ENDINGS.iter().find(|(part, _)| media_type.contains(part)).map_or("bin", |(_, ending)| ending)
}

impl EventListener for Tracer {
    fn on_event(&mut self, event: &Event) {
        let Event::Records(records) = event else { return };
        if self.is_over {
            return;
        }
        // A closed pipe ends the trace, not the run.
        let result = records.iter().try_for_each(|record| self.show(record));
        self.is_over = result.is_err();
    }
}

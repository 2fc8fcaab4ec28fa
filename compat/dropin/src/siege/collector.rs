//! Collects the transactions of siege's run, prints them, and stops the
//! run after too many failures.

use super::classic::{SiegeFigures, SiegeReport};
use super::lines::{TransactionLines, error_message};
use super::settings::SiegeSettings;
use crate::caller::Caller;
use crate::epoch::UnixEpoch;
use brunt_engine::RunControl;
use brunt_model::{Event, Failure, Phase, Sample, Tick};
use brunt_runner::EventListener;
use std::sync::Arc;

/// The listener of a siege run.
#[allow(clippy::struct_excessive_bools)] // outcomes of the run, and switches
pub struct SiegeCollector {
    pub classic: SiegeReport,
    /// True after too many failures.
    pub aborted: bool,
    pub interrupted: bool,
    /// Unix time of the clock's zero.
    pub epoch: UnixEpoch,
    lines: Option<TransactionLines>,
    quiet: bool,
    max_failures: u64,
    control: RunControl,
    caller: Arc<Caller>,
    has_time_limit: bool,
    /// Samples that wait for the names of their labels.
    pending: Vec<Sample>,
    started_at: Tick,
    ended: Tick,
}

impl SiegeCollector {
    /// Creates a collector without samples. `lines` formats transactions, if they are printed.
    pub fn new(
        settings: &SiegeSettings,
        lines: Option<TransactionLines>,
        control: RunControl,
        caller: &Arc<Caller>,
    ) -> Self {
        Self {
            classic: SiegeReport::default(),
            aborted: false,
            interrupted: false,
            epoch: UnixEpoch::default(),
            lines,
            quiet: settings.quiet,
            max_failures: settings.failures,
            control,
            caller: Arc::clone(caller),
            has_time_limit: settings.time.is_some(),
            pending: Vec::new(),
            started_at: Tick::ZERO,
            ended: Tick::ZERO,
        }
    }

    /// True if the run ended by its time limit or Ctrl-C.
    pub fn was_lifted(&self) -> bool {
        !self.aborted && (self.has_time_limit || self.interrupted)
    }

    /// Computes the figures of the report.
    pub fn figures(&self) -> SiegeFigures {
        let end =
            if self.was_lifted() { self.ended.max(self.classic.last) } else { self.classic.last };
        self.classic.figures(self.started_at, end.max(self.started_at))
    }

    /// End of the run, in Unix seconds.
    pub fn end_unix_seconds(&self) -> f64 {
        self.epoch.zero + self.ended.seconds()
    }

    fn process_pending(&mut self) {
        let mut samples = std::mem::take(&mut self.pending);
        // Threads and processes deliver their samples in batches; siege prints in order of
        // completion.
        samples.sort_by_key(|sample| sample.last_byte);
        let mut out = String::new();
        for sample in &samples {
            // Failures are checked per batch. Samples after the limit are in no figure.
            if self.aborted {
                break;
            }
            let failed = self.classic.add(sample);
            if let Some(lines) = &self.lines {
                out.extend(lines.line(sample, self.epoch.zero));
            }
            let failure = sample
                .outcome
                .failure
                .filter(|failure| *failure != Failure::Cut && sample.outcome.status.is_none());
            if let Some(failure) = failure.filter(|_| !self.quiet) {
                self.caller.err(&error_message(failure));
            }
            if failed && self.classic.failed >= self.max_failures {
                self.aborted = true;
                self.control.stop();
            }
        }
        self.caller.out(&out);
    }
}

impl EventListener for SiegeCollector {
    fn on_event(&mut self, event: &Event) {
        self.epoch.observe(event);
        match event {
            Event::Stage { at, phase: Phase::Measure } => self.started_at = *at,
            Event::Label { id, name, .. } => {
                if let Some(lines) = &mut self.lines {
                    lines.set_label(*id, name);
                }
            }
            // Labels may follow the samples that use them.
            Event::Samples(samples) => self.pending.extend_from_slice(samples),
            Event::Snapshot(_) => self.process_pending(),
            Event::Finished(finish) => {
                self.process_pending();
                self.ended = finish.at;
                self.interrupted = finish.interrupted;
            }
            _ => {}
        }
    }
}

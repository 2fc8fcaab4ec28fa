//! Where siege's run is heard while it goes on: transactions are counted and shown, and too many failures end it.

use super::classic::{Classic, Figures};
use super::lines::{Lines, complaint};
use super::settings::Settings;
use crate::caller::Caller;
use crate::epoch::Epoch;
use brunt_engine::Control;
use brunt_model::{Event, Failure, Phase, Sample, Tick};
use brunt_runner::Listen;
use std::sync::Arc;

/// What is heard.
#[allow(clippy::struct_excessive_bools)] // how it ended, and what was asked for
pub struct SampleCollector {
    /// What was counted.
    pub classic: Classic,
    /// Too many failed.
    pub aborted: bool,
    /// Somebody stopped it.
    pub interrupted: bool,
    /// When the clock's zero was.
    pub epoch: Epoch,
    lines: Option<Lines>,
    quiet: bool,
    failures: u64,
    control: Control,
    caller: Arc<Caller>,
    timed: bool,
    /// Samples whose labels may not have been told yet.
    pending: Vec<Sample>,
    begins: Tick,
    ended: Tick,
}

impl SampleCollector {
    /// Nothing was heard yet. `lines`: transactions are shown.
    pub fn new(settings: &Settings, lines: Option<Lines>, control: Control, caller: &Arc<Caller>) -> Self {
        Self {
            classic: Classic::default(),
            aborted: false,
            interrupted: false,
            epoch: Epoch::default(),
            lines,
            quiet: settings.quiet,
            failures: settings.failures,
            control,
            caller: Arc::clone(caller),
            timed: settings.time.is_some(),
            pending: Vec::new(),
            begins: Tick::ZERO,
            ended: Tick::ZERO,
        }
    }

    /// It ended because its time was up, or somebody ended it.
    pub fn was_lifted(&self) -> bool {
        !self.aborted && (self.timed || self.interrupted)
    }

    /// The figures of the report.
    pub fn figures(&self) -> Figures {
        let to = if self.was_lifted() { self.ended.max(self.classic.last) } else { self.classic.last };
        self.classic.figures(self.begins, to.max(self.begins))
    }

    /// When it ended, in Unix seconds.
    pub fn now(&self) -> f64 {
        self.epoch.zero + self.ended.seconds()
    }

    fn look_through(&mut self) {
        let mut samples = std::mem::take(&mut self.pending);
        samples.sort_by_key(|sample| sample.last_byte);
        let mut out = String::new();
        for sample in &samples {
            if self.aborted {
                break;
            }
            let failed = self.classic.take(sample);
            if let Some(lines) = &self.lines {
                out.extend(lines.line(sample, self.epoch.zero));
            }
            let failure =
                sample.outcome.failure.filter(|failure| *failure != Failure::Cut && sample.outcome.status.is_none());
            if let Some(failure) = failure.filter(|_| !self.quiet) {
                self.caller.err(&complaint(failure));
            }
            if failed && self.classic.failed >= self.failures {
                self.aborted = true;
                self.control.stop();
            }
        }
        self.caller.out(&out);
    }
}

impl Listen for SampleCollector {
    fn hear(&mut self, event: &Event) {
        self.epoch.observe(event);
        match event {
            Event::Stage { at, phase: Phase::Measure } => self.begins = *at,
            Event::Label { id, name, .. } => {
                if let Some(lines) = &mut self.lines {
                    lines.learn(*id, name);
                }
            }
            Event::Samples(samples) => self.pending.extend_from_slice(samples),
            Event::Snapshot(_) => self.look_through(),
            Event::Finished(finish) => {
                self.look_through();
                (self.ended, self.interrupted) = (finish.at, finish.interrupted);
            }
            _ => {}
        }
    }
}

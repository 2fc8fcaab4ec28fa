//! Collects the samples of ab's run, prints its progress, and stops it where ab would end.

use super::classic::{AbReport, FailureRules, Fatal};
use crate::caller::Caller;
use crate::epoch::UnixEpoch;
use brunt_engine::RunControl;
use brunt_model::{Event, Phase, Sample, Snapshot, Tick};
use brunt_runner::EventListener;
use std::sync::Arc;
use std::time::Duration;

/// The listener of an ab run.
pub struct AbCollector {
    pub classic: AbReport,
    /// The error that ended the run without a report.
    pub fatal: Option<Fatal>,
    pub interrupted: bool,
    /// Value of the `Server` header.
    pub server: Option<String>,
    /// Unix time of the clock's zero.
    pub epoch: UnixEpoch,
    control: RunControl,
    caller: Arc<Caller>,
    requests: u64,
    /// Number of completed requests between two progress lines.
    progress_interval: Option<u64>,
    /// ab's timeout: the longest time in which no connection receives anything.
    timeout: Duration,
    started_at: Tick,
    ended_at: Tick,
    last_activity: Tick,
}

impl AbCollector {
    /// Creates a collector without samples.
    pub fn new(args: &super::args::AbArgs, control: RunControl, caller: &Arc<Caller>) -> Self {
        let rules = FailureRules { survive: args.survive, any_length: args.any_length };
        Self {
            classic: AbReport::new(rules, args.requests as u64),
            fatal: None,
            interrupted: false,
            server: None,
            epoch: UnixEpoch::default(),
            control,
            caller: Arc::clone(caller),
            requests: args.requests as u64,
            progress_interval: args.progress(),
            timeout: Duration::from_secs(args.timeout.max(0) as u64),
            started_at: Tick::ZERO,
            ended_at: Tick::ZERO,
            last_activity: Tick::ZERO,
        }
    }

    /// Duration in seconds, from before the first connection to the last event or the time limit.
    pub fn seconds(&self) -> f64 {
        let is_complete = self.classic.completed >= self.requests;
        // If the time limit ended the run, its whole duration counts.
        let to = if is_complete || self.interrupted {
            self.classic.last
        } else {
            self.classic.last.max(self.ended_at)
        };
        to.seconds_since(self.started_at)
    }

    fn add_samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            if self.fatal.is_some() {
                return;
            }
            let completed = self.classic.completed;
            let handshakes = self.classic.handshakes_failed;
            if let Err(fatal) = self.classic.take(sample) {
                self.end(fatal);
            }
            if self.classic.handshakes_failed > handshakes {
                self.caller.err_line("SSL handshake failed (1).");
            }
            if self.progress_interval.is_some_and(|progress_interval| {
                self.classic.completed > completed
                    && self.classic.completed.is_multiple_of(progress_interval)
            }) {
                self.caller.err_line(&format!("Completed {} requests", self.classic.completed));
            }
        }
    }

    /// Ends the run if all connections together were silent for the timeout. ab waits for
    /// all of them at once.
    fn watch(&mut self, snapshot: &Snapshot) {
        let flow = &snapshot.flow;
        // The engine reports ended requests and opened connections, not each byte.
        if flow.in_flight == 0 || flow.completed + flow.errors + flow.opened > 0 {
            self.last_activity = snapshot.to;
        } else if Duration::from_nanos(
            snapshot.to.nanos_since(self.last_activity.max(self.started_at)),
        ) >= self.timeout
        {
            self.end(Fatal::new("apr_pollset_poll", "The timeout specified has expired", 70007));
        }
    }

    fn end(&mut self, fatal: Fatal) {
        // The first error decides. More may follow until the run has stopped.
        self.fatal.get_or_insert(fatal);
        self.control.stop();
    }
}

impl EventListener for AbCollector {
    fn on_event(&mut self, event: &Event) {
        self.epoch.observe(event);
        match event {
            Event::Stage { at, phase: Phase::Measure } => {
                self.started_at = *at;
                self.last_activity = *at;
            }
            // Known after the first complete reply. ab reads it from the first head.
            Event::Target { server: Some(server), .. } => self.server = Some(server.clone()),
            Event::Samples(samples) => self.add_samples(samples),
            Event::Snapshot(snapshot) if self.fatal.is_none() => self.watch(snapshot),
            Event::Finished(finish) => {
                self.ended_at = finish.at;
                self.interrupted = finish.interrupted;
            }
            _ => {}
        }
    }
}

//! Where ab's run is heard while it goes on: samples are counted, progress is told, and what ab would end of ends it.

use super::classic::{Classic, Fatal, Rules};
use crate::caller::Caller;
use crate::epoch::Epoch;
use brunt_engine::Control;
use brunt_model::{Event, Phase, Sample, Snapshot, Tick};
use brunt_runner::Listen;
use std::sync::Arc;
use std::time::Duration;

/// What is heard.
pub struct Desk {
    /// What was counted.
    pub classic: Classic,
    /// What ended it, without a report.
    pub fatal: Option<Fatal>,
    /// Somebody stopped it.
    pub interrupted: bool,
    /// What the server calls itself.
    pub server: Option<String>,
    /// When the clock's zero was.
    pub epoch: Epoch,
    control: Control,
    caller: Arc<Caller>,
    requests: u64,
    /// Completed requests between two lines of progress.
    every: Option<u64>,
    /// How long all connections together may be silent.
    patience: Duration,
    begins: Tick,
    ended: Tick,
    last_heard: Tick,
}

impl Desk {
    /// Nothing was heard yet.
    pub fn new(args: &super::args::Args, control: Control, caller: &Arc<Caller>) -> Self {
        let rules = Rules { survive: args.survive, any_length: args.any_length };
        Self {
            classic: Classic::new(rules, args.requests as u64),
            fatal: None,
            interrupted: false,
            server: None,
            epoch: Epoch::default(),
            control,
            caller: Arc::clone(caller),
            requests: args.requests as u64,
            every: args.progress(),
            patience: Duration::from_secs(args.timeout.max(0) as u64),
            begins: Tick::ZERO,
            ended: Tick::ZERO,
            last_heard: Tick::ZERO,
        }
    }

    /// How long it took, in seconds: from before the first connection to the last event, or to when the time was up.
    pub fn seconds(&self) -> f64 {
        let all = self.classic.done >= self.requests;
        let to = if all || self.interrupted { self.classic.last } else { self.classic.last.max(self.ended) };
        to.seconds_since(self.begins)
    }

    fn take(&mut self, samples: &[Sample]) {
        for sample in samples {
            if self.fatal.is_some() {
                return;
            }
            let (done, handshakes) = (self.classic.done, self.classic.handshakes_failed);
            if let Err(fatal) = self.classic.take(sample) {
                self.end(fatal);
            }
            if self.classic.handshakes_failed > handshakes {
                self.caller.err_line("SSL handshake failed (1).");
            }
            if self.every.is_some_and(|every| self.classic.done > done && self.classic.done.is_multiple_of(every)) {
                self.caller.err_line(&format!("Completed {} requests", self.classic.done));
            }
        }
    }

    /// ab waits for all connections at once, and ends where none of them says anything for too long.
    fn watch(&mut self, snapshot: &Snapshot) {
        let flow = &snapshot.flow;
        if flow.in_flight == 0 || flow.completed + flow.errors + flow.opened > 0 {
            self.last_heard = snapshot.to;
        } else if Duration::from_nanos(snapshot.to.nanos_since(self.last_heard.max(self.begins))) >= self.patience {
            self.end(Fatal::new("apr_pollset_poll", "The timeout specified has expired", 70007));
        }
    }

    fn end(&mut self, fatal: Fatal) {
        self.fatal.get_or_insert(fatal);
        self.control.stop();
    }
}

impl Listen for Desk {
    fn hear(&mut self, event: &Event) {
        self.epoch.hear(event);
        match event {
            Event::Stage { at, phase: Phase::Measure } => {
                (self.begins, self.last_heard) = (*at, *at);
            }
            Event::Target { server: Some(server), .. } => self.server = Some(server.clone()),
            Event::Samples(samples) => self.take(samples),
            Event::Snapshot(snapshot) if self.fatal.is_none() => self.watch(snapshot),
            Event::Finished(finish) => {
                self.ended = finish.at;
                self.interrupted = finish.interrupted;
            }
            _ => {}
        }
    }
}

//! Sends the figures of a run to other systems while it goes on: InfluxDB and Graphite, under the names of JMeter.
//!
//! ```text
//! events ─▶ mailbox (a thread for each system) ─▶ fold ─▶ interval ─▶ lines ─▶ sender ─▶ system
//! ```
//!
//! A slow or absent system holds up neither the run nor its log: events wait in a mailbox, which joins snapshots, and lines that
//! could not be sent wait in a bounded queue. At the end of a run lines that are left are lost, and a warning of the run counts
//! them. One [`LiveOutputs`] serves all runs of a test, one after the other.
//!
//! * `fold`: events into the figures of intervals. `influx`, `graphite`: these as lines.
//! * `sender`: lines that wait. `transport`: one attempt to send, with a time limit.

mod fold;
mod graphite;
mod influx;
mod sender;
mod transport;

use crate::error::RunError;
use crate::mailbox::Mailbox;
use crate::run::Listen;
use brunt_model::live_output::{LabelFilter, LiveOutput, LiveSink};
use brunt_model::{Event, Finish, Tick, Warning};
use brunt_script::pattern::Pattern;
use brunt_store::Redactor;
use fold::{Fold, Interval};
use graphite::GraphiteLines;
use influx::InfluxLines;
use sender::{Delivered, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the end of a run waits for its last figures to be sent.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who is told that figures cannot be sent, while the run goes on.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// The systems that the figures of runs are sent to; by default there is none.
pub struct LiveOutputs {
    outputs: Vec<Output>,
    redactor: Arc<Redactor>,
    tell: Tell,
}

impl Default for LiveOutputs {
    fn default() -> Self {
        Self { outputs: Vec::new(), redactor: Arc::new(Redactor::of_process()), tell: Arc::new(|_| {}) }
    }
}

/// One system.
struct Output {
    name: String,
    worker: Arc<Mutex<Worker>>,
    delivered: Arc<Mutex<Delivered>>,
    /// Its thread, while a run goes on.
    mailbox: Option<Mailbox>,
}

impl LiveOutputs {
    /// Sends to these systems, the names of labels without secrets; `tell` hears once what goes wrong with each system. The secrets of
    /// the systems become known to the redactor.
    ///
    /// # Errors
    ///
    /// The regular expression for labels is none.
    pub fn new(outputs: &[LiveOutput], redactor: Arc<Redactor>, tell: Tell) -> Result<Self, RunError> {
        for secret in outputs.iter().flat_map(LiveOutput::secrets) {
            redactor.secret(secret);
        }
        let outputs = outputs.iter().map(|output| Output::new(output, &tell)).collect::<Result<_, _>>()?;
        Ok(Self { outputs, redactor, tell })
    }

    /// The test is over: says so to the systems, as JMeter does.
    pub fn finish(&mut self) {
        for output in &self.outputs {
            output.finish(&self.tell);
        }
    }
}

impl Listen for LiveOutputs {
    fn hear(&mut self, event: &Event) {
        if self.outputs.is_empty() {
            return;
        }
        // The name of a label may be a URL.
        let redacted = matches!(event, Event::Label { .. }).then(|| self.redactor.event(event));
        for output in &mut self.outputs {
            output.hear(redacted.as_deref().unwrap_or(event), &self.tell);
        }
    }

    fn end(&mut self, at: Tick) -> Vec<Event> {
        let warnings = self.outputs.iter_mut().filter_map(|output| output.end(at));
        warnings.map(|text| Event::Warning(Warning { at, text })).collect()
    }
}

impl Output {
    fn new(output: &LiveOutput, tell: &Tell) -> Result<Self, RunError> {
        let delivered = Arc::<Mutex<Delivered>>::default();
        let name = output.sink.to_string();
        let sender = Sender::new(&output.sink, Arc::clone(&delivered), Arc::clone(tell));
        let worker = Worker { fold: Fold::new(output.interval), lines: Lines::new(output)?, sender };
        Ok(Self { name, worker: Arc::new(Mutex::new(worker)), delivered, mailbox: None })
    }

    /// A run begins with its first event, and with it a thread; the end of a run is heard by [`Self::end`].
    fn hear(&mut self, event: &Event, tell: &Tell) {
        if let Event::Started { .. } = event {
            match Mailbox::start(Handle(Arc::clone(&self.worker))) {
                Ok(mailbox) => self.mailbox = Some(mailbox),
                Err(error) => tell(&format!("warning: no figures are sent to {}: {error}", self.name)),
            }
        }
        let is_folded = matches!(event, Event::Started { .. } | Event::Label { .. } | Event::Snapshot(_));
        if let (Some(mailbox), true) = (&mut self.mailbox, is_folded) {
            mailbox.hear(event);
        }
    }

    /// Sends what is left of a run; what the reader of its report should know.
    fn end(&mut self, at: Tick) -> Option<String> {
        let mut mailbox = self.mailbox.take()?;
        mailbox.hear(&Event::Finished(Finish { at, interrupted: false, error: None }));
        let is_complete = mailbox.close(PATIENCE).is_complete;
        let mut delivered = self.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        let Delivered { all, arrived, failure, .. } = delivered.take();
        let (name, lost) = (&self.name, all - arrived);
        if !is_complete {
            let seconds = PATIENCE.as_secs();
            return Some(format!(
                "{name} did not take the last figures of the run within {seconds} s; {lost} of {all} lines were not delivered"
            ));
        }
        let why = failure.unwrap_or_default();
        (lost > 0).then(|| format!("{lost} of {all} lines of figures did not reach {name}: {why}"))
    }

    fn finish(&self, tell: &Tell) {
        let is_failing = || self.delivered.lock().unwrap_or_else(PoisonError::into_inner).is_failing;
        if is_failing() {
            return;
        }
        if let Ok(mut mailbox) = Mailbox::start(Farewell(Arc::clone(&self.worker))) {
            mailbox.hear(&Event::Finished(Finish { at: Tick::ZERO, interrupted: false, error: None }));
            if !mailbox.close(PATIENCE).is_complete {
                tell(&format!("warning: {} did not take the end of the test", self.name));
            }
        }
    }
}

/// Folds the events of runs, and sends their figures.
struct Worker {
    fold: Fold,
    lines: Lines,
    sender: Sender,
}

impl Worker {
    fn hear(&mut self, event: &Event) {
        if let Event::Started { .. } = event {
            self.fold.hear(event);
            let begin = self.lines.begin(self.fold.now());
            self.sender.push(begin);
            self.sender.send();
            return;
        }
        if let Some(interval) = self.fold.hear(event) {
            self.sender.push(self.lines.of(&interval));
            self.sender.send();
        }
        if let Event::Finished(_) = event {
            self.sender.give_up();
        }
    }

    fn say_farewell(&mut self) {
        let end = self.lines.end(self.fold.now());
        if !end.is_empty() {
            self.sender.push(end);
            self.sender.send();
        }
    }
}

/// Hears a run.
struct Handle(Arc<Mutex<Worker>>);

/// Hears the end of a test.
struct Farewell(Arc<Mutex<Worker>>);

fn locked(worker: &Mutex<Worker>) -> MutexGuard<'_, Worker> {
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listen for Handle {
    fn hear(&mut self, event: &Event) {
        locked(&self.0).hear(event);
    }
}

impl Listen for Farewell {
    fn hear(&mut self, _: &Event) {
        locked(&self.0).say_farewell();
    }
}

/// What writes the lines of a system.
enum Lines {
    Influx(InfluxLines),
    Graphite(GraphiteLines),
}

impl Lines {
    fn new(output: &LiveOutput) -> Result<Self, RunError> {
        let wanted = Wanted::new(&output.labels)?;
        let percentiles = output.percentiles.clone();
        Ok(match &output.sink {
            LiveSink::Influx(sink) => Self::Influx(InfluxLines::new(sink, wanted, percentiles)),
            LiveSink::Graphite(sink) => Self::Graphite(GraphiteLines::new(sink, wanted, percentiles)),
        })
    }

    /// Once, before the first figures.
    fn begin(&mut self, unix_seconds: f64) -> Vec<String> {
        match self {
            Self::Influx(lines) => lines.begin(unix_seconds),
            Self::Graphite(_) => Vec::new(),
        }
    }

    /// Once, behind the last figures.
    fn end(&self, unix_seconds: f64) -> Vec<String> {
        match self {
            Self::Influx(lines) => lines.end(unix_seconds),
            Self::Graphite(_) => Vec::new(),
        }
    }

    fn of(&mut self, interval: &Interval) -> Vec<String> {
        match self {
            Self::Influx(lines) => lines.of(interval),
            Self::Graphite(lines) => lines.of(interval),
        }
    }
}

/// Which labels and transactions have figures of their own.
enum Wanted {
    None,
    All,
    Named(Vec<String>),
    Found(Pattern),
}

impl Wanted {
    fn new(filter: &LabelFilter) -> Result<Self, RunError> {
        let pattern = |made: Result<Pattern, String>| made.map(Self::Found).map_err(RunError::Labels);
        match filter {
            LabelFilter::None => Ok(Self::None),
            LabelFilter::All => Ok(Self::All),
            LabelFilter::Named(names) => Ok(Self::Named(names.clone())),
            LabelFilter::Containing(regex) => pattern(Pattern::new(regex)),
            LabelFilter::Matching(regex) => pattern(Pattern::whole(regex)),
        }
    }

    fn has(&self, label: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == label),
            Self::Found(pattern) => pattern.is_found(label),
        }
    }
}

#[cfg(test)]
mod tests;

//! The systems that receive the figures of runs.

use crate::fold::{Fold, LiveInterval};
use crate::graphite::GraphiteLines;
use crate::influx::InfluxLines;
use crate::labels::{LabelPatternError, LabelSelection};
use crate::sender::{DeliveryCounts, Notify, Sender};
use brunt_model::live_output::{LiveOutput, LiveSink};
use brunt_model::sync::IgnorePoison;
use brunt_model::{Event, Finish, Text, Tick, Warning, text};
use brunt_runner::{EventListener, Mailbox};
use brunt_store::Redactor;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Maximum time that the end of a run waits for its last figures to be sent.
const MAX_END_WAIT: Duration = Duration::from_secs(5);

/// Systems that receive the figures of runs; by default there is none.
pub struct LiveOutputs {
    outputs: Vec<Output>,
    redactor: Arc<Redactor>,
    notify: Notify,
}

impl Default for LiveOutputs {
    fn default() -> Self {
        Self {
            outputs: Vec::new(),
            redactor: Arc::new(Redactor::with_random_key()),
            notify: Arc::new(|_| {}),
        }
    }
}

/// A system that receives figures.
struct Output {
    name: String,
    worker: Arc<Mutex<Worker>>,
    counts: Arc<Mutex<DeliveryCounts>>,
    /// Thread of the system; None between runs.
    mailbox: Option<Mailbox>,
}

impl LiveOutputs {
    /// Sends to these systems. Names of labels are redacted. `notify` receives one message for each
    /// system that fails. The redactor learns the secrets of the systems.
    ///
    /// # Errors
    ///
    /// The regular expression for labels is invalid.
    pub fn new(
        outputs: &[LiveOutput],
        redactor: Arc<Redactor>,
        notify: Notify,
    ) -> Result<Self, LabelPatternError> {
        for secret in outputs.iter().flat_map(LiveOutput::secrets) {
            redactor.secret(secret);
        }
        let outputs =
            outputs.iter().map(|output| Output::new(output, &notify)).collect::<Result<_, _>>()?;
        Ok(Self { outputs, redactor, notify })
    }

    /// Ends the test, and reports the end to the systems, as JMeter does.
    pub fn finish(&mut self) {
        for output in &self.outputs {
            output.finish(&self.notify);
        }
    }
}

impl EventListener for LiveOutputs {
    fn on_event(&mut self, event: &Event) {
        if self.outputs.is_empty() {
            return;
        }
        // The name of a label may be a URL with secrets.
        let redacted = matches!(event, Event::Label { .. }).then(|| self.redactor.event(event));
        for output in &mut self.outputs {
            output.add(redacted.as_deref().unwrap_or(event), &self.notify);
        }
    }

    fn end(&mut self, at: Tick) -> Vec<Event> {
        let warnings = self.outputs.iter_mut().filter_map(|output| output.end(at));
        warnings.map(|text| Event::Warning(Warning { at, text })).collect()
    }
}

impl Output {
    fn new(output: &LiveOutput, notify: &Notify) -> Result<Self, LabelPatternError> {
        let counts = Arc::<Mutex<DeliveryCounts>>::default();
        let name = output.sink.to_string();
        let sender = Sender::new(&output.sink, Arc::clone(&counts), Arc::clone(notify));
        let worker =
            Worker { fold: Fold::new(output.interval), lines: LineWriter::new(output)?, sender };
        Ok(Self { name, worker: Arc::new(Mutex::new(worker)), counts, mailbox: None })
    }

    /// Passes an event on. The first event of a run starts a thread; [`Self::end`] sends the
    /// end of the run.
    fn add(&mut self, event: &Event, notify: &Notify) {
        if let Event::Started { .. } = event {
            match Mailbox::start(RunHandle(Arc::clone(&self.worker))) {
                Ok(mailbox) => self.mailbox = Some(mailbox),
                Err(error) => {
                    notify(&format!("warning: no figures are sent to {}: {error}", self.name));
                }
            }
        }
        // `end` sends the end of the run, and the fold ignores all other events.
        let is_folded =
            matches!(event, Event::Started { .. } | Event::Label { .. } | Event::Snapshot(_));
        if let (Some(mailbox), true) = (&mut self.mailbox, is_folded) {
            mailbox.on_event(event);
        }
    }

    /// Sends the remaining lines of a run. Returns a warning if some are lost.
    fn end(&mut self, at: Tick) -> Option<Text> {
        let mut mailbox = self.mailbox.take()?;
        mailbox.on_event(&Event::Finished(Finish { at, interrupted: false, error: None }));
        // Before the counts: the thread may still deliver lines.
        let is_complete = mailbox.close(MAX_END_WAIT).is_complete;
        let mut counts = self.counts.lock().ignore_poison();
        let DeliveryCounts { all: sent, arrived, failure, .. } = counts.take();
        let system = &*self.name;
        let lost = (sent - arrived).to_string();
        let all = sent.to_string();
        if !is_complete {
            let seconds = MAX_END_WAIT.as_secs().to_string();
            return Some(text!("warning-figures-late", system, seconds, lost, all));
        }
        let why = failure.unwrap_or_default();
        (arrived < sent).then(|| text!("warning-figures-lost", lost, all, system, why))
    }

    fn finish(&self, notify: &Notify) {
        let is_failing = self.counts.lock().ignore_poison().is_failing;
        // A failing system would only delay the end of the test.
        if is_failing {
            return;
        }
        // The mailbox limits the time; any event makes its listener send the end of the test.
        if let Ok(mut mailbox) = Mailbox::start(TestEndHandle(Arc::clone(&self.worker))) {
            mailbox.on_event(&Event::Finished(Finish {
                at: Tick::ZERO,
                interrupted: false,
                error: None,
            }));
            if !mailbox.close(MAX_END_WAIT).is_complete {
                notify(&format!("warning: {} did not take the end of the test", self.name));
            }
        }
    }
}

/// Folds the events of runs, and sends their figures.
struct Worker {
    fold: Fold,
    lines: LineWriter,
    sender: Sender,
}

impl Worker {
    fn add(&mut self, event: &Event) {
        if let Event::Started { .. } = event {
            self.fold.add(event);
            // JMeter annotates the start of a test in dashboards with this event.
            let begin = self.lines.begin(self.fold.now());
            self.sender.push(begin);
            self.sender.send();
            return;
        }
        if let Some(interval) = self.fold.add(event) {
            self.sender.push(self.lines.of(&interval));
            self.sender.send();
        }
        if let Event::Finished(_) = event {
            // The next run of the test must not send late figures of this one.
            self.sender.give_up();
        }
    }

    fn send_end(&mut self) {
        let end = self.lines.end(self.fold.now());
        if !end.is_empty() {
            self.sender.push(end);
            self.sender.send();
        }
    }
}

/// Listener of a run.
struct RunHandle(Arc<Mutex<Worker>>);

/// Listener of the end of a test.
struct TestEndHandle(Arc<Mutex<Worker>>);

fn lock(worker: &Mutex<Worker>) -> MutexGuard<'_, Worker> {
    worker.lock().ignore_poison()
}

impl EventListener for RunHandle {
    fn on_event(&mut self, event: &Event) {
        lock(&self.0).add(event);
    }
}

impl EventListener for TestEndHandle {
    fn on_event(&mut self, _: &Event) {
        lock(&self.0).send_end();
    }
}

/// Writer for the format of a system.
enum LineWriter {
    Influx(InfluxLines),
    Graphite(GraphiteLines),
}

impl LineWriter {
    fn new(output: &LiveOutput) -> Result<Self, LabelPatternError> {
        let selection = LabelSelection::new(&output.labels)?;
        let percentiles = output.percentiles.clone();
        Ok(match &output.sink {
            LiveSink::Influx(sink) => Self::Influx(InfluxLines::new(sink, selection, percentiles)),
            LiveSink::Graphite(sink) => {
                Self::Graphite(GraphiteLines::new(sink, selection, percentiles))
            }
        })
    }

    /// Lines before the first figures, once.
    fn begin(&mut self, unix_seconds: f64) -> Vec<String> {
        match self {
            Self::Influx(lines) => lines.begin(unix_seconds),
            Self::Graphite(_) => Vec::new(),
        }
    }

    /// Lines after the last figures, once.
    fn end(&self, unix_seconds: f64) -> Vec<String> {
        match self {
            Self::Influx(lines) => lines.end(unix_seconds),
            Self::Graphite(_) => Vec::new(),
        }
    }

    fn of(&mut self, interval: &LiveInterval) -> Vec<String> {
        match self {
            Self::Influx(lines) => lines.of(interval),
            Self::Graphite(lines) => lines.of(interval),
        }
    }
}

#[cfg(test)]
mod tests;

//! A bounded queue of lines to send, with counts of delivered lines.

use super::transport::LiveTransport;
use brunt_generator::exchange::ExchangeError;
use brunt_model::live_output::LiveSink;
use brunt_model::sync::IgnorePoison;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// Receives a message if figures cannot be sent during a run.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// Maximum number of lines that wait for the next attempt after a failed one; older lines are lost.
/// The lines of one interval may exceed it, and are tried once.
const MAX_WAITING: usize = 10_000;

/// Sends lines to a system. Lines that the system did not accept are sent again with the next ones,
/// unless it rejected them permanently.
pub struct Sender {
    name: String,
    transport: LiveTransport,
    waiting: VecDeque<String>,
    counts: Arc<Mutex<DeliveryCounts>>,
    notify: Notify,
    /// True if the user knows that lines are missing.
    is_failure_reported: bool,
}

/// Counts of the lines of a run.
#[derive(Debug, Default, Clone)]
pub struct DeliveryCounts {
    /// Number of all lines.
    pub all: u64,
    /// Number of lines that the system accepted.
    pub arrived: u64,
    /// Reason of the last failure; None without one.
    pub failure: Option<String>,
    /// True if the last attempt failed.
    pub is_failing: bool,
}

impl DeliveryCounts {
    /// Returns the counts, and resets them for the next run.
    pub fn take(&mut self) -> Self {
        let counts = self.clone();
        // A failing system stays failing, so that the end of the test does not wait for it.
        *self = Self { is_failing: self.is_failing, ..Self::default() };
        counts
    }
}

impl Sender {
    /// Creates a sender to this system. `counts` is shared with the reader of the counts.
    pub fn new(sink: &LiveSink, counts: Arc<Mutex<DeliveryCounts>>, notify: Notify) -> Self {
        let name = sink.to_string();
        let transport = LiveTransport::new(sink);
        Self {
            name,
            transport,
            waiting: VecDeque::new(),
            counts,
            notify,
            is_failure_reported: false,
        }
    }

    fn counts(&self) -> MutexGuard<'_, DeliveryCounts> {
        self.counts.lock().ignore_poison()
    }

    /// Adds lines to the queue.
    pub fn push(&mut self, lines: Vec<String>) {
        self.counts().all += lines.len() as u64;
        self.waiting.extend(lines);
    }

    /// Tries once to send all waiting lines.
    pub fn send(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let text: String = self.waiting.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        match self.transport.send(&text) {
            Ok(()) => {
                let count = self.waiting.len() as u64;
                self.waiting.clear();
                let mut counts = self.counts();
                counts.arrived += count;
                counts.is_failing = false;
            }
            Err(error) => self.on_failure(error),
        }
    }

    fn on_failure(&mut self, error: ExchangeError) {
        let (why, is_final) = match error {
            ExchangeError::Absent(why) => (why, false),
            ExchangeError::Refused(why) => (why, true),
        };
        // The system would reject lines again that it rejected permanently.
        let max_waiting = if is_final { 0 } else { MAX_WAITING };
        // The newest lines stay: a dashboard needs the current state most.
        self.waiting.drain(..self.waiting.len().saturating_sub(max_waiting));
        if !std::mem::replace(&mut self.is_failure_reported, true) {
            (self.notify)(&format!(
                "warning: {} does not accept figures: {why}; the run continues",
                self.name
            ));
        }
        let mut counts = self.counts();
        counts.failure = Some(why);
        counts.is_failing = true;
    }

    /// Discards the waiting lines at the end of a run.
    pub fn give_up(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
impl Sender {
    /// Number of lines that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Sends the next lines to another system.
    pub fn direct_to(&mut self, sink: &LiveSink) {
        self.transport = LiveTransport::new(sink);
    }
}

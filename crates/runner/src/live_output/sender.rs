//! Lines that wait to be sent, a bounded number of them, and how many arrived.

use super::Tell;
use super::transport::{SendError, Transport};
use brunt_model::live_output::LiveSink;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines that wait for the next attempt after one that failed; older ones are lost. The lines of one interval may be more, and
/// are tried once.
const MOST_WAITING: usize = 10_000;

/// Sends lines to a system. Those that it did not take go with the next ones, unless it refused them for good.
pub struct Sender {
    name: String,
    transport: Transport,
    waiting: VecDeque<String>,
    delivered: Arc<Mutex<Delivered>>,
    tell: Tell,
    /// It was told that lines are missing.
    told: bool,
}

/// What became of the lines of a run.
#[derive(Debug, Default, Clone)]
pub struct Delivered {
    /// Lines that there were.
    pub all: u64,
    /// Lines that the system took.
    pub arrived: u64,
    /// Why it did not take others: the last reason.
    pub failure: Option<String>,
    /// The last attempt failed.
    pub is_failing: bool,
}

impl Delivered {
    /// The counts so far. They begin anew, for the next run.
    pub fn take(&mut self) -> Self {
        let taken = self.clone();
        *self = Self { is_failing: self.is_failing, ..Self::default() };
        taken
    }
}

impl Sender {
    /// Sends to this system; `delivered` is what others see of it.
    pub fn new(sink: &LiveSink, delivered: Arc<Mutex<Delivered>>, tell: Tell) -> Self {
        let (name, transport) = (sink.to_string(), Transport::new(sink));
        Self { name, transport, waiting: VecDeque::new(), delivered, tell, told: false }
    }

    fn delivered(&self) -> MutexGuard<'_, Delivered> {
        self.delivered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds lines.
    pub fn push(&mut self, lines: Vec<String>) {
        self.delivered().all += lines.len() as u64;
        self.waiting.extend(lines);
    }

    /// Tries once to send all that wait.
    pub fn send(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let text: String = self.waiting.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        match self.transport.send(&text) {
            Ok(()) => {
                let count = self.waiting.len() as u64;
                self.waiting.clear();
                let mut delivered = self.delivered();
                delivered.arrived += count;
                delivered.is_failing = false;
            }
            Err(error) => self.failed(error),
        }
    }

    fn failed(&mut self, error: SendError) {
        let (why, is_final) = match error {
            SendError::Absent(why) => (why, false),
            SendError::Refused(why) => (why, true),
        };
        let most = if is_final { 0 } else { MOST_WAITING };
        self.waiting.drain(..self.waiting.len().saturating_sub(most));
        if !std::mem::replace(&mut self.told, true) {
            (self.tell)(&format!("warning: {} does not take figures: {why}; the run goes on", self.name));
        }
        let mut delivered = self.delivered();
        (delivered.failure, delivered.is_failing) = (Some(why), true);
    }

    /// The run is over: lines that wait are lost.
    pub fn give_up(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
impl Sender {
    /// How many lines wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// From now on it sends elsewhere.
    pub fn direct_to(&mut self, sink: &LiveSink) {
        self.transport = Transport::new(sink);
    }
}

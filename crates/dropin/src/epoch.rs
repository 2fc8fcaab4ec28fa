//! What the wall clock said when the run's clock was at zero, for lines that tell the time of day.
//!
//! Samples know instants of the run's clock alone. Where the two meet: the run's start is told in unix seconds, and the first
//! reading after it, taken right then, in both.

use brunt_model::Event;

/// Unix seconds of the clock's zero, as far as it is known.
#[derive(Debug, Default)]
pub struct Epoch {
    began: Option<f64>,
    /// Unix seconds; 0 before the first reading.
    pub zero: f64,
}

impl Epoch {
    /// Learns from the events of a run.
    pub fn hear(&mut self, event: &Event) {
        match event {
            Event::Started { unix_seconds, .. } => self.began = Some(*unix_seconds),
            Event::Reading(reading) => {
                if let Some(unix_seconds) = self.began.take() {
                    self.zero = unix_seconds - reading.at.seconds();
                }
            }
            _ => {}
        }
    }
}

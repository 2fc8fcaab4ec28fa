//! Maps the run's clock to Unix time, for output that shows the time of day.
//!
//! Samples have instants of the run's clock only. The start event carries Unix seconds. The first
//! reading follows at once and carries an instant of the run's clock.

use brunt_model::Event;

/// Unix time of the run clock's zero, once it is known.
#[derive(Debug, Default)]
pub struct UnixEpoch {
    started_at: Option<f64>,
    /// In Unix seconds; 0 before the first reading.
    pub zero: f64,
}

impl UnixEpoch {
    /// Updates the zero from an event of the run.
    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::Started { unix_seconds, .. } => self.started_at = Some(*unix_seconds),
            Event::Reading(reading) => {
                if let Some(unix_seconds) = self.started_at.take() {
                    self.zero = unix_seconds - reading.at.seconds();
                }
            }
            _ => {}
        }
    }
}

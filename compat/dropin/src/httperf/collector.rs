//! Collects the samples of httperf's run, and reads its duration and CPU time.

use super::counts::{CountRules, HttperfCounts, Windows};
use super::output::ReportOutput;
use brunt_model::reading_names::{CPU_SYSTEM, CPU_USER, GENERATOR};
use brunt_model::{Event, Phase, Reading, Snapshot, Tick};
use brunt_runner::EventListener;
use std::sync::Arc;

/// The listener of an httperf run.
pub struct HttperfCollector {
    pub counts: HttperfCounts,
    /// End of the load.
    pub ended: Tick,
    started_at: Option<Tick>,
    /// CPU time (user, system) at the start of the load and at the last reading, in seconds.
    cpu: [Option<(f64, f64)>; 2],
    /// Receives each five-second reply rate (`--verbose`).
    rates: Option<Arc<ReportOutput>>,
    printed_rates: usize,
}

impl HttperfCollector {
    /// Creates a collector without samples. `rates` receives each five-second reply rate.
    pub fn new(rules: CountRules, client: (u64, u64), rates: Option<Arc<ReportOutput>>) -> Self {
        let counts = HttperfCounts::new(rules, &Windows::of_client(client.0, client.1));
        Self {
            counts,
            ended: Tick::ZERO,
            started_at: None,
            cpu: [None; 2],
            rates,
            printed_rates: 0,
        }
    }

    /// Duration of the load in seconds.
    pub fn seconds(&self) -> f64 {
        self.ended.seconds_since(self.started_at.unwrap_or(self.ended))
    }

    /// CPU time (user, system) of the load, in seconds.
    pub fn cpu(&self) -> (f64, f64) {
        let [start, end] = self.cpu;
        let start = start.unwrap_or_default();
        let end = end.unwrap_or_default();
        ((end.0 - start.0).max(0.0), (end.1 - start.1).max(0.0))
    }

    fn read(&mut self, reading: &Reading) {
        let Some(cpu) = reading_value(reading, CPU_USER).zip(reading_value(reading, CPU_SYSTEM))
        else {
            return;
        };
        // The first reading of the load is taken at its start.
        let place = usize::from(self.started_at.is_some() && self.cpu[0].is_some());
        if self.started_at.is_some() {
            self.cpu[place] = Some(cpu);
        }
    }

    fn print_rates(&mut self, snapshot: &Snapshot) {
        let Some(output) = &self.rates else { return };
        let rates = self.counts.reply_windows.rates(snapshot.to);
        rates
            .iter()
            .skip(self.printed_rates)
            .for_each(|rate| output.print(&format!("reply-rate = {rate:<8.1}\n")));
        self.printed_rates = self.printed_rates.max(rates.len());
    }
}

fn reading_value(reading: &Reading, name: &str) -> Option<f64> {
    reading.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
}

impl EventListener for HttperfCollector {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Reading(reading) if reading.source == GENERATOR => self.read(reading),
            Event::Stage { at, phase: Phase::Measure } => {
                self.started_at = Some(*at);
                self.counts.begin(*at);
            }
            Event::Samples(samples) => samples.iter().for_each(|sample| self.counts.add(sample)),
            Event::Snapshot(snapshot) => self.print_rates(snapshot),
            Event::Finished(finish) => {
                self.counts.finish();
                // The load ends with its last connection.
                let last = self.counts.last;
                self.ended =
                    if finish.interrupted || last == Tick::ZERO { finish.at } else { last };
            }
            _ => {}
        }
    }
}

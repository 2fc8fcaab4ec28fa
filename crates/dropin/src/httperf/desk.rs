//! Where httperf's run is heard: samples are counted, the clock and the CPU are read.

use super::counts::{Counts, Rules, Windows};
use super::paper::Paper;
use brunt_model::reading_names::{CPU_SYSTEM, CPU_USER, GENERATOR};
use brunt_model::{Event, Phase, Reading, Snapshot, Tick};
use brunt_runner::Listen;
use std::sync::Arc;

/// What is heard.
pub struct Desk {
    /// What was counted.
    pub counts: Counts,
    /// When the load was over.
    pub ended: Tick,
    begins: Option<Tick>,
    /// CPU time when the load began, and last: user, system.
    cpu: [Option<(f64, f64)>; 2],
    /// Each five-second rate is told, on this.
    rates: Option<Arc<Paper>>,
    told: usize,
}

impl Desk {
    /// Nothing was heard yet. `rates`: where five-second rates are told as they are known.
    pub fn new(rules: Rules, client: (u64, u64), rates: Option<Arc<Paper>>) -> Self {
        let counts = Counts::new(rules, &Windows::of(client));
        Self { counts, ended: Tick::ZERO, begins: None, cpu: [None; 2], rates, told: 0 }
    }

    /// How long the load took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.ended.seconds_since(self.begins.unwrap_or(self.ended))
    }

    /// CPU time of the load, in seconds: user, system.
    pub fn cpu(&self) -> (f64, f64) {
        let [from, to] = self.cpu;
        let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
        ((to.0 - from.0).max(0.0), (to.1 - from.1).max(0.0))
    }

    fn read(&mut self, reading: &Reading) {
        let value = |name: &str| reading.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let Some(cpu) = value(CPU_USER).zip(value(CPU_SYSTEM)) else { return };
        // The first of the load is taken as it begins.
        let place = usize::from(self.begins.is_some() && self.cpu[0].is_some());
        if self.begins.is_some() {
            self.cpu[place] = Some(cpu);
        }
    }

    fn tell_rates(&mut self, snapshot: &Snapshot) {
        let Some(paper) = &self.rates else { return };
        let rates = self.counts.reply_windows.rates(snapshot.to);
        rates.iter().skip(self.told).for_each(|rate| paper.say(&format!("reply-rate = {rate:<8.1}\n")));
        self.told = self.told.max(rates.len());
    }
}

impl Listen for Desk {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Reading(reading) if reading.source == GENERATOR => self.read(reading),
            Event::Stage { at, phase: Phase::Measure } => {
                self.begins = Some(*at);
                self.counts.begin(*at);
            }
            Event::Samples(samples) => samples.iter().for_each(|sample| self.counts.take(sample)),
            Event::Snapshot(snapshot) => self.tell_rates(snapshot),
            Event::Finished(finish) => {
                self.counts.finish();
                // What was asked for is over with its last connection.
                let last = self.counts.last;
                self.ended = if finish.interrupted || last == Tick::ZERO { finish.at } else { last };
            }
            _ => {}
        }
    }
}

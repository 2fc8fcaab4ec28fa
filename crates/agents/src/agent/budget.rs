//! Limits the bytes that an agent sends: figures of labels and transactions are held back and sent
//! less often than totals.
//!
//! Sums of several intervals are the same in any grouping, so no figure of the report changes: the
//! report shows labels over the whole run only. Totals are sent with each interval.
//!
//! A connection that is too slow even so gets no figures of labels until it has caught up. If that is
//! not enough, single samples are discarded, and a warning counts them.

use brunt_model::{Event, Snapshot, Tick, Warning, text};
use std::time::Duration;

/// Shortest time for which figures of labels are held back.
const SHORTEST_DELAY: Duration = Duration::from_secs(1);

/// Longest time for which they are held back. If the agent is lost, they are lost.
const LONGEST_DELAY: Duration = Duration::from_secs(8);

/// Number of unsent bytes from which figures of labels are held back, and single samples discarded.
const SLOW: usize = 256 << 10;
const FULL: usize = 8 << 20;

/// Holds back the figures of labels, and adapts their delay to the budget.
pub struct ByteBudget {
    bytes_per_second: u64,
    delay: Duration,
    /// Figures that were not sent yet, by population; None: those of all together.
    held: Vec<(Option<u32>, HeldFigures)>,
    /// Bytes that were sent since this instant.
    bytes: u64,
    counted_from: Tick,
    /// Bytes that wait to be sent.
    unsent: usize,
    /// Number of samples that were discarded.
    discarded: usize,
}

/// Figures of labels that were not sent yet.
#[derive(Default)]
struct HeldFigures {
    sums: Snapshot,
    sent: Tick,
}

impl ByteBudget {
    /// Creates the budget of a run; 0: nothing is held back.
    pub fn new(bytes_per_second: u64) -> Self {
        Self {
            bytes_per_second,
            delay: SHORTEST_DELAY,
            held: Vec::new(),
            bytes: 0,
            counted_from: Tick::ZERO,
            unsent: 0,
            discarded: 0,
        }
    }

    /// Returns the events to send in place of this one. `unsent` is the number of bytes that wait to
    /// be sent.
    pub fn events(&mut self, event: Event, unsent: usize) -> Vec<Event> {
        if self.bytes_per_second == 0 {
            return vec![event];
        }
        self.unsent = unsent;
        match event {
            Event::Snapshot(snapshot) => vec![Event::Snapshot(self.hold(None, snapshot))],
            Event::Population { number, snapshot } => {
                vec![Event::Population { number, snapshot: self.hold(Some(number), snapshot) }]
            }
            Event::Records(records) if unsent >= FULL => {
                self.discarded += records.len();
                Vec::new()
            }
            Event::Samples(samples) if unsent >= FULL => {
                self.discarded += samples.len();
                Vec::new()
            }
            Event::Finished(ref finish) => {
                let mut events = self.rest();
                events.extend(self.warning(finish.at));
                events.push(event);
                events
            }
            other => vec![other],
        }
    }

    /// Counts bytes that were sent up to this instant.
    pub fn count(&mut self, bytes: usize, now: Tick) {
        self.bytes += bytes as u64;
        let elapsed = now - self.counted_from;
        if elapsed < self.delay {
            return;
        }
        let rate = self.bytes as f64 / elapsed.as_secs_f64();
        let budget = self.bytes_per_second as f64;
        if rate > budget {
            self.delay = (self.delay * 2).min(LONGEST_DELAY);
        } else if rate < budget / 2.0 {
            self.delay = (self.delay / 2).max(SHORTEST_DELAY);
        }
        self.bytes = 0;
        self.counted_from = now;
    }

    /// Moves the figures of labels from a snapshot to the retained ones, or all retained ones to the snapshot.
    fn hold(&mut self, population: Option<u32>, mut snapshot: Box<Snapshot>) -> Box<Snapshot> {
        let number = self.held.iter().position(|(of, _)| *of == population).unwrap_or_else(|| {
            self.held.push((population, HeldFigures::default()));
            self.held.len() - 1
        });
        let retained = &mut self.held[number].1;
        let labels = std::mem::take(&mut snapshot.labels);
        let transactions = std::mem::take(&mut snapshot.transactions);
        retained.sums.merge(&Snapshot { labels, transactions, ..Snapshot::default() });
        if snapshot.to >= retained.sent + self.delay && self.unsent < SLOW {
            retained.sent = snapshot.to;
            snapshot.labels = std::mem::take(&mut retained.sums.labels);
            snapshot.transactions = std::mem::take(&mut retained.sums.transactions);
        }
        retained.sums.from = snapshot.to;
        retained.sums.to = snapshot.to;
        retained.sums.phase = snapshot.phase;
        snapshot
    }

    /// Returns a warning with the number of discarded samples, if there are any.
    fn warning(&self, at: Tick) -> Option<Event> {
        (self.discarded > 0).then(|| {
            let text = text!("warning-samples-discarded", count = self.discarded);
            Event::Warning(Warning { at, text })
        })
    }

    /// Returns the retained snapshots, each in an interval without length at the end.
    fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for (population, HeldFigures { sums, .. }) in std::mem::take(&mut self.held) {
            if sums.labels.is_empty() && sums.transactions.is_empty() {
                continue;
            }
            let snapshot = Box::new(sums);
            events.push(match population {
                Some(number) => Event::Population { number, snapshot },
                None => Event::Snapshot(snapshot),
            });
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::{Finish, Run, Sample};

    fn snapshot(number: u64) -> Event {
        let interval = 100_000_000;
        let mut snapshot = Snapshot {
            from: Tick(number * interval),
            to: Tick((number + 1) * interval),
            ..Snapshot::default()
        };
        snapshot.measured.response.record(number + 1);
        snapshot.measured.completed = 1;
        for label in 0..5 {
            snapshot.label(label).response.record(number * 7 + u64::from(label));
        }
        Event::Snapshot(Box::new(snapshot))
    }

    fn finished() -> Event {
        Event::Finished(Finish { at: Tick(9), interrupted: false, error: None })
    }

    fn fold(events: &[Event]) -> Run {
        Run::of(events)
    }

    #[test]
    fn figures_of_labels_are_sent_each_second_and_are_the_same_in_the_end() {
        let all: Vec<Event> = (0..47).map(snapshot).chain([finished()]).collect();
        let mut budget = ByteBudget::new(100_000);
        let sent: Vec<Event> =
            all.iter().flat_map(|event| budget.events(event.clone(), 0)).collect();
        let with_labels = sent.iter().filter(
            |event| matches!(event, Event::Snapshot(snapshot) if !snapshot.labels.is_empty()),
        );
        assert_eq!(with_labels.count(), 5, "four whole seconds and the rest");
        let (whole, thinned) = (fold(&all), fold(&sent));
        assert_eq!(whole.labels, thinned.labels);
        assert_eq!(whole.total, thinned.total);
    }

    #[test]
    fn a_small_budget_lengthens_the_delay_up_to_a_limit() {
        let mut budget = ByteBudget::new(1_000);
        for second in 1..60 {
            budget.count(5_000, Tick(second * 1_000_000_000));
        }
        assert_eq!(budget.delay, LONGEST_DELAY);
        for second in 60..200 {
            budget.count(10, Tick(second * 1_000_000_000));
        }
        assert_eq!(budget.delay, SHORTEST_DELAY);
    }

    #[test]
    fn a_slow_connection_gets_labels_later_and_a_full_one_no_samples() {
        let mut budget = ByteBudget::new(100_000);
        let samples = Event::Samples(vec![Sample::default(); 3]);
        let mut sent = Vec::new();
        for number in 0..100 {
            let unsent = if number < 60 { FULL } else { 0 };
            sent.extend(budget.events(snapshot(number), unsent));
            sent.extend(budget.events(samples.clone(), unsent));
        }
        sent.extend(budget.events(finished(), 0));
        let has_labels =
            |event: &&Event| matches!(event, Event::Snapshot(one) if !one.labels.is_empty());
        let first = sent.iter().position(|event| has_labels(&event));
        assert_eq!(first, Some(60), "with the first interval that has room");
        let is_samples = |event: &&Event| matches!(event, Event::Samples(_));
        assert_eq!(sent.iter().filter(is_samples).count(), 40);
        let run = fold(&sent);
        let all: Vec<Event> = (0..100).map(snapshot).chain([finished()]).collect();
        assert_eq!(run.labels, fold(&all).labels, "no figure is lost");
        assert!(
            run.warnings[0].starts_with("INCOMPLETE: 180 single samples"),
            "{:?}",
            run.warnings
        );
    }

    #[test]
    fn without_a_budget_events_are_unchanged() {
        assert_eq!(ByteBudget::new(0).events(snapshot(3), FULL), [snapshot(3)]);
    }
}

//! Limits the bytes that an agent sends: figures of labels and transactions are held back and sent
//! less often than totals.
//!
//! Sums of several intervals are the same in any grouping, so no figure of the report changes: the
//! report shows labels over the whole run only. Everything else is sent with each interval.

use brunt_model::{Event, Snapshot, Tick};
use std::time::Duration;

/// Shortest time for which figures of labels are held back.
const SHORTEST_DELAY: Duration = Duration::from_secs(1);

/// Longest time for which they are held back. If the agent is lost, they are lost.
const LONGEST_DELAY: Duration = Duration::from_secs(8);

/// Holds back the figures of labels, and adapts their delay to the budget.
pub struct LabelBudget {
    bytes_per_second: u64,
    delay: Duration,
    /// Figures that were not sent yet, by population; None: those of all together.
    held: Vec<(Option<u32>, HeldFigures)>,
    /// Bytes that were sent since this instant.
    bytes: u64,
    counted_from: Tick,
}

/// Figures of labels that were not sent yet.
#[derive(Default)]
struct HeldFigures {
    sums: Snapshot,
    sent: Tick,
}

impl LabelBudget {
    /// Creates the budget of a run; 0: nothing is held back.
    pub fn new(bytes_per_second: u64) -> Self {
        Self {
            bytes_per_second,
            delay: SHORTEST_DELAY,
            held: Vec::new(),
            bytes: 0,
            counted_from: Tick::ZERO,
        }
    }

    /// Returns the events to send in place of this one.
    pub fn events(&mut self, event: Event) -> Vec<Event> {
        if self.bytes_per_second == 0 {
            return vec![event];
        }
        match event {
            Event::Snapshot(snapshot) => vec![Event::Snapshot(self.hold(None, snapshot))],
            Event::Population { number, snapshot } => {
                vec![Event::Population { number, snapshot: self.hold(Some(number), snapshot) }]
            }
            Event::Finished(_) => {
                let mut events = self.rest();
                events.push(event);
                events
            }
            other => vec![other],
        }
    }

    /// Counts bytes that were sent up to this instant.
    pub fn count(&mut self, bytes: u64, now: Tick) {
        self.bytes += bytes;
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

    /// Takes the figures of labels out of a snapshot, or adds all that were held back to it.
    fn hold(&mut self, population: Option<u32>, mut snapshot: Box<Snapshot>) -> Box<Snapshot> {
        let number = self.held.iter().position(|(of, _)| *of == population).unwrap_or_else(|| {
            self.held.push((population, HeldFigures::default()));
            self.held.len() - 1
        });
        let held = &mut self.held[number].1;
        let labels = std::mem::take(&mut snapshot.labels);
        let transactions = std::mem::take(&mut snapshot.transactions);
        held.sums.merge(&Snapshot { labels, transactions, ..Snapshot::default() });
        if snapshot.to >= held.sent + self.delay {
            held.sent = snapshot.to;
            snapshot.labels = std::mem::take(&mut held.sums.labels);
            snapshot.transactions = std::mem::take(&mut held.sums.transactions);
        }
        held.sums.from = snapshot.to;
        held.sums.to = snapshot.to;
        held.sums.phase = snapshot.phase;
        snapshot
    }

    /// Returns what is still held back, each in an interval without length at the end.
    fn rest(&mut self) -> Vec<Event> {
        let held = std::mem::take(&mut self.held).into_iter();
        let rest = held
            .filter(|(_, held)| !held.sums.labels.is_empty() || !held.sums.transactions.is_empty());
        rest.map(|(population, held)| {
            let snapshot = Box::new(held.sums);
            match population {
                Some(number) => Event::Population { number, snapshot },
                None => Event::Snapshot(snapshot),
            }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::{Finish, Run};

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
        let mut budget = LabelBudget::new(100_000);
        let sent: Vec<Event> = all.iter().flat_map(|event| budget.events(event.clone())).collect();
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
        let mut budget = LabelBudget::new(1_000);
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
    fn without_a_budget_events_are_unchanged() {
        assert_eq!(LabelBudget::new(0).events(snapshot(3)), [snapshot(3)]);
    }
}

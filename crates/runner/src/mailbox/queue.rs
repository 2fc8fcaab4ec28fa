//! The queue of events for a slow listener. Events stay in order, and are merged if
//! there are too many.
//!
//! The queue has no lock; [`Mailbox`](super::Mailbox) guards it with a mutex.

use brunt_model::{Event, Phase, Reading, Snapshot};
use std::collections::{BTreeMap, VecDeque};

/// A queue of events.
#[derive(Default)]
pub struct EventQueue {
    events: VecDeque<Event>,
    joined: Joined,
}

/// Counts of events that were merged into a later one of their kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Joined {
    /// Number of merged snapshots.
    pub snapshots: u64,
    /// Number of merged readings.
    pub readings: u64,
}

impl EventQueue {
    /// Appends an event. If `max_waiting` events wait, snapshots and readings are
    /// first merged in pairs.
    pub fn push(&mut self, event: Event, max_waiting: usize) {
        if self.events.len() >= max_waiting {
            self.join();
        }
        self.events.push_back(event);
    }

    /// Removes the first event.
    pub fn pop(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Number of events that wait.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// True if no event waits.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Counts of merged events so far.
    pub fn joined(&self) -> Joined {
        self.joined
    }

    /// Merges snapshots of one phase of the run in pairs, and readings of one source. A merged
    /// event takes the position of the later one, after all events that it may refer to.
    fn join(&mut self) {
        let mut events: Vec<Option<Event>> = Vec::with_capacity(self.events.len());
        let mut unmerged = UnmergedEvents::default();
        for mut event in self.events.drain(..) {
            if let Some(earlier) =
                unmerged.partner(&event, events.len()).and_then(|index| events[index].take())
            {
                self.joined.count(&event);
                event = join(earlier, event);
            }
            events.push(Some(event));
        }
        self.events.extend(events.into_iter().flatten());
    }
}

impl Joined {
    fn count(&mut self, event: &Event) {
        match event {
            Event::Snapshot(_) | Event::Population { .. } => self.snapshots += 1,
            _ => self.readings += 1,
        }
    }
}

/// Indexes of events that may be merged, but were not yet.
#[derive(Default)]
struct UnmergedEvents {
    /// By population; None for all populations together.
    snapshots: BTreeMap<Option<u32>, (usize, Phase)>,
    readings: BTreeMap<String, usize>,
}

impl UnmergedEvents {
    /// Index of the earlier event to merge with this one, which has the position `index`.
    fn partner(&mut self, event: &Event, index: usize) -> Option<usize> {
        match event {
            Event::Snapshot(snapshot) => self.earlier(None, snapshot.phase, index),
            Event::Population { number, snapshot } => {
                self.earlier(Some(*number), snapshot.phase, index)
            }
            Event::Reading(reading) => {
                let partner = self.readings.remove(&reading.source);
                if partner.is_none() {
                    self.readings.insert(reading.source.clone(), index);
                }
                partner
            }
            _ => None,
        }
    }

    fn earlier(&mut self, population: Option<u32>, phase: Phase, index: usize) -> Option<usize> {
        // Merging over the border of a phase would mix warm-up and measured time.
        let partner = self.snapshots.remove(&population).filter(|(_, earlier)| *earlier == phase);
        if partner.is_none() {
            self.snapshots.insert(population, (index, phase));
        }
        partner.map(|(index, _)| index)
    }
}

/// Merges two events of one kind.
fn join(earlier: Event, later: Event) -> Event {
    match (earlier, later) {
        (Event::Snapshot(earlier), Event::Snapshot(later)) => {
            Event::Snapshot(Box::new(following(*earlier, &later)))
        }
        (
            Event::Population { snapshot: earlier, .. },
            Event::Population { number, snapshot: later },
        ) => Event::Population { number, snapshot: Box::new(following(*earlier, &later)) },
        (Event::Reading(earlier), Event::Reading(later)) => Event::Reading(latest(earlier, later)),
        (_, later) => later,
    }
}

fn following(mut earlier: Snapshot, later: &Snapshot) -> Snapshot {
    earlier.follow(later);
    earlier
}

/// Merges two readings: the last value of each name.
fn latest(earlier: Reading, mut later: Reading) -> Reading {
    let mut older = Vec::new();
    for (name, value) in earlier.values {
        if later.values.iter().all(|(newer, _)| *newer != name) {
            older.push((name, value));
        }
    }
    later.values.extend(older);
    later
}

//! The events that wait for a slow listener: in order, and joined where there are too many of them.
//!
//! The queue has no lock of its own; [`Mailbox`](super::Mailbox) guards it with a mutex.

use brunt_model::{Event, Phase, Reading, Snapshot};
use std::collections::{BTreeMap, VecDeque};

/// The events that wait.
#[derive(Default)]
pub struct Queue {
    events: VecDeque<Event>,
    joined: Joined,
}

/// How many events were joined to a later one of their kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Joined {
    /// Snapshots.
    pub snapshots: u64,
    /// Readings.
    pub readings: u64,
}

impl Queue {
    /// Appends an event; where `most` wait already, snapshots and readings are joined two by two first.
    pub fn push(&mut self, event: Event, most: usize) {
        if self.events.len() >= most {
            self.join();
        }
        self.events.push_back(event);
    }

    /// Takes the first event out.
    pub fn pop(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// How many events wait.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// How many events were joined so far.
    pub fn joined(&self) -> Joined {
        self.joined
    }

    /// Joins snapshots of one part of the run two by two, and readings of one source. A joined event stands where the later one
    /// stood, behind all that it may refer to.
    fn join(&mut self) {
        let mut kept: Vec<Option<Event>> = Vec::with_capacity(self.events.len());
        let mut single = Singles::default();
        for mut event in self.events.drain(..) {
            if let Some(earlier) = single.partner(&event, kept.len()).and_then(|index| kept[index].take()) {
                self.joined.count(&event);
                event = join(earlier, event);
            }
            kept.push(Some(event));
        }
        self.events.extend(kept.into_iter().flatten());
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

/// Events that may be joined and are not yet, by their index.
#[derive(Default)]
struct Singles {
    /// By population; None: of all of them.
    snapshots: BTreeMap<Option<u32>, (usize, Phase)>,
    readings: BTreeMap<String, usize>,
}

impl Singles {
    /// With which earlier event this one, at `index`, is to be joined.
    fn partner(&mut self, event: &Event, index: usize) -> Option<usize> {
        match event {
            Event::Snapshot(snapshot) => self.earlier(None, snapshot.phase, index),
            Event::Population { number, snapshot } => self.earlier(Some(*number), snapshot.phase, index),
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
        let partner = self.snapshots.remove(&population).filter(|(_, earlier)| *earlier == phase);
        if partner.is_none() {
            self.snapshots.insert(population, (index, phase));
        }
        partner.map(|(index, _)| index)
    }
}

/// Two events of one kind as one, which stands for both.
fn join(earlier: Event, later: Event) -> Event {
    match (earlier, later) {
        (Event::Snapshot(earlier), Event::Snapshot(later)) => Event::Snapshot(Box::new(following(*earlier, &later))),
        (Event::Population { snapshot: earlier, .. }, Event::Population { number, snapshot: later }) => {
            Event::Population { number, snapshot: Box::new(following(*earlier, &later)) }
        }
        (Event::Reading(earlier), Event::Reading(later)) => Event::Reading(latest(earlier, later)),
        (_, later) => later,
    }
}

fn following(mut earlier: Snapshot, later: &Snapshot) -> Snapshot {
    earlier.follow(later);
    earlier
}

/// The last value of each name.
fn latest(earlier: Reading, mut later: Reading) -> Reading {
    let is_older = |(name, _): &(String, f64)| later.values.iter().all(|(newer, _)| newer != name);
    let older: Vec<(String, f64)> = earlier.values.into_iter().filter(is_older).collect();
    later.values.extend(older);
    later
}

//! Folds the events of a run into the figures of intervals: all requests, each label, each transaction, and users.
//!
//! Samples of a warm-up are left out, as in reports. An interval ends with the first snapshot behind its border, so that each
//! sample is in one interval.

use brunt_model::outcome::FAILURES;
use brunt_model::{Event, Failure, Snapshot, Tally, Tick, TransactionTally};
use brunt_stats::Histogram;
use std::collections::BTreeMap;
use std::time::Duration;

/// The figures of an interval.
#[derive(Debug, Default)]
pub struct Interval {
    /// Its end: seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// All requests.
    pub all: Figures,
    /// Labels and transactions that had some, by name.
    pub named: BTreeMap<String, Figures>,
    /// Virtual users.
    pub users: Users,
}

/// The requests of an interval, or the transactions of one name.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Figures {
    /// Good ones that ended.
    pub ok: u64,
    /// Others that ended, or were never begun.
    pub ko: u64,
    /// Response times of good ones, in nanoseconds.
    pub ok_times: Histogram,
    /// Response times of others, or the times until they failed, in nanoseconds.
    pub ko_times: Histogram,
    /// What was exchanged; None for transactions, whose requests have figures of their own.
    pub traffic: Option<Traffic>,
    /// Failures by code and text.
    pub errors: Vec<(String, String, u64)>,
}

/// What requests exchanged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Requests that were begun.
    pub hits: u64,
    /// Bytes of requests.
    pub sent: u64,
    /// Bytes of replies.
    pub received: u64,
}

/// Virtual users in an interval; in an open loop requests under way and waiting arrivals take their place.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Users {
    /// Fewest at the end of a snapshot.
    pub min: u64,
    /// Most.
    pub max: u64,
    /// The mean over snapshots, rounded.
    pub mean: u64,
    /// Started since the beginning.
    pub started: u64,
    /// Ended since the beginning.
    pub ended: u64,
}

/// The events of a run since the last interval. It goes on over several runs, one after the other.
pub struct Fold {
    length: Duration,
    /// Of the run that goes on: seconds since 1970 at its beginning.
    unix_seconds: f64,
    /// The border of the interval.
    border: Tick,
    seen_to: Tick,
    labels: BTreeMap<u32, String>,
    sums: Sums,
    active: u64,
    started: u64,
}

/// What came since the last interval.
#[derive(Default)]
struct Sums {
    all: Tally,
    labels: BTreeMap<u32, Tally>,
    transactions: BTreeMap<String, TransactionTally>,
    snapshots: u64,
    users: (u64, u64, u64),
}

impl Fold {
    /// Intervals of this length.
    pub fn new(length: Duration) -> Self {
        Self {
            length,
            unix_seconds: 0.0,
            border: Tick::ZERO + length,
            seen_to: Tick::ZERO,
            labels: BTreeMap::new(),
            sums: Sums::default(),
            active: 0,
            started: 0,
        }
    }

    /// The last instant that is known of: seconds since 1970-01-01 UTC.
    pub fn now(&self) -> f64 {
        self.unix_seconds + self.seen_to.seconds()
    }

    /// Takes in an event; the interval that ends with it.
    pub fn hear(&mut self, event: &Event) -> Option<Interval> {
        match event {
            Event::Started { unix_seconds, .. } => {
                self.unix_seconds = *unix_seconds;
                (self.border, self.seen_to, self.active) = (Tick::ZERO + self.length, Tick::ZERO, 0);
                self.labels.clear();
                self.sums = Sums::default();
                None
            }
            Event::Label { id, name, hop_of: None } => {
                self.labels.insert(*id, name.clone());
                None
            }
            Event::Snapshot(snapshot) => {
                self.add(snapshot);
                (self.seen_to >= self.border).then(|| self.close())
            }
            Event::Finished(_) => (self.sums.snapshots > 0).then(|| {
                self.active = 0;
                self.close()
            }),
            _ => None,
        }
    }

    fn add(&mut self, snapshot: &Snapshot) {
        let sums = &mut self.sums;
        sums.all.merge(&snapshot.measured);
        for (label, tally) in &snapshot.labels {
            sums.labels.entry(*label).or_default().merge(tally);
        }
        for (name, tally) in &snapshot.transactions {
            sums.transactions.entry(name.clone()).or_default().merge(tally);
        }
        let flow = &snapshot.flow;
        let users = if flow.users > 0 { flow.users } else { flow.in_flight + flow.waiting };
        self.started += users.saturating_sub(self.active);
        self.active = users;
        let (min, max, sum) = sums.users;
        sums.users = (if sums.snapshots == 0 { users } else { min.min(users) }, max.max(users), sum + users);
        sums.snapshots += 1;
        self.seen_to = self.seen_to.max(snapshot.to);
    }

    fn close(&mut self) -> Interval {
        let Sums { all, labels, transactions, snapshots, users: (min, max, sum) } = std::mem::take(&mut self.sums);
        while self.border <= self.seen_to {
            self.border += self.length;
        }
        let all = Figures::of(&all);
        let mut named: BTreeMap<String, Figures> = BTreeMap::new();
        let name = |id: &u32| self.labels.get(id).cloned();
        named.extend(labels.iter().filter_map(|(id, tally)| Some((name(id)?, Figures::of(tally)))));
        if let (true, [only]) = (named.is_empty(), &self.labels.values().collect::<Vec<_>>()[..]) {
            named.insert((*only).clone(), all.clone());
        }
        named.extend(transactions.iter().map(|(name, tally)| (name.clone(), Figures::of_transactions(tally))));
        named.retain(|_, figures| figures.count() > 0);
        let mean = (sum + snapshots / 2).checked_div(snapshots).unwrap_or(0);
        let users = Users { min, max, mean, started: self.started, ended: self.started.saturating_sub(self.active) };
        Interval { unix_seconds: self.now(), all, named, users }
    }
}

impl Figures {
    /// Of a tally.
    fn of(tally: &Tally) -> Self {
        let unfinished = tally.failed_by(Failure::Dropped) + tally.failed_by(Failure::Cut);
        let begun = tally.completed + tally.failed() + tally.failed_by(Failure::Cut);
        let mut ko_times = tally.not_good.clone();
        tally.failure_times.iter().for_each(|(_, times)| ko_times.merge(times));
        Self {
            ok: tally.good,
            ko: tally.completed + tally.failed() + unfinished - tally.good,
            ok_times: tally.response_good(),
            ko_times,
            traffic: Some(Traffic { hits: begun, sent: tally.bytes_sent, received: tally.bytes_received }),
            errors: errors(tally),
        }
    }

    fn of_transactions(tally: &TransactionTally) -> Self {
        Self {
            ok: tally.succeeded,
            ko: tally.failed,
            ok_times: tally.response.without(&tally.failed_response),
            ko_times: tally.failed_response.clone(),
            ..Self::default()
        }
    }

    /// All that ended.
    pub fn count(&self) -> u64 {
        self.ok + self.ko
    }

    /// Response times of all, in nanoseconds.
    pub fn times(&self) -> Histogram {
        let mut times = self.ok_times.clone();
        times.merge(&self.ko_times);
        times
    }
}

/// Failures by code and text: kinds of failure, and the statuses that were not good.
///
/// A tally does not say which statuses those were. All from 400 on are taken for them, and for failed checks where the plan checks
/// statuses so; where there are more of them than replies that were not good, some were expected, and one row stands for all.
fn errors(tally: &Tally) -> Vec<(String, String, u64)> {
    let not_good = tally.completed - tally.good;
    let bad: Vec<(u16, u64)> = tally.statuses.sorted().into_iter().filter(|(status, _)| *status >= 400).collect();
    let bad_count: u64 = bad.iter().map(|(_, count)| count).sum();
    let checked = tally.failed_by(Failure::Check);
    let (bad, others) = if bad_count <= not_good { (bad, not_good - bad_count) } else { (Vec::new(), not_good) };
    let count = |failure| if failure == Failure::Check { checked.min(others) } else { tally.failed_by(failure) };
    let kinds = FAILURES.iter().map(|row| (row.key.to_owned(), row.name.to_owned(), count(row.failure)));
    let statuses = bad.into_iter().map(|(status, count)| (status.to_string(), reason(status), count));
    let unexpected = ("status".to_owned(), "unexpected status".to_owned(), others.saturating_sub(checked));
    kinds.chain(statuses).chain([unexpected]).filter(|(_, _, count)| *count > 0).collect()
}

/// The usual text of a status of HTTP; empty where it has none.
fn reason(status: u16) -> String {
    let known = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    known.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;

//! Folds the events of a run into figures of intervals: all requests, each label,
//! each transaction, and users.
//!
//! Samples of a warm-up are excluded, as in reports. An interval ends with the first snapshot after
//! its border, so that each sample is in one interval only.

use brunt_model::{Event, Failure, Snapshot, Tally, Tick, TransactionTally};
use brunt_stats::Histogram;
use std::collections::BTreeMap;
use std::time::Duration;

/// The figures of one interval.
#[derive(Debug, Default)]
pub struct LiveInterval {
    /// End of the interval in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// Figures of all requests.
    pub all: LiveFigures,
    /// Figures of labels and transactions with requests, by name.
    pub named: BTreeMap<String, LiveFigures>,
    /// Number of virtual users.
    pub users: UserCounts,
}

/// Figures of the requests of an interval, or of the transactions with one name.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct LiveFigures {
    /// Number of good ones that ended.
    pub ok: u64,
    /// Number of others that ended, or were never begun.
    pub ko: u64,
    /// Response times of good ones, in nanoseconds.
    pub ok_times: Histogram,
    /// Response times of others, or the times until they failed, in nanoseconds.
    pub ko_times: Histogram,
    /// Traffic of requests; None for transactions, since their requests have their own figures.
    pub traffic: Option<Traffic>,
    /// Failures, each with code, text and count.
    pub errors: Vec<(String, String, u64)>,
}

/// Counts and bytes of the requests of one label.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Number of requests that were begun.
    pub hits: u64,
    /// Bytes sent with requests.
    pub sent: u64,
    /// Bytes received in replies.
    pub received: u64,
}

/// Number of virtual users in an interval; in an open loop, of requests in
/// flight and waiting arrivals.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct UserCounts {
    /// Minimum at the end of a snapshot.
    pub min: u64,
    /// Maximum at the end of a snapshot.
    pub max: u64,
    /// Mean over snapshots, rounded.
    pub mean: u64,
    /// Number of users started since the beginning.
    pub started: u64,
    /// Number of users ended since the beginning.
    pub ended: u64,
}

/// The events of a run since the last interval. One fold serves several runs, one after the other.
pub struct Fold {
    length: Duration,
    /// Start of the current run in seconds since 1970-01-01 UTC.
    unix_seconds: f64,
    /// Planned end of the interval.
    border: Tick,
    last_instant: Tick,
    labels: BTreeMap<u32, String>,
    sums: Sums,
    active: u64,
    started: u64,
}

/// Sums of the events since the last interval.
#[derive(Default)]
struct Sums {
    all: Tally,
    labels: BTreeMap<u32, Tally>,
    transactions: BTreeMap<String, TransactionTally>,
    snapshots: u64,
    /// Minimum, maximum and sum over snapshots.
    users: (u64, u64, u64),
}

impl Fold {
    /// Creates a fold with intervals of this length.
    pub fn new(length: Duration) -> Self {
        Self {
            length,
            unix_seconds: 0.0,
            border: Tick::ZERO + length,
            last_instant: Tick::ZERO,
            labels: BTreeMap::new(),
            sums: Sums::default(),
            active: 0,
            started: 0,
        }
    }

    /// The last instant of which events are known, in seconds since 1970-01-01 UTC.
    pub fn now(&self) -> f64 {
        self.unix_seconds + self.last_instant.seconds()
    }

    /// Adds an event. Returns the interval that ends with it.
    pub fn add(&mut self, event: &Event) -> Option<LiveInterval> {
        match event {
            Event::Started { unix_seconds, .. } => {
                self.unix_seconds = *unix_seconds;
                self.border = Tick::ZERO + self.length;
                self.last_instant = Tick::ZERO;
                self.active = 0;
                self.labels.clear();
                self.sums = Sums::default();
                None
            }
            Event::Label { id, name, hop_of: None } => {
                self.labels.insert(*id, name.clone());
                None
            }
            Event::Snapshot(snapshot) => {
                self.add_snapshot(snapshot);
                (self.last_instant >= self.border).then(|| self.close())
            }
            Event::Finished(_) => (self.sums.snapshots > 0).then(|| {
                self.active = 0;
                self.close()
            }),
            _ => None,
        }
    }

    fn add_snapshot(&mut self, snapshot: &Snapshot) {
        let sums = &mut self.sums;
        sums.all.merge(&snapshot.measured);
        for (label, tally) in &snapshot.labels {
            sums.labels.entry(*label).or_default().merge(tally);
        }
        for (name, tally) in &snapshot.transactions {
            sums.transactions.entry(name.clone()).or_default().merge(tally);
        }
        let flow = &snapshot.flow;
        // An open loop has no users.
        let users = if flow.users > 0 { flow.users } else { flow.in_flight + flow.waiting };
        self.started += users.saturating_sub(self.active);
        self.active = users;
        let (min, max, sum) = sums.users;
        sums.users =
            (if sums.snapshots == 0 { users } else { min.min(users) }, max.max(users), sum + users);
        sums.snapshots += 1;
        self.last_instant = self.last_instant.max(snapshot.to);
    }

    fn close(&mut self) -> LiveInterval {
        let Sums { all, labels, transactions, snapshots, users: (min, max, sum) } =
            std::mem::take(&mut self.sums);
        // Merged snapshots of a slow system may cover several intervals.
        while self.border <= self.last_instant {
            self.border += self.length;
        }
        let all = LiveFigures::of(&all);
        let mut named: BTreeMap<String, LiveFigures> = BTreeMap::new();
        let by_label = labels.iter().filter_map(|(id, tally)| {
            Some((self.labels.get(id).cloned()?, LiveFigures::of(tally)))
        });
        named.extend(by_label);
        // A run with a single label does not sum it separately.
        let label_names: Vec<&String> = self.labels.values().collect();
        if named.is_empty()
            && let [only] = label_names[..]
        {
            named.insert(only.clone(), all.clone());
        }
        named.extend(
            transactions
                .iter()
                .map(|(name, tally)| (name.clone(), LiveFigures::of_transactions(tally))),
        );
        named.retain(|_, figures| figures.count() > 0);
        // Half the divisor rounds to the nearest number.
        let mean = (sum + snapshots / 2).checked_div(snapshots).unwrap_or(0);
        let users = UserCounts {
            min,
            max,
            mean,
            started: self.started,
            ended: self.started.saturating_sub(self.active),
        };
        LiveInterval { unix_seconds: self.now(), all, named, users }
    }
}

impl LiveFigures {
    /// Figures of a tally.
    fn of(tally: &Tally) -> Self {
        let unfinished_count = tally.failed_by(Failure::Dropped) + tally.failed_by(Failure::Cut);
        let hits = tally.completed + tally.failed() + tally.failed_by(Failure::Cut);
        let mut ko_times = tally.not_good.clone();
        tally.failure_times.iter().for_each(|(_, times)| ko_times.merge(times));
        Self {
            ok: tally.good,
            // Dropped and cut requests have no reply, but are errors of the report.
            ko: tally.completed + tally.failed() + unfinished_count - tally.good,
            ok_times: tally.response_good(),
            ko_times,
            traffic: Some(Traffic { hits, sent: tally.bytes_sent, received: tally.bytes_received }),
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

    /// Number of ended requests or transactions.
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

/// Failures by code and text: kinds of failure, and bad statuses.
///
/// An unexpected status may also be a failed check, which the rows of statuses contain then.
fn errors(tally: &Tally) -> Vec<(String, String, u64)> {
    let unexpected = tally.unexpected.sorted();
    let unexpected_count: u64 = unexpected.iter().map(|(_, count)| count).sum();
    let others = (tally.completed - tally.good).saturating_sub(unexpected_count);
    let kinds = Failure::all().map(Failure::row).map(|row| {
        let failure_count = tally.failed_by(row.failure);
        let count =
            if row.failure == Failure::Check { failure_count.min(others) } else { failure_count };
        (row.key.to_owned(), row.name.to_string(), count)
    });
    let statuses =
        unexpected.into_iter().map(|(status, count)| (status.to_string(), reason(status), count));
    kinds.chain(statuses).filter(|(_, _, count)| *count > 0).collect()
}

/// Standard text of a status of HTTP; empty if it has none.
fn reason(status: u16) -> String {
    let status = http::StatusCode::from_u16(status).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;

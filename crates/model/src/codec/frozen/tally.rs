//! Tallies of log versions 3 and 4.

use super::{FrozenFailure, FrozenHistogram, FrozenMalformed};
use crate::tally::Phases;
use crate::{Failure, Tally};
use serde::Deserialize;

/// How many kinds of failure there were.
const FAILURES: usize = 17;

#[derive(Deserialize)]
pub struct TallyV3 {
    planned: u64,
    begun: u64,
    completed: u64,
    good: u64,
    failures: [u64; FAILURES],
    statuses: Vec<(u16, u64)>,
    bytes_sent: u64,
    bytes_received: u64,
    redirects: u64,
    retries: u64,
    response: FrozenHistogram,
    not_good: FrozenHistogram,
    timed_out: FrozenHistogram,
    service: FrozenHistogram,
    queue_wait: FrozenHistogram,
    lag: FrozenHistogram,
    late: FrozenHistogram,
    late_without_lag: FrozenHistogram,
    failure_times: Vec<(FrozenFailure, FrozenHistogram)>,
    phases: FrozenPhases,
}

#[derive(Deserialize)]
pub struct TallyV4 {
    before: TallyV3,
    opening_lag: FrozenHistogram,
    read_lag: FrozenHistogram,
    malformed: Vec<(FrozenMalformed, u64)>,
}

#[derive(Deserialize)]
struct FrozenPhases {
    resolve: FrozenHistogram,
    connect: FrozenHistogram,
    tls: FrozenHistogram,
    connection: FrozenHistogram,
    first_byte: FrozenHistogram,
    receive: FrozenHistogram,
}

impl From<TallyV3> for Tally {
    fn from(t: TallyV3) -> Self {
        Self {
            planned: t.planned,
            begun: t.begun,
            completed: t.completed,
            good: t.good,
            failures: failures(&t.failures),
            statuses: t.statuses.into_iter().collect(),
            bytes_sent: t.bytes_sent,
            bytes_received: t.bytes_received,
            redirects: t.redirects,
            retries: t.retries,
            response: t.response.0,
            not_good: t.not_good.0,
            timed_out: t.timed_out.0,
            service: t.service.0,
            queue_wait: t.queue_wait.0,
            lag: t.lag.0,
            late: t.late.0,
            late_without_lag: t.late_without_lag.0,
            failure_times: t.failure_times.into_iter().map(|(failure, times)| (failure.0, times.0)).collect(),
            phases: t.phases.into(),
            ..Self::default()
        }
    }
}

fn failures(counts: &[u64; FAILURES]) -> [u64; Failure::COUNT] {
    let mut failures = [0; Failure::COUNT];
    for (failure, count) in FrozenFailure::ALL.iter().zip(counts) {
        failures[*failure as usize] = *count;
    }
    failures
}

impl From<TallyV4> for Tally {
    fn from(t: TallyV4) -> Self {
        Self {
            opening_lag: t.opening_lag.0,
            read_lag: t.read_lag.0,
            malformed: t.malformed.into_iter().map(|(cause, count)| (cause.0, count)).collect(),
            ..t.before.into()
        }
    }
}

impl From<FrozenPhases> for Phases {
    fn from(p: FrozenPhases) -> Self {
        Self {
            resolve: p.resolve.0,
            connect: p.connect.0,
            tls: p.tls.0,
            connection: p.connection.0,
            first_byte: p.first_byte.0,
            receive: p.receive.0,
        }
    }
}

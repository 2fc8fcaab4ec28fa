//! Rules for a server's fixed supplies: workers, connections, entries of its accept queue.

use super::RuleResult;
use super::facts::{BottleneckFigure, HALF, ServerFacts, TENTH, mean};
use crate::facts::may_have_overflowed;
use crate::texts::message;
use brunt_model::analysis::Culprit;
use brunt_model::finding::ThresholdSide;
use brunt_model::numbers::{count, percent};
use brunt_model::reading_names::{self as name, server};
use brunt_model::{Text, Tick};
use std::collections::BTreeMap;

/// Share of the connections that nginx may have: some are always about to be opened or closed.
const CONNECTIONS: f64 = 0.98;
/// Minimum number of rejected connections: fewer may be a momentary coincidence.
const TURNED_AWAY: f64 = 10.0;

/// Rule: all workers of a pool are busy.
pub fn workers(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources_with(server::WORKERS_BUSY) {
        let pool = Pool::new(facts, source);
        let figure = BottleneckFigure {
            culprit: Culprit::Workers,
            source,
            name: message!("reading.workers"),
            values: pool.shares(),
            threshold: 1.0,
            side: ThresholdSide::AtLeast,
            share: HALF,
        };
        if result.compare(&figure).is_some() {
            result.limits.push(pool.sentence(source));
        }
    }
    result
}

/// Figures of a worker pool, each by the time of its reading.
struct Pool {
    busy: BTreeMap<Tick, f64>,
    idle: BTreeMap<Tick, f64>,
    present: BTreeMap<Tick, f64>,
    limit: BTreeMap<Tick, f64>,
    queue: BTreeMap<Tick, f64>,
}

impl Pool {
    fn new(facts: &ServerFacts, source: &str) -> Self {
        Self {
            busy: facts.states_at(source, server::WORKERS_BUSY),
            idle: facts.states_at(source, server::WORKERS_IDLE),
            present: facts.states_at(source, server::WORKERS),
            limit: facts.states_at(source, server::WORKERS_LIMIT),
            queue: facts.states_at(source, server::QUEUE),
        }
    }

    /// Busy share of the workers at each reading. If all present workers are busy, it is 1 only if
    /// requests queue or the pool did not grow.
    fn shares(&self) -> Vec<f64> {
        let mut previous = None;
        let mut shares = Vec::new();
        for (tick, busy) in &self.busy {
            let present = self.present.get(tick).copied();
            let has_stopped_growing = present.is_some() && present == previous;
            previous = present;
            let exhausted = self.idle.get(tick) == Some(&0.0)
                && (self.queue.get(tick).is_some_and(|q| *q > 0.0) || has_stopped_growing);
            let most = self.limit.get(tick).copied().or(present).unwrap_or(f64::INFINITY);
            // Without a known limit, the pool may still grow.
            let share = if self.limit.contains_key(tick) {
                busy / most.max(1.0)
            } else {
                (busy / most.max(1.0)).min(0.99)
            };
            shares.push(if exhausted { 1.0 } else { share.min(1.0) });
        }
        shares
    }

    /// `all 20 php-fpm children busy, 35 requests queued`.
    fn sentence(&self, source: &str) -> Text {
        let most = self.busy.values().copied().fold(0.0, f64::max);
        let queue: Vec<f64> = self.queue.values().copied().collect();
        let busy = count(most as u64);
        let workers = workers_of(source);
        match mean(&queue).round() as u64 {
            0 => message!("bottleneck.workers-busy", busy, workers),
            waiting => {
                let queued = message!("requests", count = waiting);
                message!("bottleneck.workers-and-queue", busy, workers, queued)
            }
        }
    }
}

/// Name of the workers of a source.
fn workers_of(source: &str) -> Text {
    match source.split(':').next().unwrap_or(source) {
        "php-fpm" => message!("bottleneck.workers-php"),
        "apache" => message!("bottleneck.workers-apache"),
        "tomcat" => message!("bottleneck.workers-tomcat"),
        "haproxy" => message!("bottleneck.workers-haproxy"),
        _ => message!("bottleneck.workers-other"),
    }
}

/// Rule: the server's open connections are at its own limit.
pub fn connections(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources_with(server::CONNECTIONS_LIMIT) {
        let limit = mean(&facts.states(source, server::CONNECTIONS_LIMIT));
        let open = facts.states(source, server::CONNECTIONS);
        let figure = BottleneckFigure {
            culprit: Culprit::Connections,
            source,
            name: message!("reading.connections"),
            values: open.iter().map(|open| open / limit.max(1.0)).collect(),
            threshold: CONNECTIONS,
            side: ThresholdSide::AtLeast,
            share: HALF,
        };
        if let Some(level) = result.compare(&figure) {
            let limit = count(limit as u64);
            let open =
                message!("bottleneck.connections-open", source, share = percent(level), limit);
            result.limits.push(open);
        }
    }
    for source in facts.sources_with(server::REFUSED) {
        if let Some(refused) =
            counter_growth(&mut result, facts, Culprit::Connections, source, server::REFUSED)
        {
            let count = count(refused as u64);
            result.limits.push(message!("bottleneck.connections-closed", source, count));
        }
    }
    result
}

/// Rule: connections arrive faster than the server accepts them.
pub fn accept_queue(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources_with(server::ACCEPT_QUEUE) {
        let limits = facts.states(source, server::ACCEPT_QUEUE_LIMIT);
        let waiting = facts.states(source, server::ACCEPT_QUEUE);
        let figure = BottleneckFigure {
            culprit: Culprit::AcceptQueue,
            source,
            name: message!("reading.accept-queue"),
            values: waiting
                .iter()
                .zip(&limits)
                .map(|(waiting, limit)| waiting / limit.max(1.0))
                .collect(),
            threshold: 1.0,
            side: ThresholdSide::AtLeast,
            share: TENTH,
        };
        if result.compare(&figure).is_some() {
            let places = count(mean(&limits) as u64);
            result.limits.push(message!("bottleneck.accept-queue-full", source, places));
        }
    }
    // The counter is of the whole machine.
    let run = facts.run();
    let backlog = run.environment.route.as_ref().and_then(|route| route.listener_backlog);
    for source in facts.sources_with(name::LISTEN_OVERFLOWS) {
        let growth = facts.growth(source, name::LISTEN_OVERFLOWS);
        if growth.is_some_and(|growth| !may_have_overflowed(run, growth, backlog)) {
            continue;
        }
        if let Some(lost) =
            counter_growth(&mut result, facts, Culprit::AcceptQueue, source, name::LISTEN_OVERFLOWS)
        {
            let count = count(lost as u64);
            result.limits.push(message!("bottleneck.accept-queue-overflow", source, count));
        }
    }
    result
}

/// Compares the growth of a counter that should not grow with its threshold.
fn counter_growth(
    result: &mut RuleResult,
    facts: &ServerFacts,
    culprit: Culprit,
    source: &str,
    name: &str,
) -> Option<f64> {
    result.compare(&BottleneckFigure {
        culprit,
        source,
        name: name.into(),
        values: facts.growth(source, name).into_iter().collect(),
        threshold: TURNED_AWAY,
        side: ThresholdSide::AtLeast,
        share: 1.0,
    })
}

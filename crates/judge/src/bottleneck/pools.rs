//! What a server has a fixed number of: workers, connections, places in its accept queue.

use super::RuleResult;
use super::facts::{Facts, Figure, HALF, TENTH, mean};
use brunt_model::Tick;
use brunt_model::analysis::Culprit;
use brunt_model::finding::Side;
use brunt_model::numbers::{count, percent};
use brunt_model::reading_names::{self as name, server};
use std::collections::BTreeMap;

/// Of the connections that nginx may have: some are always about to be opened or closed.
const CONNECTIONS: f64 = 0.98;
/// Connections that were turned away, from where on that was no accident of a moment.
const TURNED_AWAY: f64 = 10.0;

/// All workers of a pool busy.
pub fn workers(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in facts.telling(server::WORKERS_BUSY) {
        let pool = Pool::of(facts, source);
        let figure = Figure {
            culprit: Culprit::Workers,
            source,
            name: "workers, share busy".into(),
            values: pool.shares(),
            threshold: 1.0,
            side: Side::AtLeast,
            share: HALF,
        };
        if look.hold(&figure).is_some() {
            look.say(pool.sentence(source));
        }
    }
    look
}

/// The figures of a pool at each reading.
struct Pool {
    busy: BTreeMap<Tick, f64>,
    idle: BTreeMap<Tick, f64>,
    present: BTreeMap<Tick, f64>,
    limit: BTreeMap<Tick, f64>,
    queue: BTreeMap<Tick, f64>,
}

impl Pool {
    fn of(facts: &Facts, source: &str) -> Self {
        let of = |name| facts.states_at(source, name);
        Self {
            busy: of(server::WORKERS_BUSY),
            idle: of(server::WORKERS_IDLE),
            present: of(server::WORKERS),
            limit: of(server::WORKERS_LIMIT),
            queue: of(server::QUEUE),
        }
    }

    /// The share that was busy; where all that there were are, 1 only if requests queue or no more came.
    fn shares(&self) -> Vec<f64> {
        let mut before = None;
        let mut shares = Vec::new();
        for (at, busy) in &self.busy {
            let present = self.present.get(at).copied();
            let no_more = present.is_some() && present == before;
            before = present;
            let exhausted =
                self.idle.get(at) == Some(&0.0) && (self.queue.get(at).is_some_and(|q| *q > 0.0) || no_more);
            let most = self.limit.get(at).copied().or(present).unwrap_or(f64::INFINITY);
            // Without a known limit, all that there are may yet become more.
            let share =
                if self.limit.contains_key(at) { busy / most.max(1.0) } else { (busy / most.max(1.0)).min(0.99) };
            shares.push(if exhausted { 1.0 } else { share.min(1.0) });
        }
        shares
    }

    /// `all 20 php-fpm children busy, 35 requests queued`.
    fn sentence(&self, source: &str) -> String {
        let most = self.busy.values().copied().fold(0.0, f64::max);
        let queue: Vec<f64> = self.queue.values().copied().collect();
        let queued = match mean(&queue).round() {
            0.0 => String::new(),
            waiting => format!(", {} queued", brunt_model::numbers::plural(waiting as u64, "request")),
        };
        format!("all {} {} busy{queued}", count(most as u64), workers_of(source))
    }
}

/// What the workers of a source are called.
fn workers_of(source: &str) -> &str {
    match source.split(':').next().unwrap_or(source) {
        "php-fpm" => "php-fpm children",
        "apache" => "Apache workers",
        "tomcat" => "Tomcat threads",
        "haproxy" => "connections from HAProxy to its servers",
        _ => "workers",
    }
}

/// Connections at the server's own limit.
pub fn connections(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in facts.telling(server::CONNECTIONS_LIMIT) {
        let limit = mean(&facts.states(source, server::CONNECTIONS_LIMIT));
        let open = facts.states(source, server::CONNECTIONS);
        let figure = Figure {
            culprit: Culprit::Connections,
            source,
            name: "connections, share of the limit".into(),
            values: open.iter().map(|open| open / limit.max(1.0)).collect(),
            threshold: CONNECTIONS,
            side: Side::AtLeast,
            share: HALF,
        };
        if let Some(level) = look.hold(&figure) {
            look.say(format!("{source}: {} of {} connections open", percent(level), count(limit as u64)));
        }
    }
    for source in facts.telling(server::REFUSED) {
        if let Some(refused) = held_growth(&mut look, facts, (Culprit::Connections, source, server::REFUSED)) {
            look.say(format!(
                "{source} closed {} connections at once, because its table was full",
                count(refused as u64)
            ));
        }
    }
    look
}

/// Connections that came faster than they were accepted.
pub fn accept_queue(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in facts.telling(server::ACCEPT_QUEUE) {
        let limits = facts.states(source, server::ACCEPT_QUEUE_LIMIT);
        let waiting = facts.states(source, server::ACCEPT_QUEUE);
        let figure = Figure {
            culprit: Culprit::AcceptQueue,
            source,
            name: "accept queue, share filled".into(),
            values: waiting.iter().zip(&limits).map(|(waiting, limit)| waiting / limit.max(1.0)).collect(),
            threshold: 1.0,
            side: Side::AtLeast,
            share: TENTH,
        };
        if look.hold(&figure).is_some() {
            let places = count(mean(&limits) as u64);
            look.say(format!("{source}: accept queue full ({places} entries)"));
        }
    }
    for source in facts.telling(name::LISTEN_OVERFLOWS) {
        if let Some(lost) = held_growth(&mut look, facts, (Culprit::AcceptQueue, source, name::LISTEN_OVERFLOWS)) {
            look.say(format!("{source}: {} connections found the accept queue full", count(lost as u64)));
        }
    }
    look
}

/// Holds the growth of a count that should be 0.
fn held_growth(look: &mut RuleResult, facts: &Facts, (culprit, source, name): (Culprit, &str, &str)) -> Option<f64> {
    let values = facts.growth(source, name).into_iter().collect();
    let threshold = TURNED_AWAY;
    look.hold(&Figure { culprit, source, name: name.into(), values, threshold, side: Side::AtLeast, share: 1.0 })
}

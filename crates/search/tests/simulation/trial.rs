//! Trials and whole searches on simulated servers.

use super::servers::{Kind, Server};
use brunt_model::answer::{LoadSide, SearchEnd};
use brunt_model::objective::{Metric, Relation};
use brunt_model::question::{Between, ObjectiveSet, TrialTimes};
use brunt_model::{Answer, Find, LoadUnit, Objective};
use brunt_search::{Ask, Counts, Next, Part, Search, Seen, sides};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

const BLOCK: f64 = 0.1;
const COOL: f64 = 0.5;
const GRACE: f64 = 2.0;

/// A search of three minutes, as `brunt find` makes it.
pub fn find(kind: &Kind) -> Find {
    let objective = Objective { metric: Metric::Quantile(0.99), relation: Relation::Below, bound: kind.bound };
    Find {
        objectives: vec![ObjectiveSet { name: objective.to_string(), all: vec![objective] }],
        precision: 0.02,
        within: Duration::from_mins(3),
        start: 25.0,
        most: None,
        trial: TrialTimes {
            warmup: Duration::from_secs(1),
            least: Duration::from_secs(2),
            most: Duration::from_secs(20),
        },
        between: Between::Cool(Duration::from_secs_f64(COOL)),
        overload: Some(1.5),
        require: Vec::new(),
    }
}

/// What a search came to, and how long it took.
pub struct Searched {
    pub answer: Answer,
    pub seconds: f64,
}

/// A whole search of one server.
pub fn search(kind: &Kind, seed: u64) -> Searched {
    let find = find(kind);
    let search = Search::new(&find, LoadUnit::PerSecond);
    let mut server = Server::new(*kind, Pcg64Mcg::seed_from_u64(seed));
    let mut seen: Vec<Seen> = Vec::new();
    for _ in 0..60 {
        match search.next(&seen, Duration::from_secs_f64(server.now())) {
            Next::Measure(ask) => seen.push(measured(&mut server, &find, &ask)),
            Next::Done(ended) => return done(&search, &seen, ended, server.now()),
        }
    }
    panic!("{}: it does not end", kind.name);
}

fn done(search: &Search, seen: &[Seen], ended: SearchEnd, seconds: f64) -> Searched {
    Searched { answer: search.answer("simulated", seen, ended), seconds }
}

/// One trial: looked at each half second, and ended when it is decided.
pub fn measured(server: &mut Server, find: &Find, ask: &Ask) -> Seen {
    let began = server.now();
    let from = began + ask.times.warmup.as_secs_f64();
    let most = (ask.times.most.as_secs_f64() / BLOCK).round() as usize;
    let least = (ask.times.least.as_secs_f64() / BLOCK).round() as usize;
    let mut tally = Tally { from, bound: find.objectives[0].all[0].bound, blocks: Vec::new(), times: Vec::new() };
    server.load(ask.load, from, |ended| tally.count(ended));
    let (mut length, before) = (0, server.arrived());
    while length < most {
        length = (length + 5).min(most);
        server.load(ask.load, from + length as f64 * BLOCK, |ended| tally.count(ended));
        if length >= least && sides(find, &tally.counts(length)).iter().all(|side| *side != LoadSide::Undecided) {
            break;
        }
    }
    let seen = tally.seen(ask, length, began, server.arrived() - before);
    server.rest(GRACE, COOL);
    seen
}

/// What ended in each block.
struct Tally {
    from: f64,
    bound: f64,
    /// Ended, slower than the bound, the sum of their times.
    blocks: Vec<(u32, u32, f64)>,
    times: Vec<(usize, f64)>,
}

impl Tally {
    fn count(&mut self, (at, response): (f64, f64)) {
        if at < self.from {
            return;
        }
        let block = ((at - self.from) / BLOCK) as usize;
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, (0, 0, 0.0));
        }
        let counts = &mut self.blocks[block];
        *counts = (counts.0 + 1, counts.1 + u32::from(response > self.bound), counts.2 + response);
        self.times.push((block, response));
    }

    fn counts(&self, length: usize) -> Vec<Counts> {
        let block = |index: usize| {
            let (all, slow, response) = self.blocks.get(index).copied().unwrap_or_default();
            Counts {
                seconds: BLOCK,
                completed: f64::from(all),
                response,
                parts: vec![vec![Part { over: f64::from(slow), of: f64::from(all) }]],
            }
        };
        (0..length).map(block).collect()
    }

    fn seen(&self, ask: &Ask, length: usize, began: f64, arrived: u64) -> Seen {
        let blocks = self.counts(length);
        let seconds = length as f64 * BLOCK;
        let completed: f64 = blocks.iter().map(|block| block.completed).sum();
        let mut times: Vec<f64> =
            self.times.iter().filter(|(block, _)| *block < length).map(|(_, time)| *time).collect();
        times.sort_by(f64::total_cmp);
        let p99 = times.get((times.len() as f64 * 0.99) as usize).copied();
        Seen {
            load: ask.load,
            purpose: Some(ask.purpose),
            began,
            offered: arrived as f64 / seconds,
            achieved: completed / seconds,
            seconds,
            mean: (completed > 0.0).then(|| times.iter().sum::<f64>() / completed),
            p99,
            blocks,
            limited: None,
            excused: None,
        }
    }
}

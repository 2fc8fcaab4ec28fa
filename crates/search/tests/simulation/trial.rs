//! Trials and whole searches on simulated servers.

use super::servers::{Ended, Kind, Server};
use brunt_model::answer::{Estimate, LoadSide, SearchEnd};
use brunt_model::objective::{Metric, Relation};
use brunt_model::question::{Between, ObjectiveSet, TrialTimes};
use brunt_model::{Answer, Find, LoadUnit, Objective};
use brunt_search::bound::{Bound, Counted};
use brunt_search::lag::effects;
use brunt_search::{Counts, Evidence, NextStep, Part, Search, TrialRequest, TrialSummary, sides};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

const BLOCK: f64 = 0.1;
const COOL: f64 = 0.5;
const GRACE: f64 = 2.0;

/// A search, as `brunt find` makes it.
pub fn find(kind: &Kind, within: Duration) -> Find {
    let objective = Objective { metric: Metric::Quantile(0.99), relation: Relation::Below, bound: kind.bound };
    Find {
        objectives: vec![ObjectiveSet { name: objective.to_string(), all: vec![objective] }],
        precision: 0.02,
        within,
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
    let (search, seen, ended, seconds) = carried_out(kind, Duration::from_mins(3), seed);
    done(&search, &seen, ended, seconds)
}

/// What a search within some time has as the capacity, and no more of its answer.
pub fn capacity(kind: &Kind, within: Duration, seed: u64) -> Estimate {
    let (search, seen, _, _) = carried_out(kind, within, seed);
    search.capacities(&seen)[0]
}

fn carried_out(kind: &Kind, within: Duration, seed: u64) -> (Search, Vec<TrialSummary>, SearchEnd, f64) {
    let find = find(kind, within);
    let search = Search::new(&find, LoadUnit::PerSecond);
    let mut server = Server::new(*kind, Pcg64Mcg::seed_from_u64(seed));
    let mut seen: Vec<TrialSummary> = Vec::new();
    for _ in 0..60 {
        match search.next(&seen, Duration::from_secs_f64(server.now())) {
            NextStep::Measure(ask) => seen.push(measured(&mut server, &find, &ask)),
            NextStep::Done(ended) => return (search, seen, ended, server.now()),
        }
    }
    panic!("{}: it does not end", kind.name);
}

fn done(search: &Search, seen: &[TrialSummary], ended: SearchEnd, seconds: f64) -> Searched {
    Searched { answer: search.answer("simulated", seen, ended), seconds }
}

/// One trial: looked at each half second, and ended when it is decided.
pub fn measured(server: &mut Server, find: &Find, ask: &TrialRequest) -> TrialSummary {
    let began = server.now();
    let from = began + ask.times.warmup.as_secs_f64();
    let most = (ask.times.most.as_secs_f64() / BLOCK).round() as usize;
    let least = (ask.times.least.as_secs_f64() / BLOCK).round() as usize;
    let mut tally = Tally { from, objectives: bounds(find), blocks: Vec::new(), times: Vec::new() };
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

/// The objectives as bounds.
fn bounds(find: &Find) -> Vec<Vec<Bound>> {
    find.objectives.iter().map(|set| set.all.iter().map(Bound::of).collect()).collect()
}

/// What ended in each block.
struct Tally {
    from: f64,
    objectives: Vec<Vec<Bound>>,
    /// Ended, the sum of their times, the greatest lag.
    blocks: Vec<(u32, f64, f64)>,
    times: Vec<(usize, f64, f64)>,
}

impl Tally {
    fn count(&mut self, Ended { at, response, lag }: Ended) {
        if at < self.from {
            return;
        }
        let block = ((at - self.from) / BLOCK) as usize;
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, (0, 0.0, 0.0));
        }
        let counts = &mut self.blocks[block];
        *counts = (counts.0 + 1, counts.1 + response, counts.2.max(lag));
        self.times.push((block, response, lag));
    }

    fn lags(&self, length: usize) -> Vec<f64> {
        (0..length).map(|index| self.blocks.get(index).map_or(0.0, |block| block.2)).collect()
    }

    fn counts(&self, length: usize) -> Vec<Counts> {
        let Counted::Slower(bound) = self.objectives[0][0].counted else { panic!("a percentile") };
        let effects = effects(&self.lags(length), BLOCK, &self.objectives);
        let mut slow = vec![(0_u32, 0_u32); length];
        for (block, response, _) in self.times.iter().filter(|(block, ..)| *block < length) {
            slow[*block].0 += u32::from(*response > bound);
            slow[*block].1 += u32::from(*response > bound + effects[*block].seconds);
        }
        let block = |index: usize| {
            let (all, response, _) = self.blocks.get(index).copied().unwrap_or_default();
            let (over, least, of) = (f64::from(slow[index].0), f64::from(slow[index].1), f64::from(all));
            Counts {
                seconds: BLOCK,
                completed: of,
                response,
                parts: vec![vec![Part { over, least, of }]],
                is_contested: effects[index].is_contested,
            }
        };
        (0..length).map(block).collect()
    }

    fn seen(&self, ask: &TrialRequest, length: usize, began: f64, arrived: u64) -> TrialSummary {
        let blocks = self.counts(length);
        let seconds = length as f64 * BLOCK;
        let completed: f64 = blocks.iter().map(|block| block.completed).sum();
        let within = || self.times.iter().filter(|(block, ..)| *block < length);
        let p99 = |time: fn(&(usize, f64, f64)) -> f64| {
            let mut times: Vec<f64> = within().map(time).collect();
            times.sort_by(f64::total_cmp);
            times.get((times.len() as f64 * 0.99) as usize).copied()
        };
        let with_lag = p99(|time| time.1);
        let lagged = with_lag.zip(p99(|time| time.1 - time.2)).map_or(0.0, |(with, without)| 1.0 - without / with);
        TrialSummary {
            load: ask.load,
            purpose: Some(ask.purpose),
            began,
            offered: arrived as f64 / seconds,
            achieved: completed / seconds,
            seconds,
            mean: (completed > 0.0).then(|| within().map(|time| time.1).sum::<f64>() / completed),
            p99: with_lag,
            blocks,
            // As the verdict has it: p99 would be a tenth lower without lag.
            limited: (lagged > 0.1).then(|| "lag".to_owned()),
            evidence: Evidence::Both,
            late: self.lags(length).last().copied().unwrap_or(0.0),
        }
    }
}

//! Trials and whole searches on simulated servers.

use super::servers::{Ended, Kind, Server, Service};
use brunt_model::answer::{Estimate, SearchEnd};
use brunt_model::objective::{Metric, Relation};
use brunt_model::question::{ObjectiveSet, TrialGap, TrialTimes};
use brunt_model::{CapacityResult, CapacitySearch, LoadUnit, Objective};
use brunt_search::bound::{CountedRatio, ObjectiveFigure};
use brunt_search::lag::effects;
use brunt_search::{
    BoundCount, EvidenceFor, NextStep, Search, TrialBlock, TrialRequest, TrialSummary,
};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

const BLOCK: f64 = 0.1;
const COOL: f64 = 0.5;
const GRACE: f64 = 2.0;

/// A search, as `brunt find` makes it.
pub fn find(kind: &Kind, within: Duration) -> CapacitySearch {
    let below = |metric, bound| Objective { metric, step: None, relation: Relation::Below, bound };
    let mut all = vec![below(Metric::Quantile(0.99), kind.bound)];
    if let Service::RateLimit { .. }
    | Service::ErrorBursts { .. }
    | Service::ConnectionLimit { .. } = kind.service
    {
        all.push(below(Metric::Errors, 0.01));
    }
    CapacitySearch {
        objectives: vec![ObjectiveSet { name: "simulated".to_owned(), all }],
        precision: 0.02,
        within,
        start: 25.0,
        most: None,
        trial: TrialTimes { warmup: Duration::from_secs(1), measured: Duration::from_secs(2) },
        between: TrialGap::Cool(Duration::from_secs_f64(COOL)),
        overload: Some(1.5),
        require: Vec::new(),
    }
}

/// What a search came to, and how long it took.
pub struct Searched {
    pub answer: CapacityResult,
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

fn carried_out(
    kind: &Kind,
    within: Duration,
    seed: u64,
) -> (Search, Vec<TrialSummary>, SearchEnd, f64) {
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

/// Warm-up after which the rule for steady response times looks for the first time.
const FIRST_LOOK: f64 = 5.0;

/// Share of a trial with other processes from which it is disturbed.
const DISTURBED: f64 = 0.05;

/// One trial.
pub fn measured(server: &mut Server, find: &CapacitySearch, ask: &TrialRequest) -> TrialSummary {
    let began = server.now();
    let warmup = ask.times.warmup.as_secs_f64();
    // The least favorable case: the first look finds the times steady.
    let from = began + if ask.until_steady { warmup.min(FIRST_LOOK) } else { warmup };
    let length = (ask.times.measured.as_secs_f64() / BLOCK).round() as usize;
    let mut tally = Tally { from, objectives: bounds(find), ..Tally::default() };
    server.load(ask.load, from, |ended| tally.count(ended));
    let before = server.arrived();
    server.load(ask.load, from + length as f64 * BLOCK, |ended| tally.count(ended));
    tally.unfinished = server.unfinished().collect();
    let is_disturbed = server.contention(from, server.now()) > DISTURBED;
    let mut seen = tally.seen(ask, length, began, server.arrived() - before);
    if is_disturbed {
        seen.evidence = EvidenceFor::LowerEnd;
        seen.limited = Some("other processes".into());
    }
    server.rest(GRACE, COOL);
    seen
}

/// The objectives as bounds.
fn bounds(find: &CapacitySearch) -> Vec<Vec<ObjectiveFigure>> {
    find.objectives
        .iter()
        .map(|set| set.all.iter().map(ObjectiveFigure::from_objective).collect())
        .collect()
}

/// What ended in each block.
#[derive(Default)]
struct Tally {
    from: f64,
    objectives: Vec<Vec<ObjectiveFigure>>,
    /// Ended, the sum of their times, the greatest lag.
    blocks: Vec<(u32, f64, f64)>,
    replies: Vec<Reply>,
    /// When those were due that the server has not answered.
    unfinished: Vec<f64>,
}

/// A reply, and the block in which it came.
struct Reply {
    block: usize,
    at: f64,
    response: f64,
    lag: f64,
    is_error: bool,
}

impl Tally {
    fn count(&mut self, ended: Ended) {
        let Ended { at, response, lag, is_error } = ended;
        if at < self.from {
            return;
        }
        let block = ((at - self.from) / BLOCK) as usize;
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, (0, 0.0, 0.0));
        }
        let counts = &mut self.blocks[block];
        *counts = (counts.0 + 1, counts.1 + response, counts.2.max(lag));
        self.replies.push(Reply { block, at, response, lag, is_error });
    }

    fn lags(&self, length: usize) -> Vec<f64> {
        (0..length).map(|index| self.blocks.get(index).map_or(0.0, |block| block.2)).collect()
    }

    fn counts(&self, length: usize) -> Vec<TrialBlock> {
        let effects = effects(&self.lags(length), BLOCK, &self.objectives);
        let block = |index: usize| {
            let (all, response, _) = self.blocks.get(index).copied().unwrap_or_default();
            TrialBlock {
                seconds: BLOCK,
                completed: f64::from(all),
                response,
                parts: vec![vec![
                    BoundCount { total: f64::from(all), ..BoundCount::default() };
                    self.objectives[0].len()
                ]],
                is_contested: effects[index].is_contested,
                lag: effects[index].seconds,
            }
        };
        let mut blocks: Vec<TrialBlock> = (0..length).map(block).collect();
        let errors_left = self.errors_left(length);
        for reply in self.replies.iter().filter(|reply| reply.block < length) {
            let left = if reply.is_error { errors_left } else { 1.0 };
            for (part, bound) in blocks[reply.block].parts[0].iter_mut().zip(&self.objectives[0]) {
                let lag = effects[reply.block].seconds;
                let is_over = |lag: f64| match bound.counted {
                    CountedRatio::Slower(bound) => reply.response > bound + lag,
                    _ => reply.is_error,
                };
                part.over += f64::from(u8::from(is_over(0.0)));
                part.without_lag += left * f64::from(u8::from(is_over(lag)));
            }
        }
        if let Some(last) = blocks.iter().rposition(|block| !block.is_contested) {
            self.count_unfinished(&mut blocks[last], length, effects[last].seconds);
        }
        blocks
    }

    /// The share of errors that requests cannot have which were sent later than the next were due.
    fn errors_left(&self, length: usize) -> f64 {
        let replies = || self.replies.iter().filter(|reply| reply.block < length);
        let gap = length as f64 * BLOCK / replies().count().max(1) as f64;
        let errors = replies().filter(|reply| reply.is_error).count();
        let late = replies().filter(|reply| reply.lag > gap).count();
        errors.saturating_sub(late) as f64 / errors.max(1) as f64
    }

    /// Requests in flight at the end of the trial that were due longer ago than the bound.
    fn count_unfinished(&self, last: &mut TrialBlock, length: usize, lag: f64) {
        let end = self.from + length as f64 * BLOCK;
        let late = self
            .replies
            .iter()
            .filter(|reply| reply.block >= length)
            .map(|reply| reply.at - reply.response);
        let ages: Vec<f64> =
            late.chain(self.unfinished.iter().copied()).map(|due| end - due).collect();
        for (part, bound) in last.parts[0].iter_mut().zip(&self.objectives[0]) {
            if let CountedRatio::Slower(bound) = bound.counted {
                let older = |than: f64| ages.iter().filter(|age| **age > than).count() as f64;
                part.over += older(bound);
                part.without_lag += older(bound + lag);
                part.total += older(bound);
            }
        }
    }

    fn seen(&self, ask: &TrialRequest, length: usize, began: f64, arrived: u64) -> TrialSummary {
        let blocks = self.counts(length);
        let seconds = length as f64 * BLOCK;
        let completed: f64 = blocks.iter().map(|block| block.completed).sum();
        let within = || self.replies.iter().filter(|reply| reply.block < length);
        let p99 = |time: fn(&Reply) -> f64| {
            let mut times: Vec<f64> = within().map(time).collect();
            times.sort_by(f64::total_cmp);
            times.get((times.len() as f64 * 0.99) as usize).copied()
        };
        let with_lag = p99(|reply| reply.response);
        let lagged = with_lag
            .zip(p99(|reply| reply.response - reply.lag))
            .map_or(0.0, |(with, without)| 1.0 - without / with);
        TrialSummary {
            load: ask.load,
            purpose: Some(ask.purpose),
            began,
            offered: arrived as f64 / seconds,
            sent: arrived as f64 / seconds,
            achieved: completed / seconds,
            seconds,
            mean: (completed > 0.0)
                .then(|| within().map(|reply| reply.response).sum::<f64>() / completed),
            p99: with_lag,
            blocks,
            // As the verdict has it: p99 would be a tenth lower without lag.
            limited: (lagged > 0.1).then(|| "lag".into()),
            evidence: EvidenceFor::Both,
            final_lag: self.lags(length).last().copied().unwrap_or(0.0),
        }
    }
}

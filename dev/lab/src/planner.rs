//! Plans the reply to each request: its content, and the instant at which it leaves.
//!
//! This module draws service times and failures, runs the queue and the stall, and
//! records everything in the ledger. It does no I/O and reads no clock: instants are
//! ticks that the caller passes.

use crate::args::LabOptions;
use crate::fail::{EffectOnTruth, FailKind, FailureSampler};
use crate::freeze::Freeze;
use crate::ledger::Ledger;
use crate::request::{ReplyRoute, RequestedReply};
use crate::service::ServiceTimeSampler;
use crate::truth::{Model, ServiceQueue, Stall};
use crate::units::MILLISECOND;

/// Decision about a request.
#[derive(Debug)]
pub struct ReplyPlan {
    /// Tick at which the reply leaves.
    pub due: u64,
    /// Request that is answered.
    pub request: RequestedReply,
    /// Failure to produce, if any.
    pub failure: Option<FailKind>,
    /// Index of its record, if it has one.
    pub ticket: Option<u32>,
}

/// Decides when and how each request is answered.
#[derive(Debug)]
pub struct Planner {
    /// Record of all events.
    pub ledger: Ledger,
    sampler: ServiceTimeSampler,
    failures: FailureSampler,
    queue: ServiceQueue,
    workers: usize,
    stall: Option<Stall>,
    recorded: bool,
    origin: Option<u64>,
    /// Periods in which the process was stopped, in ticks. They are known at the end.
    pub freezes: Vec<Freeze>,
}

impl Planner {
    /// Creates a planner for these options.
    pub fn new(options: &LabOptions) -> Result<Self, String> {
        Ok(Self {
            ledger: Ledger::new(options.fail.len(), options.max_record),
            sampler: ServiceTimeSampler::new(options.service.distribution.clone(), options.seed),
            failures: FailureSampler::new(&options.fail, options.seed)?,
            queue: ServiceQueue::new(options.workers),
            workers: options.workers,
            stall: options.stall,
            recorded: options.is_recorded(),
            origin: None,
            freezes: Vec::new(),
        })
    }

    /// Plans the reply to a request that arrived at tick `arrival`. Must be called
    /// in order of arrival.
    pub fn admit(&mut self, arrival: u64, request: RequestedReply) -> ReplyPlan {
        // The periods of the stall count from the first request.
        self.origin.get_or_insert(arrival);
        self.ledger.record_arrival(arrival);
        let failure = self.failures.draw().map(|(rule, kind)| {
            self.ledger.failed[rule] += 1;
            kind
        });
        let effect = failure.map_or(EffectOnTruth::Answered, FailKind::effect);
        // A service time of zero does not affect other requests in the queue. The recursion over
        // the record may therefore include requests that are not served.
        let service = if effect == EffectOnTruth::Unserved {
            0
        } else {
            self.sampler.draw() + delay(&request)
        };
        let departure = if effect == EffectOnTruth::Unserved {
            arrival
        } else {
            self.queue.depart(arrival, service)
        };
        let ticket =
            self.recorded.then(|| self.ledger.visits.enter(arrival, service, effect)).flatten();
        ReplyPlan { due: self.hold(departure), request, failure, ticket }
    }

    /// Returns the model that determines the sojourn times, for computing them again.
    pub fn model(&self) -> Model {
        Model {
            workers: self.workers,
            stall: self.stall,
            origin: self.origin.unwrap_or(0),
            freezes: self.freezes.clone(),
            tails: self.ledger.visits.tails.clone(),
        }
    }

    fn hold(&self, instant: u64) -> u64 {
        self.stall.map_or(instant, |stall| stall.release(self.origin.unwrap_or(0), instant))
    }
}

fn delay(request: &RequestedReply) -> u64 {
    if let ReplyRoute::Delay(delay) = request.route { delay * MILLISECOND } else { 0 }
}

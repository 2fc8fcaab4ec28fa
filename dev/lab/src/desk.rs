//! The desk: takes each request in, and decides when it leaves and how.
//!
//! Draws service times and failures, runs the queue and the stall, and enters everything in the ledger. No I/O, no
//! clock: instants are ticks that it is told.

use crate::args::Options;
use crate::fail::{Effect, FailKind, Fate};
use crate::freeze::Freeze;
use crate::ledger::Ledger;
use crate::request::{Request, Route};
use crate::service::Sampler;
use crate::truth::{Model, Queue, Stall};
use crate::units::MILLISECOND;

/// What was decided about a request.
#[derive(Debug)]
pub struct Plan {
    /// The tick at which the reply leaves.
    pub due: u64,
    /// What was asked.
    pub request: Request,
    /// How it is failed, if it is.
    pub failing: Option<FailKind>,
    /// Its record, if it has one.
    pub ticket: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub struct Desk {
    /// What has happened.
    pub ledger: Ledger,
    sampler: Sampler,
    fate: Fate,
    queue: Queue,
    workers: usize,
    stall: Option<Stall>,
    recorded: bool,
    origin: Option<u64>,
    /// Times when the whole server was stopped, in ticks; told at the end.
    pub freezes: Vec<Freeze>,
}

impl Desk {
    /// A desk that works by these options.
    ///
    /// # Errors
    ///
    /// Which option makes no sense.
    pub fn new(options: &Options) -> Result<Self, String> {
        Ok(Self {
            ledger: Ledger::new(options.fail.len(), options.max_record),
            sampler: Sampler::new(options.service.law.clone(), options.seed),
            fate: Fate::new(&options.fail, options.seed)?,
            queue: Queue::new(options.workers),
            workers: options.workers,
            stall: options.stall,
            recorded: options.is_recorded(),
            origin: None,
            freezes: Vec::new(),
        })
    }

    /// Takes in a request that arrived at tick `arrival`. Call in order of arrival.
    pub fn admit(&mut self, arrival: u64, request: Request) -> Plan {
        self.origin.get_or_insert(arrival);
        self.ledger.arrived(arrival);
        let failing = self.fate.draw().map(|(rule, kind)| {
            self.ledger.failed[rule] += 1;
            kind
        });
        let effect = failing.map_or(Effect::Answered, FailKind::effect);
        // A service of no time changes nothing for anybody else in the queue, so the recursion over the record may
        // include those who are not served.
        let service = if effect == Effect::Unserved { 0 } else { self.sampler.draw() + delay(&request) };
        let departure = if effect == Effect::Unserved { arrival } else { self.queue.depart(arrival, service) };
        let ticket = self.recorded.then(|| self.ledger.visits.enter(arrival, service, effect)).flatten();
        Plan { due: self.hold(departure), request, failing, ticket }
    }

    /// What decides the sojourn times, for computing them anew.
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

fn delay(request: &Request) -> u64 {
    if let Route::Delay(delay) = request.route { delay * MILLISECOND } else { 0 }
}

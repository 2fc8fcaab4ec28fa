//! Virtual users that run a script.

use crate::archive::Archive;
use crate::duration::{self, in_milliseconds};
use crate::exchange::{Hop, ReplyParts, RequestSpec, Timings};
use crate::facts::ScenarioFacts;
use crate::host::{Host, Sources};
use crate::link::Link;
use crate::machine::{Machine, Thrown};
use crate::registry::{Registry, id};
use crate::thresholds::Selector;
use crate::user_side::UserSide;
use brunt_engine::{RequestAttempt, UserStep, UserTurn, UserVerdict, Users, VirtualUser};
use brunt_model::metric::Metrics;
use brunt_model::reply_policy::RedirectRules;
use brunt_model::scenario::{ProgramKind, UserProgram};
use brunt_model::sync::IgnorePoison;
use brunt_model::{Outcome, Sample, SampleRecord};
use brunt_script::driver::{DriverSetup, ProgramRow, UserDriver};
use brunt_wire::request::RequestParts;
use brunt_wire::{Prepared, Reply, redirect};
use generator::{Generator, Gn};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Scripts of k6 as programs of users.
pub const PROGRAM: ProgramRow =
    ProgramRow { kind: ProgramKind::K6, read: |program| Ok(Arc::new(Driver::new(program)?)) };

/// Size of a user's stack, in words of 8 bytes. Only its used pages take memory.
const STACK_WORDS: usize = 32 << 10;
/// Limit of the JavaScript engine on its part of the stack, in bytes. Native functions need the rest.
const STACK_OF_SCRIPT: usize = 160 << 10;

/// The source of a [`UserProgram`]: a function of a script, and what its users share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The modules and files of the script.
    pub archive: Archive,
    /// Name of the exported function.
    pub function: String,
    /// Argument of the function: what `setup` has returned, as JSON; empty: nothing.
    pub data: String,
    /// Variables of the environment.
    pub env: Vec<(String, String)>,
    /// Metrics, and parts of them, that thresholds ask for.
    pub selectors: Vec<String>,
    /// Minimum time of an iteration, in milliseconds.
    pub least_iteration: u64,
    /// Facts about the scenario.
    pub scenario: ScenarioFacts,
}

impl Program {
    /// Makes the program of a plan.
    pub fn to_user_program(&self) -> UserProgram {
        let source = serde_json::to_string(self).unwrap_or_default();
        UserProgram { kind: ProgramKind::K6, source }
    }
}

/// The users of a scenario.
#[derive(Debug)]
struct Driver {
    program: Program,
    archive: Arc<Archive>,
    env: Arc<Vec<(String, String)>>,
    selectors: Vec<Selector>,
    facts: Arc<ScenarioFacts>,
    /// The value of `setup` or `teardown`, as JSON.
    returned: Mutex<Option<String>>,
}

impl Driver {
    fn new(program: &UserProgram) -> Result<Self, String> {
        let mut program: Program = serde_json::from_str(&program.source)
            .map_err(|error| format!("the script in the plan is damaged: {error}"))?;
        let selectors = program.selectors.iter().map(|text| Selector::parse(text));
        Ok(Self {
            selectors: selectors.collect::<Result<_, _>>()?,
            archive: Arc::new(std::mem::take(&mut program.archive)),
            env: Arc::new(std::mem::take(&mut program.env)),
            facts: Arc::new(std::mem::take(&mut program.scenario)),
            program,
            returned: Mutex::default(),
        })
    }
}

impl UserDriver for Driver {
    fn users(self: Arc<Self>, of: DriverSetup) -> Box<dyn Users> {
        // Not `Send`: the users of a worker stay on its thread.
        let registry = Rc::new(Registry::new(self.selectors.clone()));
        Box::new(WorkerUsers { driver: self, of, registry })
    }

    fn returned(&self) -> Option<String> {
        self.returned.lock().ignore_poison().clone()
    }
}

/// The users of a worker.
struct WorkerUsers {
    driver: Arc<Driver>,
    of: DriverSetup,
    registry: Rc<Registry>,
}

impl Users for WorkerUsers {
    fn user(&self, number: u64) -> Box<dyn VirtualUser> {
        let link = Rc::new(Link::default());
        let user = UserSide::new(
            Rc::clone(&link),
            Rc::clone(&self.of.run_state),
            Rc::clone(&self.of.encoder),
            Rc::clone(&self.of.labels),
            Arc::clone(&self.driver.facts),
        );
        let host = Rc::new(Host {
            sources: Sources::Archive(Arc::clone(&self.driver.archive)),
            registry: Rc::clone(&self.registry),
            env: Arc::clone(&self.driver.env),
            is_init: Cell::new(true),
            user: Some(user),
        });
        let script = Script {
            driver: Arc::clone(&self.driver),
            host: Rc::clone(&host),
            link: Rc::clone(&link),
            number: number + 1,
        };
        // The closure must be `Send`, so it gets the script as its first parameter.
        let mut stack = Gn::<Script>::new_opt(STACK_WORDS, run_on_stack);
        // `generator` recognizes a coroutine only by its local data, even if nothing reads them.
        stack.set_local_data(std::ptr::dangling_mut());
        stack.set_para(script);
        // The init code runs before the load begins.
        self.of.run_state.begin_step();
        stack.resume();
        self.of.run_state.end_step();
        Box::new(ScriptUser { stack, host, link })
    }

    fn first(&self) -> Option<Rc<Prepared>> {
        None
    }

    fn take_metrics(&self) -> Metrics {
        self.registry.take()
    }
}

/// A script on the stack of its user.
struct Script {
    driver: Arc<Driver>,
    host: Rc<Host>,
    link: Rc<Link>,
    number: u64,
}

fn run_on_stack() {
    if let Some(script) = generator::co_get_yield::<Script>() {
        script.run();
    }
}

impl Script {
    /// Runs iterations until the run is over.
    fn run(&self) {
        let Some(user) = &self.host.user else { return };
        let machine = Machine::new(&self.host, &self.driver.archive.entry, STACK_OF_SCRIPT);
        let machine = match machine {
            Ok(machine) => machine,
            Err(Thrown(why)) => {
                // The script was checked before the load, so this is rare: a file has changed, or memory is short.
                self.host.log("error", &why);
                let _ = self.link.suspend(UserStep::EndRun);
                return;
            }
        };
        // In the init code, `__VU` is 0.
        user.number.set(self.number);
        user.keep_jars();
        if self.link.wait().is_err() {
            return;
        }
        for iteration in 0.. {
            user.iteration.set(iteration);
            self.link.has_acted.set(false);
            self.perform(&machine, user);
            if self.link.is_over() {
                return;
            }
            // The engine counts an iteration without any step as a failure.
            if !self.link.has_acted.get() && self.link.suspend(UserStep::Sample).is_err() {
                return;
            }
            if self.link.suspend(UserStep::Done).is_err() {
                return;
            }
        }
    }

    /// Calls the function of the scenario once, and records the iteration.
    fn perform(&self, machine: &Machine, user: &UserSide) {
        let Program { function, data, least_iteration, .. } = &self.driver.program;
        // The functions before and after the load are no iterations, and only their values are used.
        let is_iteration = user.facts.group.is_empty();
        let start = user.run_state.now();
        let sleep = &|milliseconds| self.sleep(milliseconds);
        let result = if is_iteration {
            machine.call(function, &[data], sleep).map(|()| None)
        } else {
            machine.json_of_call(function, &[data], sleep)
        };
        // What happened after the end of the run is no result of the script.
        if self.link.is_over() {
            return;
        }
        let time = in_milliseconds(user.run_state.now().nanos_since(start));
        match result {
            Ok(_) if is_iteration => {}
            Ok(value) => {
                *self.driver.returned.lock().ignore_poison() = Some(value.unwrap_or_default());
            }
            Err(Thrown(why)) => {
                self.host.registry.count_exception(&why);
                self.host.log("error", &why);
            }
        }
        if is_iteration {
            user.record(&self.host.registry, id::ITERATIONS, 1.0, &[]);
            user.record(&self.host.registry, id::ITERATION_DURATION, time, &[]);
        }
        // Groups and cookies end with the iteration, also after an exception.
        user.end_iteration();
        let rest = *least_iteration as f64 - time;
        if rest > 0.0 {
            self.sleep(rest);
        }
    }

    /// Waits for a number of milliseconds. False: the run is over.
    fn sleep(&self, milliseconds: f64) -> bool {
        let time = duration::milliseconds(milliseconds);
        self.link.suspend(UserStep::Think(time)).is_ok()
    }
}

/// A user with its script.
struct ScriptUser {
    stack: Generator<'static, Script, ()>,
    host: Rc<Host>,
    link: Rc<Link>,
}

impl VirtualUser for ScriptUser {
    fn next(&mut self, turn: UserTurn<'_>) -> UserStep {
        let Some(user) = &self.host.user else { return UserStep::Leave };
        if self.stack.is_done() {
            return UserStep::Leave;
        }
        // The number is that of the arrival, so it has no gaps among all processes.
        user.iteration_in_test.set(turn.number);
        // The watch of the worker interrupts a script that does not return.
        user.run_state.begin_step();
        self.stack.resume();
        user.run_state.end_step();
        self.link.take_step().unwrap_or(UserStep::Leave)
    }

    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        let user = self.host.user.as_ref()?;
        let fields = reply.details.as_ref()?.head.as_ref().map(|(_, fields)| &fields[..]);
        let address = Rc::clone(&from.parts()?.url);
        self.link.with(from, |request| {
            // A redirect of a login often sets the session.
            user.take_cookies(request.spec.jar, &address, fields.unwrap_or_default());
            // A script may set the limit for each request, so the engine follows none by itself.
            if hops >= request.spec.redirects {
                return None;
            }
            let spec = &request.spec;
            let prepared = redirect::follow_with(
                from,
                reply,
                RedirectRules::Rfc9110,
                |next| user.renew_cookies(spec, &address, next),
                |draft| user.encode(RequestParts::from_draft(draft).ok()?, draft.tags(), spec).ok(),
            )?;
            request.before = std::mem::replace(&mut request.last, Rc::clone(&prepared));
            Some(prepared)
        })?
    }

    fn judge(&mut self, exchange: RequestAttempt<'_>) -> Option<UserVerdict> {
        // `record_hop` has recorded the earlier requests of the chain.
        let sample = exchange.last_hop.unwrap_or(exchange.sample);
        let is_expected = self.link.with(exchange.first, |request| {
            let hop = hop(&request.spec, exchange.request, sample, exchange.reply);
            let is_expected = hop.is_expected.unwrap_or(true);
            request.hops.push(hop);
            request.reply = exchange.reply.map(ReplyParts::of);
            is_expected
        })?;
        let outcome = match exchange.reply {
            Some(reply) => {
                Outcome { status: Some(reply.status), failure: None, expected: is_expected }
            }
            // Only the engine knows why there is no reply.
            None => exchange.sample.outcome,
        };
        Some(UserVerdict { outcome, failures: Vec::new() })
    }

    fn record_hop(
        &mut self,
        request: &Prepared,
        reply: &Reply,
        sample: &Sample,
    ) -> Option<SampleRecord> {
        self.link.with(request, |own| {
            let hop = hop(&own.spec, request, sample, Some(reply));
            own.hops.push(hop);
        });
        None
    }
}

fn hop(spec: &RequestSpec, request: &Prepared, sample: &Sample, reply: Option<&Reply>) -> Hop {
    let status = reply.map_or(0, |reply| reply.status);
    Hop {
        method: request.parts().map_or_else(String::new, |parts| parts.method.clone()),
        url: request.url().to_owned(),
        status,
        failure: sample.outcome.failure.filter(|_| reply.is_none()),
        timings: Timings::of(sample),
        bytes_sent: sample.bytes_sent,
        bytes_received: sample.bytes_received,
        is_expected: if reply.is_some() {
            spec.expects(status)
        } else {
            spec.expected.as_ref().map(|_| false)
        },
    }
}

impl Drop for ScriptUser {
    fn drop(&mut self) {
        self.link.end();
        // The functions on the stack must return, because they own memory.
        if !self.stack.is_done() {
            self.stack.resume();
        }
    }
}

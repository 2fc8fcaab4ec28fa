//! The plan of one trial of a search: the plan that all trials have in common, with the load that the search chose.

use brunt_model::experiment::Step;
use brunt_model::goal::Until;
use brunt_model::question::{TrialPurpose, TrialTimes};
use brunt_model::{Load, Plan, Shape};
use brunt_search::TrialRequest;
use brunt_spec::words::target;
use std::time::Duration;

/// How much load this machine is given.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Its cores.
    pub cores: u32,
    /// Requests per second from which on a further thread is used.
    pub rate_per_thread: f64,
}

/// A trial of a pattern, on this machine.
pub fn trial(pattern: &Plan, ask: &TrialRequest, machine: Machine) -> Step {
    let mut plan = pattern.clone();
    let shape = Shape::constant(ask.load);
    match &mut plan.main_mut().load {
        Load::Open { rate, .. } => *rate = shape,
        Load::Closed { users, .. } => *users = shape,
    }
    plan.threads = threads(&plan, ask.load, machine);
    let TrialTimes { warmup, least, most } = ask.times;
    plan.main_mut().stop.warmup = warmup;
    plan.main_mut().stop.duration = Some(most);
    plan.until = Some(Until { goals: Vec::new(), least });
    if ask.purpose == TrialPurpose::Overload {
        // What comes back afterwards is the recovery's to see.
        plan.main_mut().stop.grace = Duration::ZERO;
    }
    Step { load: ask.load, plan, purpose: Some(ask.purpose) }
}

/// More threads where the rate needs them and cores are free.
fn threads(plan: &Plan, load: f64, machine: Machine) -> u32 {
    if matches!(plan.main().load, Load::Closed { .. }) || plan.processes > 1 {
        return plan.threads;
    }
    let local = plan.main().scenario.requests.iter().any(|request| target::is_local(&request.url));
    let free = if local { machine.cores.saturating_sub(1).max(1) } else { machine.cores.max(1) };
    let needed = (load / machine.rate_per_thread).ceil() as u32;
    plan.threads.max(needed.min(free))
}

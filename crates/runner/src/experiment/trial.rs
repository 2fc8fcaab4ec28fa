//! The plan of one trial of a search: the common plan of all trials, with the load
//! that the search chose.

use brunt_model::experiment::LoadStep;
use brunt_model::goal::Until;
use brunt_model::question::{TrialPurpose, TrialTimes};
use brunt_model::{Load, LoadShape, Plan};
use brunt_search::TrialRequest;
use brunt_spec::words::target;
use std::time::Duration;

/// Capacity of this machine as a load generator.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorCapacity {
    /// Number of cores that brunt may use.
    pub cores: u32,
    /// Requests per second for one thread; a higher rate needs another thread.
    pub rate_per_thread: f64,
}

/// Creates a trial from the pattern of the search.
pub fn trial(pattern: &Plan, ask: &TrialRequest, machine: GeneratorCapacity) -> LoadStep {
    let mut plan = pattern.clone();
    let shape = LoadShape::constant(ask.load);
    match &mut plan.main_mut().load {
        Load::Open { rate, .. } => *rate = shape,
        Load::Closed { users, .. } => *users = shape,
    }
    plan.threads = threads(&plan, ask.load, machine);
    let TrialTimes { warmup, measured } = ask.times;
    plan.main_mut().stop.warmup = warmup;
    plan.main_mut().stop.warmup_until_steady = ask.until_steady;
    plan.main_mut().stop.duration = Some(measured);
    // No goals: the search chose the time of the trial.
    plan.until = Some(Until { goals: Vec::new(), least: measured });
    if ask.purpose == TrialPurpose::Overload {
        // The recovery observes the rest of the replies, so the overload does not wait for them.
        plan.main_mut().stop.grace = Duration::ZERO;
    }
    LoadStep { load: ask.load, plan, purpose: Some(ask.purpose) }
}

/// Number of threads: more than in the plan if the rate needs them and cores are free.
fn threads(plan: &Plan, load: f64, machine: GeneratorCapacity) -> u32 {
    // A closed loop has no rate in advance that could need more threads.
    if matches!(plan.main().load, Load::Closed { .. }) || plan.processes > 1 {
        return plan.threads;
    }
    let local = plan.main().scenario.requests.iter().any(|request| target::is_local(&request.url));
    // On the same machine, one core remains for the server.
    let free = if local { machine.cores.saturating_sub(1).max(1) } else { machine.cores.max(1) };
    let needed_threads = (load / machine.rate_per_thread).ceil() as u32;
    plan.threads.max(needed_threads.min(free))
}

//! Rules for CPU time that the generator needed and did not get, one for each reason.

use super::neighbors;
use super::result::{CauseState, FigureThreshold, LimitFigure, RuleResult, TENTH};
use crate::facts::RunFacts;
use crate::shares::Shares;
use crate::texts::message;
use brunt_model::Text;
use brunt_model::finding::{LimitingResource, UseOrigin};
use brunt_model::numbers::short_percent;
use brunt_model::reading_names as name;

/// Busy share of a worker thread. Work that falls due at random waits ρ/(1−ρ) times its own length
/// for a thread with busy share ρ (M/M/1): nineteen times at this share.
const BUSY: f64 = 0.95;
/// Share of the time for which a thread was ready but had no core: one event in twenty then waits.
const DELAYED: f64 = 0.05;
/// Idle share of all CPU below which the threads of a machine wait for each other.
pub(super) const IDLE: f64 = 0.1;
/// Share of the time for which a quota held threads back.
const HELD_BACK: f64 = 0.05;
/// Share of the CPU time that a hypervisor gave to others.
const STOLEN: f64 = 0.05;

/// Rule: a worker thread has no time left, since a thread cannot use more than one core.
pub fn worker(facts: &RunFacts) -> RuleResult {
    let spans = facts.greatest_of_workers(name::worker_cpu);
    let name = "CPU of the busiest worker, share of a core".to_owned();
    let figure = LimitFigure {
        limit: LimitingResource::Worker,
        name,
        spans,
        bound: FigureThreshold::AtLeast(BUSY),
    };
    let result = RuleResult::new(facts).compare(&figure, TENTH);
    let sentence = message!(
        "limit-worker",
        worst = short_percent(figure.worst().unwrap_or(0.0)),
        threshold = short_percent(BUSY),
        duration = result.duration_text()
    );
    result.with_origin(UseOrigin::Generator).with_message(sentence, more_threads(facts))
}

/// Returns a remedy: more threads help only if there are cores for them.
fn more_threads(facts: &RunFacts) -> Text {
    let idle = facts.share_of_cores(&[name::HOST_IDLE, name::HOST_IOWAIT]);
    let least = idle.iter().map(|span| span.value).reduce(f64::min);
    let threads = facts.run.plan.as_ref().map_or(1, |plan| plan.threads);
    let cores = f64::from(facts.run.environment.cores);
    match least {
        // Another thread would take its time from the other threads.
        Some(idle) if idle * cores < 0.5 => message!("limit-worker.remedy-no-core"),
        _ => message!("limit-worker.remedy", threads = (threads + 1).to_string()),
    }
}

/// Rule: a machine that is shared with the server has no idle core.
pub fn cores(facts: &RunFacts) -> RuleResult {
    shared_and_full(facts).only_if(|| neighbors::full_machine_matters(facts))
}

/// Evaluates the idle share of a shared machine, without checking that it changed a figure.
pub(super) fn shared_and_full(facts: &RunFacts) -> RuleResult {
    if facts.same_host() != Some(true) {
        return RuleResult::new(facts);
    }
    let spans = facts.share_of_cores(&[name::HOST_IDLE, name::HOST_IOWAIT]);
    let name =
        "idle CPU of the machine that client and server share, share of all cores".to_owned();
    let figure = LimitFigure {
        limit: LimitingResource::Cores,
        name,
        spans,
        bound: FigureThreshold::Below(IDLE),
    };
    let result = RuleResult::new(facts).compare(&figure, TENTH);
    let shares = Shares::from_facts(facts);
    let sentence = message!(
        "limit-cores",
        threshold = short_percent(IDLE),
        duration = result.duration_text(),
        worst = short_percent(figure.worst().unwrap_or(0.0)),
        used = shares.as_ref().map_or(Text::default(), used)
    );
    let origin = user_of_cores(shares.as_ref(), true);
    result.with_origin(origin).with_message(sentence, message!("limit-cores.remedy"))
}

/// `; brunt used 0.94 of 2 cores, the server 1.03`.
fn used(shares: &Shares) -> Text {
    let brunt = format!("{:.2}", shares.brunt);
    let cores = format!("{:.0}", shares.cores);
    match shares.server {
        Some(server) => {
            message!("limit-cores.used-with-server", brunt, cores, server = format!("{server:.2}"))
        }
        None => message!("limit-cores.used", brunt, cores),
    }
}

/// Rule: workers were ready but had no core.
pub fn run_queue(facts: &RunFacts) -> RuleResult {
    waiting(facts).only_if(|| neighbors::waiting_matters(facts))
}

/// Evaluates the time for which workers waited for a core, without checking that
/// it changed a figure.
pub(super) fn waiting(facts: &RunFacts) -> RuleResult {
    let spans = facts.greatest_of_workers(name::worker_run_delay);
    let name = "time in which a worker was ready but had no core, share".to_owned();
    let figure = LimitFigure {
        limit: LimitingResource::RunQueue,
        name,
        spans,
        bound: FigureThreshold::AtLeast(DELAYED),
    };
    // Shown only: it concerns all tasks of the machine, not just those of brunt.
    let pressure = LimitFigure {
        limit: LimitingResource::RunQueue,
        name: "CPU pressure of the machine (some task waited), share of the time".to_owned(),
        spans: facts.rates(name::PRESSURE_CPU),
        bound: FigureThreshold::AtLeast(1.0),
    };
    let result = RuleResult::new(facts).compare(&figure, TENTH).with_evidence(&pressure);
    let shares = Shares::from_facts(facts);
    let is_full = shared_and_full(facts).state == CauseState::Cause;
    let origin = user_of_cores(shares.as_ref(), is_full);
    let users = shares.filter(|_| origin == UseOrigin::Machine);
    let worst = short_percent(figure.worst().unwrap_or(0.0));
    let threshold = short_percent(DELAYED);
    let duration = result.duration_text();
    let by_server = users.as_ref().is_some_and(|users| !users.are_others_considerable());
    let sentence = match users {
        Some(users) => {
            let users = users.users_text();
            message!("limit-run-queue.with-users", worst, threshold, duration, users)
        }
        None => message!("limit-run-queue", worst, threshold, duration),
    };
    let remedy = match origin {
        UseOrigin::Generator => message!("limit-run-queue.remedy-generator"),
        UseOrigin::Machine if by_server => message!("limit-run-queue.remedy-server"),
        UseOrigin::Machine => message!("limit-other-processes.remedy"),
        UseOrigin::Unknown => message!("limit-run-queue.remedy-unknown"),
    };
    result.with_origin(origin).with_message(sentence, remedy)
}

/// Origin of the processes that used the cores for which workers waited.
fn user_of_cores(shares: Option<&Shares>, is_full: bool) -> UseOrigin {
    shares.map_or(UseOrigin::Unknown, |shares| shares.user_of_cores(is_full))
}

/// Rule: a control group's quota kept brunt from running.
pub fn throttled(facts: &RunFacts) -> RuleResult {
    let spans = facts.rates(name::THROTTLED);
    let name = "time for which the control group's CPU quota held threads back, seconds per second"
        .to_owned();
    let figure = LimitFigure {
        limit: LimitingResource::Throttled,
        name,
        spans,
        bound: FigureThreshold::AtLeast(HELD_BACK),
    };
    let result = RuleResult::new(facts).compare(&figure, TENTH);
    let duration = result.duration_text();
    let worst = short_percent(figure.worst().unwrap_or(0.0));
    let sentence = match facts.last(name::QUOTA) {
        Some(cores) => {
            message!("limit-throttled.with-quota", cores = cores.to_string(), duration, worst)
        }
        None => message!("limit-throttled", duration, worst),
    };
    // The quota is that of brunt's own group.
    result
        .with_origin(UseOrigin::Generator)
        .with_message(sentence, message!("limit-throttled.remedy"))
}

/// Rule: the hypervisor took CPU time away.
pub fn steal(facts: &RunFacts) -> RuleResult {
    let spans = facts.share_of_cores(&[name::HOST_STEAL]);
    let name = "CPU that the hypervisor gave to others, share of all cores".to_owned();
    let figure = LimitFigure {
        limit: LimitingResource::Steal,
        name,
        spans,
        bound: FigureThreshold::AtLeast(STOLEN),
    };
    let result = RuleResult::new(facts).compare(&figure, TENTH);
    let sentence = message!(
        "limit-steal",
        worst = short_percent(figure.worst().unwrap_or(0.0)),
        threshold = short_percent(STOLEN),
        duration = result.duration_text()
    );
    result.with_origin(UseOrigin::Machine).with_message(sentence, message!("limit-steal.remedy"))
}

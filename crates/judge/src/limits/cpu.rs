//! CPU time that the generator needed and did not get, each for another reason.

use super::look::{Bound, Figure, RuleResult, TENTH};
use super::neighbors;
use crate::facts::Facts;
use crate::shares::Shares;
use brunt_model::finding::{Limit, Origin};
use brunt_model::numbers::short_percent;
use brunt_model::reading_names as name;

/// What falls due at random before a thread that is busy for the share ρ of its time waits ρ/(1−ρ) times as long as its
/// work takes (M/M/1): nineteen times at this share.
const BUSY: f64 = 0.95;
/// A thread that was ready and had no core for this share of the time keeps one event in twenty waiting.
const DELAYED: f64 = 0.05;
/// Below this share of idle CPU the threads of a machine wait for each other.
pub(super) const IDLE: f64 = 0.1;
/// Of the busy cores, the part from which on they were mostly brunt's own.
const HALF: f64 = 0.5;
/// A quota that holds threads back for this share of the time.
const HELD_BACK: f64 = 0.05;
/// A hypervisor that takes this share of the CPU time.
const STOLEN: f64 = 0.05;

/// A worker thread that has no time left: a thread cannot have more than one core.
pub fn worker(facts: &Facts) -> RuleResult {
    let spans = facts.greatest_of_workers(name::worker_cpu);
    let name = "CPU of the busiest worker, share of a core".to_owned();
    let figure = Figure { limit: Limit::Worker, name, spans, bound: Bound::AtLeast(BUSY) };
    let look = RuleResult::at(facts).hold(&figure, TENTH);
    let sentence = format!(
        "a worker thread was busy {} of its time at worst, and {} or more {}: what fell due had to wait for it",
        short_percent(figure.worst().unwrap_or(0.0)),
        short_percent(BUSY),
        look.for_so_long()
    );
    look.say(sentence, more_threads(facts))
}

/// More threads help only where there are cores for them.
fn more_threads(facts: &Facts) -> String {
    let idle = facts.share_of_cores(&[name::HOST_IDLE, name::HOST_IOWAIT]);
    let least = idle.iter().map(|span| span.value).reduce(f64::min);
    let threads = facts.run.plan.as_ref().map_or(1, |plan| plan.threads);
    let cores = f64::from(facts.run.environment.cores);
    match least {
        Some(idle) if idle * cores < 0.5 => {
            "this machine has no idle core for another thread: reduce the load, or use a larger machine or several"
                .to_owned()
        }
        _ => format!("start more threads: --threads {}", threads + 1),
    }
}

/// No idle core on a machine that is shared with the server.
pub fn cores(facts: &Facts) -> RuleResult {
    shared_and_full(facts).only_if(|| neighbors::full_machine_matters(facts))
}

/// The same, whether or not it changed a figure.
pub(super) fn shared_and_full(facts: &Facts) -> RuleResult {
    if facts.same_host() != Some(true) {
        return RuleResult::at(facts);
    }
    let spans = facts.share_of_cores(&[name::HOST_IDLE, name::HOST_IOWAIT]);
    let name = "idle CPU of the machine that client and server share, share of all cores".to_owned();
    let figure = Figure { limit: Limit::Cores, name, spans, bound: Bound::Below(IDLE) };
    let look = RuleResult::at(facts).hold(&figure, TENTH);
    let sentence = format!(
        "client and server share this machine, and its cores were less than {} idle {} ({} at worst): they took CPU from \
         each other{}",
        short_percent(IDLE),
        look.for_so_long(),
        short_percent(figure.worst().unwrap_or(0.0)),
        Shares::from_facts(facts).map_or(String::new(), |shares| used(&shares))
    );
    look.say(sentence, "run the server on its own machine, or reduce the load; stop other programs")
}

/// `; brunt used 0.94 of 2 cores, the server 1.03`.
fn used(shares: &Shares) -> String {
    let server = shares.server.map_or(String::new(), |server| format!(", the server {server:.2}"));
    format!("; brunt used {:.2} of {:.0} cores{server}", shares.own, shares.cores)
}

/// Workers that were ready and had no core.
pub fn run_queue(facts: &Facts) -> RuleResult {
    waiting(facts).only_if(|| neighbors::waiting_matters(facts))
}

/// The same, whether or not it changed a figure.
pub(super) fn waiting(facts: &Facts) -> RuleResult {
    let spans = facts.greatest_of_workers(name::worker_run_delay);
    let name = "time in which a worker was ready but had no core, share".to_owned();
    let figure = Figure { limit: Limit::RunQueue, name, spans, bound: Bound::AtLeast(DELAYED) };
    let pressure = Figure {
        limit: Limit::RunQueue,
        name: "CPU pressure of the machine (some task waited), share of the time".to_owned(),
        spans: facts.rates(name::PRESSURE_CPU),
        bound: Bound::AtLeast(1.0),
    };
    let look = RuleResult::at(facts).hold(&figure, TENTH).show(&pressure);
    let shares = Shares::from_facts(facts);
    let origin = shares.as_ref().map_or(Origin::Unknown, taker);
    let others = shares.filter(|_| origin == Origin::Machine);
    let sentence = format!(
        "a worker thread was ready but had no core for {} of the time at worst, and for {} or more {}{}",
        short_percent(figure.worst().unwrap_or(0.0)),
        short_percent(DELAYED),
        look.for_so_long(),
        others.map_or(String::new(), |shares| format!("; {}", shares.others_in_words()))
    );
    let remedy = match origin {
        Origin::Generator => "allow brunt more cores (taskset, cpuset), or use a larger machine or several",
        Origin::Machine => neighbors::REMEDY,
        Origin::Unknown => "see what else runs on the cores that brunt may use (taskset -p, cpuset), and end it",
    };
    look.by(origin).say(sentence, remedy)
}

/// Who had the cores that workers waited for.
fn taker(shares: &Shares) -> Origin {
    let others = shares.others.unwrap_or(0.0);
    if shares.own >= HALF * shares.busy && others < shares.own {
        return Origin::Generator;
    }
    if others >= neighbors::OTHERS * shares.cores { Origin::Machine } else { Origin::Unknown }
}

/// Kept from running by a control group's quota.
pub fn throttled(facts: &Facts) -> RuleResult {
    let spans = facts.rates(name::THROTTLED);
    let name = "time for which the control group's CPU quota held threads back, seconds per second".to_owned();
    let figure = Figure { limit: Limit::Throttled, name, spans, bound: Bound::AtLeast(HELD_BACK) };
    let look = RuleResult::at(facts).hold(&figure, TENTH);
    let quota = facts.last(name::QUOTA).map_or(String::new(), |cores| format!(" of {cores} cores"));
    let sentence = format!(
        "the control group's CPU quota{quota} held brunt back {}, {} of a second at worst",
        look.for_so_long(),
        short_percent(figure.worst().unwrap_or(0.0))
    );
    look.say(
        sentence,
        "raise the quota (--cpus of a container, CPUQuota= of a service, limits.cpu of a pod), or lift it",
    )
}

/// Taken away by the hypervisor.
pub fn steal(facts: &Facts) -> RuleResult {
    let spans = facts.share_of_cores(&[name::HOST_STEAL]);
    let name = "CPU that the hypervisor gave to others, share of all cores".to_owned();
    let figure = Figure { limit: Limit::Steal, name, spans, bound: Bound::AtLeast(STOLEN) };
    let look = RuleResult::at(facts).hold(&figure, TENTH);
    let sentence = format!(
        "the hypervisor gave {} of this machine's CPU to others at worst, and {} or more {}",
        short_percent(figure.worst().unwrap_or(0.0)),
        short_percent(STOLEN),
        look.for_so_long()
    );
    look.by(Origin::Machine).say(
        sentence,
        "measure from a machine with cores of its own (a dedicated instance, or one that is not overbooked)",
    )
}

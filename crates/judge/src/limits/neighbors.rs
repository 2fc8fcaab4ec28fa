//! Who else used the machine's cores, and whether that, or its lack of idle ones, changed a figure.
//!
//! Where requests come by a schedule, lag tells: a schedule that was kept was kept, however busy the machine. So does read
//! lag in a closed loop whose users pause most of the time: the pauses set its rate. In any other closed loop nothing is
//! late; there a worker that waited for a core while others had them was held up, and a generator that took a
//! considerable share of a full machine took it from the server.

use super::cpu::{self, IDLE};
use super::lag;
use super::look::{Bound, CauseState, Figure, RuleResult, TENTH};
use crate::facts::{Facts, joined};
use crate::shares::Shares;
use brunt_model::Run;
use brunt_model::finding::{Limit, Origin};
use brunt_model::reading_names as name;

/// What to do about a machine that others keep busy.
pub(super) const REMEDY: &str =
    "end them, or measure on another machine; if they belong to the server, read them with --probe";
/// Of all cores, what other processes must use to be the cause that none is idle.
pub(crate) const OTHERS: f64 = 0.1;
/// Of the busy cores of a machine that client and server share, what brunt must use to be the limit.
pub(crate) const OWN: f64 = 0.1;

/// Of the busy cores, what the server must use for them to be its own work.
const HALF: f64 = 0.5;

/// Other processes had the cores that requests needed: no idle one was left, and their part of it was considerable.
pub fn other_processes(facts: &Facts) -> RuleResult {
    had_the_cores(facts).only_if(|| lag_matters(facts) || (!lag_tells(facts) && waited(facts)))
}

/// The same, whether or not it changed a figure of ours.
fn had_the_cores(facts: &Facts) -> RuleResult {
    let Some(shares) = Shares::from_facts(facts).filter(|shares| shares.others.is_some()) else {
        return RuleResult::at(facts);
    };
    let others = shares.others.unwrap_or(0.0) / shares.cores;
    // The server's part of what was seen in a second is not known second by second; over the measured time it is.
    let idle = facts.share_of_cores(&[name::HOST_IDLE, name::HOST_IOWAIT]);
    let figure = Figure {
        limit: Limit::OtherProcesses,
        name: "CPU used by other processes while no core was idle, share of all cores".to_owned(),
        spans: joined(&idle, &idle, |idle, _| Some(if idle < IDLE { others } else { 0.0 })),
        bound: Bound::AtLeast(OTHERS),
    };
    let look = RuleResult::at(facts).hold(&figure, TENTH);
    let sentence =
        format!("{}; brunt {:.2}; no core was idle {}", shares.others_in_words(), shares.own, look.for_so_long());
    look.by(Origin::Machine).say(sentence, REMEDY)
}

/// Who had CPU that the server on this machine may have needed, other processes or the hypervisor, whether or not the generator
/// was late for it: a server that was slow meanwhile may be faster without them.
pub fn server_lacked_cpu(run: &Run) -> Option<Limit> {
    let facts = Facts::of(run).filter(|facts| facts.same_host() == Some(true))?;
    let of = [(Limit::OtherProcesses, had_the_cores(&facts)), (Limit::Steal, cpu::steal(&facts))];
    of.into_iter().find(|(_, look)| look.standing == CauseState::Cause).map(|(limit, _)| limit)
}

/// Whether a machine without idle cores changed a figure.
pub fn full_machine_matters(facts: &Facts) -> bool {
    let took = || Shares::from_facts(facts).is_none_or(|shares| shares.own >= OWN * shares.busy);
    lag_matters(facts) || (!lag_tells(facts) && took())
}

/// Whether workers that waited for a core changed a figure: in a closed loop, unless it was the server's own work that kept
/// them waiting.
pub fn waiting_matters(facts: &Facts) -> bool {
    if lag_tells(facts) || lag_matters(facts) {
        return lag_matters(facts);
    }
    let is_full = cpu::shared_and_full(facts).standing == CauseState::Cause;
    !is_full || !is_mostly_the_servers(facts) || full_machine_matters(facts)
}

/// Whether the server is known to have had at least half of the busy cores.
fn is_mostly_the_servers(facts: &Facts) -> bool {
    let shares = Shares::from_facts(facts);
    shares.is_some_and(|shares| shares.server.is_some_and(|server| server >= HALF * shares.busy))
}

/// Whether lag shows every effect of waiting for a core.
fn lag_tells(facts: &Facts) -> bool {
    facts.is_open() || (facts.users_mostly_pause() && lag::is_read_lag_known(facts))
}

/// Lag that changes a figure.
fn lag_matters(facts: &Facts) -> bool {
    lag::lag(facts).standing == CauseState::Cause
}

fn waited(facts: &Facts) -> bool {
    cpu::waiting(facts).standing == CauseState::Cause
}

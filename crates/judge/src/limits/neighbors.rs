//! Rules for other users of the machine's cores. They also decide whether these, or a lack of idle
//! cores, changed a figure.
//!
//! If requests arrive by a schedule, lag decides: a schedule was kept or not, however busy the
//! machine was. Read lag decides for a closed loop with users that pause most of the time, since
//! the pauses set its rate. In any other closed loop no request is ever late. There, a worker was
//! delayed if it waited for a core while others had them. A generator that used a considerable
//! share of a full machine took it from the server.

use super::cpu::{self, IDLE};
use super::lag;
use super::result::{CauseState, FigureThreshold, LimitFigure, RuleResult, TENTH};
use crate::facts::{RunFacts, joined};
use crate::shares::{BRUNT, OTHERS, Shares};
use crate::texts::message;
use brunt_model::Run;
use brunt_model::finding::{LimitingResource, UseOrigin};
use brunt_model::reading_names as name;

/// Rule: other processes used the cores that requests needed. No idle one was left, and
/// their share was considerable.
pub fn other_processes(facts: &RunFacts) -> RuleResult {
    usage_by_others(facts).only_if(|| {
        lag_matters(facts) || (!lag_shows_all_effects(facts) && has_waited_for_core(facts))
    })
}

/// Evaluates the usage by other processes, without checking that it changed a figure of this run.
fn usage_by_others(facts: &RunFacts) -> RuleResult {
    let Some(shares) = Shares::from_facts(facts).filter(|shares| shares.others.is_some()) else {
        return RuleResult::new(facts);
    };
    let others = shares.others.unwrap_or(0.0) / shares.cores;
    // The server's usage is only known over the whole measured time, not second by second.
    let idle = facts.share_of_cores(&[name::HOST_IDLE, name::HOST_IOWAIT]);
    let figure = LimitFigure {
        limit: LimitingResource::OtherProcesses,
        name: "CPU used by other processes while no core was idle, share of all cores".to_owned(),
        // `joined` of a list with itself maps its values.
        spans: joined(&idle, &idle, |idle, _| Some(if idle < IDLE { others } else { 0.0 })),
        bound: FigureThreshold::AtLeast(OTHERS),
    };
    let result = RuleResult::new(facts).compare(&figure, TENTH);
    let sentence = message!(
        "limit-other-processes",
        others = shares.others_text(),
        brunt = format!("{:.2}", shares.brunt),
        duration = result.duration_text()
    );
    let remedy = message!("limit-other-processes.remedy");
    result.with_origin(UseOrigin::Machine).with_message(sentence, remedy)
}

/// Returns the limit of CPU that the server on this machine may have needed: other processes or the
/// hypervisor. It does not matter whether the generator lagged. A server that was slow meanwhile
/// may be faster without them.
pub fn cpu_taken_from_server(run: &Run) -> Option<LimitingResource> {
    let facts = RunFacts::of_machine(run).filter(|facts| facts.same_host() == Some(true))?;
    let candidates = [
        (LimitingResource::OtherProcesses, usage_by_others(&facts)),
        (LimitingResource::Steal, cpu::steal(&facts)),
    ];
    candidates
        .into_iter()
        .find(|(_, result)| result.state == CauseState::Cause)
        .map(|(limit, _)| limit)
}

/// True if a machine without idle cores changed a figure.
pub fn full_machine_matters(facts: &RunFacts) -> bool {
    lag_matters(facts) || (!lag_shows_all_effects(facts) && has_taken_cores(facts))
}

/// True if brunt used a considerable share of the busy cores, or its share is unknown.
fn has_taken_cores(facts: &RunFacts) -> bool {
    Shares::from_facts(facts).is_none_or(|shares| shares.brunt >= BRUNT * shares.busy)
}

/// True if workers that waited for a core changed a figure. In a closed loop they did, unless they
/// waited because of the server's own work.
pub fn waiting_matters(facts: &RunFacts) -> bool {
    if lag_shows_all_effects(facts) || lag_matters(facts) {
        return lag_matters(facts);
    }
    let is_full = cpu::shared_and_full(facts).state == CauseState::Cause;
    let by_server = Shares::from_facts(facts).is_some_and(|users| users.is_mostly_used_by_server());
    !is_full || !by_server || full_machine_matters(facts)
}

/// True if lag shows every effect of waiting for a core.
fn lag_shows_all_effects(facts: &RunFacts) -> bool {
    facts.is_open() || (facts.users_mostly_pause() && lag::is_read_lag_known(facts))
}

/// True if lag changed a figure.
fn lag_matters(facts: &RunFacts) -> bool {
    lag::lag(facts).state == CauseState::Cause
}

fn has_waited_for_core(facts: &RunFacts) -> bool {
    cpu::waiting(facts).state == CauseState::Cause
}

//! What a run is given of its step and its contender. Out of scope: the run.

use crate::server::Server;
use brunt_model::experiment::{Contender, Step};
use brunt_model::probe_spec::Select;
use brunt_model::{Plan, ProbeSpec, Probed, TrialIndex};

/// Repetitions and steps have arrivals of their own; contenders have the same ones.
pub(super) fn plan(step: &Step, place: TrialIndex) -> Plan {
    let own = u64::from(place.repetition) << 32 | place.step as u64;
    let mut plan = step.plan.clone();
    for plan in plan.around.iter_mut().map(|stage| &mut stage.plan) {
        plan.seed = plan.seed.wrapping_add(own);
    }
    Plan { seed: plan.seed.wrapping_add(own), ..plan }
}

/// The contender's probes, with its server's process in place of "the server". Where brunt starts none, they are left out:
/// whoever made the experiment has refused that.
pub(super) fn probes(contender: &Contender, server: Option<&Server>) -> Vec<ProbeSpec> {
    let with_pid = |mut probe: ProbeSpec| {
        if let Probed::Processes { select, .. } = &mut probe.what
            && *select == Select::Server
        {
            *select = Select::Pid(server?.pid());
        }
        Some(probe)
    };
    contender.probes.iter().cloned().filter_map(with_pid).collect()
}

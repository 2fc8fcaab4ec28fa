//! Derives the plan and the probes of a trial from its step and its contender.

use crate::server::RunningServer;
use brunt_model::experiment::{Contender, LoadStep};
use brunt_model::probe_spec::Select;
use brunt_model::{Plan, ProbeSpec, Probed, TrialIndex};

/// Returns the step's plan with a seed of this repetition and step. All contenders get the same
/// seed, so they see the same arrivals.
pub(super) fn plan(step: &LoadStep, place: TrialIndex) -> Plan {
    // The upper half is the repetition, the lower half the step, so no two trials share a seed.
    let offset = u64::from(place.repetition) << 32 | place.step as u64;
    let mut plan = step.plan.clone();
    for plan in plan.stages.iter_mut().map(|stage| &mut stage.plan) {
        plan.seed = plan.seed.wrapping_add(offset);
    }
    Plan { seed: plan.seed.wrapping_add(offset), ..plan }
}

/// Returns the contender's probes, with the process id of its server in place of "the server". They
/// are dropped if brunt starts no server; `spec` refuses such an experiment.
pub(super) fn probes(contender: &Contender, server: Option<&RunningServer>) -> Vec<ProbeSpec> {
    contender.probes.iter().cloned().filter_map(|probe| resolve_server(probe, server)).collect()
}

/// Replaces "the server" by its process id; None if brunt runs no server.
fn resolve_server(mut probe: ProbeSpec, server: Option<&RunningServer>) -> Option<ProbeSpec> {
    if let Probed::Processes { select, .. } = &mut probe.what
        && *select == Select::Server
    {
        *select = Select::Pid(server?.pid());
    }
    Some(probe)
}

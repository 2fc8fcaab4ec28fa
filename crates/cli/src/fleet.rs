//! Starts the agents of a plan.

use crate::live::print_line;
use crate::redact;
use anyhow::{Result, bail, ensure};
use brunt_model::numbers::plural;
use brunt_model::{Experiment, FleetSettings, Plan};
use brunt_runner::Fleet;
use std::path::PathBuf;
use std::sync::Arc;

/// Starts the agents of a plan; none if it has no agents. `programs` are brunt for other architectures.
pub fn start(plan: &Plan, programs: &[PathBuf], quiet: bool) -> Result<Option<Arc<Fleet>>> {
    let Some(fleet) = &plan.fleet else { return Ok(None) };
    check_targets(plan, fleet)?;
    if !quiet {
        print_line(&format!("starting {}", plural(fleet.on.agents() as u64, "agent")));
    }
    // The store was opened before, so this is its redactor.
    Ok(Some(Arc::new(Fleet::start(&fleet.on, programs, redact::current())?)))
}

/// Starts the agents of an experiment, which carry out all of its trials.
pub fn start_for(
    experiment: &Experiment,
    programs: &[PathBuf],
    quiet: bool,
) -> Result<Option<Arc<Fleet>>> {
    let mut plans = experiment.contenders.iter().flat_map(|contender| &contender.steps);
    let Some(first) = plans.next().map(|step| &step.plan) else { return Ok(None) };
    if plans.any(|step| step.plan.fleet != first.fleet) {
        bail!("the contenders have different agents: write `on` once, for the whole experiment");
    }
    for step in experiment.contenders.iter().flat_map(|contender| &contender.steps) {
        if let Some(fleet) = &step.plan.fleet {
            check_targets(&step.plan, fleet)?;
        }
    }
    start(first, programs, quiet)
}

/// Refuses agents on other machines without a list of hosts that they may load.
fn check_targets(plan: &Plan, fleet: &FleetSettings) -> Result<()> {
    ensure!(
        !fleet.on.is_elsewhere() || !plan.allowed_targets.is_empty(),
        "--on {}: name the hosts that these agents may load, with --allow-target HOST, or `allow: [HOST]` in a plan file. \
         They connect to no other host",
        fleet.on
    );
    Ok(())
}

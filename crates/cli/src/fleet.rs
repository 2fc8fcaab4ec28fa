//! Starts the agents of a plan.

#[cfg(feature = "fleet")]
pub mod attach;
#[cfg(feature = "fleet")]
pub mod cluster;
#[cfg(feature = "fleet")]
pub mod command;

use crate::live::print_line;
use crate::redact;
use anyhow::{Result, bail};
use brunt_agents::Fleet;
use brunt_model::numbers::plural;
use brunt_model::{Experiment, FleetSettings, Plan};
use brunt_store::Store;
use std::path::PathBuf;
use std::sync::Arc;

/// Starts the agents of a plan; none if it has no agents. `programs` are brunt for other architectures. With a
/// store, `brunt attach` can go on with a stored run.
pub fn start(
    plan: &Plan,
    programs: &[PathBuf],
    quiet: bool,
    store: Option<&Store>,
) -> Result<Option<Arc<Fleet>>> {
    let Some(fleet) = &plan.fleet else { return Ok(None) };
    brunt_agents::controller::check_plan(plan)?;
    if !quiet {
        print_line(&format!("starting {}", plural(fleet.on.agents() as u64, "agent")));
    }
    let folders = store.map(Store::fleets);
    let started = start_agents(fleet, programs, folders, &mut |line| {
        if !quiet {
            print_line(line);
        }
    })?;
    if fleet.on.is_elsewhere() && !quiet {
        for line in crowded_agents(plan.threads, &started) {
            print_line(&line);
        }
    }
    Ok(Some(Arc::new(started)))
}

/// Starts agents, wherever they are. `folders` is the place for what `brunt attach` needs; None: nothing is kept.
/// `tell` gets lines about the progress.
pub fn start_agents(
    settings: &FleetSettings,
    programs: &[PathBuf],
    folders: Option<PathBuf>,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<Fleet> {
    if settings.on.is_on_nats() {
        #[cfg(feature = "fleet")]
        return cluster::start(settings, folders, tell);
        #[cfg(not(feature = "fleet"))]
        bail!("--on {}: this brunt was built without the feature `fleet`", settings.on);
    }
    let _ = (tell, folders);
    // The store was opened before, so this is its redactor.
    Ok(Fleet::start(&settings.on, programs, redact::current())?)
}

/// Returns a note for each agent with fewer cores than threads.
fn crowded_agents(threads: u32, fleet: &Fleet) -> Vec<String> {
    let agents = fleet.environments().into_iter();
    let crowded = agents.filter(|agent| agent.facts.cores < threads.max(1));
    crowded
        .map(|agent| {
            let cores = plural(agent.facts.cores.into(), "core");
            format!(
                "agent {}: {threads} threads on {cores} compete for CPU; use more agents, or --threads {}",
                agent.name, agent.facts.cores
            )
        })
        .collect()
}

/// Starts the agents of an experiment, which carry out all of its trials.
pub fn start_for(
    experiment: &Experiment,
    programs: &[PathBuf],
    quiet: bool,
    store: Option<&Store>,
) -> Result<Option<Arc<Fleet>>> {
    let mut plans = experiment.contenders.iter().flat_map(|contender| &contender.steps);
    let Some(first) = plans.next().map(|step| &step.plan) else { return Ok(None) };
    if plans.any(|step| step.plan.fleet != first.fleet) {
        bail!("the contenders have different agents: write `on` once, for the whole experiment");
    }
    for step in experiment.contenders.iter().flat_map(|contender| &contender.steps) {
        brunt_agents::controller::check_plan(&step.plan)?;
    }
    start(first, programs, quiet, store)
}

//! Turns settings into a plan. Each rule between settings is checked here, once. Messages contain
//! the remedy, as options or as keys, depending on the source of the settings.
//!
//! Files that settings name (a body, a list of URLs, rows for placeholders) are read here. Of
//! these, a plan only needs the files of rows. The module measures nothing, and gets all facts
//! about the system as [`System`].

mod connection;
mod fleet;
mod load;
mod processes;
mod script;
mod sweep;
pub mod trace;

use crate::System;
use crate::error::{Result, bail};
use crate::settings::{OutputSettings, RunSettings};
use crate::words::target;
use brunt_model::plan::{ListenerRecords, RecordDetail, RecordSettings};
use brunt_model::{Objective, Plan, Population, objective};
pub use fleet::{fleet, fleet_on};
pub use processes::with_sources;
pub use script::{body_from, scenario};
use std::collections::BTreeSet;
use std::path::Path;
pub use sweep::sweep_steps;

/// Creates the plan, and notes for the user.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn to_plan(settings: &RunSettings, system: &System) -> Result<(Plan, Vec<String>)> {
    // A scenario of a plan file has a policy for each step; the settings have one for all requests.
    let (scenario, reply_policies) = match &settings.scenario {
        Some(planned) => (planned.scenario.clone(), planned.policies.clone()),
        None => (scenario(settings, system)?, vec![settings.replies.clone()]),
    };
    let connection = connection::connection(settings, system)?;
    let load = load::load(settings, system)?;
    let stop = load::stop(settings, &load)?;
    // A server on this machine needs a core too, so fewer cores are left for worker threads.
    let local = connection.unix_socket.is_some()
        || connection.resolve.iter().any(|r| r.address.is_loopback())
        || scenario.requests.iter().any(|r| target::is_local(&r.url));
    let (processes, note) = processes::processes(settings, &load, system)?;
    let mut notes = Vec::from_iter(note);
    notes.extend(script::replaced_field_note(&scenario.requests));
    let sharing = settings.fleet.sharing_agents().map_or(processes, |agents| agents as u32);
    let (threads, thread_notes) = load::threads(settings, &load, sharing, system.cores, local);
    notes.extend(thread_notes);
    let (precise, note) = load::precise(settings, threads * processes, system.cores, local);
    notes.extend(note);
    let mut plan = Plan {
        populations: Population::only(load, scenario, stop),
        reply_policies,
        connection,
        objectives: settings.checks.objectives.clone(),
        until: load::until(settings)?,
        record: RecordSettings { records: records(&settings.output), ..settings.record.clone() },
        seed: settings.load.seed.unwrap_or(system.seed),
        threads,
        processes,
        precise,
        allowed_targets: settings.fleet.allowed_targets.clone(),
        fleet: fleet(settings)?,
        stages: Vec::new(),
    };
    plan.main_mut().group.clone_from(&settings.fleet.placed_on);
    notes.extend(processes::sources(settings, &mut plan, system));
    Ok((plan, notes))
}

/// Checks that the steps and transactions of objectives exist in one of the plans.
///
/// # Errors
///
/// `SpecError` with the names of all steps and transactions.
pub fn check_objectives(objectives: &[Objective], plans: &[&Plan]) -> Result<()> {
    let unknown =
        objectives.iter().find(|objective| !plans.iter().any(|plan| objective.applies_to(plan)));
    let Some(objective) = unknown else { return Ok(()) };
    let mut names: Vec<String> =
        plans.iter().flat_map(|plan| objective::step_names(plan)).collect();
    let mut unique = BTreeSet::new();
    // Not sorted: names in the order of the plan are easier to find.
    names.retain(|name| unique.insert(name.clone()));
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let unknown = objective.step.as_deref().unwrap_or_default();
    bail!(
        "objective `{objective}`: no step or transaction is called `{unknown}`; write one of {names}"
    )
}

/// Data of each sample that a result file or a trace needs; None without them.
pub fn records(output: &OutputSettings) -> Option<ListenerRecords> {
    if output.trace {
        // A trace shows requests and replies in full, so it needs more than the columns of a file.
        return Some(ListenerRecords {
            detail: RecordDetail::Full,
            trace: true,
            ..ListenerRecords::default()
        });
    }
    let path = output.jtl.as_deref()?;
    let detail = output.jtl_format.unwrap_or_else(|| default_detail(path));
    Some(ListenerRecords { detail, ..ListenerRecords::default() })
}

/// Detail of a result file, by the end of its name.
fn default_detail(path: &Path) -> RecordDetail {
    let is_xml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
    if is_xml { RecordDetail::Full } else { RecordDetail::Lines }
}

#[cfg(test)]
mod tests;

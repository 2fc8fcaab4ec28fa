//! Settings → a plan: each rule that holds between settings is checked here, once, with a message that says what to write
//! instead, in options or in keys, as they were said.
//!
//! Files that settings name (a body, a list of URLs, rows for placeholders) are read here, so that a plan needs nothing
//! but the rows. It measures nothing, and asks the system nothing: that is handed in as [`System`].

mod connection;
mod load;
mod processes;
mod script;
mod sweep;
pub mod trace;

use crate::System;
use crate::error::{Result, bail};
use crate::settings::{OutputSettings, RunSettings};
use crate::words::target;
use brunt_model::plan::{Record, RecordDetail, Records};
use brunt_model::{Objective, Plan, Population, objective};
pub use processes::with_sources;
pub use script::{body_from, scenario};
use std::collections::BTreeSet;
use std::path::Path;
pub use sweep::sweep_steps;

/// The plan, and notes that the user should be told.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn to_plan(settings: &RunSettings, system: &System) -> Result<(Plan, Vec<String>)> {
    let (scenario, reply_policies) = match &settings.scenario {
        Some(planned) => (planned.scenario.clone(), planned.policies.clone()),
        None => (scenario(settings, system)?, vec![settings.replies.clone()]),
    };
    let connection = connection::connection(settings, system)?;
    let load = load::load(settings, system)?;
    let stop = load::stop(settings, &load)?;
    let local = connection.unix_socket.is_some()
        || connection.resolve.iter().any(|r| r.address.is_loopback())
        || scenario.requests.iter().any(|r| target::is_local(&r.url));
    let (processes, note) = processes::processes(settings, &load, system)?;
    let mut notes = Vec::from_iter(note);
    let (threads, told) = load::threads(settings, &load, processes, system.cores, local);
    notes.extend(told);
    let (precise, note) = load::precise(settings, threads * processes, system.cores, local);
    notes.extend(note);
    let mut plan = Plan {
        populations: Population::only(load, scenario, stop),
        reply_policies,
        connection,
        objectives: settings.checks.objectives.clone(),
        until: load::until(settings)?,
        record: Record { records: records(&settings.output), ..settings.record.clone() },
        seed: settings.load.seed.unwrap_or(system.seed),
        threads,
        processes,
        precise,
        around: Vec::new(),
    };
    notes.extend(processes::sources(settings, &mut plan, system));
    Ok((plan, notes))
}

/// Checks that the steps and transactions of objectives exist in one of the plans.
///
/// # Errors
///
/// `SpecError` with the names that there are.
pub fn check_objectives(objectives: &[Objective], plans: &[&Plan]) -> Result<()> {
    let unknown = objectives.iter().find(|objective| !plans.iter().any(|plan| objective.applies_to(plan)));
    let Some(objective) = unknown else { return Ok(()) };
    let mut names: Vec<String> = plans.iter().flat_map(|plan| objective::step_names(plan)).collect();
    let mut unique = BTreeSet::new();
    names.retain(|name| unique.insert(name.clone()));
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let unknown = objective.step.as_deref().unwrap_or_default();
    bail!("objective `{objective}`: no step or transaction is called `{unknown}`; write one of {names}")
}

/// What a result file or a trace needs of each sample, where one is asked for.
pub fn records(output: &OutputSettings) -> Option<Records> {
    if output.trace {
        return Some(Records { detail: RecordDetail::Full, trace: true, ..Records::default() });
    }
    let is_xml = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
    let by_name = |path| if is_xml(path) { RecordDetail::Full } else { RecordDetail::Lines };
    let detail = output.jtl.as_deref().map(|path| output.jtl_format.unwrap_or_else(|| by_name(path)))?;
    Some(Records { detail, ..Records::default() })
}

#[cfg(test)]
mod tests;

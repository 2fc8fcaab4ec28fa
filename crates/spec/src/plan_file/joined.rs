//! Several plan files → one experiment: `brunt compare A=a.yaml B=b.yaml`.

use super::ResolvedPlan;
use crate::error::{Result, SpecError, ensure};
use crate::experiment::contenders;
use brunt_model::experiment::HookCommands;

/// Joins plan files of one contender each to one experiment. Each item of `all` is the new name of
/// the contender, if there is one, the path of the file, and the plan.
///
/// # Errors
///
/// A plan has several contenders or hooks around the experiment, or the plans
/// are in different folders.
pub fn join(all: Vec<(Option<String>, String, ResolvedPlan)>) -> Result<ResolvedPlan> {
    let is_single = all.len() == 1;
    let mut whole: Option<ResolvedPlan> = None;
    for (name, path, mut loaded) in all {
        let count = loaded.experiment.contenders.len();
        ensure!(
            is_single || count == 1,
            "{path} has {count} contenders; write it alone, or plans of one contender each"
        );
        if let (Some(name), [only]) = (name, &mut loaded.experiment.contenders[..]) {
            only.name = name;
        }
        let Some(first) = &mut whole else {
            whole = Some(loaded);
            continue;
        };
        let experiment = &mut first.experiment;
        let other = loaded.experiment;
        ensure!(
            // Commands and relative paths of an experiment have one working directory.
            experiment.directory == other.directory,
            "{path} lies in another folder than the first plan; put it there"
        );
        ensure!(
            other.hooks == HookCommands::default(),
            "{path} has hooks around the whole experiment, of which there is one; write them in the first plan"
        );
        other
            .contenders
            .into_iter()
            .try_for_each(|contender| contenders::add(&mut experiment.contenders, contender))?;
        experiment.source = format!("{}\n---\n{}", experiment.source, other.source);
        first.notes.extend(loaded.notes);
    }
    whole.ok_or_else(|| SpecError::unplaced("no plan is named"))
}

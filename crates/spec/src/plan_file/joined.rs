//! Several plan files → one experiment: `brunt compare A=a.yaml B=b.yaml`.

use super::Loaded;
use crate::error::{Result, SpecError, ensure};
use crate::experiment::contenders;
use brunt_model::experiment::HookCommands;

/// One experiment of several plan files of one contender each. `all` are the name that a contender gets, if it gets one, the path and
/// the plan.
///
/// # Errors
///
/// A plan has several contenders or hooks of its own, or the plans lie in different folders.
pub fn join(all: Vec<(Option<String>, String, Loaded)>) -> Result<Loaded> {
    let alone = all.len() == 1;
    let mut joined: Option<Loaded> = None;
    for (name, path, mut loaded) in all {
        let many = loaded.experiment.contenders.len();
        ensure!(alone || many == 1, "{path} has {many} contenders; write it alone, or plans of one contender each");
        if let (Some(name), [only]) = (name, &mut loaded.experiment.contenders[..]) {
            only.name = name;
        }
        let Some(first) = &mut joined else {
            joined = Some(loaded);
            continue;
        };
        let (ours, theirs) = (&mut first.experiment, loaded.experiment);
        ensure!(ours.directory == theirs.directory, "{path} lies in another folder than the first plan; put it there");
        ensure!(
            theirs.hooks == HookCommands::default(),
            "{path} has hooks around the whole experiment, of which there is one; write them in the first plan"
        );
        theirs.contenders.into_iter().try_for_each(|contender| contenders::add(&mut ours.contenders, contender))?;
        ours.source = format!("{}\n---\n{}", ours.source, theirs.source);
        first.notes.extend(loaded.notes);
    }
    joined.ok_or_else(|| SpecError::told("no plan is named"))
}

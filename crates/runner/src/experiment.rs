//! An experiment, carried out: its trials one after the other, kept, and told to an [`Observer`].
//!
//! The order of trials, hooks and managed servers are in the crate `rig`; results are computed in [`crate::decide`].
//!
//! * `measurer`: makes the runs that `rig` asks for, and keeps them. `left`: how long it will still take.
//! * `seek`: the trials of a search, one after the other. `trial`: each of them. `told`: what is said of it.

mod left;
mod measurer;
mod seek;
mod told;
mod trial;

use crate::decide;
use crate::error::RunError;
use crate::interrupt::Interrupt;
use crate::run::Listen;
use brunt_model::{Plan, Route, Study, TrialIndex};
use brunt_rig::{End, Failure, RigContext};
use brunt_store::{Redactor, Store};
use measurer::Measurer;
use seek::Seeker;
use std::collections::BTreeSet;
use std::sync::Arc;
pub use trial::Machine;

/// What an experiment is carried out with.
pub struct Conditions<'a> {
    /// This machine.
    pub machine: Machine,
    /// The store that trials are written to; None: they are not stored.
    pub store: Option<&'a Store>,
    /// Whether somebody wants it to end.
    pub interrupt: Interrupt,
    /// The study has no secrets; those who listen to its runs hear them as they are.
    pub redactor: Arc<Redactor>,
    /// Who is told how it goes on.
    pub observer: &'a dyn Observer,
}

/// Who is told how an experiment goes on.
pub trait Observer {
    /// Who hears the run that begins now; `title` says which of how many it is.
    fn progress(&self, plan: &Plan, title: String) -> Box<dyn Listen>;

    /// Who hears setup or teardown, beside the runner.
    fn stage(&self) -> Option<Box<dyn Listen>> {
        None
    }

    /// The way to the server of a run that begins now, and what its reader should be told.
    fn preflight(&self, plan: &Plan) -> (Option<Route>, Vec<String>);

    /// What goes on beside the runs, until something else does; empty: nothing more.
    fn show(&self, line: &str);

    /// Something that stays.
    fn tell(&self, line: &str);

    /// What a trial came to, whose load was known beforehand.
    fn made(&self, line: &str);
}

/// Carries out an experiment, or what is left of it: the study as far as it was made, and how it came to its end.
pub fn carry_out(
    study: Study,
    context: &RigContext,
    conditions: Conditions,
) -> (Study, Result<End, Failure<RunError>>) {
    let experiment = study.experiment.clone();
    let done: BTreeSet<TrialIndex> = study.trials.iter().map(|trial| trial.place).collect();
    let mut measurer = Measurer::new(study, &experiment, conditions, context.time);
    let outcome = match Seeker::new(&experiment.question, &measurer.study) {
        _ if decide::is_decided(&measurer.study) => Ok(End::Enough),
        Some(mut seeker) => brunt_rig::pursue(&experiment, &mut seeker, context, &mut measurer),
        None => brunt_rig::conduct(&experiment, &done, context, &mut measurer),
    };
    (measurer.study, outcome)
}

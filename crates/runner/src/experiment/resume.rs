//! Resumes an experiment that was interrupted.

use brunt_model::experiment::LoadStep;
use brunt_model::{Contender, Experiment, Question, Study};
use brunt_store::{Redactor, Store, StoreError};

/// Reason why an experiment cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// No experiment of this name was interrupted.
    #[error("--resume: no experiment `{name}` was interrupted; leave --resume out to begin one")]
    Unknown {
        /// Name of the experiment.
        name: String,
        /// Error of the store.
        source: StoreError,
    },
    /// The interrupted experiment was different.
    #[error(
        "--resume: `{name}` differs from the interrupted experiment {id}; leave --resume out to start a new one"
    )]
    Changed {
        /// Name of the experiment.
        name: String,
        /// Id of the experiment in the store.
        id: String,
    },
    /// Secrets are missing, which no store contains.
    #[error(
        "--resume: experiment {id} was stored without its secrets, and this command does not give {missing}; give it as before, \
         such as -H 'NAME: VALUE', --header-file FILE, or ${{env:NAME}} in the plan"
    )]
    Secrets {
        /// Id of the experiment in the store.
        id: String,
        /// Places in the plan without their secrets.
        missing: String,
    },
    /// The store cannot be read, or the experiment not continued.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads the last interrupted experiment of this name, with the ports and seeds of its start.
pub fn resume(store: &Store, requested: &Experiment) -> Result<Study, ResumeError> {
    let redactor = store.redactor();
    let mut redacted = requested.clone();
    // The stored experiment has no secrets, so only redacted ones can be equal.
    redactor.experiment(&mut redacted);
    let name = redacted.name.clone();
    let id = store
        .find_experiment(&name)
        .map_err(|source| ResumeError::Unknown { name: name.clone(), source })?;
    let mut study = store.resume_experiment(&id)?;
    if !is_same(&study.experiment, &redacted) {
        return Err(ResumeError::Changed { name, id });
    }
    let restored = redactor.restored(&study.experiment, requested, Redactor::experiment);
    study.experiment = restored
        .map_err(|missing| ResumeError::Secrets { id: id.clone(), missing: missing.join(", ") })?;
    update_places(&mut study.experiment, requested);
    let changed = (study.experiment.question != requested.question).then_some(&requested.question);
    study.resumptions.push(store.record_resumption(
        &id,
        brunt_engine::clock::unix_seconds(),
        changed,
    )?);
    study.experiment.question.clone_from(&requested.question);
    Ok(study)
}

/// Updates servers, commands and URLs, since a port of the first start may be in use now. Loads and
/// seeds stay, so that the trials of one repetition have the same arrivals.
fn update_places(stored: &mut Experiment, requested: &Experiment) {
    stored.scratch.clone_from(&requested.scratch);
    stored.hooks.clone_from(&requested.hooks);
    for (stored, requested) in stored.contenders.iter_mut().zip(&requested.contenders) {
        stored.server.clone_from(&requested.server);
        stored.hooks.clone_from(&requested.hooks);
        stored.probes.clone_from(&requested.probes);
        for (index, step) in stored.steps.iter_mut().enumerate() {
            // Steps that a search added have no counterpart: the pattern applies.
            let Some(now) = requested.steps.get(index).or(requested.steps.first()) else {
                continue;
            };
            for (stored, now) in step.plan.populations.iter_mut().zip(&now.plan.populations) {
                stored.scenario.clone_from(&now.scenario);
                stored.connection.clone_from(&now.connection);
            }
            step.plan.stages.clone_from(&now.plan.stages);
            step.plan.reply_policies.clone_from(&now.plan.reply_policies);
            step.plan.connection.clone_from(&now.plan.connection);
        }
    }
}

/// True if both have the same trials. URLs and commands may differ, since free ports are
/// drawn again each time.
fn is_same(stored: &Experiment, requested: &Experiment) -> bool {
    stored.contenders.len() == requested.contenders.len()
        && (stored.repetitions, stored.order) == (requested.repetitions, requested.order)
        && is_same_question(&stored.question, &requested.question)
        && stored
            .contenders
            .iter()
            .zip(&requested.contenders)
            .all(|(a, b)| is_same_contender(a, b, requested.has_search()))
}

/// `grows`: the stored contender may have further steps, which a search chose.
fn is_same_contender(a: &Contender, b: &Contender, grows: bool) -> bool {
    a.name == b.name
        && (a.steps.len() == b.steps.len() || grows)
        && a.steps.iter().zip(&b.steps).all(|(a, b)| is_same_step(a, b))
}

/// True if trials for one question are trials for the other. Time budget and
/// target precision may differ.
fn is_same_question(stored: &Question, requested: &Question) -> bool {
    match (stored, requested) {
        (Question::Find(a), Question::Find(b)) => {
            (&a.objectives, a.start, a.trial) == (&b.objectives, b.start, b.trial)
        }
        (Question::Compare(a), Question::Compare(b)) => match (&a.at_capacity, &b.at_capacity) {
            (Some(a), Some(b)) => {
                a.given == b.given
                    && (&a.find.objectives, a.find.start, a.find.trial)
                        == (&b.find.objectives, b.find.start, b.find.trial)
            }
            (a, b) => a.is_none() && b.is_none(),
        },
        (Question::Sweep, Question::Sweep) => true,
        _ => false,
    }
}

fn is_same_step(a: &LoadStep, b: &LoadStep) -> bool {
    // Not the whole plan: ports and URLs may differ.
    a.load == b.load
        && a.plan.main().load == b.plan.main().load
        && a.plan.main().stop == b.plan.main().stop
}

//! An experiment that was interrupted, taken up again.

use brunt_model::experiment::Step;
use brunt_model::{Experiment, Question, Study};
use brunt_store::{Redactor, Store, StoreError};

/// Why an experiment cannot be taken up again.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// No experiment of this name was interrupted.
    #[error("--resume: no experiment `{name}` was interrupted; leave --resume out to begin one")]
    Unknown {
        /// Its name.
        name: String,
        /// The error of the store.
        source: StoreError,
    },
    /// It was another one.
    #[error(
        "--resume: `{name}` says something else than experiment {id} did when it was interrupted; leave --resume out to \
         begin anew"
    )]
    Changed {
        /// Its name.
        name: String,
        /// Its id in the store.
        id: String,
    },
    /// Secrets are missing, which no store has.
    #[error(
        "--resume: experiment {id} was stored without its secrets, and this command does not give {missing}; give it as before, \
         such as -H 'NAME: VALUE', --header-file FILE, or ${{env:NAME}} in the plan"
    )]
    Secrets {
        /// Its id in the store.
        id: String,
        /// The places in the plan that lack them.
        missing: String,
    },
    /// It cannot be read, or not be continued.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is there of the last experiment of that name, to go on with: as it was resolved then, with its ports and seeds.
pub fn taken_up(store: &Store, asked: &Experiment) -> Result<Study, ResumeError> {
    let redactor = store.redactor();
    let mut known = asked.clone();
    redactor.experiment(&mut known);
    let name = known.name.clone();
    let id = store.find_experiment(&name).map_err(|source| ResumeError::Unknown { name: name.clone(), source })?;
    let mut study = store.resume_experiment(&id)?;
    if !is_same(&study.experiment, &known) {
        return Err(ResumeError::Changed { name, id });
    }
    let restored = redactor.restored(&study.experiment, asked, Redactor::experiment);
    study.experiment =
        restored.map_err(|missing| ResumeError::Secrets { id: id.clone(), missing: missing.join(", ") })?;
    place_anew(&mut study.experiment, asked);
    let changed = (study.experiment.question != asked.question).then_some(&asked.question);
    study.resumptions.push(store.state_resumption(&id, brunt_engine::clock::unix_seconds(), changed)?);
    study.experiment.question.clone_from(&asked.question);
    Ok(study)
}

/// Servers, commands and URLs are as they are resolved now: a port that was free then may be taken. Loads and seeds stay, so that
/// trials of one repetition see the same arrivals.
fn place_anew(kept: &mut Experiment, asked: &Experiment) {
    kept.scratch.clone_from(&asked.scratch);
    kept.hooks.clone_from(&asked.hooks);
    for (kept, asked) in kept.contenders.iter_mut().zip(&asked.contenders) {
        kept.server.clone_from(&asked.server);
        kept.hooks.clone_from(&asked.hooks);
        kept.probes.clone_from(&asked.probes);
        for (index, step) in kept.steps.iter_mut().enumerate() {
            let Some(now) = asked.steps.get(index).or(asked.steps.first()) else { continue };
            for (kept, now) in step.plan.populations.iter_mut().zip(&now.plan.populations) {
                kept.scenario.clone_from(&now.scenario);
                kept.connection.clone_from(&now.connection);
            }
            step.plan.around.clone_from(&now.plan.around);
            step.plan.reply_policies.clone_from(&now.plan.reply_policies);
            step.plan.connection.clone_from(&now.plan.connection);
        }
    }
}

/// Whether they are of the same trials. URLs and commands may differ: free ports are drawn anew each time.
fn is_same(kept: &Experiment, asked: &Experiment) -> bool {
    let pairs = || kept.contenders.iter().zip(&asked.contenders);
    kept.contenders.len() == asked.contenders.len()
        && (kept.repetitions, kept.order) == (asked.repetitions, asked.order)
        && is_same_question(&kept.question, &asked.question)
        && pairs().all(|(a, b)| a.name == b.name && (a.steps.len() == b.steps.len() || asked.grows()))
        && pairs().all(|(a, b)| a.steps.iter().zip(&b.steps).all(|(a, b)| is_same_step(a, b)))
}

/// Whether trials for the one are trials for the other. How much time there is, and how precise it is to be, may differ.
fn is_same_question(kept: &Question, asked: &Question) -> bool {
    match (kept, asked) {
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

fn is_same_step(a: &Step, b: &Step) -> bool {
    a.load == b.load && a.plan.main().load == b.plan.main().load && a.plan.main().stop == b.plan.main().stop
}

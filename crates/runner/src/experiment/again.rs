//! Repeats a stored run or experiment with another server: with the same loads and
//! repetitions, and another URL.

use brunt_model::experiment::LoadStep;
use brunt_model::{Body, Contender, Experiment, Plan, Question, Request};
use brunt_spec::experiment::{self, TrialArrangement};
use brunt_spec::{SpecError, defaults};
use brunt_store::redact::restore::redacted_places;
use brunt_store::{Store, StoreError, StoredItem};
use std::time::Duration;

/// Another server, and the secrets, which no store contains.
pub struct RepeatTarget {
    /// URL in place of the stored one.
    pub url: String,
    /// Header fields that replace stored ones, or are added.
    pub headers: Vec<(String, String)>,
    /// Body in place of the stored one.
    pub body: Option<Body>,
}

/// Reason why a stored run or experiment cannot be repeated with another server.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// The log has no plan, because it is old or damaged.
    #[error("{0} has no plan")]
    NoPlan(String),
    /// One URL cannot replace those of several servers.
    #[error(
        "{0} has several contenders, and one URL is given; measure its plan again, and name that run"
    )]
    Contenders(String),
    /// One URL cannot replace several.
    #[error("the baseline has several URLs, and one is given; measure it again, and name that run")]
    Urls,
    /// Secrets are missing, which the store does not contain.
    #[error(
        "the baseline was stored without its secrets, and {0} is one; give it again with -H 'NAME: VALUE', --header-file FILE \
         or --data @FILE"
    )]
    Secrets(String),
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The experiment is invalid.
    #[error(transparent)]
    Experiment(#[from] SpecError),
}

/// Creates the experiment that repeats a stored run or experiment with another server.
///
/// # Errors
///
/// The stored run cannot be read, or it has several requests.
pub fn experiment(
    store: &Store,
    stored: &StoredItem,
    target: &RepeatTarget,
    command: &str,
) -> Result<Experiment, AgainError> {
    let (mut steps, arrangement) = match stored {
        StoredItem::Run(id) => {
            let plan = store.run(id)?.plan.ok_or_else(|| AgainError::NoPlan(id.clone()))?;
            (
                vec![LoadStep::new(plan.main().load.peak(), plan)],
                single_contender("baseline-check", 1),
            )
        }
        StoredItem::Experiment(id) => {
            let mut experiment = store.study(id)?.experiment;
            let name = format!("{}-check", experiment.name);
            let [only] = &mut experiment.contenders[..] else {
                return Err(AgainError::Contenders(id.clone()));
            };
            let steps = std::mem::take(&mut only.steps);
            let arrangement = TrialArrangement {
                order: experiment.order,
                cooldown: experiment.cooldown,
                ..single_contender(&name, experiment.repetitions)
            };
            (steps, arrangement)
        }
    };
    for step in &mut steps {
        target.put_into(&mut step.plan)?;
    }
    let seed = steps.first().map_or(0, |step| step.plan.seed);
    Ok(experiment::experiment(
        vec![Contender::bare("now".into(), steps)],
        arrangement,
        seed,
        command,
    )?)
}

impl RepeatTarget {
    fn put_into(&self, plan: &mut Plan) -> Result<(), AgainError> {
        let [request] = &mut plan.main_mut().scenario.requests[..] else {
            return Err(AgainError::Urls);
        };
        request.url.clone_from(&self.url);
        // Labels of plain requests are their URLs.
        request.label.clone_from(&self.url);
        self.replace_secrets(request);
        // A request with a placeholder for a secret would measure the server's refusals.
        let missing = redacted_places(plan);
        if missing.is_empty() { Ok(()) } else { Err(AgainError::Secrets(missing.join(", "))) }
    }

    fn replace_secrets(&self, request: &mut Request) {
        for (name, value) in &self.headers {
            match request.headers.iter_mut().find(|header| header.0.eq_ignore_ascii_case(name)) {
                Some(header) => header.1.clone_from(value),
                None => request.headers.push((name.clone(), value.clone())),
            }
        }
        if let Some(body) = &self.body {
            request.body = body.clone();
        }
    }
}

/// Parameters of an experiment with one contender and this number of repetitions.
fn single_contender(name: &str, repetitions: u32) -> TrialArrangement {
    TrialArrangement {
        name: name.to_owned(),
        repetitions,
        order: defaults::TRIAL_ORDER,
        cooldown: Duration::ZERO,
        question: Question::Sweep,
    }
}

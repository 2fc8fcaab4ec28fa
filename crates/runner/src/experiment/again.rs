//! A stored run or experiment, to be made again with another server: the same loads, as often, and nothing but the URL another.

use brunt_model::experiment::Step;
use brunt_model::{Body, Contender, Experiment, Plan, Question, Request};
use brunt_spec::experiment::{self, Arranged};
use brunt_spec::{SpecError, defaults};
use brunt_store::redact::restore::redacted_places;
use brunt_store::{Store, StoreError, StoredItem};
use std::time::Duration;

/// Another server, and the secrets that no store has.
pub struct Target {
    /// The URL in place of the stored one.
    pub url: String,
    /// Headers that replace stored ones, or are added.
    pub headers: Vec<(String, String)>,
    /// The body in place of the stored one.
    pub body: Option<Body>,
}

/// Why something stored cannot be made again with another server.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// A run of an old or damaged log.
    #[error("{0} has no plan")]
    NoPlan(String),
    /// One URL cannot replace those of several servers.
    #[error("{0} has several contenders, and one URL is given; measure its plan again, and name that run")]
    Contenders(String),
    /// One URL cannot replace several.
    #[error("the baseline has several URLs, and one is given; measure it again, and name that run")]
    Urls,
    /// Secrets are missing.
    #[error(
        "the baseline was stored without its secrets, and {0} is one; give it again with -H 'NAME: VALUE', --header-file FILE \
         or --data @FILE"
    )]
    Secrets(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The experiment makes no sense.
    #[error(transparent)]
    Experiment(#[from] SpecError),
}

/// The experiment that repeats what is stored with another server.
///
/// # Errors
///
/// The stored run cannot be read, or it has several requests.
pub fn experiment(
    store: &Store,
    stored: &StoredItem,
    target: &Target,
    command: &str,
) -> Result<Experiment, AgainError> {
    let (mut steps, arranged) = match stored {
        StoredItem::Run(id) => {
            let plan = store.run(id)?.plan.ok_or_else(|| AgainError::NoPlan(id.clone()))?;
            (vec![Step::new(plan.main().load.peak(), plan)], alike("baseline-check", 1))
        }
        StoredItem::Experiment(id) => {
            let mut experiment = store.study(id)?.experiment;
            let name = format!("{}-check", experiment.name);
            let [only] = &mut experiment.contenders[..] else { return Err(AgainError::Contenders(id.clone())) };
            let steps = std::mem::take(&mut only.steps);
            let arranged = Arranged {
                order: experiment.order,
                cooldown: experiment.cooldown,
                ..alike(&name, experiment.repetitions)
            };
            (steps, arranged)
        }
    };
    for step in &mut steps {
        target.put_into(&mut step.plan)?;
    }
    let seed = steps.first().map_or(0, |step| step.plan.seed);
    Ok(experiment::experiment(vec![Contender::bare("now".into(), steps)], arranged, seed, command)?)
}

impl Target {
    fn put_into(&self, plan: &mut Plan) -> Result<(), AgainError> {
        let [request] = &mut plan.main_mut().scenario.requests[..] else { return Err(AgainError::Urls) };
        request.url.clone_from(&self.url);
        request.label.clone_from(&self.url);
        self.replace_secrets(request);
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

/// The parameters of an experiment with one contender and this number of repetitions.
fn alike(name: &str, repetitions: u32) -> Arranged {
    Arranged {
        name: name.to_owned(),
        repetitions,
        order: defaults::TRIAL_ORDER,
        cooldown: Duration::ZERO,
        question: Question::Sweep,
    }
}

//! Steps around a list of steps: `transaction`, `group`, `parallel`,
//! `lock`, `once` and `resumable`.

use super::{StepForm, StepList, StepNode, around, positive, write};
use crate::error::Result;
use crate::plan::Yaml;
use crate::plan::scenario::ScenarioReader;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::write::Wording;
use crate::plan::words::Scalar;
use brunt_model::scenario::{ConcurrencyMode, Pauses, ScenarioStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// Steps that are timed together.
#[derive(Deserialize, JsonSchema)]
pub struct TransactionStep {
    /// Name of the transaction.
    transaction: Scalar,
    /// Whether pauses count. Default: false.
    with_pauses: Option<bool>,
    /// The steps that are timed together.
    steps: StepList,
}

impl StepForm for TransactionStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["transaction"], "{transaction: name, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let pauses =
            if self.with_pauses == Some(true) { Pauses::Included } else { Pauses::Excluded };
        let steps = self.steps.read(reader, step.node, "steps")?;
        Ok(vec![ScenarioStep::Transaction {
            name: self.transaction.0,
            pauses,
            parent: false,
            steps,
        }])
    }
}

/// Writes a transaction. Without steps, there is none.
pub fn write_transaction(
    name: &str,
    pauses: Pauses,
    steps: &[ScenarioStep],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    let name = wording.text(name);
    let steps = write(steps, wording);
    if steps.is_empty() {
        return Vec::new();
    }
    let mut keys = vec![("transaction".to_owned(), Yaml::text(name))];
    if pauses == Pauses::Included {
        keys.push(("with_pauses".to_owned(), Yaml::text("true")));
    }
    keys.push(("steps".to_owned(), Yaml::List(steps)));
    vec![Yaml::Map(keys)]
}

/// Steps that belong together. They are not timed.
#[derive(Deserialize, JsonSchema)]
pub struct GroupStep {
    /// The steps.
    group: StepList,
    /// Name of the group.
    name: Option<Scalar>,
}

impl StepForm for GroupStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["group"], "group: []");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let steps = self.group.read(reader, step.node, "group")?;
        Ok(vec![ScenarioStep::Group { name: self.name.unwrap_or_default().0, steps }])
    }
}

/// Writes a group of these steps.
pub fn group(name: impl Into<String>, steps: Vec<Yaml>) -> Yaml {
    Yaml::map([("name", Yaml::text(name)), ("group", Yaml::List(steps))])
}

/// Requests that are made at the same time.
#[derive(Deserialize, JsonSchema)]
pub struct ParallelStep {
    /// Maximum number of requests in flight at once.
    parallel: Scalar,
    /// The requests.
    steps: StepList,
}

impl StepForm for ParallelStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["parallel"], "{parallel: 4, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let manner = ConcurrencyMode::Parallel(
            positive(&self.parallel.0).map_err(|error| step.error(error))?,
        );
        Ok(vec![ScenarioStep::Together {
            manner,
            steps: self.steps.read(reader, step.node, "steps")?,
        }])
    }
}

/// Writes requests that are made at the same time. Other steps among them come before.
pub fn write_together(
    manner: ConcurrencyMode,
    steps: &[ScenarioStep],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    let max_in_flight = match manner {
        ConcurrencyMode::Parallel(max_in_flight) => max_in_flight,
        // Plan files have no pipelining; one after the other keeps the order of the replies.
        ConcurrencyMode::Pipelined => 1,
    };
    // `parallel` contains requests, or loops and choices of them; other steps run before it.
    let (requests, others): (Vec<ScenarioStep>, Vec<ScenarioStep>) =
        steps.iter().cloned().partition(is_requests_only);
    let mut all = write(&others, wording);
    let requests = write(&requests, wording);
    if !requests.is_empty() {
        all.push(Yaml::map([
            ("parallel", Yaml::text(max_in_flight.to_string())),
            ("steps", Yaml::List(requests)),
        ]));
    }
    all
}

/// True for a request, and for loops and choices of requests only.
fn is_requests_only(step: &ScenarioStep) -> bool {
    match step {
        ScenarioStep::Request(_) => true,
        ScenarioStep::Loop { .. } | ScenarioStep::Choose { .. } => {
            step.inner().into_iter().flatten().all(is_requests_only)
        }
        _ => false,
    }
}

/// Steps that only one user of the run at a time carries out.
#[derive(Deserialize, JsonSchema)]
pub struct LockStep {
    /// Name of the lock.
    lock: Scalar,
    /// The steps.
    steps: StepList,
}

impl StepForm for LockStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["lock"], "{lock: name, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        Ok(vec![ScenarioStep::Lock {
            name: self.lock.0,
            steps: self.steps.read(reader, step.node, "steps")?,
        }])
    }
}

/// Writes steps within a lock.
pub fn write_lock(name: &str, steps: &[ScenarioStep], wording: &mut dyn Wording) -> Vec<Yaml> {
    let name = wording.text(name);
    around("lock", Yaml::Text(name), steps, wording)
}

/// Steps of each user's first iteration only.
#[derive(Deserialize, JsonSchema)]
pub struct OnceStep {
    /// The steps.
    once: StepList,
}

impl StepForm for OnceStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["once"], "once: []");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        Ok(vec![ScenarioStep::Once(self.once.read(reader, step.node, "once")?)])
    }
}

/// Steps within a branch of turns: each turn continues after the end of the last one.
#[derive(Deserialize, JsonSchema)]
pub struct ResumableStep {
    /// The steps.
    resumable: StepList,
}

impl StepForm for ResumableStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["resumable"], "resumable: []");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        Ok(vec![ScenarioStep::Resumable(self.resumable.read(reader, step.node, "resumable")?)])
    }
}

/// Writes a step with a list of steps as its only value. Without steps, there is none.
pub fn list_alone(key: &str, steps: Vec<Yaml>) -> Vec<Yaml> {
    if steps.is_empty() { Vec::new() } else { vec![Yaml::map([(key, Yaml::List(steps))])] }
}

//! Steps around a list of steps: `transaction`, `group`, `parallel`, `lock`, `once` and `resumable`.

use super::{StepForm, StepList, StepNode, positive};
use crate::error::Result;
use crate::plan::scenario::Reader;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::words::Scalar;
use brunt_model::scenario::{Manner, Pauses, Step};
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["transaction"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let pauses = if self.with_pauses == Some(true) { Pauses::Included } else { Pauses::Excluded };
        let steps = self.steps.read(reader, step.node, "steps")?;
        Ok(vec![Step::Transaction { name: self.transaction.0, pauses, parent: false, steps }])
    }
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["group"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let steps = self.group.read(reader, step.node, "group")?;
        Ok(vec![Step::Group { name: self.name.unwrap_or_default().0, steps }])
    }
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["parallel"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let manner = Manner::Parallel(positive(&self.parallel.0).map_err(|error| step.error(error))?);
        Ok(vec![Step::Together { manner, steps: self.steps.read(reader, step.node, "steps")? }])
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["lock"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        Ok(vec![Step::Lock { name: self.lock.0, steps: self.steps.read(reader, step.node, "steps")? }])
    }
}

/// Steps of each user's first iteration only.
#[derive(Deserialize, JsonSchema)]
pub struct OnceStep {
    /// The steps.
    once: StepList,
}

impl StepForm for OnceStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["once"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        Ok(vec![Step::Once(self.once.read(reader, step.node, "once")?)])
    }
}

/// Steps within a branch of turns: each turn continues after the end of the last one.
#[derive(Deserialize, JsonSchema)]
pub struct ResumableStep {
    /// The steps.
    resumable: StepList,
}

impl StepForm for ResumableStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["resumable"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        Ok(vec![Step::Resumable(self.resumable.read(reader, step.node, "resumable")?)])
    }
}

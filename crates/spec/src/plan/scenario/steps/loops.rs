//! Steps that are repeated: `loop`, `while`, `during` and `for_each`.

use super::conditions::ConditionForm;
use super::{StepForm, StepList, StepNode};
use crate::error::{Result, SpecError};
use crate::plan::Node;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::{Reader, expected, items};
use crate::plan::words::{Nested, Scalar, ScalarList};
use crate::words::duration;
use brunt_model::scenario::{Rounds, Step, Values};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Steps that are repeated a number of times.
#[derive(Deserialize, JsonSchema)]
pub struct LoopStep {
    /// Number of rounds, or `forever`.
    r#loop: Scalar,
    /// The steps.
    steps: StepList,
}

impl StepForm for LoopStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["loop"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let times = rounds(&self.r#loop.0).map_err(|error| step.error(error))?;
        Ok(vec![Step::Loop { times, steps: self.steps.read(reader, step.node, "steps")? }])
    }
}

fn rounds(text: &str) -> Result<Option<Rounds>> {
    match (text, text.parse()) {
        ("forever", _) => Ok(None),
        (_, Ok(times)) => Ok(Some(Rounds::Number(times))),
        (text, _) if text.contains("${") => Ok(Some(Rounds::Text(text.to_owned()))),
        (text, _) => Err(SpecError::told(format!("`{text}`: not a whole number; write one such as 3, or `forever`"))),
    }
}

/// Steps that are repeated as long as a condition holds.
#[derive(Deserialize, JsonSchema)]
pub struct WhileStep {
    /// The condition, evaluated before each round.
    r#while: Nested<ConditionForm>,
    /// The steps.
    steps: StepList,
}

impl StepForm for WhileStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["while"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let condition = self.r#while.read(&step.key.node).map_err(|error| step.error(error))?;
        Ok(vec![Step::While { condition, twice: false, steps: self.steps.read(reader, step.node, "steps")? }])
    }
}

/// Steps that are repeated for a time.
#[derive(Deserialize, JsonSchema)]
pub struct DuringStep {
    /// The time, such as `30s`. The request in flight at its end is the last.
    during: Scalar,
    /// The steps.
    steps: StepList,
}

impl StepForm for DuringStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["during"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let time = self.during.0;
        let seconds = match duration::parse(&time) {
            Ok(time) => time.as_secs_f64().to_string(),
            Err(_) if time.contains("${") => time,
            Err(error) => return Err(step.error(error)),
        };
        Ok(vec![Step::During { seconds, steps: self.steps.read(reader, step.node, "steps")? }])
    }
}

/// Steps, once for each value of a variable.
#[derive(Deserialize, JsonSchema)]
pub struct ForEachStep {
    /// A variable and its values: a list, or `id_*` for the values of `id_1`, `id_2`, ….
    for_each: Nested<BTreeMap<String, ScalarList>>,
    /// The steps.
    steps: StepList,
}

impl StepForm for ForEachStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["for_each"]);

    fn read(self, reader: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let (variable, values) = self.for_each.read(&step.key.node).map_err(|error| step.error(error))?;
        Ok(vec![Step::ForEach { variable, values, steps: self.steps.read(reader, step.node, "steps")? }])
    }
}

impl Nested<BTreeMap<String, ScalarList>> {
    fn read(&self, node: &Node) -> Result<(String, Values)> {
        let [entry] = node.entries() else {
            let instead = "one such as `for_each: {item: [a, b]}`";
            return Err(expected(&node.at, "", "a variable and its values", instead));
        };
        let values: Option<Vec<String>> =
            items(&entry.node).iter().map(|value| Some(value.text()?.to_owned())).collect();
        let values = values.ok_or_else(|| expected(&entry.node.at, "", "a list of values", "one such as [a, b]"))?;
        Ok((entry.key.clone(), numbered_or_list(values)))
    }
}

/// A single text with a star stands for numbered variables.
fn numbered_or_list(values: Vec<String>) -> Values {
    match &values[..] {
        [one] if one.ends_with("_*") => {
            Values::Numbered { prefix: one.trim_end_matches('*').to_owned(), after: String::new(), last: String::new() }
        }
        _ => Values::List(values),
    }
}

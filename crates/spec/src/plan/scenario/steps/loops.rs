//! Steps that are repeated: `loop`, `while`, `during` and `for_each`.

use super::conditions::{self, ConditionForm};
use super::{StepForm, StepList, StepNode, around};
use crate::error::{Result, SpecError};
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::write::{InexpressiblePart, Wording};
use crate::plan::scenario::{ScenarioReader, expected, items};
use crate::plan::words::{Nested, Scalar, ScalarList};
use crate::plan::write::plan_time;
use crate::plan::{PlanNode, Yaml};
use crate::words::duration;
use brunt_model::scenario::{Condition, LoopValues, Rounds, ScenarioStep};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Steps that are repeated a number of times.
#[derive(Deserialize, JsonSchema)]
pub struct LoopStep {
    /// Number of rounds, or `forever`.
    r#loop: Scalar,
    /// The steps.
    steps: StepList,
}

impl StepForm for LoopStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["loop"], "{loop: 2, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let times = rounds(&self.r#loop.0).map_err(|error| step.error(error))?;
        Ok(vec![ScenarioStep::Loop { times, steps: self.steps.read(reader, step.node, "steps")? }])
    }
}

/// Writes a loop; `None` rounds are endless.
pub fn write_loop(
    times: Option<&Rounds>,
    steps: &[ScenarioStep],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    let times = match times {
        None => "forever".to_owned(),
        Some(Rounds::Number(times)) => times.to_string(),
        Some(Rounds::Text(times)) => wording.text(times),
    };
    around("loop", Yaml::Text(times), steps, wording)
}

fn rounds(text: &str) -> Result<Option<Rounds>> {
    match (text, text.parse()) {
        ("forever", _) => Ok(None),
        (_, Ok(times)) => Ok(Some(Rounds::Number(times))),
        (text, _) if text.contains("${") => Ok(Some(Rounds::Text(text.to_owned()))),
        (text, _) => Err(SpecError::unplaced(format!(
            "`{text}`: not a whole number; write one such as 3, or `forever`"
        ))),
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["while"], "{while: succeeded, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let condition = self.r#while.read(&step.key.node).map_err(|error| step.error(error))?;
        Ok(vec![ScenarioStep::While {
            condition,
            twice: false,
            steps: self.steps.read(reader, step.node, "steps")?,
        }])
    }
}

/// Writes a loop with a condition.
pub fn write_while(
    condition: &Condition,
    twice: bool,
    steps: &[ScenarioStep],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    // Only JMeter's While Controller evaluates its condition twice between two rounds.
    if twice {
        wording.lose(InexpressiblePart::SecondEvaluation(condition));
    }
    let condition = conditions::write(condition, wording);
    around("while", condition, steps, wording)
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["during"], "{during: 10s, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let time = self.during.0;
        // The model has a text of seconds, since JMeter's Runtime Controller evaluates one.
        let seconds = match duration::parse(&time) {
            Ok(time) => time.as_secs_f64().to_string(),
            // Only the run knows the value of an expression.
            Err(_) if time.contains("${") => time,
            Err(error) => return Err(step.error(error)),
        };
        Ok(vec![ScenarioStep::During {
            seconds,
            steps: self.steps.read(reader, step.node, "steps")?,
        }])
    }
}

/// Writes a loop with a time.
pub fn write_during(seconds: &str, steps: &[ScenarioStep], wording: &mut dyn Wording) -> Vec<Yaml> {
    let time = match seconds.trim().parse() {
        Ok(seconds) => plan_time(Duration::try_from_secs_f64(seconds).unwrap_or_default()),
        Err(_) => wording.text(seconds),
    };
    around("during", Yaml::Text(time), steps, wording)
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
    const KEYS: FormKeys =
        FormKeys::of::<Self>(&["for_each"], "{for_each: {item: [a, b]}, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let (variable, values) =
            self.for_each.read(&step.key.node).map_err(|error| step.error(error))?;
        Ok(vec![ScenarioStep::ForEach {
            variable,
            values,
            steps: self.steps.read(reader, step.node, "steps")?,
        }])
    }
}

/// Writes a loop over values.
pub fn write_for_each(
    variable: &str,
    values: &LoopValues,
    steps: &[ScenarioStep],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    let values = match values {
        LoopValues::List(values) => {
            Yaml::List(values.iter().map(|value| Yaml::Text(wording.text(value))).collect())
        }
        LoopValues::Numbered { prefix, after, last } => {
            // A plan file always begins with number 1 and has no last one.
            if !matches!(after.trim(), "" | "0") || !last.trim().is_empty() {
                wording.lose(InexpressiblePart::NumberRange(prefix));
            }
            // The notation of numbered variables in plan files, such as `id_*`.
            Yaml::Text(format!("{}*", wording.text(prefix)))
        }
    };
    around("for_each", Yaml::Map(vec![(variable.to_owned(), values)]), steps, wording)
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<BTreeMap<String, ScalarList>> {
    fn read(&self, node: &PlanNode) -> Result<(String, LoopValues)> {
        let [entry] = node.entries() else {
            let instead = "one such as `for_each: {item: [a, b]}`";
            return Err(expected(&node.at, "", "a variable and its values", instead));
        };
        let values: Option<Vec<String>> =
            items(&entry.node).iter().map(|value| Some(value.text()?.to_owned())).collect();
        let values = values.ok_or_else(|| {
            expected(&entry.node.at, "", "a list of values", "one such as [a, b]")
        })?;
        Ok((entry.key.clone(), numbered_or_list(values)))
    }
}

/// Reads the values of a variable. A single text that ends with `_*` refers to numbered variables.
fn numbered_or_list(values: Vec<String>) -> LoopValues {
    match &values[..] {
        [one] if one.ends_with("_*") => LoopValues::Numbered {
            prefix: one.trim_end_matches('*').to_owned(),
            after: String::new(),
            last: String::new(),
        },
        _ => LoopValues::List(values),
    }
}

//! Steps that set variables: `set`, `count` and `row`.

use super::{StepForm, StepNode, one};
use crate::error::{Result, SpecError};
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::write::Wording;
use crate::plan::scenario::{ScenarioReader, expected, texts};
use crate::plan::words::{Nested, Scalar};
use crate::plan::{NamedNode, PlanNode, PlanValue, Yaml, read};
use brunt_model::scenario::{ScenarioStep, VariableCounter};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Variables that get texts.
#[derive(Deserialize, JsonSchema)]
pub struct SetStep {
    /// Texts by variable.
    set: Nested<BTreeMap<String, Scalar>>,
}

impl StepForm for SetStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["set"], "set: {name: value}");

    fn read(self, _: &mut ScenarioReader<'_>, step: &StepNode<'_>) -> Result<Vec<ScenarioStep>> {
        let all = self.set.texts(&step.key.node)?.into_iter();
        Ok(all.map(|(variable, value)| ScenarioStep::Set { variable, value }).collect())
    }
}

/// Writes the step that sets a variable to a text; None if the variable has no name.
pub fn write_set(variable: &str, value: &str, wording: &mut dyn Wording) -> Option<Yaml> {
    (!variable.trim().is_empty()).then(|| set(variable, wording.text(value)))
}

/// Writes the step that sets a variable to this text.
pub fn set(variable: &str, value: String) -> Yaml {
    Yaml::map([("set", Yaml::Map(vec![(variable.to_owned(), Yaml::Text(value))]))])
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<BTreeMap<String, Scalar>> {
    fn texts(&self, node: &PlanNode) -> Result<Vec<(String, String)>> {
        texts(node, "set")
    }
}

/// Variables that count.
#[derive(Deserialize, JsonSchema)]
pub struct CountStep {
    /// Counters by variable.
    count: Nested<BTreeMap<String, CounterForm>>,
}

/// A variable that counts.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct CounterForm {
    /// The first number. Default: 0.
    start: Scalar,
    /// The increment. Default: 1.
    step: Scalar,
    /// The greatest number, after which it begins again. Default: none.
    end: Scalar,
    /// Format of the number, in Java's `DecimalFormat`, such as `000`.
    format: Scalar,
    /// Whether each user counts for itself. Default: false.
    per_user: bool,
    /// Whether it begins again with each iteration, where each user counts for itself. Default: false.
    resets: bool,
}

impl StepForm for CountStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["count"], "count: {number: {start: 1}}");

    fn read(self, _: &mut ScenarioReader<'_>, step: &StepNode<'_>) -> Result<Vec<ScenarioStep>> {
        let counters = self.count.read(&step.key.node).map_err(|error| step.error(error))?;
        Ok(counters.into_iter().map(ScenarioStep::Count).collect())
    }
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<BTreeMap<String, CounterForm>> {
    fn read(&self, node: &PlanNode) -> Result<Vec<VariableCounter>> {
        if !matches!(node.value, PlanValue::Map(_)) {
            return Err(expected(&node.at, "", "a map", "`name: {}` below it"));
        }
        node.entries().iter().map(counter).collect()
    }
}

fn counter(entry: &NamedNode) -> Result<VariableCounter> {
    let form: CounterForm =
        read(&entry.node).map_err(|error| error.within(&entry.key, &entry.node.at))?;
    Ok(VariableCounter {
        variable: entry.key.clone(),
        start: form.start.0,
        step: form.step.0,
        end: form.end.0,
        format: form.format.0,
        per_user: form.per_user,
        resets: form.resets,
    })
}

/// Returns the step of a counter as a plan file has it.
pub fn write_count(counter: &VariableCounter, wording: &mut dyn Wording) -> Yaml {
    let texts = [
        ("start", &counter.start),
        ("step", &counter.step),
        ("end", &counter.end),
        ("format", &counter.format),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let mut keys: Vec<(String, Yaml)> =
        texts.map(|(key, text)| (key.to_owned(), Yaml::Text(wording.text(text)))).collect();
    let switches = [("per_user", counter.per_user), ("resets", counter.resets)];
    keys.extend(
        switches
            .iter()
            .filter(|(_, is_on)| *is_on)
            .map(|(key, _)| ((*key).to_owned(), Yaml::text("true"))),
    );
    Yaml::map([("count", Yaml::Map(vec![(counter.variable.clone(), Yaml::Map(keys))]))])
}

/// The next row of a data file.
#[derive(Deserialize, JsonSchema)]
pub struct RowStep {
    /// The file, one of those below `data`.
    row: Scalar,
}

impl StepForm for RowStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["row"], "row: users.csv");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        // The names are compared as paths, because both are relative to the folder of the plan.
        let file = reader.file(&self.row.0);
        let number = reader.data.iter().position(|known| known.file == file).ok_or_else(|| {
            let wrong = format!(
                "`{}` is not among the files below scenario.data; write one of them",
                self.row.0
            );
            step.error(SpecError::unplaced(wrong))
        })?;
        Ok(vec![ScenarioStep::Row(number as u32)])
    }
}

/// Writes the step that takes a row; None if there is no such file.
pub fn write_row(number: u32, wording: &mut dyn Wording) -> Option<Yaml> {
    wording.data_file(number).map(|file| one("row", file))
}

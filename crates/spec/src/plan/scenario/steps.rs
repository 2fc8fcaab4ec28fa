//! The steps of a scenario. `KINDS` has a row for each kind; its form has the keys and reads them.
//! `write_step` has an arm for each step of the model.
//!
//! * `requests`, `bodies`, `calls`: requests. `pauses`, `blocks`, `loops`, `branches`, `variables`,
//!   `scripts`: the other kinds.
//! * `conditions`: the conditions of branches and loops.

mod blocks;
mod bodies;
mod branches;
pub(super) mod calls;
mod conditions;
mod loops;
mod pauses;
mod requests;
mod scripts;
mod variables;

use super::write::{InexpressiblePart, Wording};
pub use blocks::group;
pub(in crate::plan) use branches::{branch_keys, case_keys};
pub use requests::method_and_url;
pub use scripts::script;
pub use variables::set;

use super::forms::{FormKeys, FormMatch, FormTable, schemas};
use super::{ScenarioReader, expected};
use crate::error::{Result, SpecError, nearest};
use crate::plan::words::Nested;
use crate::plan::{NamedNode, PlanNode, PlanValue, Yaml, read};
use brunt_model::scenario::{Condition, SampleMaker, ScenarioStep};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The kinds of steps.
static KINDS: [StepKind; 24] = [
    StepKind::of::<requests::RequestStep>(),
    StepKind::of::<calls::CallStep>(),
    StepKind::of::<pauses::ThinkStep>(),
    StepKind::of::<pauses::PaceStep>(),
    StepKind::of::<pauses::MeetStep>(),
    StepKind::of::<blocks::TransactionStep>(),
    StepKind::of::<blocks::GroupStep>(),
    StepKind::of::<blocks::ParallelStep>(),
    StepKind::of::<blocks::LockStep>(),
    StepKind::of::<blocks::OnceStep>(),
    StepKind::of::<blocks::ResumableStep>(),
    StepKind::of::<loops::LoopStep>(),
    StepKind::of::<loops::WhileStep>(),
    StepKind::of::<loops::DuringStep>(),
    StepKind::of::<loops::ForEachStep>(),
    StepKind::of::<branches::IfStep>(),
    StepKind::of::<branches::SwitchStep>(),
    StepKind::of::<branches::ChooseStep>(),
    StepKind::of::<branches::ShuffleStep>(),
    StepKind::of::<variables::SetStep>(),
    StepKind::of::<variables::CountStep>(),
    StepKind::of::<variables::RowStep>(),
    StepKind::of::<scripts::ScriptStep>(),
    StepKind::of::<scripts::StopStep>(),
];

pub(in crate::plan) static TABLE: LazyLock<FormTable> =
    LazyLock::new(|| FormTable::new("step", KINDS.iter().map(|kind| &kind.keys)));

/// A kind of step, as plan files have it. Its fields are its keys; they define the types of the
/// values and the JSON Schema.
trait StepForm: DeserializeOwned + JsonSchema {
    /// Keys of the step, and those that define it.
    const KEYS: FormKeys;

    /// Returns the step of the model; some kinds become several.
    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>>;
}

/// Keys of all steps.
#[derive(Deserialize, JsonSchema)]
struct CommonKeys {
    /// `false`: the step is not executed. Default: true.
    enabled: Option<bool>,
}

/// A row of [`KINDS`].
struct StepKind {
    keys: FormKeys,
    read: fn(&mut ScenarioReader<'_>, &StepNode<'_>) -> Result<Vec<ScenarioStep>>,
}

impl StepKind {
    const fn of<F: StepForm>() -> Self {
        Self {
            keys: F::KEYS.and(CommonKeys::json_schema),
            read: |reader, step| read::<F>(step.node)?.read(reader, step),
        }
    }
}

/// A step in the tree of a plan file.
struct StepNode<'n> {
    node: &'n PlanNode,
    /// The entry that defines it.
    key: &'n NamedNode,
}

impl StepNode<'_> {
    /// An error of the value that defines the step.
    fn error(&self, error: impl Into<SpecError>) -> SpecError {
        error.into().within(&self.key.key, &self.key.node.at)
    }
}

/// A step in the JSON Schema.
#[derive(Debug, Clone)]
pub struct StepSchema;

impl JsonSchema for StepSchema {
    fn schema_name() -> Cow<'static, str> {
        "Step".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = schemas(KINDS.iter().map(|kind| &kind.keys), generator);
        json_schema!({ "description": "A step: one key is its kind, the others are its options.", "anyOf": kinds })
    }
}

impl ScenarioReader<'_> {
    /// Reads the steps of a list. `key` is the place of the list, such as `steps` or `choose[0].steps`.
    pub(super) fn steps(&mut self, node: &PlanNode, key: &str) -> Result<Vec<ScenarioStep>> {
        let PlanValue::List(nodes) = &node.value else {
            return Err(expected(&node.at, key, "a list of steps", "each in a line `- get: URL`"));
        };
        let mut steps = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let place = format!("{key}[{number}]");
            let outer = self.path.len();
            if outer > 0 {
                self.path.push('.');
            }
            self.path.push_str(&place);
            let read = self.step(node);
            self.path.truncate(outer);
            steps.extend(read.map_err(|error| error.within(&place, &node.at))?);
        }
        Ok(steps)
    }

    fn step(&mut self, node: &PlanNode) -> Result<Vec<ScenarioStep>> {
        if !matches!(node.value, PlanValue::Map(_)) {
            let wrong = format!("{} instead of a map; write `name: value` below it", node.kind());
            return Err(SpecError::new(&node.at, "", wrong));
        }
        // Refuses misspelled names, also without a value.
        TABLE.find(node)?;
        let node = &node.without_null_entries();
        match TABLE.find(node)? {
            FormMatch::Kind(..) if read::<CommonKeys>(node)?.enabled == Some(false) => {
                Ok(Vec::new())
            }
            // Other tools group the request in a map.
            FormMatch::Kind(_, NamedNode { key, node, .. }) if node.child("url").is_some() => {
                let url = node.child("url").and_then(PlanNode::text).unwrap_or("URL");
                let wrong =
                    format!("a map; write `{key}: {url}`, and its other keys in lines below it");
                Err(SpecError::new(&node.at, key, wrong))
            }
            FormMatch::Kind(kind, key) => (KINDS[kind].read)(self, &StepNode { node, key }),
            FormMatch::Twice(one, other) => {
                let wrong = format!(
                    "`{}` and `{}` are in one step; write each in a separate step",
                    other.key, one.key
                );
                Err(SpecError::new(&other.at, "", wrong))
            }
            FormMatch::Nothing => {
                let near = node
                    .entries()
                    .iter()
                    .find_map(|entry| nearest(&entry.key, TABLE.defining_keys()));
                let instead = near.map_or_else(
                    || "one such as `get: URL` or `think: 1s`".to_owned(),
                    |near| format!("`{near}`"),
                );
                Err(SpecError::new(
                    &node.at,
                    "",
                    format!("no key names the kind of this step; write {instead}"),
                ))
            }
        }
    }
}

/// A list of steps in a form.
type StepList = Nested<Vec<StepSchema>>;

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl StepList {
    /// Reads it from the map around it. `key` is its place below the step, such as `steps` or `choose[0].steps`.
    fn read(
        &self,
        reader: &mut ScenarioReader<'_>,
        map: &PlanNode,
        key: &str,
    ) -> Result<Vec<ScenarioStep>> {
        let (place, name) = key.rsplit_once('.').unwrap_or(("", key));
        let steps = map.child(name).ok_or_else(|| {
            SpecError::new(
                &map.at,
                place,
                format!("its `{name}` are missing; write a list of them below it"),
            )
        })?;
        reader.steps(steps, key)
    }
}

/// Returns a whole number above 0.
fn positive(text: &str) -> Result<u32> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| {
        SpecError::unplaced(format!("`{text}`: not a whole number above 0; write one such as 6"))
    })
}

/// Writes the steps of a list.
pub fn write(steps: &[ScenarioStep], wording: &mut dyn Wording) -> Vec<Yaml> {
    steps.iter().flat_map(|step| write_step(step, wording)).collect()
}

/// Writes a step. There is no wildcard arm, so that a new variant does not compile until this
/// function handles it.
fn write_step(step: &ScenarioStep, wording: &mut dyn Wording) -> Vec<Yaml> {
    match step {
        ScenarioStep::Request(number) => wording.request(*number),
        ScenarioStep::Together { manner, steps } => blocks::write_together(*manner, steps, wording),
        ScenarioStep::Group { name, steps } => {
            vec![blocks::group(wording.text(name), write(steps, wording))]
        }
        ScenarioStep::Transaction { name, pauses, steps, .. } => {
            blocks::write_transaction(name, *pauses, steps, wording)
        }
        ScenarioStep::Loop { times, steps } => loops::write_loop(times.as_ref(), steps, wording),
        ScenarioStep::While { condition, twice, steps } => {
            loops::write_while(condition, *twice, steps, wording)
        }
        // Plan files have no condition by share, but a choice with weights has the same effect.
        ScenarioStep::If { condition: Condition::Share(share), then, .. } => {
            branches::write_share(share, then, wording)
        }
        ScenarioStep::If { condition, then, otherwise } => {
            branches::write_if(condition, then, otherwise, wording)
        }
        ScenarioStep::ForEach { variable, values, steps } => {
            loops::write_for_each(variable, values, steps, wording)
        }
        ScenarioStep::Switch { value, cases } => {
            vec![branches::write_switch(value, cases, wording)]
        }
        ScenarioStep::Shuffle(lists) => branches::write_shuffle(lists, wording),
        ScenarioStep::During { seconds, steps } => loops::write_during(seconds, steps, wording),
        ScenarioStep::Lock { name, steps } => blocks::write_lock(name, steps, wording),
        ScenarioStep::Choose { order, portion, branches } => {
            branches::write_choose(*order, *portion, branches, wording)
        }
        ScenarioStep::Resumable(steps) => blocks::list_alone("resumable", write(steps, wording)),
        ScenarioStep::Once(steps) => blocks::list_alone("once", write(steps, wording)),
        ScenarioStep::OncePerLoop(steps) => {
            // Plan files have only `once` per user, which differs in a loop.
            wording.lose(InexpressiblePart::OncePerLoop);
            blocks::list_alone("once", write(steps, wording))
        }
        ScenarioStep::Think(range) => vec![pauses::write_think(range)],
        ScenarioStep::Pause(millis) => pauses::write_pause(millis, wording).into_iter().collect(),
        ScenarioStep::Pace(pace) => pauses::write_pace(pace, wording).into_iter().collect(),
        ScenarioStep::Meet { users, timeout } => vec![pauses::write_meet(users, timeout, wording)],
        ScenarioStep::Set { variable, value } => {
            variables::write_set(variable, value, wording).into_iter().collect()
        }
        ScenarioStep::Row(number) => variables::write_row(*number, wording).into_iter().collect(),
        ScenarioStep::Count(counter) => vec![variables::write_count(counter, wording)],
        ScenarioStep::Script(script) => wording.script(script),
        ScenarioStep::PauseByScript(script) => scripts::write_pause(wording.script(script)),
        ScenarioStep::Sample(sample) => {
            wording.lose(InexpressiblePart::Sample(sample));
            match &sample.maker {
                SampleMaker::Script(script) => wording.script(script),
                // The sample is lost, but its time still delays the next request.
                SampleMaker::Fixed(fixed) if fixed.waits => {
                    pauses::write_pause(&fixed.elapsed, wording).into_iter().collect()
                }
                SampleMaker::Variables | SampleMaker::Fixed(_) => Vec::new(),
            }
        }
        ScenarioStep::Stop(scope) => scripts::write_stop(*scope).into_iter().collect(),
        ScenarioStep::Modify(modifier) => {
            wording.lose(InexpressiblePart::Modifier(modifier));
            Vec::new()
        }
        // Requests of `script`, and a figure of JMeter's own records.
        ScenarioStep::Next(_) | ScenarioStep::CountInTransactions(_) => Vec::new(),
    }
}

/// A step of one key.
fn one(key: &str, value: impl Into<String>) -> Yaml {
    Yaml::map([(key, Yaml::text(value))])
}

/// Writes a step around others. Without others, there is no step.
fn around(key: &str, value: Yaml, steps: &[ScenarioStep], wording: &mut dyn Wording) -> Vec<Yaml> {
    match write(steps, wording) {
        // Losses may leave a block empty, and it does nothing then.
        steps if steps.is_empty() => Vec::new(),
        steps => vec![Yaml::map([(key, value), ("steps", Yaml::List(steps))])],
    }
}

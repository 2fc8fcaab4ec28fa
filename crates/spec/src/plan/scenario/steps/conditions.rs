//! Conditions of branches and loops.

use crate::error::{Result, SpecError};
use crate::plan::scenario::write::Wording;
use crate::plan::words::{Nested, Scalar, ScalarList};
use crate::plan::{PlanNode, Yaml, read};
use crate::words::status;
use brunt_model::plan::StatusRange;
use brunt_model::scenario::Condition;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;

/// A condition in the JSON Schema: a text, or a map.
pub struct ConditionForm;

impl JsonSchema for ConditionForm {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A condition: `failed`, `succeeded`, a text with `${…}` that is `true`, or a map with one key.",
            "anyOf": [generator.subschema_for::<Scalar>(), generator.subschema_for::<ConditionKeys>()],
        })
    }
}

/// A condition with one key.
#[derive(Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub struct ConditionKeys {
    /// The status of the last reply is one of these, such as `200,3xx`.
    status: Option<ScalarList>,
    /// Two texts are the same.
    equal: Option<[Scalar; 2]>,
    /// A text matches a regular expression.
    matches: Option<[Scalar; 2]>,
    /// The text is `true`.
    #[serde(rename = "true")]
    is_true: Option<Scalar>,
    /// The last request failed.
    failed: Option<bool>,
    /// Another condition does not hold.
    not: Option<Nested<ConditionForm>>,
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<ConditionForm> {
    /// Returns the condition of a step, from a word or a map.
    pub fn read(&self, node: &PlanNode) -> Result<Condition> {
        match node.text() {
            Some("failed") => return Ok(Condition::Failed),
            Some("succeeded") => return Ok(Condition::Succeeded),
            // A text without variables would always have the same result.
            Some(text) if text.contains("${") => return Ok(Condition::True(text.to_owned())),
            Some(text) => {
                let instead = "`failed`, `succeeded`, or a map such as {equal: [\"${a}\", b]}";
                return Err(SpecError::new(
                    &node.at,
                    "",
                    format!("`{text}` is no condition; write {instead}"),
                ));
            }
            None => {}
        }
        let keys: ConditionKeys = read(node)?;
        let not = match (keys.not, node.child("not")) {
            (Some(form), Some(node)) => {
                Some(form.read(node).map_err(|error| error.within("not", &node.at))?)
            }
            (None, _) | (_, None) => None,
        };
        let all = [
            keys.status
                .map(|words| status::parse(&words.0.join(",")).map(|ranges| statuses(&ranges)))
                .transpose()?,
            keys.equal.map(|[one, other]| Condition::Same(one.0, other.0)),
            keys.matches.map(|[text, pattern]| Condition::Matches(text.0, pattern.0)),
            keys.is_true.map(|text| Condition::True(text.0)),
            keys.failed.map(|failed| if failed { Condition::Failed } else { Condition::Succeeded }),
            not.map(|not| Condition::Not(Box::new(not))),
        ];
        let mut all = all.into_iter().flatten();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(SpecError::new(
                &node.at,
                "",
                "a condition has one key; write one such as {status: 200}",
            )),
        }
    }
}

/// Returns the condition as a plan file has it.
pub fn write(condition: &Condition, wording: &mut dyn Wording) -> Yaml {
    match condition {
        Condition::Failed => Yaml::text("failed"),
        Condition::Succeeded => Yaml::text("succeeded"),
        // JMeter's `${JMeterThread.last_sample_ok}` is the condition `succeeded`.
        Condition::True(text) if wording.is_success(text) => Yaml::text("succeeded"),
        Condition::False(text) if wording.is_success(text) => Yaml::text("failed"),
        Condition::True(text) => {
            let text = wording.text(text);
            if text.contains("${") {
                Yaml::Text(text)
            } else {
                Yaml::map([("true", Yaml::Text(text))])
            }
        }
        Condition::False(text) => {
            // Plan files have no condition for `false`.
            let pair = [wording.text(text), r"(?i)^\s*false\s*$".to_owned()];
            Yaml::map([("matches", Yaml::List(pair.map(Yaml::Text).into()))])
        }
        // The opposite word is shorter than `not`.
        Condition::Not(inner) => match &**inner {
            Condition::Succeeded => Yaml::text("failed"),
            Condition::Failed => Yaml::text("succeeded"),
            inner => Yaml::map([("not", write(inner, wording))]),
        },
        Condition::Status(least, most) => {
            Yaml::map([("status", Yaml::text(format!("{least}-{most}")))])
        }
        Condition::Equals(variable, value) => {
            pair("equal", &format!("${{{variable}}}"), value, wording)
        }
        Condition::Same(one, other) => pair("equal", one, other, wording),
        Condition::Matches(text, pattern) => pair("matches", text, pattern, wording),
        Condition::Any(all) => {
            let mut all: Vec<Yaml> = all.iter().map(|one| write(one, wording)).collect();
            let words = all
                .iter()
                .filter_map(|one| if let Yaml::Map(keys) = one { keys.first() } else { None });
            let words: Vec<Yaml> =
                words.filter(|(key, _)| key == "status").map(|(_, word)| word.clone()).collect();
            // Only statuses can be joined in one condition of a plan file.
            if words.len() == all.len() {
                Yaml::map([("status", Yaml::List(words))])
            } else {
                all.swap_remove(0)
            }
        }
        // A share is written as a choice, by its step.
        Condition::Share(_) => Yaml::map([("true", Yaml::text("true"))]),
    }
}

fn pair(key: &str, one: &str, other: &str, wording: &mut dyn Wording) -> Yaml {
    let texts = [one, other].map(|text| Yaml::Text(wording.text(text)));
    Yaml::map([(key, Yaml::List(texts.into()))])
}

fn statuses(ranges: &[StatusRange]) -> Condition {
    match ranges {
        [range] => status_of(*range),
        // One condition, because `not` negates all ranges together.
        _ => Condition::Any(ranges.iter().copied().map(status_of).collect()),
    }
}

fn status_of(range: StatusRange) -> Condition {
    Condition::Status(range.least, range.most)
}

//! Scripts, and the end of a scope: `script` and `stop`.

use super::{StepForm, StepNode, one};
use crate::error::Result;
use crate::plan::Yaml;
use crate::plan::scenario::ScenarioReader;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::words::Scalar;
use brunt_model::scenario::{EndScope, ScenarioStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// A script.
#[derive(Deserialize, JsonSchema)]
pub struct ScriptStep {
    /// Its source, in the `language` of the scenario: `vars` are the user's variables.
    script: Scalar,
    /// True: the value of the script is a pause in milliseconds. Default: false.
    #[serde(default)]
    pause: bool,
}

impl StepForm for ScriptStep {
    const KEYS: FormKeys =
        FormKeys::of::<Self>(&["script"], "script: vars.put(\"name\", \"value\")");

    fn read(self, reader: &mut ScenarioReader<'_>, _: &StepNode<'_>) -> Result<Vec<ScenarioStep>> {
        // Messages name a script by its place in the plan.
        let script = reader.script(&reader.path, &self.script.0);
        Ok(vec![if self.pause {
            ScenarioStep::PauseByScript(script)
        } else {
            ScenarioStep::Script(script)
        }])
    }
}

/// The end of something.
#[derive(Deserialize, JsonSchema)]
pub struct StopStep {
    /// What is over.
    stop: StopScope,
}

/// What is over, by word.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StopScope {
    /// The turn of a choice with `portion: turn`.
    Turn,
    /// This round of the innermost loop.
    Round,
    /// The innermost loop.
    Loop,
    /// The iteration.
    Iteration,
    /// The user.
    User,
    /// The run.
    Run,
}

impl StepForm for StopStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["stop"], "stop: iteration");

    fn read(self, _: &mut ScenarioReader<'_>, _: &StepNode<'_>) -> Result<Vec<ScenarioStep>> {
        Ok(vec![ScenarioStep::Stop(match self.stop {
            StopScope::Turn => EndScope::Turn,
            StopScope::Round => EndScope::Round,
            StopScope::Loop => EndScope::Loop,
            StopScope::Iteration => EndScope::Iteration,
            StopScope::User => EndScope::User,
            StopScope::Run => EndScope::Run,
        })])
    }
}

/// Writes the step that ends a scope; None if nothing ends.
pub fn write_stop(scope: EndScope) -> Option<Yaml> {
    let word = match scope {
        EndScope::Nothing => return None,
        EndScope::Turn => "turn",
        EndScope::Round => "round",
        EndScope::Loop => "loop",
        EndScope::Iteration => "iteration",
        EndScope::User => "user",
        EndScope::Run => "run",
    };
    Some(one("stop", word))
}

/// Writes a pause from the steps that run its script.
pub fn write_pause(mut steps: Vec<Yaml>) -> Vec<Yaml> {
    for step in &mut steps {
        if let Yaml::Map(keys) = step
            // The wording may have added comments or other steps.
            && keys.iter().any(|(key, _)| key == "script")
        {
            keys.push(("pause".into(), Yaml::text("true")));
        }
    }
    steps
}

/// Writes the step that runs a script with this source.
pub fn script(source: String) -> Yaml {
    one("script", source)
}

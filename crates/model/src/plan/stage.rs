//! Stages of a test: plans that run one after the other, and the values that a stage
//! passes to later ones.

use super::Plan;
use crate::scenario::TextRules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plan that runs before or after others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestStage {
    /// Purpose of the stage.
    pub kind: StageKind,
    /// Plan of the stage.
    pub plan: Plan,
    /// True: the stage also runs after a step, a script or a failure has ended the test
    /// in the main stage.
    pub runs_after_stop: bool,
    /// Locations of the first population's requests in the plan file, in their
    /// order; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

/// Purpose of a stage.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum StageKind {
    /// Prepares the server, before the load.
    Setup,
    /// Runs the main load.
    Main,
    /// Cleans up, after the load.
    Teardown,
}

/// Values that a stage passes to later ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StageOutput {
    /// Properties that its scripts share: names and values.
    pub properties: Vec<(String, String)>,
    /// Variables of its first user: names and values.
    pub variables: Vec<(String, String)>,
}

impl StageKind {
    /// Name of the stage, which is its key in plan files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Main => "main",
            Self::Teardown => "teardown",
        }
    }
}

impl TestStage {
    /// True if the stage runs after a stage of kind `ended` has ended the test. None: the
    /// test was not ended.
    pub fn runs_after(&self, ended: Option<StageKind>) -> bool {
        match ended {
            None => true,
            // Without a complete setup, figures would be meaningless, and teardown may lack
            // variables.
            Some(StageKind::Setup) => false,
            // JMeter runs tearDown groups after a stop only if the test plan requests it.
            Some(StageKind::Main | StageKind::Teardown) => self.runs_after_stop,
        }
    }

    /// Maximum number of users, or of arrivals per second, of all its populations together.
    pub fn peak_users(&self) -> u64 {
        let peaks = self.plan.populations.iter().map(|population| population.load.peak());
        peaks.sum::<f64>().ceil() as u64
    }

    /// Reduces the number of worker threads so that each has a user.
    pub fn limit_threads(&mut self) {
        let users = u32::try_from(self.peak_users()).unwrap_or(u32::MAX);
        // The engine needs a worker even if no user is planned.
        self.plan.threads = self.plan.threads.min(users).max(1);
    }
}

impl Plan {
    /// Returns its stages of a kind, in their order.
    pub fn stages(&self, kind: StageKind) -> impl Iterator<Item = &TestStage> {
        self.stages.iter().filter(move |stage| stage.kind == kind)
    }

    /// Sets the values that earlier stages passed. Variables are set only for expressions,
    /// not by JMeter's rules.
    pub fn apply_stage_output(&mut self, output: &StageOutput) {
        for scenario in self.populations.iter_mut().map(|population| &mut population.scenario) {
            scenario.properties.clone_from(&output.properties);
            // JMeter's threads share properties, but each has its own variables.
            if scenario.texts != TextRules::Expressions {
                continue;
            }
            // Values of the earlier stages replace values of the same name.
            let values = &mut scenario.inherited_variables.values;
            values.retain(|(name, _)| !output.variables.iter().any(|(other, _)| other == name));
            values.extend(output.variables.iter().cloned());
        }
    }
}

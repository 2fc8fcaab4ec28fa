//! The stages of a test: plans that run one after the other, and what a stage hands on to those behind it.

use super::Plan;
use crate::scenario::TextRules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plan that runs before or behind others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestStage {
    /// Its purpose.
    pub kind: StageKind,
    /// The run.
    pub plan: Plan,
    /// It runs also where a step, a script or a failure has ended the test in the stage of the load.
    pub runs_after_stop: bool,
    /// Where the requests of its first population are written, in their order; empty: nobody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

/// Purpose of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StageKind {
    /// To prepare the server, before the load.
    Setup,
    /// The load.
    Main,
    /// To clean up, behind the load.
    Teardown,
}

/// What a stage hands on to those behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandedOn {
    /// The properties that its scripts share: names and values.
    pub properties: Vec<(String, String)>,
    /// The variables of its first user: names and values.
    pub variables: Vec<(String, String)>,
}

impl StageKind {
    /// Its name: the key of plan files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Main => "main",
            Self::Teardown => "teardown",
        }
    }
}

impl TestStage {
    /// Whether it runs where a stage of this kind has ended the test; null: the test goes on.
    pub fn runs_behind(&self, ended: Option<StageKind>) -> bool {
        match ended {
            None => true,
            Some(StageKind::Setup) => false,
            Some(StageKind::Main | StageKind::Teardown) => self.runs_after_stop,
        }
    }

    /// The most users, or arrivals per second, of all its groups together.
    pub fn peak_users(&self) -> u64 {
        let peaks = self.plan.populations.iter().map(|population| population.load.peak());
        peaks.sum::<f64>().ceil() as u64
    }

    /// Takes away worker threads that would have no user.
    pub fn limit_threads(&mut self) {
        let users = u32::try_from(self.peak_users()).unwrap_or(u32::MAX);
        self.plan.threads = self.plan.threads.min(users).max(1);
    }
}

impl Plan {
    /// Its stages of a kind, in their order.
    pub fn stages(&self, kind: StageKind) -> impl Iterator<Item = &TestStage> {
        self.around.iter().filter(move |stage| stage.kind == kind)
    }

    /// Lets it begin with what the stages before handed on: variables where `${…}` is read, but not by JMeter's rules.
    pub fn begin_with(&mut self, handed: &HandedOn) {
        for scenario in self.populations.iter_mut().map(|population| &mut population.scenario) {
            scenario.properties.clone_from(&handed.properties);
            if scenario.texts != TextRules::Expressions {
                continue;
            }
            let values = &mut scenario.handed.values;
            values.retain(|(name, _)| !handed.variables.iter().any(|(other, _)| other == name));
            values.extend(handed.variables.iter().cloned());
        }
    }
}

//! Rules for texts of a scenario, and the variables that an earlier stage sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rules for placeholders in texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextRules {
    /// `{n}`, `{uuid}` and similar ones; `${…}` is literal text.
    #[default]
    Placeholders,
    /// Also `${…}` with variables and functions; a variable without a value is empty.
    Expressions,
    /// JMeter's rules: only `${…}`; unknown variables and functions remain as they were written.
    Jmeter,
}

/// Variables that an earlier stage sets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageVariables {
    /// Names, and the values at the end of that stage; empty before.
    pub values: Vec<(String, String)>,
    /// True: scripts of that stage may set further variables.
    pub has_scripts: bool,
}

impl StageVariables {
    /// True if no earlier stage sets a variable.
    pub fn is_empty(&self) -> bool {
        // The names that a script sets are unknown before it has run.
        self.values.is_empty() && !self.has_scripts
    }
}

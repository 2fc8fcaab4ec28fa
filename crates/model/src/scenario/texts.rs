//! How texts of a scenario are read, and the variables that users have from a stage before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How placeholders in texts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextRules {
    /// `{n}`, `{uuid}` and the like; `${…}` stands for itself.
    #[default]
    Placeholders,
    /// The same, and `${…}` with variables and functions; a variable without a value is empty.
    Expressions,
    /// As JMeter does: `${…}` only; a variable or function that is not known stays as it was written.
    Jmeter,
}

/// Variables that a stage before sets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageVariables {
    /// Names, and values as the stage left them; a value is empty before that.
    pub values: Vec<(String, String)>,
    /// True: its scripts may set others, too.
    pub has_scripts: bool,
}

impl StageVariables {
    /// Whether there is no stage that could set one.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && !self.has_scripts
    }
}

//! Samples that are no requests.

use super::Script;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sample that is no request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptSample {
    /// A text: its label.
    pub label: String,
    /// What makes it.
    pub maker: SampleMaker,
    /// What is made of it: a number of the plan's policies.
    #[serde(default)]
    pub reply_policy: u32,
}

/// The maker of a sample that is no request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleMaker {
    /// None: the sample lists the user's variables.
    Variables,
    /// A script.
    Script(Script),
    /// None: the sample has fixed parts.
    Fixed(FixedSample),
}

/// A sample with fixed parts, all texts. Times are in milliseconds; a text without a number is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixedSample {
    /// Whether it succeeds, if its assertions do.
    pub success: bool,
    /// The response code.
    pub code: String,
    /// The response message.
    pub message: String,
    /// The response body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// From its start to its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub elapsed: String,
    /// From its start to its first byte.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub latency: String,
    /// Time to connect.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub connect: String,
    /// The user waits until the end of the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

impl FixedSample {
    /// A sample that fails at once.
    pub fn failure(code: String, message: String) -> Self {
        Self { code, message, ..Self::default() }
    }
}

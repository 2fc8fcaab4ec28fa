//! Samples without a request.

use super::Script;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sample without a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptSample {
    /// A text: label of the sample.
    pub label: String,
    /// Source of the sample.
    pub maker: SampleMaker,
    /// Reply policy of the sample, as an index into the plan's policies.
    #[serde(default)]
    pub reply_policy: u32,
}

/// Source of a sample without a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleMaker {
    /// The variables of the user are the sample.
    // JMeter's Debug Sampler.
    Variables,
    /// A script creates the sample.
    Script(Script),
    /// The sample has fixed parts.
    // JMeter's Dummy Sampler and Java requests, which need no script engine.
    Fixed(FixedSample),
}

/// A sample with fixed parts, which are texts. Times are in milliseconds; a text that is not
/// a number is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixedSample {
    /// True if the sample succeeds, provided that its assertions do.
    pub success: bool,
    /// Response code of the sample.
    pub code: String,
    /// Response message of the sample.
    pub message: String,
    /// Response body of the sample.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Time from its start to its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub elapsed: String,
    /// Time from its start to its first byte.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub latency: String,
    /// Time to open the connection.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub connect: String,
    /// True: the user waits until the end of the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

impl FixedSample {
    /// Creates a sample that fails at once.
    pub fn failure(code: String, message: String) -> Self {
        Self { code, message, ..Self::default() }
    }
}

//! What may stand below `check` and `until`: conditions of replies and messages.

use crate::plan::words::{Bytes, Scalar, ScalarList, Time};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// What a good reply is; all that is written here must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StepCheck {
    /// Statuses that are good, such as `200,3xx`. Default: all below 400.
    pub status: Option<ScalarList>,
    /// Texts that are in the body.
    pub contains: Option<ScalarList>,
    /// Texts that are not in the body.
    pub contains_not: Option<ScalarList>,
    /// Regular expressions that are found in the body.
    pub matches: Option<ScalarList>,
    /// Regular expressions that are not found in the body.
    pub matches_not: Option<ScalarList>,
    /// An `XPath` (1.0) finds something in the body, or is true.
    pub xpath: Option<Scalar>,
    /// A `JSONPath`, or several, that find something in the body.
    pub exists: Option<ScalarList>,
    /// Values by `JSONPath`.
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub json: Option<IgnoredAny>,
    /// Texts that are in header fields, by name.
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub header: Option<IgnoredAny>,
    /// The time from the request to the last byte of its reply, at most.
    pub max_time: Option<Time>,
    /// A script in Groovy that calls `AssertionResult.setFailure(true)` where the reply is not good, or several; `prev` is the reply.
    pub script: Option<ScalarList>,
    /// The least size of the body.
    pub min_size: Option<Bytes>,
    /// The greatest size of the body.
    pub max_size: Option<Bytes>,
}

/// Conditions of the awaited message of a WebSocket; all must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Until {
    /// Texts that it contains.
    pub contains: Option<ScalarList>,
    /// Regular expressions that are found in it.
    pub matches: Option<ScalarList>,
    /// Values in it, by `JSONPath`.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub json: Option<IgnoredAny>,
    /// `JSONPath`s that find something in it.
    pub exists: Option<ScalarList>,
}

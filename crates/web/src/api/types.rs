//! Types of the API: contents of requests and replies.

use crate::visitor::Permission;
use brunt_store::IndexEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorReply {
    /// The problem and its remedy.
    pub error: String,
}

/// The token of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionReply {
    /// Name of the token; null for a browser that a link has admitted.
    pub name: Option<String>,
    /// Permission of the token.
    pub permission: Permission,
    /// Version of brunt.
    pub version: String,
}

/// A page of the list of runs and experiments.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunList {
    /// The items of this page, the latest first. Runs of an experiment are not listed.
    pub items: Vec<IndexEntry>,
    /// Number of selected items.
    pub selected: usize,
    /// Number of all items.
    pub total: usize,
}

/// A run or an experiment that was received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushReply {
    /// Id of the item.
    pub id: String,
    /// False if the item was stored before.
    pub is_new: bool,
}

/// A change of what users have added to an item. Absent fields change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ItemChange {
    /// Tag to add.
    pub tag: Option<String>,
    /// Tag to remove.
    pub untag: Option<String>,
    /// Note in place of the one that exists; an empty text removes it.
    pub note: Option<String>,
    /// True to protect the item from removal, false to end the protection.
    pub pinned: Option<bool>,
}

/// A mark of an active run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkRequest {
    /// Text of the mark.
    pub text: String,
}

/// A run to start: of a URL or of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StartRequest {
    /// URL to request.
    pub url: Option<String>,
    /// Text of a plan file.
    pub plan: Option<String>,
    /// Name of the plan: letters, digits, - and _.
    pub name: Option<String>,
    /// Values of variables of the plan, or of its keys, as with `--set`.
    pub variables: BTreeMap<String, String>,
    /// Further options of `brunt run`, such as `--rate=500`.
    pub options: Vec<String>,
}

/// A process that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartReply {
    /// Number of the process, for `GET /api/starting/{process}`.
    pub process: u32,
}

/// State of a process that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartState {
    /// Phase of the process.
    pub phase: StartPhase,
    /// Id of its run, while the run is active.
    pub id: Option<String>,
    /// The last of its messages.
    pub messages: String,
}

/// Phase of a process that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartPhase {
    /// The run has not begun.
    Starting,
    /// The run is active.
    Active,
    /// The process has ended, and its run is stored.
    Ended,
    /// The process has ended without a run; the messages have the reason.
    Refused,
}

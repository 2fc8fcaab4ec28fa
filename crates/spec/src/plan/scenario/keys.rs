//! The keys below `scenario`, `setup` and `teardown`. Each kind of step defines its own keys.

use super::steps::StepSchema;
use crate::plan::words::{Nested, PositiveDuration, Scalar, ScalarList, ScalarOr};
use brunt_model::scenario::{DataEnd, EndScope, RowOrder, Sharing};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What each user does in an iteration, step by step.
///
/// In its texts `${name}` is a variable of the user, and `${name(…)}` a function such as `${random(1,9)}`; `\${` is a plain `${`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioKeys {
    /// The server of relative URLs, such as `http://127.0.0.1:8080`.
    pub base: Option<Scalar>,
    /// Variables that each user begins with, by name; the same for all users.
    pub variables: Option<Nested<BTreeMap<String, Scalar>>>,
    /// Files whose rows set variables, one row an iteration: a file, or a map.
    pub data: Option<Nested<Vec<ScalarOr<DataFileKeys>>>>,
    /// Header fields of all requests, by name.
    pub headers: Option<Nested<BTreeMap<String, Scalar>>>,
    /// Whether each user keeps the cookies that replies set (RFC 6265); `iteration`: until its iteration is over. Default: true.
    pub cookies: Option<Scalar>,
    /// Redirects followed for one request, at most. Default: 10.
    pub follow: Option<u32>,
    /// `true`: what was got before is asked for only if it has changed (`ETag`, `Last-Modified`), and not at all while it is fresh
    /// (`Cache-Control`, `Expires`); `revalidate`: also while it is fresh. Default: false.
    pub cache: Option<Scalar>,
    /// What is over where a request failed. Default: nothing.
    pub on_failure: Option<OnFailure>,
    /// gRPC: files that define the services of steps (`.proto`). Default: server reflection of `base`.
    pub proto: Option<ScalarList>,
    /// gRPC: folders of files that `proto` imports.
    pub proto_path: Option<ScalarList>,
    /// gRPC: a file with the descriptors of the services.
    pub descriptor_set: Option<Scalar>,
    /// The language of all scripts of the scenario. Default: Groovy.
    pub language: Option<Language>,
    /// The steps of an iteration, in order.
    pub steps: Option<Nested<Vec<StepSchema>>>,
}

/// Steps before or behind the load: a list, or a map.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the JSON Schema")]
pub enum StageSteps {
    /// Steps, in order.
    Steps(Vec<StepSchema>),
    /// With more to it.
    Map(StageKeys),
}

/// Steps before or behind the load, and who carries them out. `base`, `cookies`, `follow`, `language` and the files of gRPC are those
/// of `scenario` where it says nothing. A failure ends it, unless `on_failure` says otherwise.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "for the JSON Schema")]
pub struct StageKeys {
    #[serde(flatten)]
    load: StageLoad,
    #[serde(flatten)]
    scenario: ScenarioKeys,
}

/// Who carries out the steps of a stage, and how often.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StageLoad {
    /// Users who carry out its steps at the same time. The scenario begins with the variables of the first. Default: 1.
    pub users: Option<u32>,
    /// How often each of them does. Default: 1.
    pub iterations: Option<u32>,
    /// Time limit for the whole. Default: 60s.
    pub timeout: Option<PositiveDuration>,
}

/// The language of scripts.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Groovy.
    Groovy,
    /// JavaScript (ECMAScript 2023).
    Javascript,
}

/// What is over where a request failed.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Nothing: the next step follows.
    Continue,
    /// The iteration.
    Iteration,
    /// The user: it does nothing more.
    User,
    /// The run.
    Run,
}

impl OnFailure {
    /// The scope that a failure ends.
    pub fn scope(self) -> EndScope {
        match self {
            Self::Continue => EndScope::Nothing,
            Self::Iteration => EndScope::Iteration,
            Self::User => EndScope::User,
            Self::Run => EndScope::Run,
        }
    }
}

/// A file whose rows set variables.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataFileKeys {
    /// The file: CSV, or JSON lines where its name ends with `.jsonl` or `.ndjson`.
    pub file: Scalar,
    /// The variables of its columns. Default: the names in its first line.
    pub columns: Vec<Scalar>,
    /// The character between two columns; `tab` is a tab. Default: a comma.
    pub delimiter: Option<Scalar>,
    /// The encoding of the file, by a label of the WHATWG Encoding Standard such as `latin1`. Default: UTF-8.
    pub encoding: Scalar,
    /// Whose rows they are. Default: all.
    pub shared: Option<Sharing>,
    /// Which row is next. Default: sequence.
    pub order: Option<RowOrder>,
    /// What happens behind the last row. Default: again.
    pub at_end: Option<DataEnd>,
    /// Whether the first line is left out, beside `columns`. Default: false.
    pub skip_first: bool,
    /// Whether only the steps `row` take rows; otherwise each iteration begins with one. Default: false.
    pub on_demand: bool,
}

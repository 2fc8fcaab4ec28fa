//! Defines the keys in `scenario`, `setup` and `teardown`. Each kind of step defines its own keys.

use super::steps::StepSchema;
use crate::plan::words::{Nested, PositiveDuration, Scalar, ScalarList, ScalarOr};
use brunt_model::scenario::{DataEnd, EndScope, RowOrder, Sharing};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Scenario: steps of each iteration of a user, and settings of its requests.
///
/// In its texts, `${name}` is a variable of the user, and `${name(…)}` calls a function, such as `${random(1,9)}`. `\${` is a literal `${`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioKeys {
    /// Server of relative URLs, such as `http://127.0.0.1:8080`.
    pub base: Option<Scalar>,
    /// Initial variables of each user, by name. All users begin with the same values.
    pub variables: Option<Nested<BTreeMap<String, Scalar>>>,
    /// Files whose rows set variables, one row per iteration. Each is the name of a file, or a map.
    pub data: Option<Nested<Vec<ScalarOr<DataFileKeys>>>>,
    /// Header fields of all requests, by name.
    pub headers: Option<Nested<BTreeMap<String, Scalar>>>,
    /// Cookies of each user (RFC 6265). `true` stores them for the whole run, `iteration` until the iteration ends. Default: true.
    pub cookies: Option<Scalar>,
    /// Maximum number of redirects to follow for one request. Default: 10.
    pub follow: Option<u32>,
    /// HTTP cache. `true` revalidates stale cached replies (`ETag`, `Last-Modified`), and requests nothing while they are fresh
    /// (`Cache-Control`, `Expires`). `revalidate` also revalidates fresh replies. Default: false.
    pub cache: Option<Scalar>,
    /// Scope that a failed request ends. Default: `continue` (none).
    pub on_failure: Option<OnFailure>,
    /// gRPC: files that define the services of steps (`.proto`). Default: server reflection of `base`.
    pub proto: Option<ScalarList>,
    /// gRPC: folders of the files that `proto` imports.
    pub proto_path: Option<ScalarList>,
    /// gRPC: a file with the descriptors of the services.
    pub descriptor_set: Option<Scalar>,
    /// Language of all scripts of the scenario. Default: Groovy.
    pub language: Option<Language>,
    /// Steps of an iteration, in order.
    pub steps: Option<Nested<Vec<StepSchema>>>,
}

/// Steps before or after the load: a list, or a map with further settings.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the JSON Schema")]
pub enum StageSteps {
    /// List of steps, in order.
    Steps(Vec<StepSchema>),
    /// Steps with further settings.
    Map(StageKeys),
}

/// Steps before or after the load, and the users that execute them. Defaults of `base`, `cookies`, `follow`, `language` and the
/// files of gRPC are the values of `scenario`. A failure ends the steps, unless `on_failure` has another value.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "for the JSON Schema")]
pub struct StageKeys {
    #[serde(flatten)]
    load: StageLoad,
    #[serde(flatten)]
    scenario: ScenarioKeys,
}

/// Users and iterations of the steps before or after the load, and their time limit.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StageLoad {
    /// Number of users that execute the steps at the same time. The scenario begins with the variables of the first. Default: 1.
    pub users: Option<u32>,
    /// Number of iterations of each of these users. Default: 1.
    pub iterations: Option<u32>,
    /// Time limit for all iterations together. Default: 60s.
    pub timeout: Option<PositiveDuration>,
}

/// Language of scripts.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Groovy.
    Groovy,
    /// JavaScript (ECMAScript 2023).
    Javascript,
}

/// Scope that a failed request ends.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// None: the next step follows.
    Continue,
    /// The iteration of the user.
    Iteration,
    /// The user: it stops for good.
    User,
    /// The whole run.
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
    /// Name of the file: CSV, or JSON lines if it ends with `.jsonl` or `.ndjson`.
    pub file: Scalar,
    /// Names of the variables that the columns set. Default: the names in the first line.
    pub columns: Vec<Scalar>,
    /// Character between two columns; `tab` is a tab. Default: a comma.
    pub delimiter: Option<Scalar>,
    /// Encoding of the file: a label of the WHATWG Encoding Standard, such as `latin1`. Default: UTF-8.
    pub encoding: Scalar,
    /// Users that share the rows. Default: all.
    pub shared: Option<Sharing>,
    /// Order of the rows. Default: sequence.
    pub order: Option<RowOrder>,
    /// Behavior after the last row. Default: again.
    pub at_end: Option<DataEnd>,
    /// `true`: with `columns`, skips the first line. Default: false.
    pub skip_first: bool,
    /// `true`: only the step `row` reads rows. `false`: each iteration begins with the next row. Default: false.
    pub on_demand: bool,
}

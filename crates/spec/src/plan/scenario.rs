//! Converts the key `scenario` of a plan file to the scenario of a population, with the
//! policies for its replies.
//!
//! * `keys`: its keys.
//! * `steps`: a form for each kind of step.
//! * `replies`, `extractors`, `checks`: keys about replies.
//! * `forms`: tables of forms. `faults`: places of invalid texts.

pub(super) mod checks;
pub mod extractors;
mod faults;
mod forms;
pub(crate) mod keys;
mod replies;
pub mod steps;
pub mod write;

use super::words::{Scalar, ScalarList};
use super::{PlanNode, PlanValue, read};
use crate::System;
use crate::error::{Result, SourcePosition, SpecError};
use crate::settings::{GrpcSettings, PlannedScenario, RunSettings};
use crate::words::values;
use brunt_model::reply_policy::{Cookies, PageCache, RedirectRules, Redirects};
use brunt_model::scenario::{
    DataFile, DataFormat, EndScope, Scenario, ScenarioStep, Script, ScriptLanguage, TextRules,
};
use brunt_model::{ReplyPolicy, Request};
pub use faults::fault;
use keys::{self as written, OnFailure};
use std::path::{Path, PathBuf};
use steps::calls::Calls;

/// Default of the maximum number of redirects.
const FOLLOWED: u32 = 10;

/// Reads a scenario. `run` are the other settings of the plan; `folder` is the folder of the plan.
///
/// # Errors
///
/// [`SpecError`] with its place if a key is unknown, a value is invalid, or no step is a request.
pub fn scenario(
    node: &PlanNode,
    run: &RunSettings,
    folder: &Path,
    system: &System,
) -> Result<PlannedScenario> {
    let planned = with_any_steps(node, run, folder, system)?;
    if planned.scenario.requests.is_empty() {
        let wrong =
            "none of its steps is a request; write one such as `- get: http://127.0.0.1:8080/`";
        let at = node.child("steps").map_or(&node.at, |steps| &steps.at);
        return Err(SpecError::new(at, "scenario.steps", wrong));
    }
    Ok(planned)
}

/// Reads a scenario that need not have requests.
pub fn with_any_steps(
    node: &PlanNode,
    run: &RunSettings,
    folder: &Path,
    system: &System,
) -> Result<PlannedScenario> {
    let written: written::ScenarioKeys =
        read(node).map_err(|error| error.within("scenario", &node.at))?;
    let node = &node.without_null_entries();
    let follow =
        Redirects { most: written.follow.unwrap_or(FOLLOWED), rules: RedirectRules::Rfc9110 };
    let policy = ReplyPolicy {
        redirects: follow,
        cookies: cookies(node, written.cookies.as_ref())?,
        cache: cache(node, written.cache.as_ref())?,
        status_fails: true,
        failure_ends: written.on_failure.map_or(EndScope::Nothing, OnFailure::scope),
        ..run.replies.clone()
    };
    let headers = node
        .child("headers")
        .map(|node| header_fields(node, "scenario.headers"))
        .transpose()?
        .unwrap_or_default();
    let base = written.base.map(|base| base.0);
    let grpc = GrpcSettings {
        protos: files(written.proto, folder),
        proto_paths: files(written.proto_path, folder),
        descriptor_set: written.descriptor_set.map(|file| folder.join(file.0)),
        ..GrpcSettings::default()
    };
    let mut reader = ScenarioReader {
        folder,
        calls: Calls::new(run, base.as_deref(), grpc, system),
        base,
        language: match written.language {
            None | Some(written::Language::Groovy) => ScriptLanguage::Groovy,
            Some(written::Language::Javascript) => ScriptLanguage::Javascript,
        },
        headers,
        policy,
        requests: Vec::new(),
        places: Vec::new(),
        policies: Vec::new(),
        data: Vec::new(),
        path: String::new(),
    };
    let mut steps = reader.data_files(node.child("data"))?;
    let list = node.child("steps").ok_or_else(|| {
        SpecError::new(
            &node.at,
            "scenario",
            "it has no `steps`; write a list of them, such as `- get: http://127.0.0.1:8080/`",
        )
    })?;
    steps.extend(reader.steps(list, "scenario.steps")?);
    let variables =
        node.child("variables").map(|node| texts(node, "scenario.variables")).transpose()?;
    let ScenarioReader { requests, places, policies, data, calls, .. } = reader;
    let scenario = Scenario {
        texts: TextRules::Expressions,
        variables: variables.unwrap_or_default(),
        services: calls.into_services(),
        data,
        // Functions may read files only below these folders, so most scenarios get none.
        folders: if reads_files(node) { vec![folder.display().to_string()] } else { Vec::new() },
        ..Scenario::of(requests, steps)
    };
    Ok(PlannedScenario { scenario, policies, places })
}

fn files(list: Option<ScalarList>, folder: &Path) -> Vec<PathBuf> {
    list.map_or_else(Vec::new, |list| list.0.iter().map(|file| folder.join(file)).collect())
}

/// State of reading a scenario.
struct ScenarioReader<'a> {
    folder: &'a Path,
    calls: Calls<'a>,
    base: Option<String>,
    language: ScriptLanguage,
    headers: Vec<(String, String)>,
    /// Policy of requests without keys about their replies.
    policy: ReplyPolicy,
    requests: Vec<Request>,
    places: Vec<SourcePosition>,
    policies: Vec<ReplyPolicy>,
    data: Vec<DataFile>,
    /// Place of the step that is read, such as `scenario.steps[0]`.
    path: String,
}

impl ScenarioReader<'_> {
    /// Adds a request to the list, and returns its number.
    fn add(&mut self, request: Request, at: &SourcePosition) -> u32 {
        self.requests.push(request);
        self.places.push(at.clone());
        self.requests.len() as u32 - 1
    }

    /// Creates a script in the language of the scenario.
    fn script(&self, name: &str, source: &str) -> Script {
        let name = name.to_owned();
        let source = source.to_owned();
        Script { name, language: self.language, source, parameters: String::new() }
    }

    /// Reads the data files, and returns the steps that take their first rows.
    fn data_files(&mut self, node: Option<&PlanNode>) -> Result<Vec<ScenarioStep>> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let mut first = Vec::new();
        for (number, node) in items(node).iter().enumerate() {
            let path = format!("scenario.data[{number}]");
            let (file, on_demand) =
                self.data_file(node).map_err(|error| error.within(&path, &node.at))?;
            // Each iteration begins with a row; `on_demand` rows are read by the step `row`.
            if !on_demand {
                first.push(ScenarioStep::Row(number as u32));
            }
            self.data.push(file);
        }
        Ok(first)
    }

    /// Reads a data file. The second value is true if only steps take its rows.
    fn data_file(&self, node: &PlanNode) -> Result<(DataFile, bool)> {
        let written = match node.text() {
            Some(file) => {
                written::DataFileKeys { file: Scalar(file.to_owned()), ..Default::default() }
            }
            None => read(node)?,
        };
        let written::DataFileKeys {
            file,
            columns,
            delimiter,
            encoding,
            shared,
            order,
            at_end,
            skip_first,
            on_demand,
        } = written;
        let delimiter = match delimiter.as_ref().map(|delimiter| delimiter.0.as_str()) {
            None => ',',
            // JMeter writes a tab as `\t`.
            Some("tab" | "\\t") => '\t',
            Some(text) => one_character(text).ok_or_else(|| {
                SpecError::new(
                    &node.at,
                    "delimiter",
                    format!("`{text}` is not one ASCII character; write one such as `;`"),
                )
            })?,
        };
        let ending =
            Path::new(&file.0).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_json = ["jsonl", "ndjson"].iter().any(|json| ending.eq_ignore_ascii_case(json));
        let file = DataFile {
            encoding: encoding.0,
            file: self.file(&file.0),
            format: if is_json {
                DataFormat::JsonLines
            } else {
                DataFormat::Csv { delimiter, quoted: true }
            },
            names: columns.into_iter().map(|column| column.0).collect(),
            skip_first,
            shared: shared.unwrap_or_default(),
            order: order.unwrap_or_default(),
            at_end: at_end.unwrap_or_default(),
        };
        Ok((file, on_demand))
    }

    /// Path of a file; relative paths start at the folder of the plan.
    fn file(&self, file: &str) -> String {
        self.folder.join(file).display().to_string()
    }
}

/// Reads the cache of page elements of each user.
fn cache(node: &PlanNode, written: Option<&Scalar>) -> Result<Option<PageCache>> {
    match written.map_or("false", |word| word.0.as_str()) {
        "true" => Ok(Some(PageCache { reuses_fresh: true, per_iteration: false })),
        // JMeter's Cache Manager without `Use Cache-Control/Expires header`.
        "revalidate" => Ok(Some(PageCache::default())),
        "false" => Ok(None),
        other => {
            let at = node.child("cache").map_or(&node.at, |node| &node.at);
            Err(SpecError::new(
                at,
                "scenario.cache",
                format!("`{other}`: write true, false or revalidate"),
            ))
        }
    }
}

/// Reads the treatment of cookies.
fn cookies(node: &PlanNode, written: Option<&Scalar>) -> Result<Cookies> {
    match written.map_or("true", |word| word.0.as_str()) {
        "true" => Ok(Cookies::Kept),
        "false" => Ok(Cookies::Ignored),
        "iteration" => Ok(Cookies::KeptForAnIteration),
        other => {
            let at = node.child("cookies").map_or(&node.at, |node| &node.at);
            Err(SpecError::new(
                at,
                "scenario.cookies",
                format!("`{other}`: write true, false or iteration"),
            ))
        }
    }
}

/// True if a text of the scenario may call a function that reads files.
fn reads_files(node: &PlanNode) -> bool {
    match &node.value {
        PlanValue::Text { text, .. } => brunt_script::functions::reads_files(text),
        PlanValue::List(nodes) => nodes.iter().any(reads_files),
        PlanValue::Map(entries) => entries.iter().any(|entry| reads_files(&entry.node)),
        PlanValue::Null => false,
    }
}

fn one_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|character| character.is_ascii() && characters.next().is_none())
}

/// Items of a list; a single value is a list of one.
fn items(node: &PlanNode) -> &[PlanNode] {
    match &node.value {
        PlanValue::List(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}

/// Names and texts, in their order.
fn texts(node: &PlanNode, path: &str) -> Result<Vec<(String, String)>> {
    if !matches!(node.value, PlanValue::Map(_)) {
        return Err(expected(&node.at, path, "a map", "`name: value` below it"));
    }
    let mut texts = Vec::new();
    for entry in node.entries() {
        let text = entry.node.text().ok_or_else(|| {
            expected(&entry.node.at, &format!("{path}.{}", entry.key), "a single value", "one")
        })?;
        texts.push((entry.key.clone(), text.to_owned()));
    }
    Ok(texts)
}

/// Header fields, in their order. A list of values becomes one field for each value.
fn header_fields(node: &PlanNode, path: &str) -> Result<Vec<(String, String)>> {
    if !matches!(node.value, PlanValue::Map(_)) {
        return Err(expected(&node.at, path, "a map", "`name: value` below it"));
    }
    let mut fields = Vec::new();
    for entry in node.entries() {
        let path = format!("{path}.{}", entry.key);
        // A list of values makes one header field for each.
        for value in items(&entry.node) {
            let text =
                value.text().ok_or_else(|| expected(&value.at, &path, "a single value", "one"))?;
            let field = values::header_field(&entry.key, text);
            fields.push(field.map_err(|error| SpecError::from(error).within(&path, &entry.at))?);
        }
    }
    Ok(fields)
}

fn expected(at: &SourcePosition, path: &str, noun: &str, instead: &str) -> SpecError {
    SpecError::new(at, path, format!("this is not {noun}; write {instead}"))
}

#[cfg(test)]
mod tests;

//! Converts samplers of Zalopay's gRPC plugin (`vn.zalopay.benchmark.GRPCSampler`) to calls.
//!
//! The reader compiles descriptors from the `.proto` files in the sampler's folder.

use super::texts::error_at;
use super::{ElementScope, PlanReader};
use crate::element::TestElement;
use crate::error::JmxError;
use brunt_model::plan::ReplyChecks;
use brunt_model::request::{JsonMessage, MessageStream};
use brunt_model::scenario::ScenarioStep;
use brunt_model::{ReplyPolicy, Request};
use brunt_script::grpc::{MessageRules, MessageSource, Services};
use brunt_spec::grpc;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default deadline of a call, in milliseconds.
const DEADLINE: f64 = 1_000.0;
/// Maximum number of `.proto` files in a folder.
const MOST_FILES: usize = 10_000;

impl PlanReader<'_> {
    /// Converts a gRPC sampler to steps.
    ///
    /// # Errors
    ///
    /// Fails if the method or the message is unknown, or the `.proto` files do not compile.
    pub(super) fn call(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let method = self.value(element, "GRPCSampler.fullMethod").trim().replace(':', "");
        if !method.contains('/') || method.contains("${") {
            let message = format!("the method is `{method}`; write such as shop.Shop/Buy");
            return Err(error_at(element, &message));
        }
        let set = self.descriptors(element).map_err(|error| error_at(element, &error))?;
        let set = grpc::joined(std::mem::take(&mut self.group.services), set)
            .map_err(|error| error_at(element, &error))?;
        self.group.services.clone_from(&set);
        let json = self.text(element, "GRPCSampler.requestJson");
        let services = Services::decode(&set).map_err(|error| error_at(element, &error))?;
        let body = if Self::is_constant(&json) {
            services.body(&method, MessageSource::Json(json.as_bytes()), MessageRules::default())
        } else {
            let method = method.clone();
            grpc::message(
                &services,
                JsonMessage { method, json, stream: MessageStream::default(), compressed: false },
            )
        };
        let body = body.map_err(|error| error_at(element, &error))?;
        let deadline = self.text(element, "GRPCSampler.deadline");
        let deadline = match self.time_limit(element, "deadline", &deadline) {
            _ if deadline.trim().is_empty() => Some(DEADLINE),
            millis => Some(millis).filter(|millis| *millis > 0.0),
        };
        let deadline = deadline.map(|millis| Duration::from_secs_f64(millis / 1e3));
        let mut headers = self.metadata(element)?;
        grpc::add_headers(&mut headers, deadline);
        let scheme = if self.flag(element, "GRPCSampler.tls", false) { "https" } else { "http" };
        let host = self.text(element, "GRPCSampler.host");
        let port = self.text(element, "GRPCSampler.port");
        let url = format!("{scheme}://{}:{}/{method}", host.trim(), port.trim());
        let policy = ReplyPolicy {
            checks: ReplyChecks::default(),
            timeout: deadline,
            ..self.policy_in_scope(element, scope)?
        };
        let policy = self.reactions(scope, policy)?;
        let reply_policy = self.policy(policy);
        let label = self.before.folded(&element.name());
        let request = Request {
            base: None,
            label,
            method: "POST".into(),
            url,
            headers,
            body,
            weight: 1,
            verbatim: None,
            reply_policy,
        };
        Ok(vec![ScenarioStep::Request(self.group.add(request))])
    }

    /// Parses header fields of a call: a JSON map, or
    /// `name:value,name:value` with percent-encoded values.
    fn metadata(&self, element: TestElement<'_>) -> Result<Vec<(String, String)>, JmxError> {
        let text = self.text(element, "GRPCSampler.metadata");
        let text = text.trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        if text.starts_with('{') {
            let fields: Result<serde_json::Map<String, serde_json::Value>, _> =
                serde_json::from_str(text);
            let fields = fields
                .map_err(|error| error_at(element, &format!("the metadata is no JSON: {error}")))?;
            let fields = fields.into_iter();
            return Ok(fields
                .map(|(name, value)| {
                    (name, value.as_str().map_or(value.to_string(), str::to_owned))
                })
                .collect());
        }
        let mut headers = Vec::new();
        for part in text.split(',') {
            let Some((name, value)) = part.split_once(':') else {
                let message = format!(
                    "`{part}` of the metadata has no value; write name:value,name:value, or JSON"
                );
                return Err(error_at(element, &message));
            };
            let value = percent_encoding::percent_decode_str(&value.replace('+', " "))
                .decode_utf8_lossy()
                .into_owned();
            headers.push((name.trim().to_owned(), value));
        }
        Ok(headers)
    }

    /// Compiles the descriptors of a sampler's services.
    fn descriptors(&mut self, element: TestElement<'_>) -> Result<Vec<u8>, String> {
        let named = self.value(element, "GRPCSampler.protoFolder").trim().to_owned();
        if named.is_empty() {
            return Err(
                "the folder of .proto files is missing; write it into Proto Root Directory"
                    .to_owned(),
            );
        }
        let mut folders = Vec::new();
        for named in [named.clone(), self.value(element, "GRPCSampler.libFolder").trim().to_owned()]
        {
            if named.is_empty() {
                continue;
            }
            let folder = self.context.folder.find_folder(&named);
            folders.push(
                folder.map_err(|error| {
                    format!("{named}: {error}; name a folder with .proto files")
                })?,
            );
        }
        let files = protos(&folders[0]);
        // Files of the other folder are read if one of these imports them.
        let imported = folders[1..].iter().flat_map(|folder| protos(folder));
        for file in files.iter().cloned().chain(imported) {
            let name = file.display().to_string();
            let permitted = self.context.folder.permitted(file);
            permitted.map_err(|error| format!("{name}: {error}; name a file that may be read"))?;
        }
        if files.is_empty() {
            return Err(format!("{named}: the folder has no .proto file"));
        }
        grpc::compile(&files, &folders)
    }
}

/// Lists all `.proto` files below a folder.
fn protos(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()));
        for path in entries.take(MOST_FILES) {
            // A link may lead back to an outer folder.
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "proto")
                && files.len() < MOST_FILES
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

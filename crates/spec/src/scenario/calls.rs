//! Calls of gRPC: what their services are, and their messages.

use super::requests::{add, own_over};
use super::{Reader, expected, header_fields, written};
use crate::System;
use crate::error::{Result, SpecError};
use crate::grpc;
use crate::plan::{Entry, Node, json_text};
use crate::settings::{GrpcSettings, RunSettings};
use crate::words::values;
use brunt_model::request::JsonMessage;
use brunt_model::{Body, Request};
use brunt_script::grpc::{MessageRules, Services};
use brunt_script::template;
use std::time::Duration;

/// Keys of a body that is no message.
const NO_MESSAGES: [&str; 3] = ["data", "form", "multipart"];

/// The services that a scenario calls.
pub(super) struct Calls<'a> {
    system: &'a System,
    /// What a server is asked with.
    run: RunSettings,
    deadline: Option<Duration>,
    /// The descriptors so far.
    set: Vec<u8>,
    /// The services that they are of.
    known: Vec<String>,
}

impl<'a> Calls<'a> {
    /// None so far. Descriptors come from where `grpc` says, or else from the server of `base`.
    pub fn new(run: &RunSettings, base: Option<&str>, grpc: GrpcSettings, system: &'a System) -> Self {
        let mut own = run.clone();
        (own.url, own.scenario, own.request.grpc) = (base.map(str::to_owned), None, grpc);
        Self { system, run: own, deadline: grpc::deadline(run), set: Vec::new(), known: Vec::new() }
    }

    /// The descriptors of all services that were called: a `FileDescriptorSet`; empty: none was.
    pub fn into_services(self) -> Vec<u8> {
        self.set
    }

    /// The body of a call.
    fn body(&mut self, method: &str, text: &str, rules: MessageRules) -> std::result::Result<Body, String> {
        let service = method.split('/').next().unwrap_or_default();
        if !self.known.iter().any(|known| known == service) {
            let set = grpc::descriptors(&self.run, method, self.system)?;
            self.set = grpc::joined(std::mem::take(&mut self.set), set)?;
            self.known.push(service.to_owned());
        }
        let services = Services::decode(&self.set)?;
        if text.contains("${") || template::has_placeholders(text) {
            let (method, json) = (method.to_owned(), text.to_owned());
            let MessageRules { interval, is_compressed: compressed } = rules;
            return grpc::message(&services, JsonMessage { method, json, interval, compressed });
        }
        services.body(method, text.as_bytes(), rules)
    }
}

impl Reader<'_> {
    /// Reads a call; its number in the list of requests.
    pub(super) fn call(&mut self, kind: &Entry, node: &Node, step: &written::Step) -> Result<u32> {
        let written = kind.node.text().ok_or_else(|| expected(&kind.node.at, &kind.key, "a method", "one"))?;
        let at = |error| SpecError::from(error).within("grpc", &kind.node.at);
        let method = values::grpc_method(written).map_err(at)?;
        let Some(base) = self.base.as_deref().map(|base| base.trim_end_matches('/').to_owned()) else {
            let wrong = "the server is not specified; write it below scenario.base, such as http://127.0.0.1:50051";
            return Err(SpecError::new(&kind.node.at, "grpc", wrong));
        };
        let interval = step.message_interval.as_ref().map(|word| values::message_interval(&word.0)).transpose();
        let interval = interval.map_err(at)?;
        let text = self.message(node, step)?;
        let refuse = |wrong| SpecError::new(&kind.node.at, "grpc", wrong);
        let mut headers =
            own_over(&self.headers, node.child("headers").map(|node| header_fields(node, "headers")).transpose()?);
        let is_compressed = grpc::is_compressed(&headers).map_err(refuse)?;
        let body = self.calls.body(&method, &text, MessageRules { interval, is_compressed }).map_err(refuse)?;
        headers.retain(|(name, _)| !["content-type", "accept"].contains(&name.to_ascii_lowercase().as_str()));
        if let Some(token) = &step.bearer {
            add(&mut headers, "Authorization", format!("Bearer {}", token.0));
        }
        add(&mut headers, "User-Agent", crate::defaults::USER_AGENT.to_owned());
        grpc::add_headers(&mut headers, step.timeout.map(|time| time.0).or(self.calls.deadline));
        let label = step.name.as_ref().map_or_else(|| method.clone(), |name| name.0.clone());
        let (reply_policy, url) = (self.policy(node, step)?, format!("{base}/{method}"));
        let method = "POST".to_owned();
        let request = Request { label, method, url, headers, body, weight: 1, verbatim: None, reply_policy };
        Ok(self.add(request, &kind.at))
    }

    /// The message as JSON, with expressions; empty: an empty message.
    fn message(&self, node: &Node, step: &written::Step) -> Result<String> {
        if let Some(other) = node.entries().iter().find(|entry| NO_MESSAGES.contains(&entry.key.as_str())) {
            let wrong = format!("`{}` is no message of gRPC; write it as json", other.key);
            return Err(SpecError::new(&other.at, other.key.as_str(), wrong));
        }
        match (node.child("json"), node.entries().iter().find(|entry| entry.key == "file")) {
            (Some(node), _) => Ok(json_text(node)),
            (None, Some(way)) => {
                let file = step.file.as_ref().map(|file| file.0.as_str()).unwrap_or_default();
                let text = String::from_utf8(self.read(file, way)?);
                let wrong =
                    |_| SpecError::new(&way.node.at, "file", "it is no JSON; write a file with the message as JSON");
                text.map(|text| template::plain(&text)).map_err(wrong)
            }
            (None, None) => Ok(String::new()),
        }
    }
}

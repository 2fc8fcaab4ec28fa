//! Calls of gRPC: their services and their messages.

use super::requests::{add, step_headers, with_defaults};
use super::{StepForm, StepNode};
use crate::System;
use crate::error::{Result, SpecError};
use crate::grpc;
use crate::plan::scenario::ScenarioReader;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::replies::ReplyKeys;
use crate::plan::words::{Nested, Scalar, ScalarList};
use crate::plan::{PlanNode, json_text, read};
use crate::settings::{GrpcSettings, RunSettings};
use crate::words::{WordError, values};
use brunt_model::request::{JsonMessage, MessageStream};
use brunt_model::scenario::ScenarioStep;
use brunt_model::{Body, Request};
use brunt_script::grpc::{MessageRules, MessageSource, Services};
use brunt_script::template;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Keys of a body that is no message.
// These bodies are of HTTP; a gRPC message is read from JSON.
const NO_MESSAGES: [&str; 3] = ["data", "form", "multipart"];

/// The services that a scenario calls.
pub(in crate::plan::scenario) struct Calls<'a> {
    system: &'a System,
    /// Settings for reflection requests to the server.
    run: RunSettings,
    deadline: Option<Duration>,
    /// Descriptors of the services that were called, as a `FileDescriptorSet`.
    set: Vec<u8>,
    /// Names of the services in `set`.
    known: Vec<String>,
}

impl<'a> Calls<'a> {
    /// Creates an empty collection. Descriptors come from the files in `grpc`, or else from the
    /// server of `base`.
    pub fn new(
        run: &RunSettings,
        base: Option<&str>,
        grpc: GrpcSettings,
        system: &'a System,
    ) -> Self {
        let mut run = run.clone();
        // Server reflection requests the descriptors from this server.
        run.url = base.map(str::to_owned);
        run.scenario = None;
        run.request.grpc = grpc;
        let deadline = grpc::deadline(&run);
        Self { system, run, deadline, set: Vec::new(), known: Vec::new() }
    }

    /// Descriptors of all services that were called, as a `FileDescriptorSet`; empty without calls.
    pub fn into_services(self) -> Vec<u8> {
        self.set
    }

    /// Creates the body of a call.
    fn body(
        &mut self,
        method: &str,
        message: &CallMessage,
        rules: MessageRules,
    ) -> std::result::Result<Body, String> {
        let service = method.split('/').next().unwrap_or_default();
        // Reflection costs a connection, so each service is requested once.
        if !self.known.iter().any(|known| known == service) {
            let set = grpc::descriptors(&self.run, method, self.system)?;
            self.set = grpc::joined(std::mem::take(&mut self.set), set)?;
            self.known.push(service.to_owned());
        }
        let services = Services::decode(&self.set)?;
        let text = match message {
            CallMessage::Json(text) => text,
            CallMessage::Binary(bytes) => {
                return services.body(method, MessageSource::Binary(bytes), rules);
            }
        };
        // Such a message differs for each call, so it is encoded when it is sent.
        if text.contains("${") || template::has_placeholders(text) {
            let method = method.to_owned();
            let json = text.clone();
            let MessageRules { stream, is_compressed: compressed } = rules;
            return grpc::message(&services, JsonMessage { method, json, stream, compressed });
        }
        services.body(method, MessageSource::Json(text.as_bytes()), rules)
    }
}

/// Message of a call.
enum CallMessage {
    /// JSON with expressions; empty for an empty message.
    Json(String),
    /// Encoded messages.
    Binary(Vec<u8>),
}

/// A call of gRPC.
#[derive(Deserialize, JsonSchema)]
pub struct CallStep {
    /// A call of this method of the server of `base`: `package.Service/Method`.
    grpc: Scalar,
    /// When the messages of a stream are sent: at this interval, such as `100ms`, or each after the reply to the previous
    /// one: `reply`. Default: all at once.
    message_interval: Option<Scalar>,
    /// Number of messages of a stream, the first again after the last. Default: each message once.
    message_count: Option<Scalar>,
    /// Time for which the messages of a stream are sent, the first again after the last. A stream of the server ends after this time.
    /// Default: no limit.
    stream_duration: Option<Scalar>,
    /// The message, as JSON.
    json: Option<Nested<serde_json::Value>>,
    /// A file with the message, as JSON.
    file: Option<Scalar>,
    /// A file with the encoded message; of a stream, several messages, each after its length as a varint.
    binary_file: Option<Scalar>,
    /// The name under which it is summed. Default: the method.
    name: Option<Scalar>,
    /// Metadata, by name. A list of values is a field for each.
    headers: Option<Nested<BTreeMap<String, ScalarList>>>,
    /// A token, sent with it.
    bearer: Option<Scalar>,
}

impl StepForm for CallStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["grpc"], "grpc: package.Service/Method")
        .with(&[ReplyKeys::json_schema])
        .refusing(no_message);

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let method = values::grpc_method(&self.grpc.0).map_err(|error| step.error(error))?;
        let Some(base) = reader.base.as_deref().map(|base| base.trim_end_matches('/').to_owned())
        else {
            let wrong = "the server is not specified; write it below scenario.base, such as http://127.0.0.1:50051";
            return Err(step.error(SpecError::unplaced(wrong)));
        };
        let stream = self.stream().map_err(|error| step.error(error))?;
        let message = self.message(reader, step.node)?;
        let mut headers =
            with_defaults(&reader.headers, step_headers(self.headers.as_ref(), step.node)?);
        let is_compressed = grpc::is_compressed(&headers)
            .map_err(|wrong| step.error(SpecError::unplaced(wrong)))?;
        let body = reader.calls.body(&method, &message, MessageRules { stream, is_compressed });
        let body = body.map_err(|wrong| step.error(SpecError::unplaced(wrong)))?;
        // gRPC has its own media type, which `add_headers` sets.
        headers.retain(|(name, _)| {
            !["content-type", "accept"].contains(&name.to_ascii_lowercase().as_str())
        });
        if let Some(token) = &self.bearer {
            add(&mut headers, "Authorization", format!("Bearer {}", token.0));
        }
        // `add` keeps a header field of the step or scenario.
        if let Some(authority) = &reader.calls.run.http.authority {
            add(&mut headers, "Host", authority.clone());
        }
        add(&mut headers, "User-Agent", crate::defaults::USER_AGENT.to_owned());
        let reply = read::<ReplyKeys>(step.node)?;
        grpc::add_headers(&mut headers, reply.timeout().or(reader.calls.deadline));
        let reply_policy = reply.read(reader, step.node, &step.key.key)?;
        let request = Request {
            label: self.name.map_or_else(|| method.clone(), |name| name.0),
            // The gRPC protocol allows POST only.
            method: "POST".to_owned(),
            url: format!("{base}/{method}"),
            headers,
            body,
            weight: 1,
            base: None,
            verbatim: None,
            reply_policy,
        };
        Ok(vec![ScenarioStep::Request(reader.add(request, &step.key.at))])
    }
}

fn no_message(key: &str) -> Option<String> {
    NO_MESSAGES.contains(&key).then(|| format!("`{key}` is no message of gRPC; write it as json"))
}

impl CallStep {
    /// Reads when and how often the messages are sent.
    fn stream(&self) -> std::result::Result<MessageStream, WordError> {
        let interval = self.message_interval.as_ref();
        let count = self.message_count.as_ref();
        let duration = self.stream_duration.as_ref();
        Ok(MessageStream {
            interval: interval.map(|word| values::message_interval(&word.0)).transpose()?,
            count: count.map(|word| values::message_count(&word.0)).transpose()?,
            duration: duration.map(|word| values::stream_duration(&word.0)).transpose()?,
        })
    }

    /// Returns the message.
    fn message(&self, reader: &ScenarioReader<'_>, step: &PlanNode) -> Result<CallMessage> {
        let sources = ["json", "file", "binary_file"];
        let mut entries =
            step.entries().iter().filter(|entry| sources.contains(&entry.key.as_str()));
        let Some(entry) = entries.next() else { return Ok(CallMessage::Json(String::new())) };
        if let Some(other) = entries.next() {
            return Err(SpecError::new(
                &other.node.at,
                &other.key,
                format!("`{}` is the message already; write one of them", entry.key),
            ));
        }
        if let Some(file) = &self.binary_file {
            return reader.read(&file.0, entry).map(CallMessage::Binary);
        }
        if self.json.is_some() {
            return Ok(CallMessage::Json(json_text(&entry.node)));
        }
        let Some(file) = &self.file else { return Ok(CallMessage::Json(String::new())) };
        let text = String::from_utf8(reader.read(&file.0, entry)?);
        text.map(|text| CallMessage::Json(template::plain(&text))).map_err(|_| {
            SpecError::new(
                &entry.node.at,
                "file",
                "it is no JSON; write a file with the message as JSON",
            )
        })
    }
}

//! Asks a server of gRPC which services and messages it has (`grpc.reflection.v1`, or `v1alpha` where it has no other).

use crate::error::RunError;
use brunt_engine::clock::{self, Epoch, Time};
use brunt_model::outcome::{GRPC_STATUS, grpc_code_status, status_text};
use brunt_model::plan::HttpVersion;
use brunt_model::sample::Opening;
use brunt_model::{Body, Failure, Plan};
use brunt_wire::http::{Common, Http, Lane};
use brunt_wire::request::{Draft, resolve};
use brunt_wire::{Reply, Stamps, Transport};
use percent_encoding::percent_decode_str;
use prost::Message;
use std::collections::BTreeMap;

/// Versions of the service, the newest first.
const SERVICES: [&str; 2] = ["grpc.reflection.v1", "grpc.reflection.v1alpha"];
/// An answer to another question, or to none.
const NO_REFLECTION: &str =
    "the server answers questions of reflection with something else; add --proto FILE or --descriptor-set FILE";
/// The code of gRPC for something that is not there.
const NOT_FOUND: i32 = 5;
const UNIMPLEMENTED: u16 = GRPC_STATUS + 12;

/// What is asked: a file by its name, the one in which a service is, or which services there are.
#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, optional, tag = "3")]
    file: Option<String>,
    #[prost(string, optional, tag = "4")]
    symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    services: Option<String>,
}

impl Question {
    fn of_file(name: String) -> Self {
        Self { file: Some(name), ..Self::default() }
    }

    fn of_symbol(name: String) -> Self {
        Self { symbol: Some(name), ..Self::default() }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<ServiceList>,
    #[prost(message, optional, tag = "7")]
    error: Option<Error>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct ServiceList {
    #[prost(message, repeated, tag = "1")]
    services: Vec<ServiceName>,
}

#[derive(Clone, PartialEq, Message)]
struct ServiceName {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Error {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    text: String,
}

impl Error {
    /// The error in words, with what to write instead.
    fn explain(&self, question: &Question) -> String {
        let status = status_text(grpc_code_status(u16::try_from(self.code).unwrap_or(u16::MAX)));
        let text = if self.text.is_empty() { String::new() } else { format!(": {}", self.text) };
        let answer = format!("(reflection answers {status}{text})");
        match (self.code, &question.symbol, &question.file) {
            (NOT_FOUND, Some(symbol), _) => {
                format!("the server has no service `{symbol}` {answer}; `brunt grpc URL` lists its services")
            }
            (NOT_FOUND, None, Some(file)) => format!(
                "the server does not know `{file}`, which its services import {answer}; add --proto FILE or --descriptor-set FILE"
            ),
            _ => format!("the server's reflection fails {answer}; add --proto FILE or --descriptor-set FILE"),
        }
    }
}

/// Why a server does not answer a question of reflection, by the status of its reply.
fn refusal(reply: &Reply) -> String {
    let fields = reply.kept.as_ref().and_then(|kept| kept.head.as_ref()).map(|head| &head.1);
    let message = fields.into_iter().flatten().find(|(name, _)| name.eq_ignore_ascii_case("grpc-message"));
    let message = message.map(|(_, text)| percent_decode_str(text).decode_utf8_lossy()).unwrap_or_default();
    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
    let status = status_text(reply.status);
    let why = match reply.status {
        UNIMPLEMENTED => "the server has no reflection",
        GRPC_STATUS.. => "the server refuses reflection",
        _ => "no gRPC server answers on this port",
    };
    format!("{why} ({status}{message}); add --proto FILE or --descriptor-set FILE")
}

/// Of a `FileDescriptorProto` what leads to others.
#[derive(Clone, PartialEq, Message)]
struct Imports {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "3")]
    imports: Vec<String>,
}

/// A `FileDescriptorSet`.
#[derive(Clone, PartialEq, Message)]
struct DescriptorSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

/// The descriptors of a service, with all that they import: a `FileDescriptorSet`; without a name, those of all services but the
/// reflection. `plan` says how to reach the server; its
/// first request is not sent, but its header fields go along.
///
/// # Errors
///
/// In words: the server cannot be reached, has no reflection, or no such service.
pub fn descriptors(plan: &Plan, service: &str) -> Result<Vec<u8>, String> {
    let runtime = clock::runtime().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let time = Time::new(Epoch::now());
        let _attended = time.attend().map_err(|error| error.to_string())?;
        let mut plan = plan.clone();
        (plan.connection.http, plan.connection.streams) = (HttpVersion::V2, 1);
        let common = Common::new(&plan).map_err(|error| RunError::from(error).to_string())?;
        let client = Client { wire: Http::new(common, 0, time.clone()), time, plan };
        client.descriptors(service).await
    })
}

struct Client {
    wire: Http<Time>,
    time: Time,
    plan: Plan,
}

impl Client {
    async fn descriptors(&self, service: &str) -> Result<Vec<u8>, String> {
        let mut known: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut lane = None;
        let services = match service {
            "" => self.services(&mut lane).await?,
            name => vec![name.to_owned()],
        };
        let mut wanted: Vec<Question> = services.into_iter().map(Question::of_symbol).collect();
        while let Some(question) = wanted.pop() {
            if question.file.as_ref().is_some_and(|file| known.contains_key(file)) {
                continue;
            }
            let answer = self.ask(&mut lane, &question).await?;
            let files = answer.files.ok_or(NO_REFLECTION)?;
            for file in files.files {
                let told = Imports::decode(&*file).map_err(|error| format!("reflection: no descriptor: {error}"))?;
                wanted.extend(told.imports.into_iter().map(Question::of_file));
                known.insert(told.name, file);
            }
        }
        Ok(DescriptorSet { files: known.into_values().collect() }.encode_to_vec())
    }

    /// The services of the server, without the reflection.
    async fn services(&self, lane: &mut Option<Lane>) -> Result<Vec<String>, String> {
        let question = Question { services: Some(String::new()), ..Question::default() };
        let answer = self.ask(lane, &question).await?;
        let list = answer.services.ok_or(NO_REFLECTION)?;
        let names = list.services.into_iter().map(|service| service.name);
        Ok(names.filter(|name| !SERVICES.iter().any(|own| name.starts_with(own))).collect())
    }

    /// What the server answers.
    async fn ask(&self, lane: &mut Option<Lane>, question: &Question) -> Result<Answer, String> {
        let mut reply = Reply::default();
        for service in SERVICES {
            reply = self.call(lane, service, question).await?;
            if reply.status != UNIMPLEMENTED {
                break;
            }
        }
        if reply.status != GRPC_STATUS {
            return Err(refusal(&reply));
        }
        let body = reply.kept.map(|kept| kept.body).unwrap_or_default();
        let message = body.get(5..).ok_or(NO_REFLECTION)?;
        let answer = Answer::decode(message).map_err(|_| NO_REFLECTION)?;
        match answer.error {
            Some(error) => Err(error.explain(question)),
            None => Ok(answer),
        }
    }

    async fn call(&self, lane: &mut Option<Lane>, service: &str, question: &Question) -> Result<Reply, String> {
        let message = question.encode_to_vec();
        let body = [&[0], &(message.len() as u32).to_be_bytes()[..], &message].concat();
        let first = self.plan.requests().next();
        let base = first.map_or("", |request| &request.url);
        let url = resolve(base, &format!("/{service}.ServerReflection/ServerReflectionInfo"));
        let url = url.ok_or_else(|| format!("`{base}` is no URL; write one such as http://127.0.0.1:50051"))?;
        let own = [("Content-Type", "application/grpc"), ("TE", "trailers")];
        // Metadata of the call, such as credentials, are wanted here, too.
        let metadata = first
            .iter()
            .flat_map(|request| &request.headers)
            .filter(|(name, _)| !["content-type", "accept", "te"].iter().any(|other| name.eq_ignore_ascii_case(other)));
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: Vec<_> = own.into_iter().chain(metadata.cloned()).collect();
        let draft = Draft {
            method: "POST",
            url: &url,
            headers: &headers,
            body: &Body::Bytes(body),
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        let request = self.wire.prepare(&draft).map_err(|error| error.to_string())?;
        let told = |failure: Failure| {
            let note = self.wire.take_note().unwrap_or_else(|| failure.row().meaning.to_owned());
            format!("cannot ask {base} for its services: {note}")
        };
        if lane.is_none() {
            let mut steps = Opening::default();
            *lane = Some(self.in_time(self.wire.open(&request, 0, &mut steps)).await.map_err(told)?);
        }
        let Some(lane) = lane else { return Err(told(Failure::System)) };
        let mut stamps = Stamps::default();
        self.in_time(self.wire.look(lane, &request, &mut stamps)).await.map_err(told)
    }

    async fn in_time<O>(&self, work: impl Future<Output = Result<O, Failure>>) -> Result<O, Failure> {
        self.time.within(self.plan.connection.timeout, work).await.unwrap_or(Err(Failure::Timeout))
    }
}

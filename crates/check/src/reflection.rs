//! Asks a gRPC server for its services and messages (`grpc.reflection.v1`, or `v1alpha` if
//! it has no other).

use crate::CheckError;
use brunt_engine::clock::{self, RunEpoch, WorkerClock};
use brunt_model::outcome::{GRPC_STATUS, grpc_code_status, status_text};
use brunt_model::plan::HttpVersion;
use brunt_model::sample::ConnectTimes;
use brunt_model::{Body, Failure, Plan};
use brunt_wire::http::{Common, Http, Lane};
use brunt_wire::request::{RequestDraft, resolve};
use brunt_wire::{Reply, Stamps, Transport};
use flate2::read::GzDecoder;
use percent_encoding::percent_decode_str;
use prost::Message;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

/// Versions of the service, the newest first.
const SERVICES: [&str; 2] = ["grpc.reflection.v1", "grpc.reflection.v1alpha"];
/// Message for an unexpected reply to a reflection request.
const NO_REFLECTION: &str = "the server answers questions of reflection with something else; add --proto FILE or --descriptor-set FILE";
/// Status of gRPC for a missing object.
const NOT_FOUND: i32 = 5;
const UNIMPLEMENTED: u16 = GRPC_STATUS + 12;

/// Maximum size of a decompressed message, in bytes.
const MAX_MESSAGE: u64 = 64 << 20;

/// Returns the message in the body of a reply. Some servers compress it without being asked to.
/// None: it is cut, or compressed in another way than with gzip.
fn message_in(body: &[u8]) -> Option<Cow<'_, [u8]>> {
    // A message follows a byte for its compression and four bytes for its length.
    let (head, rest) = body.split_first_chunk::<5>()?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let payload = rest.get(..length)?;
    if head[0] == 0 {
        return Some(Cow::Borrowed(payload));
    }
    let mut message = Vec::new();
    let read = GzDecoder::new(payload).take(MAX_MESSAGE + 1).read_to_end(&mut message).ok()?;
    (read as u64 <= MAX_MESSAGE).then_some(Cow::Owned(message))
}

/// A reflection request: a file by its name, the file of a service, or the list of services.
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
    fn for_file(name: String) -> Self {
        Self { file: Some(name), ..Self::default() }
    }

    fn for_symbol(name: String) -> Self {
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
    /// The error as text, with a remedy.
    fn explain(&self, question: &Question) -> String {
        let status = status_text(grpc_code_status(u16::try_from(self.code).unwrap_or(u16::MAX)));
        let text = if self.text.is_empty() { String::new() } else { format!(": {}", self.text) };
        let answer = format!("(reflection answers {status}{text})");
        match (self.code, &question.symbol, &question.file) {
            (NOT_FOUND, Some(symbol), _) => {
                format!(
                    "the server has no service `{symbol}` {answer}; `brunt grpc URL` lists its services"
                )
            }
            (NOT_FOUND, None, Some(file)) => format!(
                "the server does not know `{file}`, which its services import {answer}; add --proto FILE or --descriptor-set FILE"
            ),
            _ => format!(
                "the server's reflection fails {answer}; add --proto FILE or --descriptor-set FILE"
            ),
        }
    }
}

/// Reason why a server does not answer a reflection request, by the status of its reply.
fn refusal(reply: &Reply) -> String {
    let fields = reply.details.as_ref().and_then(|kept| kept.head.as_ref()).map(|head| &head.1);
    let message =
        fields.into_iter().flatten().find(|(name, _)| name.eq_ignore_ascii_case("grpc-message"));
    let message =
        message.map(|(_, text)| percent_decode_str(text).decode_utf8_lossy()).unwrap_or_default();
    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
    let status = status_text(reply.status);
    let reason = match reply.status {
        UNIMPLEMENTED => "the server has no reflection",
        GRPC_STATUS.. => "the server refuses reflection",
        _ => "no gRPC server answers on this port",
    };
    format!("{reason} ({status}{message}); add --proto FILE or --descriptor-set FILE")
}

/// The fields of a `FileDescriptorProto` that refer to other files.
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

/// Reads the descriptors of a service with all imports, as a `FileDescriptorSet`. Without a name,
/// they are those of all services except reflection. `plan` has the address of the server; the
/// header fields of its first request are sent as well.
///
/// # Errors
///
/// A message: the server cannot be reached, or has no reflection, or no such service.
pub fn descriptors(plan: &Plan, service: &str) -> Result<Vec<u8>, String> {
    let runtime = clock::runtime().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let time = WorkerClock::new(RunEpoch::now());
        let _runtime_hooks = time.install().map_err(|error| error.to_string())?;
        let mut plan = plan.clone();
        // gRPC needs HTTP/2.
        plan.connection.http = HttpVersion::V2;
        plan.connection.streams = 1;
        let common = Common::new(&plan).map_err(|error| CheckError::from(error).to_string())?;
        let client = Client { wire: Http::new(common, 0, time.clone()), time, plan };
        client.descriptors(service).await
    })
}

struct Client {
    wire: Http<WorkerClock>,
    time: WorkerClock,
    plan: Plan,
}

impl Client {
    async fn descriptors(&self, service: &str) -> Result<Vec<u8>, String> {
        let mut descriptors: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut lane = None;
        let services = match service {
            "" => self.services(&mut lane).await?,
            name => vec![name.to_owned()],
        };
        let mut questions: Vec<Question> = services.into_iter().map(Question::for_symbol).collect();
        while let Some(question) = questions.pop() {
            // Several files may import the same file.
            if question.file.as_ref().is_some_and(|file| descriptors.contains_key(file)) {
                continue;
            }
            let answer = self.ask(&mut lane, &question).await?;
            let files = answer.files.ok_or(NO_REFLECTION)?;
            for file in files.files {
                let imports = Imports::decode(&*file)
                    .map_err(|error| format!("reflection: no descriptor: {error}"))?;
                questions.extend(imports.imports.into_iter().map(Question::for_file));
                descriptors.insert(imports.name, file);
            }
        }
        Ok(DescriptorSet { files: descriptors.into_values().collect() }.encode_to_vec())
    }

    /// Lists the services of the server, without reflection.
    async fn services(&self, lane: &mut Option<Lane>) -> Result<Vec<String>, String> {
        let question = Question { services: Some(String::new()), ..Question::default() };
        let answer = self.ask(lane, &question).await?;
        let list = answer.services.ok_or(NO_REFLECTION)?;
        let names = list.services.into_iter().map(|service| service.name);
        // Reflection is no service that a load test would call.
        Ok(names
            .filter(|name| !SERVICES.iter().any(|reflection| name.starts_with(reflection)))
            .collect())
    }

    /// Sends a reflection request, in the newest version that the server has.
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
        let body = reply.details.map(|kept| kept.body).unwrap_or_default();
        let message = message_in(&body).ok_or(NO_REFLECTION)?;
        let answer = Answer::decode(&*message).map_err(|_| NO_REFLECTION)?;
        match answer.error {
            Some(error) => Err(error.explain(question)),
            None => Ok(answer),
        }
    }

    async fn call(
        &self,
        lane: &mut Option<Lane>,
        service: &str,
        question: &Question,
    ) -> Result<Reply, String> {
        let message = question.encode_to_vec();
        // The frame of gRPC: byte 0 for no compression, and the length in big-endian order.
        let body = [&[0], &(message.len() as u32).to_be_bytes()[..], &message].concat();
        let first = self.plan.requests().next();
        let base = first.map_or("", |request| &request.url);
        let url = resolve(base, &format!("/{service}.ServerReflection/ServerReflectionInfo"));
        let url = url.ok_or_else(|| {
            format!("`{base}` is no URL; write one such as http://127.0.0.1:50051")
        })?;
        // gRPC requires `TE: trailers`, which detects proxies that drop trailers.
        let grpc_headers = [("Content-Type", "application/grpc"), ("TE", "trailers")];
        // The server may require metadata such as credentials for reflection, too.
        let metadata = first.iter().flat_map(|request| &request.headers).filter(|(name, _)| {
            !["content-type", "accept", "te"].iter().any(|other| name.eq_ignore_ascii_case(other))
        });
        let grpc_headers = grpc_headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: Vec<_> = grpc_headers.into_iter().chain(metadata.cloned()).collect();
        let draft = RequestDraft {
            method: "POST",
            url: &url,
            headers: &headers,
            body: &Body::from_bytes(body),
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        let request = self.wire.prepare(&draft).map_err(|error| error.to_string())?;
        if lane.is_none() {
            let mut steps = ConnectTimes::default();
            let connection = self
                .in_time(Failure::ConnectTimeout, self.wire.open(&request, 0, &mut steps))
                .await;
            *lane = Some(connection.map_err(|failure| self.call_error(base, failure))?);
        }
        let Some(lane) = lane else { return Err(self.call_error(base, Failure::System)) };
        let mut stamps = Stamps::default();
        let reply = self
            .in_time(Failure::DeadlineExceeded, self.wire.inspect(lane, &request, &mut stamps))
            .await;
        reply.map_err(|failure| self.call_error(base, failure))
    }

    fn call_error(&self, base: &str, failure: Failure) -> String {
        let note = self.wire.take_note().unwrap_or_else(|| failure.row().meaning.clone());
        format!("cannot ask {base} for its services: {note}")
    }

    /// Waits for `work` until the time limit. The failure is then `late`.
    async fn in_time<O>(
        &self,
        late: Failure,
        work: impl Future<Output = Result<O, Failure>>,
    ) -> Result<O, Failure> {
        self.time.within(self.plan.connection.timeout, work).await.unwrap_or(Err(late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn framed(flag: u8, payload: &[u8]) -> Vec<u8> {
        [&[flag], &(payload.len() as u32).to_be_bytes()[..], payload].concat()
    }

    #[test]
    fn messages_are_read_with_and_without_compression() {
        for length in [0, 1, 100, 100_000] {
            let message: Vec<u8> = (0..length).map(|number: u32| number as u8).collect();
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&message).unwrap();
            let packed = encoder.finish().unwrap();
            assert_eq!(message_in(&framed(0, &message)).as_deref(), Some(&message[..]));
            assert_eq!(message_in(&framed(1, &packed)).as_deref(), Some(&message[..]));
            // A second message is ignored, and a cut one is refused.
            let twice = framed(1, &packed).repeat(2);
            assert_eq!(message_in(&twice).as_deref(), Some(&message[..]));
            assert_eq!(message_in(&framed(1, &packed)[..packed.len() + 2]), None);
            assert_eq!(message_in(&framed(1, &[&packed[..4], b"?"].concat())), None);
        }
        assert_eq!(message_in(b"\0\0\0"), None);
    }
}

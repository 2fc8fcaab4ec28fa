//! Encodes and decodes messages by the descriptors of their types.

use super::{MessageRules, MessageSource, describe, editions};
use brunt_model::Body;
use brunt_model::request::{BodyPieces, MessageStream, PieceInterval};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use prost_reflect::prost::Message;
use prost_reflect::prost::encoding::decode_varint;
use prost_reflect::{
    DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor, SerializeOptions,
    ServiceDescriptor,
};
use serde_json::Value;
use std::io::{Read, Write};
use std::time::Duration;

/// Length of a message's header: the compression flag, and the message length.
const HEADER_BYTES: usize = 5;
/// Maximum size of messages that are sent at once, in bytes.
const MAX_AT_ONCE: usize = 64 << 20;
/// Maximum size of a decompressed message, in bytes.
const MAX_MESSAGE: u64 = 16 << 20;

/// The services of a plan.
#[derive(Debug)]
pub struct Services(DescriptorPool);

impl Services {
    /// Decodes the services of a `FileDescriptorSet`.
    pub fn decode(set: &[u8]) -> Result<Self, String> {
        let set = editions::without_editions(set)?;
        let pool = DescriptorPool::decode(&*set)
            .map_err(|error| format!("this is no set of descriptors: {error}"))?;
        Ok(Self(pool))
    }

    /// Merges two `FileDescriptorSet`s. A file in both is used once.
    ///
    /// # Errors
    ///
    /// Describes a contradiction between them.
    pub fn merged(one: &[u8], other: &[u8]) -> Result<Vec<u8>, String> {
        let Self(mut pool) = Self::decode(one)?;
        let other = editions::without_editions(other)?;
        pool.decode_file_descriptor_set(&*other)
            .map_err(|error| format!("descriptors of two services: {error}"))?;
        Ok(pool.encode_to_vec())
    }

    /// Returns the body of a call of `package.Service/Method`: its framed messages.
    ///
    /// # Errors
    ///
    /// Describes an unknown service or method, messages that do not match the message type, or
    /// messages that cannot be sent at intervals.
    pub fn body(
        &self,
        method: &str,
        source: MessageSource<'_>,
        rules: MessageRules,
    ) -> Result<Body, String> {
        let name = method;
        let method = self.method(method)?;
        let messages = match source {
            MessageSource::Json(json) => messages(&method, json)?,
            MessageSource::Binary(bytes) => binary_messages(&method, bytes)?,
        };
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for plain in messages {
            let payload = if rules.is_compressed { compress(&plain)? } else { plain };
            bytes.push(u8::from(rules.is_compressed));
            bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes());
            bytes.extend_from_slice(&payload);
            ends.push(bytes.len());
        }
        check_stream(&method, name, rules.stream)?;
        if !method.is_client_streaming() {
            return Ok(single_message(bytes, rules.stream.duration));
        }
        several_messages(bytes, ends, rules.stream)
    }

    /// Returns the reply of `package.Service/Method` as JSON: its message, or a list of messages if
    /// the server sends several. None if the reply is malformed.
    pub fn reply(&self, method: &str, body: &[u8]) -> Option<String> {
        let method = self.method(method).ok()?;
        let texts = texts(&method.output(), body)?;
        if method.is_server_streaming() { Some(list(&texts)) } else { only(texts) }
    }

    /// Returns the body of a call of `package.Service/Method` as JSON: its message, or a list of
    /// messages if the client sends several.
    pub fn request(&self, method: &str, body: &[u8]) -> Option<String> {
        let method = self.method(method).ok()?;
        let texts = texts(&method.input(), body)?;
        if method.is_client_streaming() { Some(list(&texts)) } else { only(texts) }
    }

    /// Formats all services with their methods as `.proto` definitions; for a single
    /// service also its messages.
    ///
    /// # Errors
    ///
    /// Describes an unknown service.
    pub fn describe(&self, service: Option<&str>) -> Result<String, String> {
        let Some(name) = service else { return Ok(describe::all(&self.0)) };
        self.service(name).map(|service| describe::service_definition(&service))
    }

    fn service(&self, name: &str) -> Result<ServiceDescriptor, String> {
        self.0.get_service_by_name(name).ok_or_else(|| {
            let names: Vec<String> =
                self.0.services().map(|service| service.full_name().to_owned()).collect();
            format!("there is no service {name}; write one of {}", names.join(", "))
        })
    }

    fn method(&self, name: &str) -> Result<MethodDescriptor, String> {
        let (service, method) = name.split_once('/').unwrap_or((name, ""));
        let descriptor = self.service(service)?;
        descriptor.methods().find(|one| one.name() == method).ok_or_else(|| {
            let names: Vec<String> =
                descriptor.methods().map(|one| one.name().to_owned()).collect();
            format!("{service} has no method {method}; write one of {}", names.join(", "))
        })
    }
}

/// Encodes messages from JSON. If the client may send several messages, a list is several. An empty
/// text is an empty message.
fn messages(method: &MethodDescriptor, json: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let value: Value = if json.trim_ascii().is_empty() {
        Value::Object(serde_json::Map::default())
    } else {
        serde_json::from_slice(json).map_err(|error| json_error(method, &error))?
    };
    let values = match value {
        Value::Array(several) if method.is_client_streaming() => several,
        one => vec![one],
    };
    let messages = values.into_iter().map(|value| {
        DynamicMessage::deserialize(method.input(), value).map(|message| message.encode_to_vec())
    });
    messages.collect::<Result<_, _>>().map_err(|error| json_error(method, &error))
}

/// Splits encoded messages. If the client may send several messages, each follows its length as a
/// varint, as `writeDelimitedTo` writes them.
fn binary_messages(method: &MethodDescriptor, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let messages = if method.is_client_streaming() {
        delimited(bytes).ok_or_else(|| {
            format!(
                "the binary messages are cut after {} bytes; write each message of {} after its length as a varint (writeDelimitedTo)",
                bytes.len(),
                method.input().full_name()
            )
        })?
    } else {
        vec![bytes]
    };
    for message in &messages {
        DynamicMessage::decode(method.input(), *message).map_err(|error| {
            let name = method.input().full_name().to_owned();
            format!(
                "the binary message is no {name}: {error}; write the bytes of an encoded {name}"
            )
        })?;
    }
    Ok(messages.into_iter().map(<[u8]>::to_vec).collect())
}

/// Splits messages that follow their lengths. None: the last one is cut.
fn delimited(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let length = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
        let (message, rest) = bytes.split_at_checked(length)?;
        messages.push(message);
        bytes = rest;
    }
    Some(messages)
}

fn json_error(method: &MethodDescriptor, error: &serde_json::Error) -> String {
    format!("--json is no {}: {error}", method.input().full_name())
}

/// Returns the body of a call with one message. With a duration, the call ends then.
fn single_message(bytes: Vec<u8>, duration: Option<Duration>) -> Body {
    let Some(duration) = duration else { return Body::from_bytes(bytes) };
    let interval = PieceInterval::Time(duration);
    let ends = vec![bytes.len()];
    Body::Pieces(BodyPieces { bytes, ends, interval, count: Some(1), duration: Some(duration) })
}

/// Returns the body of a call with several messages, of which the first follows the last.
fn several_messages(
    bytes: Vec<u8>,
    ends: Vec<usize>,
    stream: MessageStream,
) -> Result<Body, String> {
    let MessageStream { interval, count, duration } = stream;
    if ends.is_empty() {
        return Ok(Body::from_bytes(bytes));
    }
    let Some(interval) = interval else {
        return repeated(&bytes, &ends, count).map(Body::from_bytes);
    };
    let count = count.or_else(|| duration.is_none().then_some(ends.len() as u64));
    if count == Some(1) && duration.is_none() {
        // A single message needs no interval.
        return Ok(Body::from_bytes(bytes[..ends[0]].to_vec()));
    }
    Ok(Body::Pieces(BodyPieces { bytes, ends, interval, count, duration }))
}

/// Returns this number of messages, or each once.
fn repeated(bytes: &[u8], ends: &[usize], count: Option<u64>) -> Result<Vec<u8>, String> {
    let Some(count) = count else { return Ok(bytes.to_vec()) };
    let starts = [0].iter().chain(ends);
    let messages = starts.zip(ends).map(|(start, end)| &bytes[*start..*end]);
    let mut all = Vec::new();
    for message in messages.cycle().take(usize::try_from(count).unwrap_or(usize::MAX)) {
        all.extend_from_slice(message);
        if all.len() > MAX_AT_ONCE {
            return Err(format!(
                "{count} messages at once are longer than 64 MiB; write a message interval, such as 1ms"
            ));
        }
    }
    Ok(all)
}

/// Checks that a method is a stream of the kind that the rules need.
fn check_stream(
    method: &MethodDescriptor,
    name: &str,
    stream: MessageStream,
) -> Result<(), String> {
    let MessageStream { interval, count, duration } = stream;
    let sends_one = !method.is_client_streaming();
    if interval.is_some() && sends_one {
        return Err(format!(
            "{name} takes one message, but a message interval needs a method that takes several; leave it out"
        ));
    }
    if count.is_some() && sends_one {
        return Err(format!(
            "{name} takes one message, but a message count needs a method that takes several; leave it out, or end the reply \
             after this number of messages: --reply-events messages,N"
        ));
    }
    if interval == Some(PieceInterval::Reply) && !method.is_server_streaming() {
        return Err(format!(
            "{name} replies once, after the last message, so that no message can await a reply; write a time as the message interval, \
             such as 100ms"
        ));
    }
    if duration.is_some() && sends_one && !method.is_server_streaming() {
        return Err(format!(
            "{name} is no stream, but a stream duration needs one; leave it out, or limit the call with --timeout"
        ));
    }
    if duration.is_some() && !sends_one && interval.is_none() {
        return Err(format!(
            "{name} sends all messages at once, but a stream duration needs a message interval; write one such as 100ms"
        ));
    }
    Ok(())
}

/// Returns each of the messages as JSON.
fn texts(kind: &MessageDescriptor, body: &[u8]) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    let mut rest = body;
    while let Some((header, remainder)) = rest.split_at_checked(HEADER_BYTES) {
        // Four bytes, most significant first.
        let length = header[1..].iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let (message, remainder) = remainder.split_at_checked(length)?;
        texts.push(if header[0] == 0 {
            as_json(kind, message)?
        } else {
            as_json(kind, &decompress(message)?)?
        });
        rest = remainder;
    }
    Some(texts)
}

/// Compresses a message with gzip.
fn compress(message: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(message).and_then(|()| encoder.finish()).map_err(|error| error.to_string())
}

/// Decompresses a gzip payload. None: it is malformed, or the message is too large.
fn decompress(payload: &[u8]) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    // One byte more than the limit shows that a message is too large.
    let read = GzDecoder::new(payload).take(MAX_MESSAGE + 1).read_to_end(&mut message).ok()?;
    (read as u64 <= MAX_MESSAGE).then_some(message)
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.join(","))
}

fn only(mut texts: Vec<String>) -> Option<String> {
    texts.pop().filter(|_| texts.is_empty())
}

/// Returns a message as JSON with all of its fields, so that those with default values are found.
fn as_json(kind: &MessageDescriptor, bytes: &[u8]) -> Option<String> {
    let message = DynamicMessage::decode(kind.clone(), bytes).ok()?;
    let mut json = serde_json::Serializer::new(Vec::new());
    message
        .serialize_with_options(&mut json, &SerializeOptions::new().skip_default_fields(false))
        .ok()?;
    String::from_utf8(json.into_inner()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::prost_types::{FileDescriptorSet, field_descriptor_proto};

    /// `message Item { string name = 1; int64 id = 2; }`, and a service with a method of each kind.
    fn shop() -> Services {
        use field_descriptor_proto::{Label, Type};
        use prost_reflect::prost_types::{
            DescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
            ServiceDescriptorProto,
        };
        let field = |name: &str, number, kind: Type| FieldDescriptorProto {
            name: Some(name.into()),
            number: Some(number),
            r#type: Some(kind as i32),
            label: Some(Label::Optional as i32),
            ..FieldDescriptorProto::default()
        };
        let method = |name: &str, client, server| MethodDescriptorProto {
            name: Some(name.into()),
            input_type: Some(".shop.Item".into()),
            output_type: Some(".shop.Item".into()),
            client_streaming: Some(client),
            server_streaming: Some(server),
            ..MethodDescriptorProto::default()
        };
        let item = DescriptorProto {
            name: Some("Item".into()),
            field: vec![field("name", 1, Type::String), field("id", 2, Type::Int64)],
            ..DescriptorProto::default()
        };
        let methods = vec![
            method("Buy", false, false),
            method("Fill", true, false),
            method("Chat", true, true),
        ];
        let service = ServiceDescriptorProto {
            name: Some("Shop".into()),
            method: methods,
            ..ServiceDescriptorProto::default()
        };
        let file = FileDescriptorProto {
            name: Some("shop.proto".into()),
            package: Some("shop".into()),
            syntax: Some("proto3".into()),
            message_type: vec![item],
            service: vec![service],
            ..FileDescriptorProto::default()
        };
        Services::decode(&FileDescriptorSet { file: vec![file] }.encode_to_vec()).unwrap()
    }

    fn json_source(json: &str) -> MessageSource<'_> {
        MessageSource::Json(json.as_bytes())
    }

    #[test]
    fn binary_messages_are_framed_unchanged() {
        let shop = shop();
        let rules = MessageRules::default();
        let item = &ITEM[HEADER_BYTES..];
        let body = shop.body("shop.Shop/Buy", MessageSource::Binary(item), rules);
        assert_eq!(body, Ok(Body::from_bytes(ITEM.to_vec())));
        let two = [&[6][..], item, &[0]].concat();
        let body = shop.body("shop.Shop/Fill", MessageSource::Binary(&two), rules);
        assert_eq!(body, Ok(Body::from_bytes([ITEM, &[0; HEADER_BYTES]].concat())));
        // Field 3 is unknown, and is sent as it is.
        let unknown = shop.body("shop.Shop/Buy", MessageSource::Binary(b"\x18\x01"), rules);
        assert_eq!(unknown, Ok(Body::from_bytes(b"\0\0\0\0\x02\x18\x01".to_vec())));
        for (method, bytes, expected) in [
            ("shop.Shop/Buy", &b"\x0a\x09ab"[..], "the binary message is no shop.Item"),
            ("shop.Shop/Fill", &two[..5], "cut after 5 bytes"),
            ("shop.Shop/Fill", b"\x02\x0a\x09", "the binary message is no shop.Item"),
        ] {
            let error = shop.body(method, MessageSource::Binary(bytes), rules).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    const ITEM: &[u8] = b"\0\0\0\0\x06\x0a\x02ab\x10\x07";

    #[test]
    fn messages_are_encoded_and_framed() {
        let shop = shop();
        let of = |method: &str, json: &str| {
            shop.body(method, json_source(json), MessageRules::default()).unwrap()
        };
        assert_eq!(of("shop.Shop/Buy", ""), Body::from_bytes(vec![0; HEADER_BYTES]));
        assert_eq!(
            of("shop.Shop/Buy", r#"{"name": "ab", "id": 7}"#),
            Body::from_bytes(ITEM.to_vec())
        );
        let two = [ITEM, &[0; HEADER_BYTES]].concat();
        assert_eq!(
            of("shop.Shop/Fill", r#"[{"name": "ab", "id": "7"}, {}]"#),
            Body::from_bytes(two)
        );
    }

    #[test]
    fn messages_at_intervals_are_pieces() {
        let shop = shop();
        let every = PieceInterval::Time(Duration::from_millis(5));
        let of = |method: &str, json: &str, interval| {
            let stream = MessageStream { interval: Some(interval), ..MessageStream::default() };
            let rules = MessageRules { stream, ..MessageRules::default() };
            shop.body(method, json_source(json), rules)
        };
        let bytes = [&[0; HEADER_BYTES], ITEM].concat();
        let pieces = Body::Pieces(BodyPieces {
            bytes,
            ends: vec![HEADER_BYTES, HEADER_BYTES + ITEM.len()],
            interval: every,
            count: Some(2),
            duration: None,
        });
        assert_eq!(
            of("shop.Shop/Fill", r#"[{}, {"name": "ab", "id": 7}]"#, every).unwrap(),
            pieces
        );
        assert_eq!(
            of("shop.Shop/Chat", "[{}]", PieceInterval::Reply).unwrap(),
            Body::from_bytes(vec![0; HEADER_BYTES])
        );
        assert!(of("shop.Shop/Buy", "{}", every).unwrap_err().contains("takes one message"));
        assert!(
            of("shop.Shop/Fill", "[{}]", PieceInterval::Reply)
                .unwrap_err()
                .contains("such as 100ms")
        );
    }

    #[test]
    fn messages_repeat_by_count_and_until_the_duration() {
        let shop = shop();
        let second = Some(Duration::from_secs(1));
        let every = Some(PieceInterval::Time(Duration::from_millis(5)));
        let of = |method: &str, stream| {
            let json = json_source(r#"[{}, {"name": "ab", "id": 7}]"#);
            shop.body(method, json, MessageRules { stream, is_compressed: false })
        };
        let empty = &[0; HEADER_BYTES][..];
        let three = MessageStream { count: Some(3), ..MessageStream::default() };
        assert_eq!(
            of("shop.Shop/Fill", three),
            Ok(Body::from_bytes([empty, ITEM, empty].concat()))
        );
        let one = MessageStream { count: Some(1), interval: every, duration: None };
        assert_eq!(of("shop.Shop/Fill", one), Ok(Body::from_bytes(empty.to_vec())));
        for (count, expected) in [(None, None), (Some(9), Some(9))] {
            let stream = MessageStream { interval: every, count, duration: second };
            let Ok(Body::Pieces(pieces)) = of("shop.Shop/Chat", stream) else {
                panic!("no pieces")
            };
            assert_eq!((pieces.count, pieces.duration), (expected, second));
        }
        let long = MessageStream { count: Some(u64::MAX), ..MessageStream::default() };
        assert!(of("shop.Shop/Fill", long).unwrap_err().contains("longer than 64 MiB"));
        let endless = MessageStream { duration: second, ..MessageStream::default() };
        assert!(of("shop.Shop/Fill", endless).unwrap_err().contains("needs a message interval"));
        for (stream, expected) in [(three, "--reply-events messages,N"), (endless, "is no stream")]
        {
            let rules = MessageRules { stream, is_compressed: false };
            let error = shop.body("shop.Shop/Buy", json_source("{}"), rules).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn replies_become_json() {
        let shop = shop();
        let item = r#"{"name":"ab","id":"7"}"#;
        assert_eq!(shop.reply("shop.Shop/Buy", ITEM).as_deref(), Some(item));
        let empty = r#"{"name":"","id":"0"}"#;
        let two = [ITEM, &[0; HEADER_BYTES]].concat();
        assert_eq!(shop.reply("shop.Shop/Chat", &two), Some(format!("[{item},{empty}]")));
        assert_eq!(shop.reply("shop.Shop/Chat", b"").as_deref(), Some("[]"));
        assert_eq!(shop.request("shop.Shop/Fill", ITEM), Some(format!("[{item}]")));
        assert_eq!(shop.request("shop.Shop/Buy", ITEM).as_deref(), Some(item));
        for (method, bytes) in [
            ("shop.Shop/Buy", &two[..]),
            ("shop.Shop/Buy", &ITEM[..9]),
            ("shop.Shop/No", ITEM),
            ("shop.Shop/Buy", b""),
        ] {
            assert_eq!(shop.reply(method, bytes), None, "{method}");
        }
        assert_eq!(shop.reply("shop.Shop/Buy", b"\x01\0\0\0\0"), None, "no gzip");
    }

    #[test]
    fn compressed_messages_are_written_and_read() {
        let shop = shop();
        let rules = MessageRules { is_compressed: true, ..MessageRules::default() };
        let body = shop
            .body("shop.Shop/Fill", json_source(r#"[{"name": "ab", "id": 7}, {}]"#), rules)
            .unwrap();
        let bytes = body.bytes().unwrap();
        assert_eq!((bytes[0], &bytes[HEADER_BYTES..HEADER_BYTES + 2]), (1, &b"\x1f\x8b"[..]));
        let both = r#"[{"name":"ab","id":"7"},{"name":"","id":"0"}]"#;
        assert_eq!(shop.request("shop.Shop/Fill", bytes).as_deref(), Some(both));
        let zeros = compress(&vec![0; MAX_MESSAGE as usize + 1]).unwrap();
        assert_eq!(decompress(&zeros), None);
    }

    /// Returns the same service in a file of edition 2023, with a further message that has a field with these features.
    fn edition(features: &[u8]) -> Vec<u8> {
        let mut set = FileDescriptorSet::decode(&*shop().0.encode_to_vec()).unwrap();
        set.file[0].syntax = Some("editions".into());
        let mut file = set.file[0].encode_to_vec();
        // The library does not know the field `edition` and the option `features`, so they are written as bytes.
        file.extend(b"\x70\xe8\x07");
        let options = [&[0xaa, 0x01, features.len() as u8][..], features].concat();
        let field =
            [&b"\x0a\x01a\x18\x01\x20\x01\x28\x05\x42"[..], &[options.len() as u8][..], &options]
                .concat();
        let message = [&b"\x0a\x01M\x12"[..], &[field.len() as u8][..], &field].concat();
        file.extend([&[0x22, message.len() as u8][..], &message].concat());
        [&[0x0a][..], &varint(file.len()), &file].concat()
    }

    fn varint(length: usize) -> Vec<u8> {
        vec![(length & 0x7f) as u8 | 0x80, (length >> 7) as u8]
    }

    #[test]
    fn files_of_editions_are_read() {
        let services = Services::decode(&edition(b"\x08\x01")).unwrap();
        let body = services.body(
            "shop.Shop/Buy",
            json_source(r#"{"name": "ab", "id": 7}"#),
            MessageRules::default(),
        );
        assert_eq!(body, Ok(Body::from_bytes(ITEM.to_vec())));
        assert_eq!(
            services.reply("shop.Shop/Buy", ITEM).as_deref(),
            Some(r#"{"name":"ab","id":"7"}"#)
        );
        let refused = Services::decode(&edition(b"\x28\x02")).unwrap_err();
        assert!(refused.contains("`shop.proto` has fields with delimited encoding"), "{refused}");
    }

    #[test]
    fn services_are_described_as_they_are_defined() {
        let service = "service shop.Shop {\n  rpc Buy(shop.Item) returns (shop.Item);\n  rpc Fill(stream shop.Item) returns \
                       (shop.Item);\n  rpc Chat(stream shop.Item) returns (stream shop.Item);\n}\n";
        assert_eq!(shop().describe(None).unwrap(), service);
        let item = "message shop.Item {\n  string name = 1;\n  int64 id = 2;\n}\n";
        assert_eq!(shop().describe(Some("shop.Shop")).unwrap(), format!("{service}\n{item}"));
        assert!(shop().describe(Some("shop.Nope")).unwrap_err().contains("write one of shop.Shop"));
    }

    #[test]
    fn errors_list_the_existing_names() {
        let shop = shop();
        let of = |method: &str, json: &str| {
            shop.body(method, json_source(json), MessageRules::default()).unwrap_err()
        };
        assert!(of("shop.Nope/Buy", "").contains("no service shop.Nope; write one of shop.Shop"));
        assert!(of("shop.Shop/Sell", "").contains("no method Sell; write one of Buy, Fill, Chat"));
        for json in [r#"{"nme": 1}"#, "[]", "{"] {
            assert!(of("shop.Shop/Buy", json).contains("--json is no shop.Item"), "{json}");
        }
        assert!(Services::decode(b"nonsense").unwrap_err().contains("no set of descriptors"));
    }
}

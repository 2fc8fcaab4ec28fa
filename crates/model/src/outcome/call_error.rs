//! The error of a gRPC call: the message of its status, and its details (`google.rpc.Status`).

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode;
use prost::encoding::{WireType, decode_key, decode_varint};
use serde_json::{Map, Value};
use std::fmt;

/// Header field with the details of an error.
pub const DETAILS_FIELD: &str = "grpc-status-details-bin";

/// Base64 with and without padding: servers of gRPC send both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The fields of a reply that describe its error, as received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallErrorFields {
    /// Value of `grpc-message`.
    pub message: Vec<u8>,
    /// Value of [`DETAILS_FIELD`].
    pub details: Vec<u8>,
}

impl CallErrorFields {
    /// Decodes the fields.
    pub fn decode(&self) -> CallError {
        let message = percent_decode(&self.message).decode_utf8_lossy().into_owned();
        CallError { message, details: details(&self.details).unwrap_or_default() }
    }
}

/// The error with which a server ended a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallError {
    /// Message of the status.
    pub message: String,
    /// Each detail as JSON, as the JSON mapping of Protocol Buffers writes an `Any`.
    pub details: Vec<String>,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.details.iter().enumerate().try_for_each(|(number, detail)| {
            let separator = if number == 0 && self.message.is_empty() { "" } else { " " };
            write!(f, "{separator}{detail}")
        })
    }
}

/// Decodes the details of an error, each as JSON. None: the value is no `google.rpc.Status` in
/// base64.
pub fn details(value: &[u8]) -> Option<Vec<String>> {
    let status = BASE64.decode(value.trim_ascii()).ok()?;
    let mut all = Vec::new();
    for (number, content) in fields(&status)? {
        // The details are field 3: messages of the type `google.protobuf.Any`.
        if let (3, Content::Bytes(any)) = (number, content) {
            all.push(Value::Object(detail(any)?).to_string());
        }
    }
    Some(all)
}

/// Decodes a `google.protobuf.Any`. Of an unknown type, only the name and the length are known.
fn detail(any: &[u8]) -> Option<Map<String, Value>> {
    let mut type_url = "";
    let mut content = &[][..];
    for (number, value) in fields(any)? {
        match (number, value) {
            (1, Content::Bytes(url)) => type_url = std::str::from_utf8(url).ok()?,
            (2, Content::Bytes(bytes)) => content = bytes,
            _ => {}
        }
    }
    let name = type_url.rsplit('/').next().unwrap_or_default();
    let known = name.strip_prefix("google.rpc.").and_then(|short| {
        DETAIL_TYPES.iter().find(|(known, _)| *known == short).map(|(_, rows)| *rows)
    });
    let mut json = Map::new();
    json.insert("@type".into(), name.into());
    match known {
        Some(rows) => json.extend(object(content, rows)?),
        None => json.extend([("bytes".to_owned(), content.len().into())]),
    }
    Some(json)
}

/// A field of a message: its number, its name in JSON, and its kind.
type FieldRow = (u32, &'static str, FieldKind);

/// Kind of a field.
#[derive(Debug, Clone, Copy)]
enum FieldKind {
    Text,
    Texts,
    Number,
    /// A map from texts to texts.
    Pairs,
    /// A `google.protobuf.Duration`.
    Duration,
    Message(&'static [FieldRow]),
    Messages(&'static [FieldRow]),
}

use FieldKind::{Duration, Message, Messages, Number, Pairs, Text, Texts};

const LOCALIZED_MESSAGE: &[FieldRow] = &[(1, "locale", Text), (2, "message", Text)];

/// The details of `google/rpc/error_details.proto`, with their fields.
static DETAIL_TYPES: [(&str, &[FieldRow]); 10] = [
    (
        "BadRequest",
        &[(
            1,
            "fieldViolations",
            Messages(&[
                (1, "field", Text),
                (2, "description", Text),
                (3, "reason", Text),
                (4, "localizedMessage", Message(LOCALIZED_MESSAGE)),
            ]),
        )],
    ),
    ("ErrorInfo", &[(1, "reason", Text), (2, "domain", Text), (3, "metadata", Pairs)]),
    ("RetryInfo", &[(1, "retryDelay", Duration)]),
    ("DebugInfo", &[(1, "stackEntries", Texts), (2, "detail", Text)]),
    (
        "QuotaFailure",
        &[(
            1,
            "violations",
            Messages(&[
                (1, "subject", Text),
                (2, "description", Text),
                (3, "apiService", Text),
                (4, "quotaMetric", Text),
                (5, "quotaId", Text),
                (6, "quotaDimensions", Pairs),
                (7, "quotaValue", Number),
                (8, "futureQuotaValue", Number),
            ]),
        )],
    ),
    (
        "PreconditionFailure",
        &[(
            1,
            "violations",
            Messages(&[(1, "type", Text), (2, "subject", Text), (3, "description", Text)]),
        )],
    ),
    ("Help", &[(1, "links", Messages(&[(1, "description", Text), (2, "url", Text)]))]),
    ("LocalizedMessage", LOCALIZED_MESSAGE),
    (
        "ResourceInfo",
        &[
            (1, "resourceType", Text),
            (2, "resourceName", Text),
            (3, "owner", Text),
            (4, "description", Text),
        ],
    ),
    ("RequestInfo", &[(1, "requestId", Text), (2, "servingData", Text)]),
];

/// Decodes a message with these fields. None: it is malformed.
fn object(bytes: &[u8], rows: &[FieldRow]) -> Option<Map<String, Value>> {
    let mut json = Map::new();
    for (number, content) in fields(bytes)? {
        let Some((_, name, kind)) = rows.iter().find(|row| row.0 == number) else { continue };
        match (kind, content) {
            (Text, Content::Bytes(text)) => {
                json.insert((*name).into(), String::from_utf8_lossy(text).into());
            }
            (Number, Content::Number(number)) => {
                // The JSON mapping writes integers of 64 bits as texts.
                json.insert((*name).into(), number.cast_signed().to_string().into());
            }
            (Duration, Content::Bytes(duration)) => {
                json.insert((*name).into(), seconds(duration)?.into());
            }
            (Message(rows), Content::Bytes(message)) => {
                json.insert((*name).into(), object(message, rows)?.into());
            }
            (Texts, Content::Bytes(text)) => {
                append(&mut json, name, String::from_utf8_lossy(text).into());
            }
            (Messages(rows), Content::Bytes(message)) => {
                append(&mut json, name, object(message, rows)?.into());
            }
            (Pairs, Content::Bytes(pair)) => {
                let pair = object(pair, &[(1, "key", Text), (2, "value", Text)])?;
                let [key, value] =
                    ["key", "value"].map(|part| pair.get(part).and_then(Value::as_str));
                let pairs = json.entry(*name).or_insert_with(|| Map::new().into());
                pairs[key.unwrap_or_default()] = value.unwrap_or_default().into();
            }
            _ => return None,
        }
    }
    Some(json)
}

/// Appends a value to a list of the object.
fn append(json: &mut Map<String, Value>, name: &str, value: Value) {
    let list = json.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list {
        list.push(value);
    }
}

/// Formats a `google.protobuf.Duration` as the JSON mapping does: `1.5s`.
fn seconds(bytes: &[u8]) -> Option<String> {
    let mut seconds = 0;
    let mut nanos = 0;
    for (number, content) in fields(bytes)? {
        match (number, content) {
            (1, Content::Number(value)) => seconds = value.cast_signed(),
            (2, Content::Number(value)) => nanos = value.cast_signed(),
            _ => {}
        }
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:09}", seconds.unsigned_abs(), nanos.unsigned_abs());
    Some(format!("{}s", text.trim_end_matches('0').trim_end_matches('.')))
}

/// Content of a field of an encoded message.
enum Content<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Splits an encoded message into its fields, by number. None: it is malformed.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, Content<'_>)>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (number, kind) = decode_key(&mut bytes).ok()?;
        let length = match kind {
            WireType::Varint => {
                all.push((number, Content::Number(decode_varint(&mut bytes).ok()?)));
                continue;
            }
            WireType::LengthDelimited => usize::try_from(decode_varint(&mut bytes).ok()?).ok()?,
            WireType::ThirtyTwoBit => 4,
            WireType::SixtyFourBit => 8,
            WireType::StartGroup | WireType::EndGroup => return None,
        };
        let (content, rest) = bytes.split_at_checked(length)?;
        all.push((number, Content::Bytes(content)));
        bytes = rest;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field with bytes.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, content.len() as u8][..], content].concat()
    }

    /// The details of a status with one detail, as JSON.
    fn decoded(name: &str, content: &[u8]) -> Vec<String> {
        let any = [field(1, format!("type.googleapis.com/{name}").as_bytes()), field(2, content)];
        let status = [&b"\x08\x03"[..], &field(2, b"wrong"), &field(3, &any.concat())].concat();
        details(BASE64.encode(status).trim_end_matches('=').as_bytes()).unwrap()
    }

    #[test]
    fn each_detail_of_google_is_decoded() {
        let two = |one: &str, other: &str| {
            [field(1, one.as_bytes()), field(2, other.as_bytes())].concat()
        };
        let delay = field(1, b"\x08\x01\x10\x80\xca\xb5\xee\x01");
        let quota = [two("project:1", "too many"), b"\x38\x0a".to_vec()].concat();
        let localized = [field(1, b"name"), field(4, &two("de", "Name fehlt"))].concat();
        let info = [two("LOW", "shop.example"), field(3, &two("item", "7"))].concat();
        let resource = [two("item", "items/7"), field(4, b"sold")].concat();
        let precondition = [two("TOS", "shop"), field(3, b"not accepted")].concat();
        for (name, content, json) in [
            (
                "BadRequest",
                field(1, &localized),
                r#""fieldViolations":[{"field":"name","localizedMessage":{"locale":"de","message":"Name fehlt"}}]"#,
            ),
            (
                "ErrorInfo",
                info,
                r#""reason":"LOW","domain":"shop.example","metadata":{"item":"7"}"#,
            ),
            ("RetryInfo", delay, r#""retryDelay":"1.5s""#),
            (
                "DebugInfo",
                [field(1, b"a.rs:1"), field(1, b"b.rs:2"), field(2, b"boom")].concat(),
                r#""stackEntries":["a.rs:1","b.rs:2"],"detail":"boom""#,
            ),
            (
                "QuotaFailure",
                field(1, &quota),
                r#""violations":[{"subject":"project:1","description":"too many","quotaValue":"10"}]"#,
            ),
            (
                "PreconditionFailure",
                field(1, &precondition),
                r#""violations":[{"type":"TOS","subject":"shop","description":"not accepted"}]"#,
            ),
            (
                "Help",
                field(1, &two("read", "https://a.example")),
                r#""links":[{"description":"read","url":"https://a.example"}]"#,
            ),
            ("LocalizedMessage", two("de", "weg"), r#""locale":"de","message":"weg""#),
            (
                "ResourceInfo",
                resource,
                r#""resourceType":"item","resourceName":"items/7","description":"sold""#,
            ),
            ("RequestInfo", two("r1", "x"), r#""requestId":"r1","servingData":"x""#),
        ] {
            let expected = format!(r#"{{"@type":"google.rpc.{name}",{json}}}"#);
            assert_eq!(decoded(&format!("google.rpc.{name}"), &content), [expected]);
        }
        assert_eq!(decoded("shop.Sold", b"\x08\x01"), [r#"{"@type":"shop.Sold","bytes":2}"#]);
    }

    #[test]
    fn malformed_details_are_omitted() {
        for value in [&b"no base64!"[..], b"CgU", b"GgIKBQ"] {
            assert_eq!(details(value), None, "{value:?}");
        }
        let fields = CallErrorFields { message: b"100%25 sold".to_vec(), details: b"?".to_vec() };
        assert_eq!(fields.decode().to_string(), "100% sold");
        assert_eq!(details(b""), Some(Vec::new()));
    }
}

//! Base64, hexadecimal text, and digests.

use super::{Class, bytes_of, text_at};
use crate::error::{Eval, illegal, throw};
use crate::value::{Native, Value};
use crate::vm::Vm;
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use std::any::Any;

pub(super) static CLASSES: &[Class] = &[
    Class::with_static("java.util.Base64", java_base64),
    Class::with_static("org.apache.commons.codec.binary.Base64", commons_base64)
        .and_constructor(make_base64),
    Class::with_static("io.jsonwebtoken.io.Encoders", no_static).and_constants(encoders),
    Class::with_static("javax.xml.bind.DatatypeConverter", datatype),
    Class::with_static("jakarta.xml.bind.DatatypeConverter", datatype),
    Class::with_static("org.apache.commons.codec.binary.Hex", hex_static),
    Class::with_static("org.apache.commons.codec.digest.DigestUtils", digest_utils),
    Class::with_static("org.apache.commons.codec.digest.HmacUtils", hmac_utils),
    Class::with_static("org.apache.commons.codec.binary.StringUtils", string_utils),
    Class::with_static("java.util.HexFormat", hex_format),
];

pub(super) fn no_static(_vm: &mut Vm, _name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(None)
}

/// Formats bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [hex_digit(byte >> 4), hex_digit(byte & 15)]).collect()
}

fn hex_digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or('0')
}

pub(crate) fn unhex(text: &str) -> Eval<Vec<u8>> {
    let digits: Vec<u8> = text
        .trim()
        .chars()
        .filter_map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect();
    if digits.len() != text.trim().chars().count() || digits.len() % 2 == 1 {
        return Err(illegal("hexadecimal text needs an even number of digits"));
    }
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Decodes Base64 with or without padding, as Java's decoders do.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

pub(crate) fn base64_encode(bytes: &[u8]) -> String {
    PLAIN.encode(bytes)
}

/// Decodes Base64 as commons-codec does: accepts both alphabets, skips other characters.
fn base64_decode(text: &str) -> Eval<Vec<u8>> {
    let clean: String = text
        .chars()
        .filter_map(|letter| match letter {
            '-' => Some('+'),
            '_' => Some('/'),
            'A'..='Z' | 'a'..='z' | '0'..='9' | '+' | '/' | '=' => Some(letter),
            _ => None,
        })
        .collect();
    PLAIN.decode(clean).map_err(|error| illegal(format!("Illegal base64 text: {error}")))
}

/// True if a character belongs to the alphabet for URLs, or to the standard one.
fn is_base64(letter: char, url: bool) -> bool {
    let is_special = if url { matches!(letter, '-' | '_') } else { matches!(letter, '+' | '/') };
    letter.is_ascii_alphanumeric() || is_special
}

/// Breaks Base64 text into lines of 76 characters. Each line has an end, also the last one.
fn in_lines(text: &str, line_end: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut lines = String::with_capacity(text.len() + text.len() / 36 + line_end.len());
    for (index, letter) in text.chars().enumerate() {
        if index > 0 && index % 76 == 0 {
            lines.push_str(line_end);
        }
        lines.push(letter);
    }
    lines + line_end
}

/// Digest of a Java algorithm.
pub(crate) fn digest(algorithm: &str, bytes: &[u8]) -> Eval<Vec<u8>> {
    Ok(match &*algorithm.to_ascii_uppercase().replace('-', "") {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA1" | "SHA" => Sha1::digest(bytes).to_vec(),
        "SHA224" => Sha224::digest(bytes).to_vec(),
        "SHA256" => Sha256::digest(bytes).to_vec(),
        "SHA384" => Sha384::digest(bytes).to_vec(),
        "SHA512" => Sha512::digest(bytes).to_vec(),
        _ => return Err(no_algorithm(algorithm, "MessageDigest")),
    })
}

pub(super) fn no_algorithm(algorithm: &str, kind: &str) -> Box<crate::error::Fault> {
    throw("java.security.NoSuchAlgorithmException", format!("{algorithm} {kind} not available"))
}

/// Keyed digest of a Java algorithm.
pub(crate) fn keyed_digest(algorithm: &str, key: &[u8], bytes: &[u8]) -> Eval<Vec<u8>> {
    macro_rules! mac {
        ($digest:ty) => {{
            let mut mac =
                Hmac::<$digest>::new_from_slice(key).map_err(|error| illegal(error.to_string()))?;
            mac.update(bytes);
            mac.finalize().into_bytes().to_vec()
        }};
    }
    Ok(match &*algorithm.to_ascii_uppercase().replace(['-', '_'], "") {
        "HMACMD5" => mac!(Md5),
        "HMACSHA1" => mac!(Sha1),
        "HMACSHA224" => mac!(Sha224),
        "HMACSHA256" => mac!(Sha256),
        "HMACSHA384" => mac!(Sha384),
        "HMACSHA512" => mac!(Sha512),
        _ => return Err(no_algorithm(algorithm, "Mac")),
    })
}

/// Result of Groovy's `encodeBase64` or `encodeBase64Url`: a text, which Groovy writes on demand.
/// `flag` is their argument: line ends for the former, padding for the latter.
pub(crate) fn groovy_base64(bytes: &[u8], method: &str, flag: bool) -> Value {
    Value::from(match (method, flag) {
        ("encodeBase64Url", true) => URL.encode(bytes),
        ("encodeBase64Url", false) => URL.encode(bytes).trim_end_matches('=').to_owned(),
        (_, true) => {
            let text = PLAIN.encode(bytes);
            // Groovy ends a full last line twice.
            let end = if !text.is_empty() && text.len().is_multiple_of(76) { "\n" } else { "" };
            in_lines(&text, "\n") + end
        }
        (_, false) => PLAIN.encode(bytes),
    })
}

/// Implements Groovy's `decodeBase64` and `decodeBase64Url`. They skip white space, and do not
/// need padding.
pub(crate) fn groovy_base64_decode(text: &str, method: &str) -> Eval<Vec<u8>> {
    let url = method == "decodeBase64Url";
    let clean: String =
        text.chars().filter(|letter| !matches!(letter, ' ' | '\t' | '\r' | '\n')).collect();
    if !clean.chars().all(|letter| is_base64(letter, url) || letter == '=') {
        return Err(throw("java.lang.RuntimeException", "bad character in base64 value"));
    }
    let engine = if url { &URL } else { &PLAIN };
    engine.decode(clean).map_err(|error| {
        throw("java.lang.RuntimeException", format!("invalid base64 value: {error}"))
    })
}

/// Variant of an encoder or decoder of `java.util.Base64`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CoderKind {
    Basic,
    Url,
    /// Encodes in lines of 76 characters; decodes with other characters skipped.
    Mime,
}

/// An encoder or decoder of `java.util.Base64`.
struct Coder {
    kind: CoderKind,
    padded: bool,
    encodes: bool,
}

impl Native for Coder {
    fn class_name(&self) -> &'static str {
        if self.encodes { "java.util.Base64$Encoder" } else { "java.util.Base64$Decoder" }
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("withoutPadding", []) => Value::native(Self { padded: false, ..*self }),
            ("encodeToString" | "encode", [value]) => {
                let bytes = bytes_of(vm, value)?;
                vm.alloc(bytes.len() * 2)?;
                let text = self.encode(&bytes);
                if name == "encode" { Value::bytes(text.into_bytes()) } else { Value::from(text) }
            }
            ("decode", [value]) => {
                let bytes = bytes_of(vm, value)?;
                Value::bytes(self.decode(&String::from_utf8_lossy(&bytes))?)
            }
            _ => return Ok(None),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Coder {
    fn make(kind: CoderKind, encodes: bool) -> Value {
        Value::native(Self { kind, padded: true, encodes })
    }

    fn encode(&self, bytes: &[u8]) -> String {
        let text =
            if self.kind == CoderKind::Url { URL.encode(bytes) } else { PLAIN.encode(bytes) };
        let text = if self.padded { text } else { text.trim_end_matches('=').to_owned() };
        // Java's MIME encoder writes no line end after the last line.
        if self.kind == CoderKind::Mime {
            in_lines(&text, "\r\n").trim_end().to_owned()
        } else {
            text
        }
    }

    fn decode(&self, text: &str) -> Eval<Vec<u8>> {
        let url = self.kind == CoderKind::Url;
        let invalid = text.chars().find(|letter| !is_base64(*letter, url) && *letter != '=');
        let engine = if url { &URL } else { &PLAIN };
        let decoded = match invalid {
            Some(_) if self.kind == CoderKind::Mime => engine.decode(
                text.chars()
                    .filter(|letter| is_base64(*letter, url) || *letter == '=')
                    .collect::<String>(),
            ),
            Some(letter) => {
                return Err(illegal(format!("Illegal base64 character {:x}", letter as u32)));
            }
            None => engine.decode(text),
        };
        decoded.map_err(|error| illegal(format!("Illegal base64 text: {error}")))
    }
}

fn java_base64(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok(Some(match name {
        "getEncoder" => Coder::make(CoderKind::Basic, true),
        "getMimeEncoder" => Coder::make(CoderKind::Mime, true),
        "getUrlEncoder" => Coder::make(CoderKind::Url, true),
        "getDecoder" => Coder::make(CoderKind::Basic, false),
        "getMimeDecoder" => Coder::make(CoderKind::Mime, false),
        "getUrlDecoder" => Coder::make(CoderKind::Url, false),
        _ => return Ok(None),
    }))
}

fn encoders(_vm: &mut Vm, name: &str) -> Option<Value> {
    let url = match name {
        "BASE64" => false,
        "BASE64URL" => true,
        _ => return None,
    };
    Some(Value::native(Encoder { url }))
}

/// An encoder of jjwt.
struct Encoder {
    url: bool,
}

impl Native for Encoder {
    fn class_name(&self) -> &'static str {
        "io.jsonwebtoken.io.Encoder"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let ("encode", [value]) = (name, arguments) else { return Ok(None) };
        let bytes = bytes_of(vm, value)?;
        let text = if self.url {
            URL.encode(&bytes).trim_end_matches('=').to_owned()
        } else {
            PLAIN.encode(&bytes)
        };
        vm.string(text).map(Some)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn make_base64(_vm: &mut Vm, _class: &str, arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(CommonsCodec { url: matches!(arguments, [Value::Bool(true)]) }))
}

/// An instance of commons-codec's `Base64`.
struct CommonsCodec {
    /// True after `new Base64(true)`, which uses the alphabet for URLs and writes lines.
    url: bool,
}

impl Native for CommonsCodec {
    fn class_name(&self) -> &'static str {
        "org.apache.commons.codec.binary.Base64"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if let ("encode" | "encodeToString" | "encodeAsString", true, [value]) =
            (name, self.url, arguments)
        {
            let bytes = bytes_of(vm, value)?;
            vm.alloc(bytes.len() * 2)?;
            let text = in_lines(URL.encode(&bytes).trim_end_matches('='), "\r\n");
            return Ok(Some(if name == "encode" {
                Value::bytes(text.into_bytes())
            } else {
                Value::from(text)
            }));
        }
        match name {
            "encode" => commons_base64(vm, "encodeBase64", arguments),
            "decode" => commons_base64(vm, "decodeBase64", arguments),
            "encodeToString" | "encodeAsString" => {
                commons_base64(vm, "encodeBase64String", arguments)
            }
            _ => Ok(None),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn commons_base64(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(first) = arguments.first() else { return Ok(None) };
    let bytes = bytes_of(vm, first)?;
    vm.alloc(bytes.len() * 2)?;
    Ok(Some(match name {
        "encodeBase64" if matches!(arguments, [_, Value::Bool(true)]) => {
            Value::bytes(in_lines(&base64_encode(&bytes), "\r\n").into_bytes())
        }
        "encodeBase64Chunked" => {
            Value::bytes(in_lines(&base64_encode(&bytes), "\r\n").into_bytes())
        }
        "encodeBase64" => Value::bytes(base64_encode(&bytes).into_bytes()),
        "encodeBase64String" => Value::from(base64_encode(&bytes)),
        "encodeBase64URLSafeString" => {
            Value::from(URL.encode(&bytes).trim_end_matches('=').to_owned())
        }
        "encodeBase64URLSafe" => {
            Value::bytes(URL.encode(&bytes).trim_end_matches('=').as_bytes().to_vec())
        }
        "decodeBase64" => Value::bytes(base64_decode(&String::from_utf8_lossy(&bytes))?),
        "isBase64" => Value::Bool(bytes.iter().all(|byte| {
            let letter = char::from(*byte);
            is_base64(letter, false) || matches!(letter, '-' | '_' | '=' | ' ' | '\t' | '\r' | '\n')
        })),
        _ => return Ok(None),
    }))
}

fn datatype(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(first) = arguments.first() else { return Ok(None) };
    let bytes = bytes_of(vm, first)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(match name {
        "printBase64Binary" => Value::from(base64_encode(&bytes)),
        "parseBase64Binary" => Value::bytes(base64_decode(&text)?),
        "printHexBinary" => Value::from(hex(&bytes).to_uppercase()),
        "parseHexBinary" => Value::bytes(unhex(&text)?),
        _ => return Ok(None),
    }))
}

fn hex_static(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(first) = arguments.first() else { return Ok(None) };
    let bytes = bytes_of(vm, first)?;
    Ok(Some(match name {
        "encodeHexString" | "encodeHex" => {
            let is_upper_case = matches!(arguments, [_, Value::Bool(false)]);
            let hex = if is_upper_case { hex(&bytes).to_uppercase() } else { hex(&bytes) };
            if name == "encodeHex" {
                Value::array(hex.chars().map(Value::Char).collect())
            } else {
                Value::from(hex)
            }
        }
        "decodeHex" => {
            let text = text_at(vm, arguments, 0)?;
            Value::bytes(unhex(&text)?)
        }
        _ => return Ok(None),
    }))
}

fn digest_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(first) = arguments.first() else { return Ok(None) };
    let bytes = bytes_of(vm, first)?;
    let (algorithm, as_hex) =
        name.strip_suffix("Hex").map_or((name, false), |algorithm| (algorithm, true));
    if !matches!(algorithm, "md5" | "sha" | "sha1" | "sha256" | "sha384" | "sha512") {
        return Ok(None);
    }
    let digest = digest(algorithm, &bytes)?;
    Ok(Some(if as_hex { Value::from(hex(&digest)) } else { Value::bytes(digest) }))
}

fn hmac_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let [key, data] = arguments else { return Ok(None) };
    let (algorithm, as_hex) =
        name.strip_suffix("Hex").map_or((name, false), |algorithm| (algorithm, true));
    let key = bytes_of(vm, key)?;
    let data = bytes_of(vm, data)?;
    let digest = keyed_digest(algorithm, &key, &data)?;
    Ok(Some(if as_hex { Value::from(hex(&digest)) } else { Value::bytes(digest) }))
}

fn string_utils(vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
    let Some(first) = arguments.first() else { return Ok(None) };
    let bytes = bytes_of(vm, first)?;
    Ok(match name {
        "newStringUtf8" | "newStringUsAscii" => Some(vm.string(String::from_utf8_lossy(&bytes))?),
        "getBytesUtf8" => Some(Value::bytes(bytes)),
        _ => None,
    })
}

fn hex_format(_vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
    Ok((name == "of").then(|| Value::native(HexFormat)))
}

/// `HexFormat.of()`
struct HexFormat;

impl Native for HexFormat {
    fn class_name(&self) -> &'static str {
        "java.util.HexFormat"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let Some(first) = arguments.first() else { return Ok(None) };
        let bytes = bytes_of(vm, first)?;
        Ok(match name {
            "formatHex" => Some(Value::from(hex(&bytes))),
            "parseHex" => Some(Value::bytes(unhex(&String::from_utf8_lossy(&bytes))?)),
            _ => None,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

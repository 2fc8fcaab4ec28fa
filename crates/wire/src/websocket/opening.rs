//! Builds the HTTP/1.1 request that opens a WebSocket (RFC 6455 section 4.1).

use super::agreement::{check_answer, offer};
use crate::request::RequestParts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// Suffix of the key in the server's answer (RFC 6455 section 1.3).
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Header fields that the handshake sets itself.
const HANDSHAKE_FIELDS: [&str; 6] = [
    "host",
    "upgrade",
    "connection",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
];

/// A request that opens a WebSocket, with its key.
pub(crate) struct OpeningRequest {
    pub bytes: Vec<u8>,
    key: String,
}

impl OpeningRequest {
    /// Builds the request for these parts. Its key is derived from `number`.
    pub fn new(parts: &RequestParts, number: u64) -> Self {
        let key = STANDARD.encode(&Sha1::digest(number.to_be_bytes())[..16]);
        Self { bytes: encode(parts, &key), key }
    }

    /// Checks the header fields of the server's answer.
    ///
    /// # Errors
    ///
    /// The rule that the answer violates, in words.
    pub fn check(&self, fields: &[(String, String)]) -> Result<(), String> {
        check_answer(fields, &STANDARD.encode(Sha1::digest(format!("{}{MAGIC}", self.key))))
    }
}

fn encode(parts: &RequestParts, key: &str) -> Vec<u8> {
    let path = &parts.url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &parts.url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut text = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    );
    if let Some(offer) = offer(parts) {
        text.extend(["Sec-WebSocket-Extensions: ", offer, "\r\n"]);
    }
    for (name, value) in &parts.headers {
        if !HANDSHAKE_FIELDS.contains(&name.to_ascii_lowercase().as_str()) {
            text.extend([name.as_str(), ": ", value, "\r\n"]);
        }
    }
    (text + "\r\n").into_bytes()
}

//! Relays a WebSocket, and records its messages.
//!
//! Bytes are relayed as they are. The request had no extension, so messages are not compressed.

use super::traffic::SharedExchange;
use crate::exchange::{MAX_BODY_BYTES, WebSocketFrame};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_engine::clock::unix_seconds;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::io::{self, Cursor};
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::time::timeout;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Data, OpCode};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 16 << 10;

/// Maximum time from the end of one direction to that of the other.
const CLOSE_TIME: Duration = Duration::from_secs(10);

/// Relays bytes between a client and a server until both have ended.
pub(super) async fn relay(client: Upgraded, server: Upgraded, exchange: SharedExchange) {
    let (client_reader, client_writer) = split(TokioIo::new(client));
    let (server_reader, server_writer) = split(TokioIo::new(server));
    let sent = MessageReader::new(exchange.clone(), true);
    let received = MessageReader::new(exchange, false);
    let mut upward = pin!(copy(client_reader, server_writer, sent));
    let mut downward = pin!(copy(server_reader, client_writer, received));
    // The side that ends last must not hold the connection of the other one.
    tokio::select! {
        _ = &mut upward => { let _ = timeout(CLOSE_TIME, downward).await; }
        _ = &mut downward => { let _ = timeout(CLOSE_TIME, upward).await; }
    }
}

async fn copy(
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    mut messages: MessageReader,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let length = reader.read(&mut buffer).await?;
        if length == 0 {
            return writer.shutdown().await;
        }
        messages.push(&buffer[..length]);
        writer.write_all(&buffer[..length]).await?;
        writer.flush().await?;
    }
}

/// Finds the messages in the bytes of one direction.
struct MessageReader {
    exchange: SharedExchange,
    is_sent: bool,
    /// Bytes of a frame that is not complete.
    bytes: Vec<u8>,
    /// Payload of a message that is not complete.
    message: Vec<u8>,
    opcode: u64,
    /// True after bytes that are not frames, or a message that is too large.
    has_failed: bool,
}

impl MessageReader {
    fn new(exchange: SharedExchange, is_sent: bool) -> Self {
        Self {
            exchange,
            is_sent,
            bytes: Vec::new(),
            message: Vec::new(),
            opcode: 0,
            has_failed: false,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.has_failed {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        loop {
            let mut cursor = Cursor::new(&self.bytes);
            let parsed = FrameHeader::parse(&mut cursor);
            let start = cursor.position() as usize;
            let (header, length) = match parsed {
                Ok(Some(frame)) => frame,
                Ok(None) => return,
                Err(_) => return self.fail(),
            };
            // A peer chooses the length, so a sum could overflow.
            let is_large = length > MAX_BODY_BYTES.saturating_sub(self.message.len() as u64);
            if header.rsv1 || is_large {
                return self.fail();
            }
            let end = start + length as usize;
            if self.bytes.len() < end {
                return;
            }
            let mut payload = self.bytes[start..end].to_vec();
            self.bytes.drain(..end);
            if let Some(mask) = header.mask {
                payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
            }
            self.push_frame(&header, &payload);
        }
    }

    fn push_frame(&mut self, header: &FrameHeader, payload: &[u8]) {
        match header.opcode {
            OpCode::Data(Data::Text) => self.opcode = 1,
            OpCode::Data(Data::Binary) => self.opcode = 2,
            OpCode::Data(_) => {}
            // Pings may be within a message.
            OpCode::Control(_) => return,
        }
        self.message.extend_from_slice(payload);
        if !header.is_final {
            return;
        }
        let message = std::mem::take(&mut self.message);
        let text = String::from_utf8(message);
        let data = text.unwrap_or_else(|error| STANDARD.encode(error.as_bytes()));
        self.exchange.push_message(WebSocketFrame {
            is_sent: self.is_sent,
            time: unix_seconds(),
            opcode: self.opcode,
            data,
        });
    }

    fn fail(&mut self) {
        self.has_failed = true;
        self.bytes = Vec::new();
        self.message = Vec::new();
        self.exchange.cut("messages of WebSockets beyond 8 MB, or that are malformed");
    }
}

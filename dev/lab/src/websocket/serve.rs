//! Handles WebSockets in the server: how they begin, their messages, and how they end.

use super::deflate::agree;
use super::frames::{COMPRESSED, MessageReader, ReceivedFrame};
use super::{WebSocketConnection, code, greeting, switching};
use crate::conn::{Conn, WireProtocol};
use crate::hostile::Hostile;
use crate::request::{ReplyRoute, ReplyShape, RequestedReply};
use crate::serve::Arrival;
use crate::server::{IncomingRequest, LabServer};

impl LabServer {
    /// Switches to WebSocket. Returns false if the path has a special reply (`/status/404`).
    pub(crate) fn open_websocket(
        &mut self,
        conn: &mut Conn,
        route: ReplyRoute,
        key: &[u8],
        offers: &[u8],
    ) -> bool {
        if !matches!(route, ReplyRoute::Plain | ReplyRoute::Bytes(_) | ReplyRoute::Delay(_)) {
            return false;
        }
        self.planner.ledger.websockets += 1;
        let row = self.options.hostile.and_then(Hostile::row);
        let agreement = self
            .options
            .websocket
            .deflate
            .then(|| agree(offers, self.options.websocket.client_bits))
            .flatten();
        let answer = greeting(row, key).unwrap_or_else(|| switching(key, agreement.as_ref()));
        conn.outbox.push(answer.into(), None);
        conn.protocol = WireProtocol::WebSocket(Box::new(WebSocketConnection::new(
            route,
            MessageReader::new(self.options.echo, agreement.is_some()),
            row,
        )));
        true
    }

    pub(crate) fn parse_messages(&mut self, conn: &mut Conn, mut input: &[u8], arrival: Arrival) {
        let WireProtocol::WebSocket(websocket) = &mut conn.protocol else { return };
        loop {
            match websocket.incoming.next(&mut input) {
                Ok(None) => return,
                Ok(Some(ReceivedFrame::Message(opcode, echo))) => {
                    conn.requests += 1;
                    self.planner.ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
                    self.planner.ledger.deflated += u64::from(opcode & COMPRESSED != 0);
                    let opcode = websocket.incoming.reply_opcode(opcode);
                    let shape = ReplyShape {
                        keep_alive: true,
                        message: Some(opcode),
                        ..ReplyShape::default()
                    };
                    let request =
                        RequestedReply { route: websocket.route, shape, echo, upgrade: None };
                    let slot = conn.slot;
                    let generation = conn.generation;
                    self.incoming.push(IncomingRequest {
                        at: arrival.at,
                        slot,
                        generation,
                        stream: 0,
                        request,
                    });
                }
                Ok(Some(ReceivedFrame::Ping(payload))) => websocket.pong(&payload),
                Ok(Some(ReceivedFrame::Close(code))) => {
                    // The client sends nothing more, and waits for no reply.
                    conn.input_ended = true;
                    return conn.finish(code.unwrap_or(code::NORMAL));
                }
                Err((code, reason)) => {
                    self.planner.ledger.malformed += 1;
                    self.planner.ledger.websocket_error.get_or_insert(reason);
                    return conn.finish(code);
                }
            }
        }
    }
}

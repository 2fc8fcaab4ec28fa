//! Handles WebSockets in the server: how they begin, their messages, and how they end.

use super::deflate::agree;
use super::frames::{COMPRESSED, Event, Incoming};
use super::{WebSocket, code, greeting, switching};
use crate::conn::{Conn, WireProtocol};
use crate::hostile::Hostile;
use crate::request::{Request, Route, Shape};
use crate::serve::Arrival;
use crate::server::{IncomingRequest, Server};

impl Server {
    /// Switches to WebSocket. Returns false if the path has a special reply (`/status/404`).
    pub(crate) fn open_websocket(
        &mut self,
        conn: &mut Conn,
        route: Route,
        key: &[u8],
        offers: &[u8],
    ) -> bool {
        if !matches!(route, Route::Plain | Route::Bytes(_) | Route::Delay(_)) {
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
        conn.protocol = WireProtocol::WebSocket(Box::new(WebSocket::new(
            route,
            Incoming::new(self.options.echo, agreement.is_some()),
            row,
        )));
        true
    }

    pub(crate) fn parse_messages(&mut self, conn: &mut Conn, mut input: &[u8], arrival: Arrival) {
        let WireProtocol::WebSocket(websocket) = &mut conn.protocol else { return };
        loop {
            match websocket.incoming.next(&mut input) {
                Ok(None) => return,
                Ok(Some(Event::Message(opcode, echo))) => {
                    conn.requests += 1;
                    self.planner.ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
                    self.planner.ledger.deflated += u64::from(opcode & COMPRESSED != 0);
                    let opcode = websocket.incoming.reply_opcode(opcode);
                    let shape =
                        Shape { keep_alive: true, message: Some(opcode), ..Shape::default() };
                    let request = Request { route: websocket.route, shape, echo, upgrade: None };
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
                Ok(Some(Event::Ping(payload))) => websocket.pong(&payload),
                Ok(Some(Event::Close(code))) => {
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

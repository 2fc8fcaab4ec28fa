//! What the server does with a WebSocket: how one begins, what its messages become, how it ends.

use super::deflate::agree;
use super::frames::{COMPRESSED, Event, Incoming};
use super::{WebSocket, code, greeting, switching};
use crate::conn::{Conn, Speaks};
use crate::hostile::Hostile;
use crate::request::{Request, Route, Shape};
use crate::serve::Arrival;
use crate::server::{Arrived, Server};

impl Server {
    /// Goes on as a WebSocket; true if so. A path that stands for a reply of its own (`/status/404`) gives that instead.
    pub(crate) fn open_websocket(&mut self, conn: &mut Conn, route: Route, (key, offers): (&[u8], &[u8])) -> bool {
        if !matches!(route, Route::Plain | Route::Bytes(_) | Route::Delay(_)) {
            return false;
        }
        self.desk.ledger.websockets += 1;
        let row = self.options.hostile.and_then(Hostile::row);
        let agreed =
            self.options.websocket.deflate.then(|| agree(offers, self.options.websocket.client_bits)).flatten();
        let answer = greeting(row, key).unwrap_or_else(|| switching(key, agreed.as_ref()));
        conn.outbox.push(answer.into(), None);
        conn.speaks =
            Speaks::WebSocket(Box::new(WebSocket::new(route, Incoming::new(self.options.echo, agreed.is_some()), row)));
        true
    }

    pub(crate) fn parse_messages(&mut self, conn: &mut Conn, mut input: &[u8], arrival: Arrival) {
        let Speaks::WebSocket(websocket) = &mut conn.speaks else { return };
        loop {
            match websocket.incoming.next(&mut input) {
                Ok(None) => return,
                Ok(Some(Event::Message(opcode, echo))) => {
                    conn.requests += 1;
                    self.desk.ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
                    self.desk.ledger.deflated += u64::from(opcode & COMPRESSED != 0);
                    let opcode = websocket.incoming.reply_opcode(opcode);
                    let shape = Shape { keep_alive: true, message: Some(opcode), ..Shape::default() };
                    let request = Request { route: websocket.route, shape, echo, upgrade: None };
                    let (slot, generation) = (conn.slot, conn.generation);
                    self.arrived.push(Arrived { at: arrival.at, slot, generation, stream: 0, request });
                }
                Ok(Some(Event::Ping(payload))) => websocket.pong(&payload),
                Ok(Some(Event::Close(code))) => {
                    // The client sends nothing more, and waits for no reply.
                    conn.ended = true;
                    return conn.finish(code.unwrap_or(code::NORMAL));
                }
                Err((code, reason)) => {
                    self.desk.ledger.malformed += 1;
                    self.desk.ledger.websocket_error.get_or_insert(reason);
                    return conn.finish(code);
                }
            }
        }
    }
}

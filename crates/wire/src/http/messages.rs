//! Messages of `WebSocket`s, over a connection of their own or a stream of HTTP/2.

use super::Http;
use super::lane::{H2Lane, OpenWebSocket};
use crate::request::Prepared;
use crate::websocket::{MessageExchange, WebSocket};
use crate::{Reply, Stamps, Timer};
use brunt_model::Failure;
use std::time::Duration;

/// Delay before a request fails because a connection of HTTP/2 opens no WebSocket.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// What a message of a WebSocket goes over.
pub(super) enum Over<'l> {
    /// A connection of its own.
    Connection(&'l mut WebSocket),
    /// A stream of HTTP/2.
    H2(&'l mut H2Lane),
}

impl<T: Timer + 'static> Http<T> {
    /// Sends a message of a WebSocket, and waits for the one that is wanted. Over HTTP/2 the WebSocket is opened where
    /// the lane has none to the same path; one that failed, or is not awaited to its end, is closed.
    pub(super) async fn exchange_message(
        &self,
        over: Over<'_>,
        request: &Prepared,
        wanted: MessageExchange<'_, '_>,
        stamps: &mut Stamps,
    ) -> Result<Reply, Failure> {
        let h2 = match over {
            Over::Connection(websocket) => {
                let reply = websocket.exchange(&self.shared, wanted, stamps).await;
                self.note_close(websocket);
                return reply;
            }
            Over::H2(h2) => h2,
        };
        let mut open = match h2.take_websocket(request.path()) {
            Some(open) => open,
            None => match self.open_over_h2(h2, request).await {
                Ok(open) => open,
                Err(failure) => {
                    // Lanes that are refused at once would take all of the thread.
                    self.shared.time.sleep_until(self.shared.time.now() + REFUSED_PAUSE).await;
                    return Err(failure);
                }
            },
        };
        let reply = open.websocket.exchange(&self.shared, wanted, stamps).await;
        self.note_close(&mut open.websocket);
        let reply = reply?;
        if reply.keep_alive {
            h2.websockets.push(open);
        }
        // The connection is there for the next one.
        Ok(Reply { keep_alive: true, ..reply })
    }

    /// Reports the close frame with which the server ended a WebSocket.
    fn note_close(&self, websocket: &mut WebSocket) {
        if let Some(note) = websocket.take_close_note() {
            *self.note.borrow_mut() = Some(note);
        }
    }

    pub(super) async fn open_over_h2(&self, h2: &H2Lane, request: &Prepared) -> Result<OpenWebSocket, Failure> {
        let parts = request.parts().ok_or(Failure::System)?;
        let opened = WebSocket::begin_over_h2(&h2.connection.connection, parts, &self.inbox_rules).await;
        let websocket = opened.map_err(|(failure, why)| self.fails(failure, &why))?;
        Ok(OpenWebSocket { path: request.path().into(), websocket: Box::new(websocket) })
    }
}

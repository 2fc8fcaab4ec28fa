//! Passes replies to the crate `h2` on their streams.

use http::Response;

use super::reply::Http2Reply;
use super::session::ServerSession;
use super::stream::{DrippedBody, Http2Stream, LastFrame};

impl ServerSession {
    /// Passes a reply to `h2`.
    pub fn answer(&mut self, id: u32, reply: &Http2Reply<Response<()>>, end: LastFrame) {
        let is_empty = reply.body.is_empty() && reply.trailers.is_none() && end.reset.is_none();
        let Some(stream) = self.respond(id, reply, end, is_empty) else { return };
        if is_empty {
            return;
        }
        let is_last = reply.trailers.is_none() && end.reset.is_none();
        if !reply.body.is_empty() {
            stream.give(reply.body.clone(), is_last);
        }
        if end.reset.is_none() && !is_last {
            stream.finish(reply.trailers.clone().map(|trailers| trailers.into_parts().0.headers));
        }
    }

    /// Passes the head of a reply and the first byte of its body to `h2`.
    pub fn start_drip(
        &mut self,
        id: u32,
        reply: &Http2Reply<Response<()>>,
        end: LastFrame,
        due: u64,
    ) {
        if reply.body.len() <= 1 {
            return self.answer(id, reply, end);
        }
        let Some(stream) = self.respond(id, reply, end, false) else { return };
        stream.give(reply.body.slice(..1), false);
        let trailers = reply.trailers.clone().map(|trailers| trailers.into_parts().0.headers);
        stream.drip =
            Some(DrippedBody { rest: reply.body.slice(1..), due, trailers, completed: None });
    }

    /// Passes the head of a reply to `h2`. Returns none if the client has reset the stream.
    fn respond(
        &mut self,
        id: u32,
        reply: &Http2Reply<Response<()>>,
        end: LastFrame,
        is_last: bool,
    ) -> Option<&mut Http2Stream> {
        let place = self.place(id)?;
        let stream = &mut self.streams[place];
        stream.end = end;
        if let Ok(send) = stream.respond.send_response(reply.head.clone(), is_last) {
            stream.send = Some(send);
            return Some(&mut self.streams[place]);
        }
        // The client reset the stream.
        self.streams.remove(place);
        None
    }

    /// Passes another byte of a dripping reply to `h2`. Returns true if more bytes follow.
    pub fn drip(&mut self, id: u32) -> bool {
        let Some(stream) = self.stream(id) else { return false };
        let Some(mut drip) = stream.drip.take() else { return false };
        let byte = drip.rest.split_to(1.min(drip.rest.len()));
        if !drip.rest.is_empty() {
            stream.give(byte, false);
            stream.drip = Some(drip);
            return true;
        }
        if stream.messages.is_some() {
            stream.give(byte, false);
            stream.marks.extend(drip.completed.map(|completed| (stream.given, completed)));
            self.advance(id);
            return false;
        }
        stream.give(byte, drip.trailers.is_none());
        if drip.trailers.is_some() {
            stream.finish(drip.trailers);
        }
        false
    }
}

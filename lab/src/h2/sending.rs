//! Replies on their streams: HEADERS at once, DATA as the windows allow, in turn.

use std::rc::Rc;

use super::frame::{self, flag, kind};
use super::reply::Reply;
use super::session::Session;
use super::stream::{Ending, Sending};
use crate::hostile::MOST_FLOOD;
use crate::outbox::Settled;

/// With so many bytes unsent, no further DATA is made.
const MOST_UNSENT: usize = 256 * 1024;

/// What `extra` sends on the stream that it has ended.
const EXTRA: &[u8] = b"leftover bytes that belong to no reply\r\n";

impl Session {
    /// Sends the HEADERS of a reply, and of its body what may leave.
    pub fn answer(&mut self, id: u32, reply: &Reply, sending: Sending) {
        let Some(place) = self.place(id) else { return };
        let ended = sending.body.is_empty() && matches!(sending.ending, Ending::Whole | Ending::Extra);
        let flags = if ended { flag::END_STREAM } else { 0 };
        frame::put_headers(&mut self.out.bytes, id, flags, &reply.block, self.peer_frame);
        if sending.body.is_empty() {
            return self.finish(id, &sending.ending, sending.settled, ended);
        }
        self.streams[place].sending = Some(sending);
        self.enqueue(place);
        self.pump();
    }

    /// Sends a reply that settles nothing.
    pub fn tell(&mut self, id: u32, reply: &Reply) {
        let sending = Sending::whole(reply, None, Ending::Whole);
        self.answer(id, reply, Sending { settled: None, ..sending });
    }

    /// Releases another byte of a dripping reply; true while more are to come.
    pub fn drip(&mut self, id: u32) -> Option<&mut Sending> {
        let place = self.place(id)?;
        let is_next = self.streams[place].sending.as_ref().is_some_and(|sending| sending.released < sending.body.len());
        let sending = if is_next { self.streams[place].sending.as_mut()? } else { self.dripping(id)? };
        sending.released = (sending.released + 1).min(sending.body.len());
        let more = sending.released < sending.body.len();
        self.enqueue(place);
        self.pump();
        if !more {
            return None;
        }
        if is_next { self.stream(id)?.sending.as_mut() } else { self.dripping(id) }
    }

    /// Puts a stream that can send in the queue, unless it stands there.
    pub(super) fn enqueue(&mut self, place: usize) {
        let stream = &mut self.streams[place];
        if let Some(sending) = &mut stream.sending
            && !sending.queued
            && stream.window > 0
            && sending.released > sending.sent
        {
            sending.queued = true;
            self.queue.push_back(stream.id);
        }
    }

    /// Makes DATA frames until the windows are used up or enough is unsent, one frame a stream in turn.
    pub fn pump(&mut self) {
        while self.window > 0 && self.out.len() < MOST_UNSENT {
            let Some(id) = self.queue.pop_front() else { break };
            self.send_data(id);
        }
        while let Some(id) = self.flooded
            && self.out.len() < MOST_UNSENT
            && self.out.total() < MOST_FLOOD
        {
            self.perform(id, None);
            if self.place(id).is_none() {
                self.flooded = None;
            }
        }
    }

    fn send_data(&mut self, id: u32) {
        let most = self.window.min(self.peer_frame as i64);
        let Some(place) = self.place(id) else { return };
        let stream = &mut self.streams[place];
        let Some(sending) = &mut stream.sending else { return };
        sending.queued = false;
        let (count, last) = sending.next(most.min(stream.window.max(0)) as usize);
        if count == 0 {
            return;
        }
        let ended = last && matches!(sending.ending, Ending::Whole | Ending::Extra);
        let flags = if ended { flag::END_STREAM } else { 0 };
        frame::put(&mut self.out.bytes, kind::DATA, flags, id, &sending.body[sending.sent..sending.sent + count]);
        sending.sent += count;
        stream.window -= count as i64;
        self.window -= count as i64;
        if !last {
            return self.enqueue(place);
        }
        if let Some(sending) = stream.sending.take() {
            self.finish(id, &sending.ending, sending.settled, ended);
        }
    }

    /// Ends a stream whose body has left.
    pub(super) fn finish(&mut self, id: u32, ending: &Ending, settled: Option<Settled>, ended: bool) {
        match ending {
            Ending::Reset(code) => frame::put_reset(&mut self.out.bytes, id, *code),
            Ending::Trailers(block) => {
                frame::put_headers(&mut self.out.bytes, id, flag::END_STREAM, block, self.peer_frame);
            }
            Ending::Whole | Ending::Extra if !ended => {
                frame::put(&mut self.out.bytes, kind::DATA, flag::END_STREAM, id, &[]);
            }
            Ending::Whole | Ending::Extra | Ending::More => {}
        }
        if let Some(settled) = settled {
            self.out.mark(settled);
        }
        if *ending == Ending::More {
            return self.advance(id);
        }
        if *ending == Ending::Extra {
            frame::put(&mut self.out.bytes, kind::DATA, 0, id, EXTRA);
        }
        self.close(id);
    }
}

impl Sending {
    /// A reply of which everything may leave.
    pub fn whole(reply: &Reply, ticket: Option<u32>, ending: Ending) -> Self {
        let ending = match (&reply.trailers, ending) {
            (Some(block), Ending::Whole) => Ending::Trailers(Rc::clone(block)),
            (_, ending) => ending,
        };
        Self {
            body: Rc::clone(&reply.body),
            sent: 0,
            released: reply.body.len(),
            due: 0,
            ending,
            settled: Some(Settled { status: reply.status, ticket }),
            queued: false,
        }
    }
}

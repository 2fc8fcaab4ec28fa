//! Tracks the frames that the crate `h2` has made: which replies are complete, and which
//! rules it saw broken.
//!
//! `h2` reports neither to its user, but the heads of its frames show it.

use h2::Reason;

use super::frame::{self, FrameHead, flag, kind};
use super::session::ServerSession;
use super::transport::OutgoingFrame;

/// Bytes that `extra` sends on a stream that has ended.
const EXTRA: &[u8] = b"leftover bytes that belong to no reply\r\n";

impl ServerSession {
    /// Reads the heads of the frames that `h2` has made, because it does not
    /// report which have left.
    pub(super) fn track(&mut self) {
        let drops_replies = self.is_hostile();
        let drops_greeting = self.replaces_settings();
        loop {
            let mut hides_acknowledgement = self.hides_acknowledgement;
            let frame = self.transport.track(|head, first_word| {
                let is_hidden =
                    hides_acknowledgement && head.kind == kind::SETTINGS && head.has(flag::ACK);
                hides_acknowledgement &= !is_hidden;
                is_hidden
                    || drops_replies && is_reply(head, first_word)
                    || drops_greeting && is_greeting(head)
            });
            self.hides_acknowledgement = hides_acknowledgement;
            let Some(frame) = frame else { break };
            self.on_frame_made(frame);
        }
        // Raw bytes follow only when all frames of `h2` are tracked.
        for id in std::mem::take(&mut self.extras) {
            self.transport.put_raw(|out| frame::put_frame(out, kind::DATA, 0, id, EXTRA));
        }
    }

    fn on_frame_made(&mut self, OutgoingFrame { head, first_word, end }: OutgoingFrame) {
        let id = head.stream;
        match head.kind {
            kind::DATA => {
                self.on_data_made(id, head.length as u64, end);
                if head.has(flag::END_STREAM) {
                    self.on_stream_made(id, end);
                }
            }
            // RFC 9113, section 6.10: CONTINUATION has no END_STREAM; the flag of its HEADERS
            // counts.
            kind::HEADERS if head.has(flag::END_STREAM) && !head.has(flag::END_HEADERS) => {
                self.ending = Some(id);
            }
            kind::HEADERS if head.has(flag::END_STREAM) => self.on_stream_made(id, end),
            kind::HEADERS => self.on_data_made(id, 0, end),
            kind::CONTINUATION if head.has(flag::END_HEADERS) => {
                if let Some(id) = self.ending.take() {
                    self.on_stream_made(id, end);
                }
            }
            kind::RST_STREAM => self.on_reset_made(id, first_word),
            kind::GOAWAY => self.counts.goaways += 1,
            _ => {}
        }
    }

    fn on_data_made(&mut self, id: u32, length: u64, end: u64) {
        let transport = self.transport.clone();
        let Some(stream) = self.stream(id) else { return };
        stream.sent += length;
        while let Some((_, completed)) =
            stream.marks.pop_front_if(|(position, _)| *position <= stream.sent)
        {
            transport.out_mut().mark_at(end, completed);
        }
        if stream.sent == stream.given
            && let Some(reason) = stream.end.reset
        {
            self.reset(id, reason);
        }
    }

    /// Handles the end of a stream's output.
    fn on_stream_made(&mut self, id: u32, end: u64) {
        let Some(stream) = self.remove(id) else { return };
        if let Some(completed) = stream.end.completed {
            self.transport.out_mut().mark_at(end, completed);
        }
        if stream.end.has_extra {
            self.extras.push(id);
        }
        self.draining.extend(stream.body);
    }

    /// Counts a reset that `h2` initiated: the request breaks a rule, or there
    /// are too many streams.
    fn on_reset_made(&mut self, id: u32, code: u32) {
        // A reset that the lab initiated is no error of the client.
        let count = self.resets.len();
        self.resets.retain(|reset| *reset != id);
        if self.resets.len() < count {
            return;
        }
        self.remove(id);
        match Reason::from(code) {
            Reason::NO_ERROR | Reason::CANCEL => {}
            Reason::REFUSED_STREAM => self.counts.refused += 1,
            reason => self.record_error(format!("stream {id}: {reason}")),
        }
    }
}

/// True if `h2` makes this frame because it does not know that a hostile row has replied.
fn is_reply(head: FrameHead, first_word: u32) -> bool {
    match head.kind {
        kind::HEADERS | kind::DATA | kind::CONTINUATION => true,
        // `h2` sends these codes for a stream that its user drops without a reply.
        kind::RST_STREAM => matches!(Reason::from(first_word), Reason::NO_ERROR | Reason::CANCEL),
        _ => false,
    }
}

/// True for the first frames of `h2`.
fn is_greeting(head: FrameHead) -> bool {
    head.stream == 0 && matches!(head.kind, kind::SETTINGS | kind::WINDOW_UPDATE)
}

//! A tunnel: a stream that carries bytes in both directions, opened by an
//! extended CONNECT (RFC 8441).
//!
//! It buffers received bytes until they are read, and frames sent bytes as the peer's windows
//! allow. A reset with CANCEL and the end of the stream both correspond to the end of a TCP
//! connection (RFC 8441 section 5).

use super::driver::Carrier;
use super::frame;
use super::session::{Http2Session, MAX_FRAMED, count_stall};
use crate::collect::ReplyCollector;
use crate::multiplexing::stream::MultiplexedRequest;
use crate::request::RequestKind;
use crate::request::fields::RequestFields;
use crate::{WantedDetails, WantedFields};
use brunt_model::outcome::MalformedReply;
use brunt_model::{Failure, Text, Tick};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A stream that carries bytes in both directions. Dropping it closes the stream.
pub(crate) struct Tunnel {
    carrier: Rc<Carrier>,
    id: u32,
}

/// The reply to an extended CONNECT.
pub(crate) struct Answer {
    pub status: u16,
    /// Names and values of its header fields.
    pub fields: Vec<(String, String)>,
}

impl Http2Session {
    /// Sends an extended CONNECT. Returns the number of its stream.
    ///
    /// # Errors
    ///
    /// If the connection accepts no more requests.
    fn begin_tunnel(
        &mut self,
        fields: &RequestFields,
        mut stream: MultiplexedRequest,
    ) -> Result<u32, Failure> {
        self.check_accepts()?;
        let id = self.take_id();
        let length_before = self.out.len();
        stream.window = self.peer.window;
        self.put_headers(id, fields, false);
        stream.stamps.bytes_sent = (self.out.len() - length_before) as u64;
        self.framed.push(id);
        self.streams.insert(id, stream);
        self.wake_driver();
        Ok(id)
    }

    /// Frames as much of `bytes` as the windows allow, and returns their number. If it is
    /// 0, the stream waits.
    fn send_on_tunnel(
        &mut self,
        id: u32,
        bytes: &[u8],
        waker: Option<&Waker>,
    ) -> Result<usize, Failure> {
        let mut sent = 0;
        while sent < bytes.len() {
            let Some(stream) = self.streams.get_mut(&id) else { return Err(Failure::System) };
            if let Some(end) = stream.end {
                return Err(end.err().unwrap_or(Failure::ClosedEarly));
            }
            // A window may be negative after a change of SETTINGS (RFC 9113 section 6.9.2).
            let window = self.window.min(stream.window).max(0) as usize;
            let room = window.min(self.peer.payload).min(MAX_FRAMED.saturating_sub(self.out.len()));
            let piece = &bytes[sent..][..room.min(bytes.len() - sent)];
            if piece.is_empty() {
                if window == 0 && self.out.is_empty() {
                    stream.stalled.get_or_insert(self.now);
                }
                break;
            }
            if let Some(from) = stream.stalled.take() {
                count_stall(&self.counts, &mut false, self.now.nanos_since(from));
            }
            frame::put_head(&mut self.out, piece.len(), frame::DATA, 0, id);
            self.out.extend_from_slice(piece);
            sent += piece.len();
            self.window -= piece.len() as i64;
            stream.window -= piece.len() as i64;
            stream.stamps.bytes_sent += (frame::HEAD + piece.len()) as u64;
            stream.stamps.sent = Tick::ZERO;
        }
        if sent > 0 {
            self.framed.push(id);
            self.wake_driver();
        } else if let Some(waker) = waker {
            self.wait_to_send(id, waker);
        }
        Ok(sent)
    }

    /// Makes the stream retry after the output was written, or after the peer grants more.
    fn wait_to_send(&mut self, id: u32, waker: &Waker) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.waker = Some(waker.clone());
        if let Some(tunnel) = &mut stream.tunnel
            && !std::mem::replace(&mut tunnel.awaits_send, true)
        {
            self.uploading.push_back(id);
        }
    }

    /// Ends the sending side of the stream with `END_STREAM`.
    fn end_tunnel(&mut self, id: u32) {
        let stream = self.streams.get_mut(&id).filter(|stream| !matches!(stream.end, Some(Err(_))));
        if let (Some(tunnel), None) = (stream.and_then(|stream| stream.tunnel.as_mut()), self.end)
            && !std::mem::replace(&mut tunnel.is_ended, true)
        {
            // END_STREAM corresponds to the FIN of a TCP connection (RFC 8441 section 5).
            frame::put_head(&mut self.out, 0, frame::DATA, frame::END_STREAM, id);
            self.wake_driver();
        }
    }

    /// Removes the stream. If this side has ended it, the peer ends it, too; any
    /// other stream is reset.
    fn drop_tunnel(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let is_ended = stream.tunnel.as_ref().is_some_and(|tunnel| tunnel.is_ended);
        if stream.end == Some(Ok(())) {
            self.end_tunnel(id);
        } else if stream.end.is_none() && is_ended {
            stream.finish(Err(Failure::ClosedEarly));
        }
        self.take_stream(id);
    }

    /// True if as many streams are open as the peer allows.
    fn is_full(&self) -> bool {
        self.streams.len() >= self.peer.streams as usize
    }
}

impl Tunnel {
    /// Sends an extended CONNECT, and waits for the head of its reply.
    ///
    /// # Errors
    ///
    /// If no reply was received, with the reason in words.
    pub async fn open(
        carrier: &Rc<Carrier>,
        fields: &RequestFields,
    ) -> Result<(Self, Answer), (Failure, Text)> {
        let wants = WantedDetails { fields: WantedFields::All, ..WantedDetails::default() };
        let tunnel = {
            let session = &mut *carrier.session.borrow_mut();
            if session.is_full() {
                let streams = session.peer.streams;
                let limit = format!(
                    "the server allows {streams} streams at once (SETTINGS_MAX_CONCURRENT_STREAMS)"
                );
                let why = format!("{limit}, and as many are open; write --streams {streams}");
                return Err((Failure::Unprocessed, why.into()));
            }
            let mut stream = MultiplexedRequest::new(
                RequestKind::Ordinary,
                ReplyCollector::new(wants, None, None),
                0,
            );
            stream.tunnel = Some(Box::default());
            let id = session.begin_tunnel(fields, stream);
            let id =
                id.map_err(|failure| (failure, "the connection takes no more requests".into()))?;
            Self { carrier: Rc::clone(carrier), id }
        };
        let answer = std::future::poll_fn(|cx| tunnel.poll_answer(cx)).await;
        let answer =
            answer.map_err(|failure| (failure, "no answer to the extended CONNECT".into()))?;
        Ok((tunnel, answer))
    }

    fn poll_answer(&self, cx: &mut Context<'_>) -> Poll<Result<Answer, Failure>> {
        let session = &mut *self.carrier.session.borrow_mut();
        let Some(stream) = session.streams.get_mut(&self.id) else {
            return Poll::Ready(Err(Failure::System));
        };
        if let Some(head) = stream.head {
            let details = stream.collector.take().map(|collector| (*collector).finish(head));
            let fields = details
                .and_then(|details| details.head)
                .map(|(_, fields)| fields)
                .unwrap_or_default();
            // Bytes that follow the head are counted with the messages.
            stream.stamps.head_bytes = 0;
            return Poll::Ready(Ok(Answer { status: head.status, fields }));
        }
        if let Some(end) = stream.end {
            return Poll::Ready(Err(end.err().unwrap_or(Failure::Protocol)));
        }
        stream.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Sends as much of `bytes` as the windows allow at once, and returns their number.
    ///
    /// # Errors
    ///
    /// If the stream is over.
    pub fn send_at_once(&self, bytes: &[u8]) -> Result<usize, Failure> {
        self.carrier.session.borrow_mut().send_on_tunnel(self.id, bytes, None)
    }

    /// Sends as much of `bytes` as the windows allow. Returns their number, which is 0 only
    /// if `bytes` is empty.
    pub fn poll_send(&self, bytes: &[u8], cx: &mut Context<'_>) -> Poll<Result<usize, Failure>> {
        match self.carrier.session.borrow_mut().send_on_tunnel(self.id, bytes, Some(cx.waker()))? {
            0 if !bytes.is_empty() => Poll::Pending,
            sent => Poll::Ready(Ok(sent)),
        }
    }

    /// True if the windows allow `bytes` bytes at once.
    pub fn has_room(&self, bytes: usize) -> bool {
        let session = self.carrier.session.borrow();
        let window =
            session.streams.get(&self.id).map_or(0, |stream| stream.window.min(session.window));
        window >= bytes as i64 && session.out.len() + bytes <= MAX_FRAMED
    }

    /// Resolves when all framed bytes were written.
    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let session = &mut *self.carrier.session.borrow_mut();
        let Some(stream) = session.streams.get(&self.id) else {
            return Poll::Ready(Err(Failure::System));
        };
        match stream.end {
            _ if stream.stamps.sent != Tick::ZERO => Poll::Ready(Ok(())),
            Some(end) => Poll::Ready(Err(end.err().unwrap_or(Failure::ClosedEarly))),
            None => {
                session.wait_to_send(self.id, cx.waker());
                Poll::Pending
            }
        }
    }

    /// Reads received bytes into `buffer`; 0 is the end.
    pub fn poll_read(
        &self,
        buffer: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, Failure>> {
        let session = &mut *self.carrier.session.borrow_mut();
        let Some(stream) = session.streams.get_mut(&self.id) else {
            return Poll::Ready(Err(Failure::System));
        };
        let Some(tunnel) = &mut stream.tunnel else { return Poll::Ready(Err(Failure::System)) };
        let n = tunnel.read(buffer);
        if n > 0 {
            return Poll::Ready(Ok(n));
        }
        match stream.end {
            Some(Ok(())) => Poll::Ready(Ok(0)),
            // CANCEL corresponds to the end of a TCP connection.
            Some(Err(_)) if stream.stamps.malformed == Some(MalformedReply::ResetCancel) => {
                Poll::Ready(Ok(0))
            }
            Some(Err(failure)) => Poll::Ready(Err(failure)),
            None => {
                if !stream.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                    stream.waker = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// Starts counting the bytes of a new message, and when they are sent.
    pub fn begin_message(&self) {
        if let Some(stream) = self.carrier.session.borrow_mut().streams.get_mut(&self.id) {
            stream.stamps.sent = Tick::ZERO;
            stream.stamps.first_byte = Tick::ZERO;
            stream.stamps.bytes_sent = 0;
        }
    }

    /// Returns when the current message was written, and the bytes of its frames. None if it
    /// was not written yet.
    pub fn sent_stamp(&self) -> Option<(Tick, u64)> {
        let session = self.carrier.session.borrow();
        let stamps = session.streams.get(&self.id).map(|stream| stream.stamps)?;
        (stamps.sent != Tick::ZERO).then_some((stamps.sent, stamps.bytes_sent))
    }

    /// Returns when the last bytes were received.
    pub fn last_received(&self) -> Tick {
        let session = self.carrier.session.borrow();
        let tunnel = session.streams.get(&self.id).and_then(|stream| stream.tunnel.as_ref());
        tunnel.map_or(Tick::ZERO, |tunnel| tunnel.last_received)
    }

    /// Returns the bytes of received frames, without those that are read, since the last call.
    pub fn take_overhead(&self) -> u64 {
        let mut session = self.carrier.session.borrow_mut();
        session
            .streams
            .get_mut(&self.id)
            .map_or(0, |stream| std::mem::take(&mut stream.stamps.head_bytes))
    }

    /// Returns why the stream is over, if a frame of the peer gave a cause.
    pub fn cause(&self) -> Option<MalformedReply> {
        self.carrier
            .session
            .borrow()
            .streams
            .get(&self.id)
            .and_then(|stream| stream.stamps.malformed)
    }

    /// Ends the sending side of the stream with `END_STREAM`.
    pub fn end(&self) {
        self.carrier.session.borrow_mut().end_tunnel(self.id);
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.carrier.session.borrow_mut().drop_tunnel(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::{put_head, put_numbers};
    use super::super::hpack::Encoder;
    use super::super::session::Http2SessionEnd;
    use super::*;
    use crate::SharedCounts;
    use crate::multiplexing::tunnel_input::MAX_UNREAD;
    use crate::request::fields::{HeaderField, Indexing};
    use crate::request::{RequestDraft, RequestParts};
    use brunt_model::Body;
    use std::pin::pin;

    fn framed(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put_head(&mut out, payload.len(), kind, flags, stream);
        out.extend_from_slice(payload);
        out
    }

    fn settings(list: &[(u16, u32)]) -> Vec<u8> {
        let each = list
            .iter()
            .map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat());
        framed(frame::SETTINGS, 0, 0, &each.collect::<Vec<_>>().concat())
    }

    fn head(status: &str) -> Vec<u8> {
        let field = HeaderField {
            name: ":status".into(),
            value: status.into(),
            indexing: Indexing::Without,
        };
        let mut block = Vec::new();
        Encoder::new().encode(std::iter::once(&field), &mut block);
        framed(frame::HEADERS, frame::END_HEADERS, 1, &block)
    }

    fn fields() -> RequestFields {
        let (url, body) = ("ws://h/chat", Body::None);
        let draft = RequestDraft {
            method: "GET",
            url,
            headers: &[],
            body: &body,
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        RequestFields::from_websocket(&RequestParts::from_draft(&draft).unwrap(), None).unwrap()
    }

    /// Returns a stream that the server has opened, after these settings.
    fn open(list: &[(u16, u32)]) -> (Rc<Carrier>, Tunnel) {
        let carrier = Rc::new(Carrier::new(Http2Session::new(SharedCounts::default())));
        let mut cx = Context::from_waker(Waker::noop());
        let fields = fields();
        let tunnel = {
            let mut opening = pin!(Tunnel::open(&carrier, &fields));
            assert!(opening.as_mut().poll(&mut cx).is_pending());
            write(&carrier, Tick(1));
            carrier.session.borrow_mut().receive(&[settings(list), head("200")].concat(), Tick(2));
            let Poll::Ready(Ok((tunnel, answer))) = opening.as_mut().poll(&mut cx) else {
                panic!("it is open")
            };
            assert_eq!(answer.status, 200);
            tunnel
        };
        write(&carrier, Tick(3));
        (carrier, tunnel)
    }

    /// Takes the bytes to write, and records that they were written at this instant.
    fn write(carrier: &Carrier, now: Tick) -> Vec<u8> {
        let mut session = carrier.session.borrow_mut();
        let out = session.out.clone();
        session.record_written(now);
        out
    }

    fn read(tunnel: &Tunnel) -> Poll<Result<Vec<u8>, Failure>> {
        let mut buffer = [0; 100];
        let n = tunnel.poll_read(&mut buffer, &mut Context::from_waker(Waker::noop()));
        n.map(|n| n.map(|n| buffer[..n].to_vec()))
    }

    #[test]
    fn bytes_go_both_ways_until_both_sides_end() {
        let (carrier, tunnel) = open(&[]);
        tunnel.begin_message();
        assert_eq!((tunnel.send_at_once(b"hello"), tunnel.sent_stamp()), (Ok(5), None));
        assert_eq!(write(&carrier, Tick(5)), framed(frame::DATA, 0, 1, b"hello"));
        assert_eq!(tunnel.sent_stamp(), Some((Tick(5), 14)));
        assert!(read(&tunnel).is_pending());
        let frames = [
            framed(frame::DATA, frame::PADDED, 1, b"\x01ab\0"),
            framed(frame::DATA, frame::END_STREAM, 1, b"c"),
        ];
        carrier.session.borrow_mut().receive(&frames.concat(), Tick(7));
        assert_eq!(
            (read(&tunnel), tunnel.last_received()),
            (Poll::Ready(Ok(b"abc".to_vec())), Tick(7))
        );
        assert_eq!((tunnel.take_overhead(), tunnel.take_overhead()), (9 + 1 + 1 + 9, 0));
        assert_eq!(read(&tunnel), Poll::Ready(Ok(Vec::new())));
        drop(tunnel);
        assert_eq!(write(&carrier, Tick(8)), framed(frame::DATA, frame::END_STREAM, 1, b""));
        assert!(carrier.session.borrow().streams.is_empty());
    }

    #[test]
    fn sent_bytes_stay_within_the_window() {
        let (carrier, tunnel) = open(&[(frame::INITIAL_WINDOW_SIZE, 7)]);
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!((tunnel.has_room(7), tunnel.has_room(8)), (true, false));
        assert_eq!(tunnel.poll_send(b"0123456789", &mut cx), Poll::Ready(Ok(7)));
        assert!(tunnel.poll_send(b"789", &mut cx).is_pending());
        write(&carrier, Tick(5));
        assert!(tunnel.poll_send(b"789", &mut cx).is_pending());
        let mut more = Vec::new();
        put_numbers(&mut more, frame::WINDOW_UPDATE, 1, &[2]);
        carrier.session.borrow_mut().receive(&more, Tick(9));
        assert_eq!(tunnel.poll_send(b"789", &mut cx), Poll::Ready(Ok(2)));
        assert!(tunnel.poll_flush(&mut cx).is_pending());
        assert_eq!(write(&carrier, Tick(10)), framed(frame::DATA, 0, 1, b"78"));
        assert_eq!(tunnel.poll_flush(&mut cx), Poll::Ready(Ok(())));
        let counts = carrier.session.borrow().counts.take();
        assert_eq!((counts.stalled, counts.stalled_nanos), (1, 4));
    }

    #[test]
    fn a_received_reset_is_reported_and_a_sent_one_is_cancel() {
        for (code, expected) in
            [(8, Ok(Vec::new())), (2, Err(Failure::StreamReset)), (7, Err(Failure::Unprocessed))]
        {
            let (carrier, tunnel) = open(&[]);
            let reset = [
                framed(frame::DATA, 0, 1, b"a"),
                framed(frame::RST_STREAM, 0, 1, &[0, 0, 0, code]),
            ]
            .concat();
            carrier.session.borrow_mut().receive(&reset, Tick(5));
            assert_eq!(read(&tunnel), Poll::Ready(Ok(b"a".to_vec())));
            assert_eq!(read(&tunnel), Poll::Ready(expected), "{code}");
            assert!(tunnel.send_at_once(b"b").is_err());
            drop(tunnel);
            assert_eq!(write(&carrier, Tick(6)), b"", "nothing is sent on a stream that was reset");
        }
        let (carrier, tunnel) = open(&[]);
        drop(tunnel);
        assert_eq!(write(&carrier, Tick(6)), framed(frame::RST_STREAM, 0, 1, &[0, 0, 0, 8]));
        // Bytes that the server sent before it received the reset.
        carrier.session.borrow_mut().receive(&framed(frame::DATA, 0, 1, b"late"), Tick(7));
        assert_eq!(carrier.session.borrow().end, None);
        let (carrier, tunnel) = open(&[]);
        tunnel.end();
        drop(tunnel);
        assert_eq!(write(&carrier, Tick(6)), framed(frame::DATA, frame::END_STREAM, 1, b""));
        carrier
            .session
            .borrow_mut()
            .receive(&framed(frame::DATA, frame::END_STREAM, 1, b""), Tick(7));
        assert_eq!(carrier.session.borrow().end, None);
    }

    #[test]
    fn extended_connect_is_permanent_and_streams_are_limited() {
        let (carrier, _tunnel) =
            open(&[(frame::ENABLE_CONNECT_PROTOCOL, 1), (frame::MAX_CONCURRENT_STREAMS, 1)]);
        assert!(carrier.session.borrow().peer.connect_protocol);
        let fields = fields();
        let second =
            pin!(Tunnel::open(&carrier, &fields)).poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Err((failure, why))) = second else { panic!("one is open") };
        assert_eq!(failure, Failure::Unprocessed);
        assert!(
            why.contains("SETTINGS_MAX_CONCURRENT_STREAMS") && why.ends_with("write --streams 1"),
            "{why}"
        );
        for value in [0, 2] {
            let (carrier, _tunnel) = open(&[(frame::ENABLE_CONNECT_PROTOCOL, 1)]);
            carrier
                .session
                .borrow_mut()
                .receive(&settings(&[(frame::ENABLE_CONNECT_PROTOCOL, value)]), Tick(9));
            assert_eq!(
                carrier.session.borrow().end,
                Some(Http2SessionEnd::Broken(MalformedReply::Settings)),
                "{value}"
            );
        }
        let (carrier, _tunnel) = open(&[(frame::ENABLE_CONNECT_PROTOCOL, 0)]);
        assert_eq!(
            (carrier.session.borrow().end, carrier.session.borrow().peer.connect_protocol),
            (None, false)
        );
    }

    #[test]
    fn a_tunnel_with_too_many_unread_bytes_is_reset() {
        let (carrier, tunnel) = open(&[]);
        let piece = framed(frame::DATA, 0, 1, &[7; 16_384]);
        for _ in 0..=MAX_UNREAD / 16_384 {
            carrier.session.borrow_mut().receive(&piece, Tick(5));
        }
        assert!(write(&carrier, Tick(6)).ends_with(&framed(
            frame::RST_STREAM,
            0,
            1,
            &[0, 0, 0, 8]
        )));
        drop(tunnel);
        assert_eq!(write(&carrier, Tick(7)), b"");
    }
}

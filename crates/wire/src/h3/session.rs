//! One HTTP/3 connection: turns requests into QUIC streams, and the events of
//! these streams into replies.

use super::control::{ControlStream, Uni};
use super::frame::{self, Http3ErrorCode};
use super::migration::Migration;
use super::packet_numbers::REORDERING;
use super::parameters;
use super::prepare::{body_bytes, request_frames};
use super::request::{Http3Request, LastBlock, RuleViolation};
use super::watch::ConnectionObservations;
use crate::collect::ReplyCollector;
use crate::multiplexing::stream::StreamHasher;
use crate::quic::{TransportSettings, version_names};
use crate::request::Prepared;
use crate::waiters::Waiters;
use brunt_model::outcome::MalformedReply;
use brunt_model::{Failure, Flow, Tick};
use bytes::{Buf, Bytes};
use quinn_proto::{
    Connection, ConnectionError, Dir, Event, ReadError, ReadableError, Side, StreamEvent, StreamId,
    TransportErrorCode, VarInt, WriteError,
};
use rustls::Error as TlsError;
use rustls_pki_types::CertificateDer;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

/// Minimum time without an acknowledgment before a connection is given up. Browsers give up after
/// about five retransmissions with doubled timeouts, which is similar.
const MAX_SILENCE: Duration = Duration::from_secs(5);
/// On slow paths, the minimum is this number of probe timeouts.
const SILENT_PROBES: u32 = 6;
/// Maximum delay of acknowledgments (RFC 9000 section 18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// Why the connection is unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http3SessionEnd {
    /// The failure of its requests.
    pub failure: Failure,
    /// The cause of the failure, if known.
    pub cause: Option<MalformedReply>,
    /// The reason in words.
    pub why: String,
}

/// The rest of a request that was not written to its stream.
struct UnsentRequest {
    /// Rest of the head's frame and of the body's frame header.
    head: Bytes,
    /// Rest of the body. QUIC shares its bytes until they are acknowledged.
    body: Bytes,
}

/// The state of a connection.
#[allow(clippy::struct_excessive_bools)] // each is an event of its own
pub struct Http3Session {
    pub quic: Connection,
    watch: Arc<ConnectionObservations>,
    /// When the connection was started.
    started: Tick,
    /// Time from the start to a Retry packet, in nanoseconds.
    retry_nanos: Option<u64>,
    /// True if the Retry was counted.
    has_reported_retry: bool,
    requests: HashMap<u32, (Http3Request, Option<UnsentRequest>), BuildHasherDefault<StreamHasher>>,
    control: ControlStream,
    unis: Vec<(StreamId, Uni)>,
    last: LastBlock,
    /// Requests that were written to their streams since packets were last sent.
    written_requests: Vec<u32>,
    /// Number of requests that were completed on the connection.
    served: u64,
    /// Requests that were sent before the handshake was complete, and their frames.
    early_requests: Vec<(u32, Bytes)>,
    /// True if the peer accepted them. None after this was counted.
    early_accepted: Option<bool>,
    /// Packet counts that earlier calls of `take_counts` have returned.
    reported_counts: Flow,
    pub end: Option<Http3SessionEnd>,
    pub(super) migration: Option<Migration>,
    /// The versions of a Version Negotiation packet, if one was received.
    pub offered_versions: Vec<u32>,
    /// True if the handshake is complete.
    pub is_connected: bool,
    /// Maximum number of requests in flight.
    pub most_streams: u32,
    /// When the first packet was received.
    pub first_packet: Tick,
    /// Tasks that wait for the handshake or for the end.
    pub idle: Waiters,
    /// Tasks that wait for a stream.
    waiting: Waiters,
    /// Result of the check of the server's certificate; None: it was not checked.
    pub verdict: Option<Result<(), TlsError>>,
    /// Time since which the peer has acknowledged nothing, although it should.
    unacknowledged_since: Option<Tick>,
    /// True if it was asked for an acknowledgment since then.
    has_pinged: bool,
    /// True if frames that the peer must acknowledge were written since packets were last sent.
    has_written_frames: bool,
    /// Number of acknowledgments that were seen.
    acknowledgments: u64,
}

fn code(code: Http3ErrorCode) -> VarInt {
    VarInt::from_u32(code as u32)
}

impl Http3Session {
    /// Creates the state of a connection whose handshake begins.
    pub fn new(quic: Connection, watch: Arc<ConnectionObservations>, started: Tick) -> Self {
        let most_streams = if quic.has_0rtt() { most_streams(&quic) } else { 0 };
        Self {
            quic,
            watch,
            started,
            retry_nanos: None,
            has_reported_retry: false,
            requests: HashMap::default(),
            control: ControlStream::default(),
            unis: Vec::new(),
            last: LastBlock::default(),
            written_requests: Vec::new(),
            served: 0,
            early_requests: Vec::new(),
            early_accepted: None,
            reported_counts: Flow::default(),
            end: None,
            migration: None,
            offered_versions: Vec::new(),
            is_connected: false,
            most_streams,
            first_packet: Tick::ZERO,
            idle: Waiters::default(),
            waiting: Waiters::default(),
            verdict: None,
            unacknowledged_since: None,
            has_pinged: false,
            has_written_frames: false,
            acknowledgments: 0,
        }
    }

    /// True if another request may be sent.
    pub fn accepts(&self) -> bool {
        self.end.is_none() && self.control.goes_away_from.is_none()
    }

    /// Returns the server's transport parameters.
    pub fn settings(&self) -> Option<TransportSettings> {
        settings(&self.quic)
    }

    /// Returns the server's certificates in DER.
    pub fn certificates(&self) -> Vec<Vec<u8>> {
        let identity = self.quic.crypto_session().peer_identity();
        let chain =
            identity.and_then(|identity| identity.downcast::<Vec<CertificateDer<'static>>>().ok());
        chain.map_or_else(Vec::new, |chain| chain.iter().map(|one| one.as_ref().to_vec()).collect())
    }

    /// Sends a request. Returns the number of its stream. None if the server allows no stream at
    /// present; `waker` is then woken.
    ///
    /// # Errors
    ///
    /// If the connection accepts no more requests.
    pub fn begin(
        &mut self,
        prepared: &Prepared,
        collector: &mut Option<Box<ReplyCollector>>,
        waker: &Waker,
    ) -> Result<Option<u32>, Failure> {
        match &self.end {
            Some(end) if end.failure == Failure::Protocol => return Err(Failure::Protocol),
            // The connection ended while it was idle. The caller opens another one
            // and repeats the request.
            Some(_) => return Err(Failure::Stale),
            None if self.control.goes_away_from.is_some() => return Err(Failure::Unprocessed),
            None => {}
        }
        // A third party may replay early data: it may contain only requests that change nothing
        // (RFC 8470 section 4).
        let may_begin = self.is_connected || prepared.is_safe();
        let Some(stream) = may_begin.then(|| self.quic.streams().open(Dir::Bi)).flatten() else {
            self.waiting.add(waker);
            return Ok(None);
        };
        let (Some(parts), Some(fields)) = (&prepared.parts, &prepared.h2) else {
            return Err(Failure::System);
        };
        let mut request = Http3Request::new(prepared.kind, collector.take());
        request.stream.is_grpc = fields.is_grpc;
        let id = stream.index() as u32;
        let head = request_frames(prepared, fields, &parts.body);
        if !self.is_connected {
            self.early_requests.push((id, head.clone()));
        }
        let body = if fields.has_body { body_bytes(&parts.body) } else { Bytes::new() };
        let unsent = UnsentRequest { head, body };
        self.requests.insert(id, (request, Some(unsent)));
        self.send(id);
        Ok(Some(id))
    }

    /// Writes as much of a request as its stream accepts.
    fn send(&mut self, id: u32) {
        let Some((request, unsent_part)) = self.requests.get_mut(&id) else { return };
        let Some(unsent) = unsent_part else { return };
        let mut stream = self.quic.send_stream(request_stream(id));
        let stamps = &mut request.stream.stamps;
        while !unsent.head.is_empty() {
            match stream.write(&unsent.head) {
                Ok(bytes) => {
                    unsent.head.advance(bytes);
                    self.has_written_frames = true;
                    stamps.bytes_sent += bytes as u64;
                }
                Err(WriteError::Blocked) => return,
                Err(_) => return *unsent_part = None,
            }
        }
        while !unsent.body.is_empty() {
            match stream.write_chunks(std::slice::from_mut(&mut unsent.body)) {
                Ok(written) => {
                    self.has_written_frames = true;
                    stamps.bytes_sent += written.bytes as u64;
                }
                Err(WriteError::Blocked) => return,
                Err(_) => return *unsent_part = None,
            }
        }
        *unsent_part = None;
        let _ = stream.finish();
        self.written_requests.push(id);
    }

    /// Records that the packets with the written frames and requests were sent at `now`.
    pub fn record_written(&mut self, now: Tick) {
        self.has_written_frames = false;
        self.unacknowledged_since.get_or_insert(now);
        for id in self.written_requests.drain(..) {
            if let Some((request, _)) = self.requests.get_mut(&id) {
                request.stream.record_written(now);
            }
        }
    }

    /// True if frames or whole requests were written since packets were last sent.
    pub fn has_written(&self) -> bool {
        self.has_written_frames
    }

    /// Returns the request with this number.
    pub fn request(&mut self, id: u32) -> Option<&mut Http3Request> {
        self.requests.get_mut(&id).map(|(request, _)| request)
    }

    /// Removes a request.
    pub fn take_request(&mut self, id: u32) -> Option<Http3Request> {
        self.requests.remove(&id).map(|(request, _)| request)
    }

    /// Removes a request that is no longer awaited, and resets its stream if it is not over.
    pub fn cancel(&mut self, id: u32) -> Option<Http3Request> {
        let request = self.take_request(id)?;
        if request.stream.end.is_none() && self.end.is_none() {
            self.abandon(id, Http3ErrorCode::RequestCancelled);
        }
        Some(request)
    }

    /// Resets a stream in both directions.
    fn abandon(&mut self, id: u32, why: Http3ErrorCode) {
        self.has_written_frames = true;
        // A request stream has two directions, and each must be ended (RFC 9114 section 4.1.1).
        let _ = self.quic.recv_stream(request_stream(id)).stop(code(why));
        let _ = self.quic.send_stream(request_stream(id)).reset(code(why));
    }

    /// Processes the events of QUIC at `now`.
    pub fn take_events(&mut self, now: Tick, instant: Instant) {
        while let Some(event) = self.quic.poll() {
            let result = match event {
                Event::Connected => self.on_connected(),
                Event::ConnectionLost { reason } => {
                    let end = self.connection_end(reason);
                    self.finish(end);
                    Ok(())
                }
                Event::Stream(event) => self.on_stream(&event, now),
                _ => Ok(()),
            };
            if let Err(violation) = result {
                self.close_with_error(violation, instant);
            }
        }
    }

    fn on_connected(&mut self) -> Result<(), RuleViolation> {
        self.is_connected = true;
        // This update changes nothing for the peer (`key_phase`).
        self.quic.force_key_update();
        self.most_streams = most_streams(&self.quic);
        self.idle.wake();
        self.waiting.wake();
        // Rejected early requests take their old stream numbers, so they go first.
        self.settle_early();
        let start = frame::control_stream();
        let written = self
            .quic
            .streams()
            .open(Dir::Uni)
            .and_then(|id| self.quic.send_stream(id).write(&start).ok());
        if written == Some(start.len()) {
            return Ok(());
        }
        // Each endpoint must allow the other to open its control stream and to write a little
        // (RFC 9114 section 6.2).
        Err(RuleViolation::Connection(
            Http3ErrorCode::StreamCreation,
            MalformedReply::H3CriticalStream,
        ))
    }

    /// Evaluates whether the peer accepted early data, once the handshake shows it. Refused
    /// requests are sent again, on the same streams.
    fn settle_early(&mut self) {
        let early = std::mem::take(&mut self.early_requests);
        if early.is_empty() {
            return;
        }
        let accepted = self.quic.accepted_0rtt();
        self.early_accepted = Some(accepted);
        for (id, head) in early.into_iter().filter(|_| !accepted) {
            // After a rejection, QUIC resets all streams (RFC 9001 section 4.6.2). The same numbers
            // must be opened again, since the exchanges know their requests by them.
            if self.quic.streams().open(Dir::Bi) != Some(request_stream(id)) {
                return self.finish(Http3SessionEnd {
                    failure: Failure::Unprocessed,
                    cause: None,
                    why: "the server allows fewer streams than before".to_owned(),
                });
            }
            if let Some((_, unsent)) = self.requests.get_mut(&id) {
                *unsent = Some(UnsentRequest { head, body: Bytes::new() });
                self.send(id);
            } else {
                self.abandon(id, Http3ErrorCode::RequestCancelled);
            }
        }
    }

    fn on_stream(&mut self, event: &StreamEvent, now: Tick) -> Result<(), RuleViolation> {
        match *event {
            StreamEvent::Opened { dir: Dir::Uni } => {
                while let Some(id) = self.quic.streams().accept(Dir::Uni) {
                    self.unis.push((id, Uni::new()));
                    self.read_uni(id)?;
                }
                Ok(())
            }
            StreamEvent::Readable { id } if id.dir() == Dir::Uni => self.read_uni(id),
            StreamEvent::Readable { id } => self.read(id.index() as u32, now),
            StreamEvent::Writable { id } if id.dir() == Dir::Bi => {
                self.send(id.index() as u32);
                Ok(())
            }
            StreamEvent::Stopped { id, .. } if id.dir() == Dir::Bi => {
                // The server needs no more of the request, but its reply may still arrive.
                let id = id.index() as u32;
                if let Some((_, unsent)) = self.requests.get_mut(&id) {
                    *unsent = None;
                }
                let _ = self
                    .quic
                    .send_stream(request_stream(id))
                    .reset(code(Http3ErrorCode::RequestCancelled));
                Ok(())
            }
            StreamEvent::Stopped { .. } => {
                // The only unidirectional stream of this client is its control stream, which must
                // stay open (RFC 9114 section 6.2.1).
                Err(RuleViolation::Connection(
                    Http3ErrorCode::ClosedCriticalStream,
                    MalformedReply::H3CriticalStream,
                ))
            }
            StreamEvent::Available { dir: Dir::Bi } => {
                self.waiting.wake();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reads the received bytes of a reply.
    fn read(&mut self, id: u32, now: Tick) -> Result<(), RuleViolation> {
        let Self { quic, requests, last, .. } = self;
        let Some((request, unsent)) = requests.get_mut(&id) else { return Ok(()) };
        let mut stream = quic.recv_stream(request_stream(id));
        let Ok(mut chunks) = stream.read(true) else { return Ok(()) };
        let result = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    if let Err(violation) = request.receive(&chunk.bytes, last, now) {
                        break Err(violation);
                    }
                }
                Ok(None) => break request.end(),
                Err(ReadError::Blocked) => break Ok(()),
                Err(ReadError::Reset(code)) => {
                    on_reset(request, code.into_inner(), now);
                    break Ok(());
                }
            }
        };
        let _ = chunks.finalize();
        let is_over = request.stream.end.is_some();
        if is_over {
            self.served += u64::from(request.stream.end == Some(Ok(())));
            if unsent.take().is_some() {
                // The server does not need the rest of the body.
                let _ =
                    self.quic.send_stream(request_stream(id)).reset(code(Http3ErrorCode::NoError));
            }
        }
        if request.stream.is_abandoned {
            self.abandon(id, Http3ErrorCode::RequestCancelled);
            return Ok(());
        }
        if let Err(RuleViolation::Stream(why, cause)) = result {
            request.stream.fail_malformed(cause);
            self.abandon(id, why);
            return Ok(());
        }
        result
    }

    fn read_uni(&mut self, id: StreamId) -> Result<(), RuleViolation> {
        let Self { quic, unis, control, requests, .. } = self;
        let Some((_, uni)) = unis.iter_mut().find(|(other, _)| *other == id) else { return Ok(()) };
        let mut stream = quic.recv_stream(id);
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return Ok(()),
        };
        let previous = (control.has_settings, control.goes_away_from);
        let (result, is_over) = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    if let Err(violation) = uni.receive(control, &chunk.bytes) {
                        break (Err(violation), true);
                    }
                }
                Ok(None) | Err(ReadError::Reset(_)) => break (uni.end(), true),
                Err(ReadError::Blocked) => break (Ok(()), false),
            }
        };
        let _ = chunks.finalize();
        if is_over {
            unis.retain(|(other, _)| *other != id);
        }
        if let Some(from) = control.goes_away_from {
            // GOAWAY contains a stream ID (RFC 9114 section 5.2). Those of request streams are
            // multiples of four (RFC 9000 section 2.1).
            let unprocessed = requests.iter_mut().filter(|(id, _)| u64::from(**id) * 4 >= from);
            unprocessed.for_each(|(_, (request, _))| request.stream.fail_unprocessed(from == 0));
        }
        if previous != (control.has_settings, control.goes_away_from) {
            self.idle.wake();
        }
        result
    }

    /// Closes the connection with the error code of a violated rule. All requests in flight
    /// fail with its cause.
    fn close_with_error(&mut self, violation: RuleViolation, instant: Instant) {
        let (RuleViolation::Connection(why, cause) | RuleViolation::Stream(why, cause)) = violation;
        self.quic.close(instant, code(why), Bytes::new());
        self.finish(Http3SessionEnd {
            failure: Failure::Protocol,
            cause: Some(cause),
            why: cause.to_string(),
        });
    }

    /// Records that a packet of the peer was processed at `now`.
    pub fn record_packet(&mut self, now: Tick) {
        let acknowledgments = self.watch.acknowledgments();
        if acknowledgments != self.acknowledgments {
            self.acknowledgments = acknowledgments;
            self.has_pinged = false;
            self.unacknowledged_since = self.watch.has_bytes_in_flight().then_some(now);
        }
    }

    /// Returns when the silence of the peer is over: then it is asked for an acknowledgment, and
    /// the connection is given up if it was asked before.
    fn silence_end(&self) -> Option<Tick> {
        // The probe timeout of RFC 9002 section 6.2.1, with the variation of a first sample.
        let probe = self.quic.rtt() * 3 + MAX_ACK_DELAY;
        let silence = MAX_SILENCE.max(probe * SILENT_PROBES);
        let share = if self.has_pinged { silence } else { silence * 4 / 5 };
        let since = self.unacknowledged_since.filter(|_| self.is_connected && self.end.is_none());
        since.map(|since| since + share)
    }

    /// Returns when [`on_timeout`](Self::on_timeout) is due. `base` is the instant of tick zero.
    pub fn next_timeout(&mut self, base: Instant) -> Option<Instant> {
        let silence_end = self.silence_end().map(|end| base + Duration::from_nanos(end.0));
        [self.quic.poll_timeout(), silence_end].into_iter().flatten().min()
    }

    /// Fires the timers of QUIC. Closes a connection if its peer acknowledges nothing, as after a
    /// restart of the server. Without this, requests would fail until the idle timeout, and QUIC
    /// itself postpones its probes with each request. A slow server acknowledges requests at once.
    pub fn on_timeout(&mut self, now: Tick, instant: Instant) {
        self.quic.handle_timeout(instant);
        if self.silence_end().is_none_or(|end| now < end) {
            return;
        }
        // The packet that was in flight may have been a probe of the path's largest packet, which
        // is not repeated. So the peer is asked once more.
        if !std::mem::replace(&mut self.has_pinged, true) {
            return self.quic.ping();
        }
        self.quic.close(instant, code(Http3ErrorCode::NoError), Bytes::new());
        let why = "the server acknowledges no packets of this connection any more".to_owned();
        self.finish(Http3SessionEnd { failure: Failure::ClosedEarly, cause: None, why });
    }

    /// Records a packet of the handshake that was received at `now`.
    pub fn record_handshake_packet(&mut self, now: Tick) {
        if self.retry_nanos.is_none() && self.watch.has_retried() {
            self.retry_nanos = Some(now.nanos_since(self.started));
        }
    }

    /// Adds the counts since the last call to `all`.
    pub fn take_counts(&mut self, all: &mut Flow) {
        let path = self.quic.stats().path;
        let packets = &self.watch.packets;
        let reordering = if self.quic.is_drained() { 0 } else { REORDERING };
        let packets = Flow {
            packets_sent: path.sent_packets,
            packets_lost: path.lost_packets,
            packets_received: packets.received_count(),
            // A late packet lowers the number of missing ones. The difference is
            // offset by later losses.
            server_packets_lost: packets
                .missing(reordering)
                .max(self.reported_counts.server_packets_lost),
            ..Flow::default()
        };
        all.packets_sent += packets.packets_sent.saturating_sub(self.reported_counts.packets_sent);
        all.packets_lost += packets.packets_lost.saturating_sub(self.reported_counts.packets_lost);
        all.packets_received += packets.packets_received - self.reported_counts.packets_received;
        all.server_packets_lost +=
            packets.server_packets_lost - self.reported_counts.server_packets_lost;
        self.reported_counts = packets;
        if let Some(nanos) =
            self.retry_nanos.filter(|_| !std::mem::replace(&mut self.has_reported_retry, true))
        {
            all.quic_retries += 1;
            all.quic_retry_nanos += nanos;
        }
        if !self.quic.is_handshaking() {
            all.rtt_nanos += brunt_model::time::nanos(path.rtt);
            all.rtts += 1;
        }
        match self.early_accepted.take() {
            Some(true) => all.early_accepted += 1,
            Some(false) => all.early_refused += 1,
            None => {}
        }
    }

    /// Closes the connection, which is no longer needed.
    pub fn close(&mut self, instant: Instant) {
        self.quic.close(instant, code(Http3ErrorCode::NoError), Bytes::new());
        self.finish(Http3SessionEnd {
            failure: Failure::ClosedEarly,
            cause: None,
            why: "closed".to_owned(),
        });
    }

    /// Ends the connection: all requests in flight fail.
    pub fn finish(&mut self, end: Http3SessionEnd) {
        if self.end.is_some() {
            return;
        }
        let was_closed =
            end.cause.is_none() && matches!(end.failure, Failure::Reset | Failure::ClosedEarly);
        for (request, _) in self.requests.values_mut() {
            let stream = &mut request.stream;
            if was_closed && self.served > 0 && stream.stamps.bytes_received == 0 {
                stream.finish(Err(Failure::Stale));
            } else if stream.end.is_none() {
                stream.stamps.malformed = end.cause;
                stream.finish(Err(end.failure));
            }
        }
        self.end = Some(end);
        self.fail_migration();
        self.idle.wake();
        self.waiting.wake();
    }

    /// Returns the end of the connection for a reason reported by QUIC.
    fn connection_end(&self, reason: ConnectionError) -> Http3SessionEnd {
        let why = reason.to_string();
        let (failure, cause) = match reason {
            ConnectionError::TransportError(error) if alert(error.code).is_some() => {
                return Http3SessionEnd { failure: Failure::Tls, cause: None, why: error.reason };
            }
            ConnectionError::TransportError(_) => (Failure::Protocol, Some(MalformedReply::Quic)),
            ConnectionError::VersionMismatch => {
                let offered = version_names(&self.offered_versions).join(", ");
                let offered = if offered.is_empty() { "none".to_owned() } else { offered };
                let why = format!(
                    "the server offers no version of QUIC that brunt speaks (v1): {offered}"
                );
                return Http3SessionEnd {
                    failure: Failure::Protocol,
                    cause: Some(MalformedReply::QuicVersion),
                    why,
                };
            }
            ConnectionError::ConnectionClosed(close) => {
                match (alert(close.error_code), u64::from(close.error_code)) {
                    (Some(120), _) => {
                        let why = "the server does not offer HTTP/3 (no_application_protocol); write --http 1.1 or 2";
                        return Http3SessionEnd {
                            failure: Failure::Tls,
                            cause: None,
                            why: why.to_owned(),
                        };
                    }
                    (Some(_), _) => (Failure::Tls, None),
                    (None, 0) => (Failure::ClosedEarly, None),
                    (None, 2) if !self.is_connected => (Failure::Refused, None),
                    _ => (Failure::Reset, Some(MalformedReply::ClosedQuic)),
                }
            }
            ConnectionError::ApplicationClosed(close) => {
                match frame::close_cause(close.error_code.into_inner()) {
                    None => (Failure::ClosedEarly, None),
                    cause => (Failure::Reset, cause),
                }
            }
            ConnectionError::Reset => (Failure::Reset, None),
            ConnectionError::TimedOut if self.is_connected => (Failure::Timeout, None),
            ConnectionError::TimedOut => (Failure::ConnectTimeout, None),
            ConnectionError::LocallyClosed => (Failure::ClosedEarly, None),
            ConnectionError::CidsExhausted => (Failure::System, None),
        };
        Http3SessionEnd { failure, cause, why }
    }
}

fn on_reset(request: &mut Http3Request, code: u64, now: Tick) {
    let Some(stream) = Some(&mut request.stream).filter(|stream| stream.end.is_none()) else {
        return;
    };
    stream.record_received(0, now);
    stream.stamps.malformed = Some(frame::reset_cause(code));
    if code == Http3ErrorCode::RequestRejected as u64 {
        return stream.fail_unprocessed(true);
    }
    stream.finish(Err(Failure::StreamReset));
}

/// Returns the stream of the request with this number.
fn request_stream(id: u32) -> StreamId {
    StreamId::new(Side::Client, Dir::Bi, u64::from(id))
}

/// Returns the TLS alert that an error code contains (RFC 9001 section 4.8).
fn alert(code: TransportErrorCode) -> Option<u8> {
    u64::from(code).checked_sub(0x100).and_then(|alert| u8::try_from(alert).ok())
}

/// Returns the server's transport parameters. Before the handshake is complete, those
/// of the resumed session.
fn settings(quic: &Connection) -> Option<TransportSettings> {
    let parameters = quic.crypto_session().transport_parameters().ok()??;
    let mut encoded = Vec::new();
    parameters.write(&mut encoded);
    Some(parameters::read(&encoded))
}

/// Maximum number of requests in flight.
fn most_streams(quic: &Connection) -> u32 {
    settings(quic).map_or(1, |settings| u32::try_from(settings.streams).unwrap_or(u32::MAX))
}

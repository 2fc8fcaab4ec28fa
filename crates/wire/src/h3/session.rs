//! One connection: what QUIC says of its streams becomes replies, and requests become streams.

use super::control::{Control, Uni};
use super::frame::{self, Code};
use super::migration::Migration;
use super::packet_numbers::REORDERING;
use super::parameters;
use super::prepare::frames_of;
use super::request::{Broken, LastBlock, Request};
use super::watch::Watch;
use crate::collect::ReplyCollector;
use crate::multiplexing::stream::{StreamHasher, Upload};
use crate::quic::{TransportSettings, version_names};
use crate::request::Prepared;
use crate::waiters::Waiters;
use brunt_model::outcome::Malformed;
use brunt_model::{Failure, Flow, Tick};
use bytes::{Buf, Bytes};
use quinn_proto::{
    Connection, ConnectionError, Dir, Event, ReadError, ReadableError, Side, StreamEvent, StreamId, TransportErrorCode,
    VarInt, WriteError,
};
use rustls::Error as TlsError;
use rustls_pki_types::CertificateDer;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

/// Maximum time without a packet of the peer after packets were sent to it. Browsers give up after about five retransmissions
/// with doubled timeouts, which is similar.
const MAX_SILENCE: Duration = Duration::from_secs(5);
/// Minimum number of sends without an answer before a connection is given up.
const MIN_UNANSWERED: u32 = 6;

/// Why the connection is of no more use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// What becomes of the requests.
    pub failure: Failure,
    /// Its cause.
    pub cause: Option<Malformed>,
    /// The same in words.
    pub why: String,
}

/// The rest of a request.
struct Sending {
    /// Of its head, and of that of its body.
    head: Bytes,
    upload: Option<Upload>,
}

/// The state of a connection.
pub struct Session {
    pub quic: Connection,
    watch: Arc<Watch>,
    /// When it was begun.
    begun: Tick,
    /// From there to a Retry packet, in nanoseconds.
    retry_nanos: Option<u64>,
    /// The Retry was told.
    has_told_retry: bool,
    requests: HashMap<u32, (Request, Option<Sending>), BuildHasherDefault<StreamHasher>>,
    control: Control,
    unis: Vec<(StreamId, Uni)>,
    last: LastBlock,
    /// Requests that were written since packets were sent last.
    written: Vec<u32>,
    /// Requests that have ended on it.
    served: u64,
    /// Requests that were sent before the handshake was done, and their frames.
    early: Vec<(u32, Bytes)>,
    /// Whether the peer took them, until that is told.
    early_accepted: Option<bool>,
    /// Packets as counted so far, which the next call of `take_counts` subtracts.
    reported: Flow,
    pub end: Option<End>,
    pub(super) migration: Option<Migration>,
    /// The versions of a Version Negotiation packet, where one came.
    pub offered_versions: Vec<u32>,
    /// The handshake is done.
    pub is_connected: bool,
    /// Requests that may be under way at once.
    pub most_streams: u32,
    /// When the first packet came.
    pub first_packet: Tick,
    /// Who waits for the handshake, or for the end.
    pub idle: Waiters,
    /// Who waits for a stream.
    waiting: Waiters,
    /// What the server's certificate was found to be; None: it was not looked at.
    pub verdict: Option<Result<(), TlsError>>,
    /// Since when the peer has answered nothing that was sent, and how often something was sent since.
    unanswered: Option<(Tick, u32)>,
}

fn code(code: Code) -> VarInt {
    VarInt::from_u32(code as u32)
}

impl Session {
    /// One whose handshake begins.
    pub fn new(quic: Connection, watch: Arc<Watch>, begun: Tick) -> Self {
        let most_streams = if quic.has_0rtt() { most_streams(&quic) } else { 0 };
        Self {
            quic,
            watch,
            begun,
            retry_nanos: None,
            has_told_retry: false,
            requests: HashMap::default(),
            control: Control::default(),
            unis: Vec::new(),
            last: LastBlock::default(),
            written: Vec::new(),
            served: 0,
            early: Vec::new(),
            early_accepted: None,
            reported: Flow::default(),
            end: None,
            migration: None,
            offered_versions: Vec::new(),
            is_connected: false,
            most_streams,
            first_packet: Tick::ZERO,
            idle: Waiters::default(),
            waiting: Waiters::default(),
            verdict: None,
            unanswered: None,
        }
    }

    /// Whether another request may be sent on it.
    pub fn accepts(&self) -> bool {
        self.end.is_none() && self.control.goes_away_from.is_none()
    }

    /// What the server's transport parameters say.
    pub fn settings(&self) -> Option<TransportSettings> {
        settings(&self.quic)
    }

    /// Certificates that the server sent.
    pub fn certificates(&self) -> Vec<Vec<u8>> {
        let identity = self.quic.crypto_session().peer_identity();
        let chain = identity.and_then(|identity| identity.downcast::<Vec<CertificateDer<'static>>>().ok());
        chain.map_or_else(Vec::new, |chain| chain.iter().map(|one| one.as_ref().to_vec()).collect())
    }

    /// Sends a request; the number of its stream, or None where the server allows none at present: `waker` is woken then.
    ///
    /// # Errors
    ///
    /// The connection takes none any more.
    pub fn begin(
        &mut self,
        prepared: &Prepared,
        keep: &mut Option<Box<ReplyCollector>>,
        waker: &Waker,
    ) -> Result<Option<u32>, Failure> {
        match &self.end {
            Some(end) if end.failure == Failure::Protocol => return Err(Failure::Protocol),
            Some(_) => return Err(Failure::Stale),
            None if self.control.goes_away_from.is_some() => return Err(Failure::Unprocessed),
            None => {}
        }
        // Early data may come twice: only requests that change nothing may be in it (RFC 8470 section 4).
        let may_begin = self.is_connected || prepared.is_safe();
        let Some(stream) = may_begin.then(|| self.quic.streams().open(Dir::Bi)).flatten() else {
            self.waiting.add(waker);
            return Ok(None);
        };
        let (Some(parts), Some(fields)) = (&prepared.parts, &prepared.h2) else { return Err(Failure::System) };
        // The peer need not answer an acknowledgment, but it has to acknowledge the request.
        self.unanswered = self.unanswered.filter(|(_, count)| *count > 1);
        let mut request = Request::new(prepared.asked, keep.take());
        request.stream.is_grpc = fields.is_grpc;
        let id = stream.index() as u32;
        let head = frames_of(prepared, fields, &parts.body);
        if !self.is_connected {
            self.early.push((id, head.clone()));
        }
        let upload = fields.has_body.then(|| Upload::new(parts));
        let sending = Sending { head, upload };
        self.requests.insert(id, (request, Some(sending)));
        self.send(id);
        Ok(Some(id))
    }

    /// Writes of a request what may be written.
    fn send(&mut self, id: u32) {
        let Some((request, rest)) = self.requests.get_mut(&id) else { return };
        let Some(sending) = rest else { return };
        let mut stream = self.quic.send_stream(request_stream(id));
        let stamps = &mut request.stream.stamps;
        while !sending.head.is_empty() {
            match stream.write(&sending.head) {
                Ok(bytes) => {
                    sending.head.advance(bytes);
                    stamps.bytes_sent += bytes as u64;
                }
                Err(WriteError::Blocked) => return,
                Err(_) => return *rest = None,
            }
        }
        if let Some(upload) = &mut sending.upload {
            let body = upload.parts.body.bytes().unwrap_or_default();
            while upload.framed < body.len() {
                match stream.write(&body[upload.framed..]) {
                    Ok(bytes) => {
                        upload.framed += bytes;
                        stamps.bytes_sent += bytes as u64;
                    }
                    Err(WriteError::Blocked) => return,
                    Err(_) => return *rest = None,
                }
            }
        }
        *rest = None;
        let _ = stream.finish();
        self.written.push(id);
    }

    /// Packets were sent at `now`.
    pub fn sent(&mut self, now: Tick) {
        for id in self.written.drain(..) {
            if let Some((request, _)) = self.requests.get_mut(&id) {
                request.stream.written(now);
            }
        }
    }

    /// Whether requests were written since packets were sent last.
    pub fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// The request of this number.
    pub fn request(&mut self, id: u32) -> Option<&mut Request> {
        self.requests.get_mut(&id).map(|(request, _)| request)
    }

    /// Takes away a request that has ended.
    pub fn take(&mut self, id: u32) -> Option<Request> {
        self.requests.remove(&id).map(|(request, _)| request)
    }

    /// Nobody waits for this request any more.
    pub fn cancel(&mut self, id: u32) -> Option<Request> {
        let request = self.take(id)?;
        if request.stream.end.is_none() && self.end.is_none() {
            self.abandon(id, Code::RequestCancelled);
        }
        Some(request)
    }

    /// Ends a stream in both directions.
    fn abandon(&mut self, id: u32, why: Code) {
        let _ = self.quic.recv_stream(request_stream(id)).stop(code(why));
        let _ = self.quic.send_stream(request_stream(id)).reset(code(why));
    }

    /// Takes in what QUIC has to say at `now`.
    pub fn take_events(&mut self, now: Tick, instant: Instant) {
        while let Some(event) = self.quic.poll() {
            let went = match event {
                Event::Connected => self.on_connected(),
                Event::ConnectionLost { reason } => {
                    let end = self.end_of(reason);
                    self.finish(end);
                    Ok(())
                }
                Event::Stream(event) => self.on_stream(&event, now),
                _ => Ok(()),
            };
            if let Err(broken) = went {
                self.break_off(broken, instant);
            }
        }
    }

    fn on_connected(&mut self) -> Result<(), Broken> {
        self.is_connected = true;
        self.most_streams = most_streams(&self.quic);
        self.idle.wake();
        self.waiting.wake();
        self.settle_early();
        let ours = frame::control_stream();
        let written = self.quic.streams().open(Dir::Uni).and_then(|id| self.quic.send_stream(id).write(&ours).ok());
        if written == Some(ours.len()) {
            return Ok(());
        }
        // Each endpoint must let the other open its control stream, and fill it a little (RFC 9114 section 6.2).
        Err(Broken::Connection(Code::StreamCreation, Malformed::H3CriticalStream))
    }

    /// The handshake told whether the peer took early data. What it refused is sent again, on the same streams.
    fn settle_early(&mut self) {
        let early = std::mem::take(&mut self.early);
        if early.is_empty() {
            return;
        }
        let accepted = self.quic.accepted_0rtt();
        self.early_accepted = Some(accepted);
        for (id, head) in early.into_iter().filter(|_| !accepted) {
            if self.quic.streams().open(Dir::Bi) != Some(request_stream(id)) {
                return self.finish(End {
                    failure: Failure::Unprocessed,
                    cause: None,
                    why: "the server allows fewer streams than before".to_owned(),
                });
            }
            if let Some((_, sending)) = self.requests.get_mut(&id) {
                *sending = Some(Sending { head, upload: None });
                self.send(id);
            } else {
                self.abandon(id, Code::RequestCancelled);
            }
        }
    }

    fn on_stream(&mut self, event: &StreamEvent, now: Tick) -> Result<(), Broken> {
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
                // The reply may come all the same.
                let id = id.index() as u32;
                if let Some((_, rest)) = self.requests.get_mut(&id) {
                    *rest = None;
                }
                let _ = self.quic.send_stream(request_stream(id)).reset(code(Code::RequestCancelled));
                Ok(())
            }
            StreamEvent::Stopped { .. } => {
                Err(Broken::Connection(Code::ClosedCriticalStream, Malformed::H3CriticalStream))
            }
            StreamEvent::Available { dir: Dir::Bi } => {
                self.waiting.wake();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reads what came of a reply.
    fn read(&mut self, id: u32, now: Tick) -> Result<(), Broken> {
        let Self { quic, requests, last, .. } = self;
        let Some((request, sending)) = requests.get_mut(&id) else { return Ok(()) };
        let mut stream = quic.recv_stream(request_stream(id));
        let Ok(mut chunks) = stream.read(true) else { return Ok(()) };
        let went = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    if let Err(broken) = request.receive(&chunk.bytes, last, now) {
                        break Err(broken);
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
            if sending.take().is_some() {
                // The server does not want the rest of the body.
                let _ = self.quic.send_stream(request_stream(id)).reset(code(Code::NoError));
            }
        }
        if request.stream.is_left {
            self.abandon(id, Code::RequestCancelled);
            return Ok(());
        }
        if let Err(Broken::Stream(why, cause)) = went {
            request.stream.malformed(cause);
            self.abandon(id, why);
            return Ok(());
        }
        went
    }

    fn read_uni(&mut self, id: StreamId) -> Result<(), Broken> {
        let Self { quic, unis, control, requests, .. } = self;
        let Some((_, uni)) = unis.iter_mut().find(|(other, _)| *other == id) else { return Ok(()) };
        let mut stream = quic.recv_stream(id);
        let mut chunks = match stream.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return Ok(()),
        };
        let before = (control.is_known, control.goes_away_from);
        let (went, is_over) = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    if let Err(broken) = uni.receive(control, &chunk.bytes) {
                        break (Err(broken), true);
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
            let behind = requests.iter_mut().filter(|(id, _)| u64::from(**id) * 4 >= from);
            behind.for_each(|(_, (request, _))| request.stream.leave_unprocessed(from == 0));
        }
        if before != (control.is_known, control.goes_away_from) {
            self.idle.wake();
        }
        went
    }

    /// The connection cannot go on: the peer is told why, and requests under way fail of the cause.
    fn break_off(&mut self, broken: Broken, instant: Instant) {
        let (Broken::Connection(why, cause) | Broken::Stream(why, cause)) = broken;
        self.quic.close(instant, code(why), Bytes::new());
        self.finish(End { failure: Failure::Protocol, cause: Some(cause), why: cause.to_string() });
    }

    /// A packet of the peer came.
    pub fn packet_came(&mut self) {
        self.unanswered = None;
    }

    /// Packets were sent at `now`.
    pub fn packets_sent(&mut self, now: Tick) {
        let (since, count) = self.unanswered.unwrap_or((now, 0));
        self.unanswered = Some((since, count + 1));
    }

    /// Closes a connection if its peer acknowledges nothing, as after a restart of the server. Without this, requests would fail until
    /// the idle timeout. A slow server acknowledges requests at once.
    pub fn look_for_silence(&mut self, now: Tick, instant: Instant) {
        let Some((since, count)) = self.unanswered else { return };
        if self.is_connected && count >= MIN_UNANSWERED && now >= since + MAX_SILENCE {
            self.quic.close(instant, code(Code::NoError), Bytes::new());
            let why = "the server answers no packets of this connection any more".to_owned();
            self.finish(End { failure: Failure::ClosedEarly, cause: None, why });
        }
    }

    /// A packet of the handshake came at `now`.
    pub fn handshake_came(&mut self, now: Tick) {
        if self.retry_nanos.is_none() && self.watch.has_retried() {
            self.retry_nanos = Some(now.nanos_since(self.begun));
        }
    }

    /// Adds its counts since the last call.
    pub fn take_counts(&mut self, all: &mut Flow) {
        let path = self.quic.stats().path;
        let packets = &self.watch.packets;
        let reordering = if self.quic.is_drained() { 0 } else { REORDERING };
        let packets = Flow {
            packets_sent: path.sent_packets,
            packets_lost: path.lost_packets,
            packets_received: packets.received(),
            // A late packet lowers the number of missing ones: later losses make up for it.
            server_packets_lost: packets.missing(reordering).max(self.reported.server_packets_lost),
            ..Flow::default()
        };
        all.packets_sent += packets.packets_sent.saturating_sub(self.reported.packets_sent);
        all.packets_lost += packets.packets_lost.saturating_sub(self.reported.packets_lost);
        all.packets_received += packets.packets_received - self.reported.packets_received;
        all.server_packets_lost += packets.server_packets_lost - self.reported.server_packets_lost;
        self.reported = packets;
        if let Some(nanos) = self.retry_nanos.filter(|_| !std::mem::replace(&mut self.has_told_retry, true)) {
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

    /// Closes it: nobody needs it any more.
    pub fn close(&mut self, instant: Instant) {
        self.quic.close(instant, code(Code::NoError), Bytes::new());
        self.finish(End { failure: Failure::ClosedEarly, cause: None, why: "closed".to_owned() });
    }

    /// The connection is of no more use: all requests under way fail.
    pub fn finish(&mut self, end: End) {
        if self.end.is_some() {
            return;
        }
        let was_closed = end.cause.is_none() && matches!(end.failure, Failure::Reset | Failure::ClosedEarly);
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

    /// What the end of the connection means for its requests.
    fn end_of(&self, reason: ConnectionError) -> End {
        let why = reason.to_string();
        let of = |failure, cause| End { failure, cause, why: why.clone() };
        match reason {
            ConnectionError::TransportError(error) if alert(error.code).is_some() => {
                End { failure: Failure::Tls, cause: None, why: error.reason }
            }
            ConnectionError::TransportError(_) => of(Failure::Protocol, Some(Malformed::Quic)),
            ConnectionError::VersionMismatch => {
                let offered = version_names(&self.offered_versions).join(", ");
                let offered = if offered.is_empty() { "none".to_owned() } else { offered };
                let why = format!("the server offers no version of QUIC that brunt speaks (v1): {offered}");
                End { failure: Failure::Protocol, cause: Some(Malformed::QuicVersion), why }
            }
            ConnectionError::ConnectionClosed(close) => match (alert(close.error_code), u64::from(close.error_code)) {
                (Some(120), _) => {
                    let why = "the server does not offer HTTP/3 (no_application_protocol); write --http 1.1 or 2";
                    End { failure: Failure::Tls, cause: None, why: why.to_owned() }
                }
                (Some(_), _) => of(Failure::Tls, None),
                (None, 0) => of(Failure::ClosedEarly, None),
                (None, 2) if !self.is_connected => of(Failure::Refused, None),
                _ => of(Failure::Reset, Some(Malformed::ClosedQuic)),
            },
            ConnectionError::ApplicationClosed(close) => match frame::cause_of_close(close.error_code.into_inner()) {
                None => of(Failure::ClosedEarly, None),
                cause => of(Failure::Reset, cause),
            },
            ConnectionError::Reset => of(Failure::Reset, None),
            ConnectionError::TimedOut if self.is_connected => of(Failure::Timeout, None),
            ConnectionError::TimedOut => of(Failure::ConnectTimeout, None),
            ConnectionError::LocallyClosed => of(Failure::ClosedEarly, None),
            ConnectionError::CidsExhausted => of(Failure::System, None),
        }
    }
}

fn on_reset(request: &mut Request, code: u64, now: Tick) {
    let Some(stream) = Some(&mut request.stream).filter(|stream| stream.end.is_none()) else { return };
    stream.came(0, now);
    stream.stamps.malformed = Some(frame::cause_of_reset(code));
    if code == Code::RequestRejected as u64 {
        return stream.leave_unprocessed(true);
    }
    stream.finish(Err(Failure::StreamReset));
}

/// The stream of the request of this number.
fn request_stream(id: u32) -> StreamId {
    StreamId::new(Side::Client, Dir::Bi, u64::from(id))
}

/// The alert of TLS that a code stands for (RFC 9001 section 4.8).
fn alert(code: TransportErrorCode) -> Option<u8> {
    u64::from(code).checked_sub(0x100).and_then(|alert| u8::try_from(alert).ok())
}

/// What the server's transport parameters say; those of a resumed session before the handshake is done.
fn settings(quic: &Connection) -> Option<TransportSettings> {
    let parameters = quic.crypto_session().transport_parameters().ok()??;
    let mut written = Vec::new();
    parameters.write(&mut written);
    Some(parameters::read(&written))
}

/// Requests that may be under way at once.
fn most_streams(quic: &Connection) -> u32 {
    settings(quic).map_or(1, |settings| u32::try_from(settings.streams).unwrap_or(u32::MAX))
}

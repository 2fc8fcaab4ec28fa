//! Handles HTTP/2 connections in the server: how they begin, their requests, and how they end.

use super::deliver::deliver;
use super::frame::PREFACE;
use super::options::Versions;
use super::session::ServerSession;
use super::stream::LastFrame;
use super::upgrade::SWITCHING;
use crate::agenda::Task;
use crate::conn::{Conn, ConnAction, ConnectionState, WireProtocol};
use crate::fail::FailKind;
use crate::planner::ReplyPlan;
use crate::request::{ReplyRoute, RequestedReply, Upgrade};
use crate::serve::{Arrival, tail};
use crate::server::{IncomingRequest, LabServer};

impl LabServer {
    /// Detects the protocol of a client by its first bytes, and reads them.
    pub(crate) fn decide(&mut self, conn: &mut Conn, input: &[u8], arrival: Arrival) {
        let WireProtocol::Undecided(seen) = conn.protocol else { return };
        // With ALPN, the client has chosen HTTP/2 already.
        let has_agreed =
            conn.session.as_ref().is_some_and(|session| session.alpn_protocol() == Some(b"h2"));
        let count = input.len().min(PREFACE.len() - seen);
        let matches = PREFACE[seen..].starts_with(&input[..count]);
        if matches && seen + count < PREFACE.len() && !has_agreed {
            conn.protocol = WireProtocol::Undecided(seen + count);
            return;
        }
        if matches || has_agreed || self.options.http2.versions == Versions::Http2 {
            self.begin_h2(conn, ServerSession::new(&self.options));
            // The bytes so far were not stored: they are the beginning of the preface.
            self.parse_h2(conn, &PREFACE[..seen], arrival);
            return self.parse_h2(conn, input, arrival);
        }
        conn.protocol = WireProtocol::Http1;
        self.parse(conn, &PREFACE[..seen], arrival);
        self.parse(conn, input, arrival);
    }

    fn begin_h2(&mut self, conn: &mut Conn, session: ServerSession) {
        self.planner.ledger.http2_connections += 1;
        conn.protocol = WireProtocol::Http2(Box::new(session));
    }

    /// Switches to HTTP/2 or WebSocket if the request asks for it and is the first of its
    /// connection. Returns true if it switched.
    pub(crate) fn upgrade(
        &mut self,
        conn: &mut Conn,
        request: &mut RequestedReply,
        arrival: Arrival,
    ) -> bool {
        if conn.requests != 1 || !conn.outbox.is_empty() {
            return false;
        }
        let settings = match request.upgrade.take() {
            Some(Upgrade::Http2(settings)) => settings,
            Some(Upgrade::WebSocket { key, extensions }) => {
                return self.open_websocket(conn, request.route, &key, &extensions);
            }
            None => return false,
        };
        // `h2c` is HTTP/2 in cleartext (RFC 7540, section 3.2).
        if conn.session.is_some() || !self.options.http2.versions.has_http2() {
            return false;
        }
        request.shape.keep_alive = true;
        let mut session = ServerSession::new(&self.options);
        session.transport.put_raw(|out| out.extend_from_slice(SWITCHING));
        session.take_upgraded(std::mem::take(request), &settings);
        self.begin_h2(conn, session);
        self.take_done(conn, arrival);
        true
    }

    pub(crate) fn parse_h2(&mut self, conn: &mut Conn, input: &[u8], arrival: Arrival) {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return };
        session.receive(input);
        if session.is_closed() {
            conn.phase = ConnectionState::Ending;
        }
        self.take_done(conn, arrival);
    }

    /// Takes requests that `h2` read later: it stops reading while too much output is unsent.
    pub(crate) fn take_late(&mut self, conn: &mut Conn) {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return };
        self.planner.ledger.count_http2(&mut session.counts);
        if !session.done.is_empty() {
            self.take_done(conn, Arrival { at: self.wake_tick, by_kernel: false });
        }
    }

    fn take_done(&mut self, conn: &mut Conn, arrival: Arrival) {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return };
        let mut done = std::mem::take(&mut session.done);
        for (stream, request) in done.drain(..) {
            if request.route == ReplyRoute::Stats {
                let json = serde_json::to_vec(&self.report()).unwrap_or_default();
                let reply = self.h2_replies.with_body(
                    200,
                    request.shape.head_only,
                    "application/json",
                    json,
                );
                session.answer(stream, &reply, LastFrame::default());
                continue;
            }
            self.planner.ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
            let slot = conn.slot;
            let generation = conn.generation;
            self.incoming.push(IncomingRequest {
                at: arrival.at,
                slot,
                generation,
                stream,
                request,
            });
        }
        session.done = done;
    }

    /// Puts a reply on its stream, now or when it is due.
    pub(crate) fn place_h2(&mut self, conn: &mut Conn, plan: ReplyPlan, id: u32) -> ConnAction {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Keep };
        if conn.phase != ConnectionState::Open {
            return ConnAction::Keep;
        }
        if plan.request.shape.message.is_some() {
            return self.place_message(conn, plan, id);
        }
        if plan.failure == Some(FailKind::Never) {
            session.abandon(id);
            return ConnAction::Keep;
        }
        if plan.due <= self.wake_tick {
            return self.execute_h2(conn, &plan, id);
        }
        if let Some(stream) = session.stream(id) {
            self.agenda.add(plan.due, conn.slot, conn.generation, Task::Reply(id));
            stream.plan = Some(plan);
        }
        ConnAction::Keep
    }

    /// Delivers a reply that is due.
    pub(crate) fn deliver_h2(&mut self, conn: &mut Conn, id: u32) -> ConnAction {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Keep };
        let Some(plan) = session.stream(id).and_then(|stream| stream.plan.take()) else {
            let action = self.deliver_messages(conn, id);
            return if action == ConnAction::Close { ConnAction::Close } else { self.send(conn) };
        };
        if conn.phase != ConnectionState::Open {
            return ConnAction::Keep;
        }
        if self.execute_h2(conn, &plan, id) == ConnAction::Close {
            ConnAction::Close
        } else {
            self.send(conn)
        }
    }

    /// Executes a plan. The caller sends.
    fn execute_h2(&mut self, conn: &mut Conn, plan: &ReplyPlan, id: u32) -> ConnAction {
        if deliver(conn, plan, id, &mut self.h2_replies) == ConnAction::Close {
            return ConnAction::Close;
        }
        if plan.failure == Some(FailKind::Slow) {
            let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Keep };
            let drip = session.stream(id).and_then(|stream| stream.drip.as_ref());
            // The first byte is already with `h2`.
            let length = drip.map_or(0, |drip| drip.rest.len() + 1);
            if let Some(ticket) = plan.ticket {
                self.planner.ledger.visits.tails.insert(ticket, tail(length, self.options.drip));
            }
            if length > 1 {
                self.agenda.add(
                    plan.due + self.options.drip,
                    conn.slot,
                    conn.generation,
                    Task::Drip(id),
                );
            }
        }
        ConnAction::Keep
    }

    /// Sends the next byte of a dripping reply.
    pub(crate) fn drip_h2(&mut self, conn: &mut Conn, id: u32) -> ConnAction {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Keep };
        if session.drip(id)
            && let Some(drip) = session.stream(id).and_then(|stream| stream.drip.as_mut())
        {
            drip.due += self.options.drip;
            self.agenda.add(
                drip.due + self.options.drip,
                conn.slot,
                conn.generation,
                Task::Drip(id),
            );
        }
        if self.deliver_messages(conn, id) == ConnAction::Close {
            return ConnAction::Close;
        }
        self.send(conn)
    }

    /// Announces the end of an idle connection.
    pub(crate) fn wind_down(&mut self, conn: &mut Conn) -> ConnAction {
        let WireProtocol::Http2(session) = &mut conn.protocol else { return ConnAction::Close };
        session.wind_down();
        self.send(conn)
    }
}

//! Handles one connection in the server: reading, placing replies, sending, closing.
//!
//! [`crate::server`] calls it with a connection taken out of its table.

use std::io;

use rustix::event::epoll::EventFlags;
use rustix::net::{Shutdown, shutdown};

use crate::agenda::Task;
use crate::conn::{Conn, ConnAction, ConnectionState, PendingReply, WireProtocol};
use crate::deliver::{deliver, drip};
use crate::fail::FailKind;
use crate::planner::ReplyPlan;
use crate::reply::CONTINUE;
use crate::request::{MalformedRequest, ParserStep, ReplyRoute, ReplyShape, RequestedReply};
use crate::server::{IncomingRequest, LabServer};
use crate::socket;
use crate::tls::decrypt;
use crate::units::SECOND;
use crate::websocket::code;

/// Time that a connection which we have shut down waits for the client's close, in nanoseconds.
// A client that never closes must not keep its descriptor.
const LINGER: u64 = SECOND;

impl LabServer {
    pub(crate) fn on_event(&mut self, conn: &mut Conn, flags: EventFlags) -> ConnAction {
        let is_hung_up = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        // epoll reports a hang-up even if it is not watched. A connection that is not read would
        // report it again in every turn.
        if is_hung_up && !conn.interest.contains(EventFlags::IN) {
            return ConnAction::Close;
        }
        if (is_hung_up || flags.contains(EventFlags::IN)) && self.read(conn) == ConnAction::Close {
            return ConnAction::Close;
        }
        if flags.contains(EventFlags::OUT) { self.send(conn) } else { ConnAction::Keep }
    }

    pub(crate) fn on_task(&mut self, conn: &mut Conn, task: Task) -> ConnAction {
        match task {
            Task::Reply(stream) if matches!(conn.protocol, WireProtocol::Http2(_)) => {
                self.deliver_h2(conn, stream)
            }
            Task::Reply(number) => {
                conn.mark_ready(number);
                self.deliver_ready(conn)
            }
            Task::Drip(0) => self.drip_on(conn),
            Task::Drip(stream) => self.drip_h2(conn, stream),
            Task::Idle => self.check_idle(conn),
            Task::Linger => ConnAction::Close,
            Task::End | Task::Timer => ConnAction::Keep,
        }
    }

    /// Puts a reply on its connection, now or when it is due and its predecessors are sent.
    pub(crate) fn place(&mut self, conn: &mut Conn, plan: ReplyPlan, stream: u32) -> ConnAction {
        if stream != 0 {
            return if self.place_h2(conn, plan, stream) == ConnAction::Close {
                ConnAction::Close
            } else {
                self.send(conn)
            };
        }
        if conn.phase != ConnectionState::Open {
            return ConnAction::Keep;
        }
        let is_never = plan.failure == Some(FailKind::Never);
        let is_ready = plan.due <= self.wake_tick && !is_never;
        if is_ready && conn.pending.is_empty() && conn.drip.is_none() {
            return self.execute(conn, plan);
        }
        // Tasks hold numbers, because positions in the queue change. A reply that never leaves
        // stays in the queue, and all later ones wait for it.
        let number = conn.first_pending.wrapping_add(conn.pending.len() as u32);
        if !is_ready && !is_never {
            self.agenda.add(plan.due, conn.slot, conn.generation, Task::Reply(number));
        }
        conn.pending.push_back(PendingReply { ready: is_ready, plan });
        ConnAction::Keep
    }

    fn read(&mut self, conn: &mut Conn) -> ConnAction {
        // The buffer is taken out while other methods borrow the server.
        let mut buffer = std::mem::take(&mut self.buffer);
        let action = match self.receive(conn, &mut buffer) {
            Ok((0, _)) => on_end_of_input(conn),
            Ok((count, arrival)) => {
                self.planner.ledger.bytes_received += count as u64;
                conn.last_active = self.wake_tick;
                self.take_bytes(conn, &buffer[..count], arrival)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ConnAction::Keep,
            Err(_) => ConnAction::Close,
        };
        self.buffer = buffer;
        action
    }

    /// Reads bytes. Returns their number and their arrival.
    fn receive(&mut self, conn: &Conn, buffer: &mut [u8]) -> io::Result<(usize, Arrival)> {
        if !self.needs_stamps {
            return Ok((
                socket::read(&conn.socket, buffer)?,
                Arrival { at: self.wake_tick, by_kernel: false },
            ));
        }
        let (count, stamp) = socket::read_stamped(&conn.socket, buffer, &mut self.control)?;
        let tick = stamp.and_then(|stamp| self.clock.tick_of_stamp(stamp));
        let at = tick.unwrap_or_else(|| self.clock.now());
        // Bytes that arrive during this turn are later than its start.
        self.wake_tick = self.wake_tick.max(at);
        Ok((count, Arrival { at, by_kernel: tick.is_some() }))
    }

    fn take_bytes(&mut self, conn: &mut Conn, bytes: &[u8], arrival: Arrival) -> ConnAction {
        // Late input is read and dropped: a close with unread input would reset the connection.
        if conn.phase != ConnectionState::Open {
            return ConnAction::Keep;
        }
        if conn.session.is_none() {
            self.parse(conn, bytes, arrival);
        } else {
            let mut plain = std::mem::take(&mut self.plain);
            plain.clear();
            let is_intact = conn
                .session
                .as_mut()
                .is_none_or(|session| decrypt(session, bytes, &mut plain).is_ok());
            self.parse(conn, &plain, arrival);
            self.plain = plain;
            if !is_intact {
                // The alert with the reason is sent if possible; the connection is lost anyway.
                let _ = conn.flush(&mut self.completed);
                return ConnAction::Close;
            }
        }
        if !self.is_timed && self.admit_read_requests(conn) == ConnAction::Close {
            return ConnAction::Close;
        }
        // Acknowledgements and pongs leave even if no reply does.
        let has_control_frames =
            matches!(conn.protocol, WireProtocol::Http2(_) | WireProtocol::WebSocket(_));
        if conn.has_unsent() || has_control_frames { self.send(conn) } else { ConnAction::Keep }
    }

    pub(crate) fn parse(&mut self, conn: &mut Conn, mut input: &[u8], arrival: Arrival) {
        match conn.protocol {
            WireProtocol::Http1 => {}
            WireProtocol::Http2(_) => return self.parse_h2(conn, input, arrival),
            WireProtocol::WebSocket(_) => return self.parse_messages(conn, input, arrival),
            WireProtocol::Undecided(_) if input.is_empty() => return,
            WireProtocol::Undecided(_) => return self.decide(conn, input, arrival),
        }
        loop {
            match conn.parser.next(&mut input) {
                Ok(ParserStep::Wait) => return,
                // While replies are pending, the client would take an interim reply for one to
                // an earlier request.
                Ok(ParserStep::Continue) if conn.pending.is_empty() => {
                    conn.outbox.push(CONTINUE.into(), None);
                }
                Ok(ParserStep::Continue) => {}
                Ok(ParserStep::Done(mut request)) => {
                    conn.requests += 1;
                    if self.upgrade(conn, &mut request, arrival) {
                        // The rest of the input belongs to the new protocol.
                        return self.parse(conn, input, arrival);
                    }
                    self.take_request(conn, request, arrival);
                }
                Err(MalformedRequest(reason)) => return self.refuse(conn, reason),
            }
        }
    }

    fn take_request(&mut self, conn: &mut Conn, request: RequestedReply, arrival: Arrival) {
        if request.route == ReplyRoute::Stats {
            return self.send_stats(conn, request.shape);
        }
        self.planner.ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
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

    /// Answers requests as soon as they are read, if replies have no due times.
    fn admit_read_requests(&mut self, conn: &mut Conn) -> ConnAction {
        let mut batch = std::mem::take(&mut self.incoming);
        let mut action = ConnAction::Keep;
        for incoming in batch.drain(..) {
            if conn.excludes(incoming.stream) {
                self.planner.ledger.http2.after_goaway += 1;
                continue;
            }
            // Requests after a close are admitted, too: they arrived, and count.
            let plan = self.planner.admit(incoming.at, incoming.request);
            if action == ConnAction::Keep && conn.phase == ConnectionState::Open {
                action = match incoming.stream {
                    0 => self.place_unsent(conn, plan),
                    stream => self.place_h2(conn, plan, stream),
                };
            }
        }
        self.incoming = batch;
        action
    }

    /// Places a reply in the same way as [`Self::place`]. If it leaves
    /// immediately, the caller sends.
    fn place_unsent(&mut self, conn: &mut Conn, plan: ReplyPlan) -> ConnAction {
        let is_immediate =
            plan.due <= self.wake_tick && conn.pending.is_empty() && conn.drip.is_none();
        if is_immediate && plan.failure.is_none() {
            return deliver(conn, plan, &mut self.replies, self.max_requests);
        }
        self.place(conn, plan, 0)
    }

    fn execute(&mut self, conn: &mut Conn, plan: ReplyPlan) -> ConnAction {
        if deliver(conn, plan, &mut self.replies, self.max_requests) == ConnAction::Close {
            return ConnAction::Close;
        }
        let Some(drip) = &conn.drip else { return self.send(conn) };
        // The truth needs the time that the bytes take after the reply has begun.
        if let Some(ticket) = drip.completed.ticket {
            self.planner
                .ledger
                .visits
                .tails
                .insert(ticket, tail(drip.bytes.len(), self.options.drip));
        }
        self.drip_on(conn)
    }

    fn deliver_ready(&mut self, conn: &mut Conn) -> ConnAction {
        while conn.phase == ConnectionState::Open
            && let Some(plan) = conn.take_ready()
        {
            if self.execute(conn, plan) == ConnAction::Close {
                return ConnAction::Close;
            }
        }
        ConnAction::Keep
    }

    fn drip_on(&mut self, conn: &mut Conn) -> ConnAction {
        if drip(conn)
            && let Some(drip) = &mut conn.drip
        {
            drip.due += self.options.drip;
            self.agenda.add(drip.due, conn.slot, conn.generation, Task::Drip(0));
            return self.send(conn);
        }
        if self.send(conn) == ConnAction::Close {
            ConnAction::Close
        } else {
            self.deliver_ready(conn)
        }
    }

    /// Sends as much as possible, records completed replies, and closes the connection
    /// if everything is sent.
    pub(crate) fn send(&mut self, conn: &mut Conn) -> ConnAction {
        conn.pump();
        loop {
            let Ok(count) = conn.flush(&mut self.completed) else { return ConnAction::Close };
            self.planner.ledger.bytes_sent += count as u64;
            if conn.has_unsent() || !conn.pump() {
                break;
            }
        }
        if !self.completed.is_empty() {
            // Without a record, the exact time is not worth a reading of the clock.
            let written = if self.needs_stamps { self.clock.now() } else { self.wake_tick };
            conn.last_active = written;
            for completed in self.completed.drain(..) {
                self.planner.ledger.record_reply(completed, written);
            }
        }
        self.take_late(conn);
        let has_more = conn.has_unsent() || conn.drip.is_some();
        match conn.phase {
            ConnectionState::Ending if !has_more => self.end(conn),
            ConnectionState::Open if !has_more && conn.is_over() => self.end(conn),
            // A client that only closed its sending side still gets the pending replies.
            _ if conn.input_ended && conn.has_nothing_pending() => ConnAction::Close,
            _ => ConnAction::Keep,
        }
    }

    /// Closes a connection after everything is sent. A close with unread input would reset
    /// the connection, and the reply could be lost. If the client may still send, it gets
    /// time to close first.
    fn end(&mut self, conn: &mut Conn) -> ConnAction {
        if let Some(session) = &mut conn.session {
            session.send_close_notify();
            // The client may have left; the connection ends in any case.
            let _ = conn.flush(&mut self.completed);
        }
        let is_quiet = matches!(conn.protocol, WireProtocol::Http1)
            && conn.pending.is_empty()
            && conn.parser.is_idle();
        if conn.input_ended || is_quiet {
            return ConnAction::Close;
        }
        conn.pending.clear();
        conn.phase = ConnectionState::Draining;
        self.agenda.add(self.wake_tick + LINGER, conn.slot, conn.generation, Task::Linger);
        if shutdown(&conn.socket, Shutdown::Write).is_ok() {
            ConnAction::Keep
        } else {
            ConnAction::Close
        }
    }

    fn send_stats(&mut self, conn: &mut Conn, shape: ReplyShape) {
        let json = serde_json::to_vec(&self.report()).unwrap_or_default();
        conn.outbox.push(self.replies.with_body(200, shape, "application/json", &json).bytes, None);
        if !shape.keep_alive {
            conn.phase = ConnectionState::Ending;
        }
    }

    fn refuse(&mut self, conn: &mut Conn, reason: &str) {
        self.planner.ledger.malformed += 1;
        // A reply of status 400 must not overtake pending replies. With some, the connection only
        // ends after them.
        if conn.pending.is_empty() {
            let reply =
                self.replies.with_body(400, ReplyShape::default(), "text/plain", reason.as_bytes());
            conn.outbox.push(reply.bytes, None);
            conn.phase = ConnectionState::Ending;
        } else {
            // After malformed input, the start of the next request is unknown.
            conn.input_ended = true;
        }
    }

    fn check_idle(&mut self, conn: &mut Conn) -> ConnAction {
        let timeout = self.options.idle_timeout.unwrap_or(u64::MAX);
        // A connection that waits for a reply is not idle.
        let since = if conn.has_nothing_pending() { conn.last_active } else { self.wake_tick };
        if since.saturating_add(timeout) <= self.wake_tick
            && matches!(conn.protocol, WireProtocol::WebSocket(_))
        {
            conn.finish(code::GOING_AWAY);
            return self.send(conn);
        }
        if since.saturating_add(timeout) <= self.wake_tick {
            return self.wind_down(conn);
        }
        self.agenda.add(since.saturating_add(timeout), conn.slot, conn.generation, Task::Idle);
        ConnAction::Keep
    }
}

/// Arrival of bytes: the tick, and whether the kernel stamped it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) at: u64,
    pub(crate) by_kernel: bool,
}

/// Returns the time from the first to the last byte of a dripping reply.
pub(crate) fn tail(bytes: usize, drip: u64) -> u64 {
    bytes.saturating_sub(1) as u64 * drip
}

/// Handles the end of the client's input. The client may still wait for pending replies, except for
/// those that never come.
fn on_end_of_input(conn: &mut Conn) -> ConnAction {
    conn.input_ended = true;
    if let WireProtocol::Http2(session) = &mut conn.protocol {
        session.on_end_of_input();
        return if conn.has_nothing_pending() { ConnAction::Close } else { ConnAction::Keep };
    }
    let all_never =
        conn.pending.iter().all(|pending| pending.plan.failure == Some(FailKind::Never));
    if all_never && conn.drip.is_none() && !conn.has_unsent() {
        ConnAction::Close
    } else {
        ConnAction::Keep
    }
}

//! What the server does with one connection: reading, placing replies, sending, ending.
//!
//! The other half of [`crate::server`], which calls it with a connection taken out of its table.

use std::io;

use rustix::event::epoll::EventFlags;
use rustix::net::{Shutdown, shutdown};

use crate::agenda::Duty;
use crate::conn::{Conn, Owed, Phase, Speaks, Verdict};
use crate::deliver::{deliver, drip};
use crate::desk::Plan;
use crate::fail::FailKind;
use crate::reply::CONTINUE;
use crate::request::{Malformed, Request, Route, Shape, Step};
use crate::server::{Arrived, Server};
use crate::socket;
use crate::tls::decrypt;
use crate::units::SECOND;
use crate::websocket::code;

/// How long a connection that we have shut waits for the client's close, in nanoseconds.
const LINGER: u64 = SECOND;

impl Server {
    pub(crate) fn on_event(&mut self, conn: &mut Conn, flags: EventFlags) -> Verdict {
        let gone = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if gone && !conn.interest.contains(EventFlags::IN) {
            return Verdict::Drop;
        }
        if (gone || flags.contains(EventFlags::IN)) && self.read(conn) == Verdict::Drop {
            return Verdict::Drop;
        }
        if flags.contains(EventFlags::OUT) { self.send(conn) } else { Verdict::Keep }
    }

    pub(crate) fn on_duty(&mut self, conn: &mut Conn, duty: Duty) -> Verdict {
        match duty {
            Duty::Reply(stream) if matches!(conn.speaks, Speaks::Two(_)) => self.deliver_h2(conn, stream),
            Duty::Reply(number) => {
                conn.mark_ready(number);
                self.deliver_ready(conn)
            }
            Duty::Drip(0) => self.drip_on(conn),
            Duty::Drip(stream) => self.drip_h2(conn, stream),
            Duty::Idle => self.check_idle(conn),
            Duty::Linger => Verdict::Drop,
            Duty::End | Duty::Timer => Verdict::Keep,
        }
    }

    /// Puts a reply on its connection, now or when it is due and its turn has come.
    pub(crate) fn place(&mut self, conn: &mut Conn, plan: Plan, stream: u32) -> Verdict {
        if stream != 0 {
            return if self.place_h2(conn, plan, stream) == Verdict::Drop { Verdict::Drop } else { self.send(conn) };
        }
        if conn.phase != Phase::Open {
            return Verdict::Keep;
        }
        let never = plan.failing == Some(FailKind::Never);
        let ready = plan.due <= self.woke && !never;
        if ready && conn.owed.is_empty() && conn.drip.is_none() {
            return self.carry_out(conn, plan);
        }
        let number = conn.first_owed.wrapping_add(conn.owed.len() as u32);
        if !ready && !never {
            self.agenda.add(plan.due, conn.slot, conn.generation, Duty::Reply(number));
        }
        conn.owed.push_back(Owed { ready, plan });
        Verdict::Keep
    }

    fn read(&mut self, conn: &mut Conn) -> Verdict {
        let mut buffer = std::mem::take(&mut self.buffer);
        let verdict = match self.receive(conn, &mut buffer) {
            Ok((0, _)) => on_end_of_input(conn),
            Ok((count, arrival)) => {
                self.desk.ledger.bytes_received += count as u64;
                conn.last_active = self.woke;
                self.take_bytes(conn, &buffer[..count], arrival)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Verdict::Keep,
            Err(_) => Verdict::Drop,
        };
        self.buffer = buffer;
        verdict
    }

    /// Reads, and tells when what was read arrived.
    fn receive(&mut self, conn: &Conn, buffer: &mut [u8]) -> io::Result<(usize, Arrival)> {
        if !self.stamped {
            return Ok((socket::read(&conn.socket, buffer)?, Arrival { at: self.woke, by_kernel: false }));
        }
        let (count, stamp) = socket::read_stamped(&conn.socket, buffer, &mut self.control)?;
        let tick = stamp.and_then(|stamp| self.clock.tick_of_stamp(stamp));
        let at = tick.unwrap_or_else(|| self.clock.now());
        // What came while this turn was under way is later than its beginning.
        self.woke = self.woke.max(at);
        Ok((count, Arrival { at, by_kernel: tick.is_some() }))
    }

    fn take_bytes(&mut self, conn: &mut Conn, bytes: &[u8], arrival: Arrival) -> Verdict {
        if conn.phase != Phase::Open {
            return Verdict::Keep;
        }
        if conn.session.is_none() {
            self.parse(conn, bytes, arrival);
        } else {
            let mut plain = std::mem::take(&mut self.plain);
            plain.clear();
            let healthy = conn.session.as_mut().is_none_or(|session| decrypt(session, bytes, &mut plain).is_ok());
            self.parse(conn, &plain, arrival);
            self.plain = plain;
            if !healthy {
                // The alert that says why is worth a try; the connection is lost anyway.
                let _ = conn.flush(&mut self.settled);
                return Verdict::Drop;
            }
        }
        if !self.timed && self.admit_here(conn) == Verdict::Drop {
            return Verdict::Drop;
        }
        let controls = matches!(conn.speaks, Speaks::Two(_) | Speaks::WebSocket(_));
        if conn.has_unsent() || controls { self.send(conn) } else { Verdict::Keep }
    }

    pub(crate) fn parse(&mut self, conn: &mut Conn, mut input: &[u8], arrival: Arrival) {
        match conn.speaks {
            Speaks::One => {}
            Speaks::Two(_) => return self.parse_h2(conn, input, arrival),
            Speaks::WebSocket(_) => return self.parse_messages(conn, input, arrival),
            Speaks::Undecided(_) if input.is_empty() => return,
            Speaks::Undecided(_) => return self.decide(conn, input, arrival),
        }
        loop {
            match conn.parser.next(&mut input) {
                Ok(Step::Wait) => return,
                Ok(Step::Continue) if conn.owed.is_empty() => conn.outbox.push(CONTINUE.into(), None),
                Ok(Step::Continue) => {}
                Ok(Step::Done(mut request)) => {
                    conn.requests += 1;
                    if self.upgrade(conn, &mut request, arrival) {
                        return self.parse(conn, input, arrival);
                    }
                    self.take_request(conn, request, arrival);
                }
                Err(Malformed(reason)) => return self.refuse(conn, reason),
            }
        }
    }

    fn take_request(&mut self, conn: &mut Conn, request: Request, arrival: Arrival) {
        if request.route == Route::Stats {
            return self.tell_stats(conn, request.shape);
        }
        self.desk.ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
        let (slot, generation) = (conn.slot, conn.generation);
        self.arrived.push(Arrived { at: arrival.at, slot, generation, stream: 0, request });
    }

    /// Without due times, requests are answered as soon as they are read.
    fn admit_here(&mut self, conn: &mut Conn) -> Verdict {
        let mut batch = std::mem::take(&mut self.arrived);
        let mut verdict = Verdict::Keep;
        for arrived in batch.drain(..) {
            if conn.excludes(arrived.stream) {
                self.desk.ledger.http2.after_goaway += 1;
                continue;
            }
            let plan = self.desk.admit(arrived.at, arrived.request);
            if verdict == Verdict::Keep && conn.phase == Phase::Open {
                verdict = match arrived.stream {
                    0 => self.put(conn, plan),
                    stream => self.place_h2(conn, plan, stream),
                };
            }
        }
        self.arrived = batch;
        verdict
    }

    /// As [`Self::place`], but leaves the sending to the caller if the reply leaves at once.
    fn put(&mut self, conn: &mut Conn, plan: Plan) -> Verdict {
        let at_once = plan.due <= self.woke && conn.owed.is_empty() && conn.drip.is_none();
        if at_once && plan.failing.is_none() {
            return deliver(conn, plan, &mut self.replies, self.most_requests);
        }
        self.place(conn, plan, 0)
    }

    fn carry_out(&mut self, conn: &mut Conn, plan: Plan) -> Verdict {
        if deliver(conn, plan, &mut self.replies, self.most_requests) == Verdict::Drop {
            return Verdict::Drop;
        }
        let Some(drip) = &conn.drip else { return self.send(conn) };
        if let Some(ticket) = drip.settled.ticket {
            self.desk.ledger.visits.tails.insert(ticket, tail(drip.bytes.len(), self.options.drip));
        }
        self.drip_on(conn)
    }

    fn deliver_ready(&mut self, conn: &mut Conn) -> Verdict {
        while conn.phase == Phase::Open
            && let Some(plan) = conn.take_ready()
        {
            if self.carry_out(conn, plan) == Verdict::Drop {
                return Verdict::Drop;
            }
        }
        Verdict::Keep
    }

    fn drip_on(&mut self, conn: &mut Conn) -> Verdict {
        if drip(conn)
            && let Some(drip) = &mut conn.drip
        {
            drip.due += self.options.drip;
            self.agenda.add(drip.due, conn.slot, conn.generation, Duty::Drip(0));
            return self.send(conn);
        }
        if self.send(conn) == Verdict::Drop { Verdict::Drop } else { self.deliver_ready(conn) }
    }

    /// Sends what can be sent, enters what is thereby answered, and ends the connection if that was all.
    pub(crate) fn send(&mut self, conn: &mut Conn) -> Verdict {
        conn.pump();
        loop {
            let Ok(count) = conn.flush(&mut self.settled) else { return Verdict::Drop };
            self.desk.ledger.bytes_sent += count as u64;
            if conn.has_unsent() || !conn.pump() {
                break;
            }
        }
        if !self.settled.is_empty() {
            let written = if self.stamped { self.clock.now() } else { self.woke };
            conn.last_active = written;
            for settled in self.settled.drain(..) {
                self.desk.ledger.settle(settled, written);
            }
        }
        self.take_late(conn);
        let waiting = conn.has_unsent() || conn.drip.is_some();
        match conn.phase {
            Phase::Ending if !waiting => self.end(conn),
            Phase::Open if !waiting && conn.is_over() => self.end(conn),
            _ if conn.ended && conn.is_settled() => Verdict::Drop,
            _ => Verdict::Keep,
        }
    }

    /// Everything is sent. A close with unread input would reset the connection, and the reply could be lost by it; if
    /// the client may still send, it gets time to close first.
    fn end(&mut self, conn: &mut Conn) -> Verdict {
        if let Some(session) = &mut conn.session {
            session.send_close_notify();
            // The client may be gone; the connection ends in any case.
            let _ = conn.flush(&mut self.settled);
        }
        let quiet = matches!(conn.speaks, Speaks::One) && conn.owed.is_empty() && conn.parser.is_idle();
        if conn.ended || quiet {
            return Verdict::Drop;
        }
        conn.owed.clear();
        conn.phase = Phase::Draining;
        self.agenda.add(self.woke + LINGER, conn.slot, conn.generation, Duty::Linger);
        if shutdown(&conn.socket, Shutdown::Write).is_ok() { Verdict::Keep } else { Verdict::Drop }
    }

    fn tell_stats(&mut self, conn: &mut Conn, shape: Shape) {
        let json = serde_json::to_vec(&self.report()).unwrap_or_default();
        conn.outbox.push(self.replies.with_body(200, shape, "application/json", &json).bytes, None);
        if !shape.keep_alive {
            conn.phase = Phase::Ending;
        }
    }

    fn refuse(&mut self, conn: &mut Conn, reason: &str) {
        self.desk.ledger.malformed += 1;
        if conn.owed.is_empty() {
            let reply = self.replies.with_body(400, Shape::default(), "text/plain", reason.as_bytes());
            conn.outbox.push(reply.bytes, None);
            conn.phase = Phase::Ending;
        } else {
            conn.ended = true;
        }
    }

    fn check_idle(&mut self, conn: &mut Conn) -> Verdict {
        let timeout = self.options.idle_timeout.unwrap_or(u64::MAX);
        let since = if conn.is_settled() { conn.last_active } else { self.woke };
        if since.saturating_add(timeout) <= self.woke && matches!(conn.speaks, Speaks::WebSocket(_)) {
            conn.finish(code::GOING_AWAY);
            return self.send(conn);
        }
        if since.saturating_add(timeout) <= self.woke {
            return self.wind_down(conn);
        }
        self.agenda.add(since.saturating_add(timeout), conn.slot, conn.generation, Duty::Idle);
        Verdict::Keep
    }
}

/// When bytes arrived, and who says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) at: u64,
    pub(crate) by_kernel: bool,
}

/// How much longer than the first byte of a dripping reply its last one takes.
pub(crate) fn tail(bytes: usize, drip: u64) -> u64 {
    bytes.saturating_sub(1) as u64 * drip
}

/// The client will send no more. It may still wait for what it is owed, unless that never comes.
fn on_end_of_input(conn: &mut Conn) -> Verdict {
    conn.ended = true;
    if let Speaks::Two(session) = &mut conn.speaks {
        session.on_end_of_input();
        return if conn.is_settled() { Verdict::Drop } else { Verdict::Keep };
    }
    let hopeless = conn.owed.iter().all(|owed| owed.plan.failing == Some(FailKind::Never));
    if hopeless && conn.drip.is_none() && !conn.has_unsent() { Verdict::Drop } else { Verdict::Keep }
}

//! What the server does with an HTTP/2 connection: how one begins, what its requests become, how it ends.

use super::deliver::deliver;
use super::frame::PREFACE;
use super::options::Versions;
use super::session::Session;
use super::stream::End;
use super::upgrade::SWITCHING;
use crate::agenda::Duty;
use crate::conn::{Conn, Phase, Speaks, Verdict};
use crate::desk::Plan;
use crate::fail::FailKind;
use crate::request::{Request, Route, Upgrade};
use crate::serve::{Arrival, tail};
use crate::server::{Arrived, Server};

impl Server {
    /// Finds out by its first bytes what a client speaks, and reads them as that.
    pub(crate) fn decide(&mut self, conn: &mut Conn, input: &[u8], arrival: Arrival) {
        let Speaks::Undecided(seen) = conn.speaks else { return };
        let agreed = conn.session.as_ref().is_some_and(|session| session.alpn_protocol() == Some(b"h2"));
        let count = input.len().min(PREFACE.len() - seen);
        let matches = PREFACE[seen..].starts_with(&input[..count]);
        if matches && seen + count < PREFACE.len() && !agreed {
            conn.speaks = Speaks::Undecided(seen + count);
            return;
        }
        if matches || agreed || self.options.http2.versions == Versions::Two {
            self.begin_h2(conn, Session::new(&self.options));
            self.parse_h2(conn, &PREFACE[..seen], arrival);
            return self.parse_h2(conn, input, arrival);
        }
        conn.speaks = Speaks::One;
        self.parse(conn, &PREFACE[..seen], arrival);
        self.parse(conn, input, arrival);
    }

    fn begin_h2(&mut self, conn: &mut Conn, session: Session) {
        self.desk.ledger.http2_connections += 1;
        conn.speaks = Speaks::Two(Box::new(session));
    }

    /// Goes on in HTTP/2, or as a WebSocket, if the request asks for it and is the first of its connection; true if so.
    pub(crate) fn upgrade(&mut self, conn: &mut Conn, request: &mut Request, arrival: Arrival) -> bool {
        if conn.requests != 1 || !conn.outbox.is_empty() {
            return false;
        }
        let settings = match request.upgrade.take() {
            Some(Upgrade::Http2(settings)) => settings,
            Some(Upgrade::WebSocket { key, extensions }) => {
                return self.open_websocket(conn, request.route, (&key, &extensions));
            }
            None => return false,
        };
        if conn.session.is_some() || !self.options.http2.versions.has_two() {
            return false;
        }
        request.shape.keep_alive = true;
        let mut session = Session::new(&self.options);
        session.transport.put_raw(|out| out.extend_from_slice(SWITCHING));
        session.adopt(std::mem::take(request), &settings);
        self.begin_h2(conn, session);
        self.take_done(conn, arrival);
        true
    }

    pub(crate) fn parse_h2(&mut self, conn: &mut Conn, input: &[u8], arrival: Arrival) {
        let Speaks::Two(session) = &mut conn.speaks else { return };
        session.receive(input);
        if session.is_closed() {
            conn.phase = Phase::Ending;
        }
        self.take_done(conn, arrival);
    }

    /// Takes requests that `h2` read late: it stops reading while too much output is unsent.
    pub(crate) fn take_late(&mut self, conn: &mut Conn) {
        let Speaks::Two(session) = &mut conn.speaks else { return };
        self.desk.ledger.count_http2(&mut session.counts);
        if !session.done.is_empty() {
            self.take_done(conn, Arrival { at: self.woke, by_kernel: false });
        }
    }

    fn take_done(&mut self, conn: &mut Conn, arrival: Arrival) {
        let Speaks::Two(session) = &mut conn.speaks else { return };
        let mut done = std::mem::take(&mut session.done);
        for (stream, request) in done.drain(..) {
            if request.route == Route::Stats {
                let json = serde_json::to_vec(&self.report()).unwrap_or_default();
                let reply = self.h2_replies.with_body(200, request.shape.head_only, "application/json", json);
                session.answer(stream, &reply, End::default());
                continue;
            }
            self.desk.ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
            let (slot, generation) = (conn.slot, conn.generation);
            self.arrived.push(Arrived { at: arrival.at, slot, generation, stream, request });
        }
        session.done = done;
    }

    /// Puts a reply on its stream, now or when it is due.
    pub(crate) fn place_h2(&mut self, conn: &mut Conn, plan: Plan, id: u32) -> Verdict {
        let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Keep };
        if conn.phase != Phase::Open {
            return Verdict::Keep;
        }
        if plan.request.shape.message.is_some() {
            return self.place_message(conn, plan, id);
        }
        if plan.failing == Some(FailKind::Never) {
            session.leave(id);
            return Verdict::Keep;
        }
        if plan.due <= self.woke {
            return self.carry_out_h2(conn, &plan, id);
        }
        if let Some(stream) = session.stream(id) {
            self.agenda.add(plan.due, conn.slot, conn.generation, Duty::Reply(id));
            stream.plan = Some(plan);
        }
        Verdict::Keep
    }

    /// A reply is due.
    pub(crate) fn deliver_h2(&mut self, conn: &mut Conn, id: u32) -> Verdict {
        let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Keep };
        let Some(plan) = session.stream(id).and_then(|stream| stream.plan.take()) else {
            let verdict = self.deliver_messages(conn, id);
            return if verdict == Verdict::Drop { Verdict::Drop } else { self.send(conn) };
        };
        if conn.phase != Phase::Open {
            return Verdict::Keep;
        }
        if self.carry_out_h2(conn, &plan, id) == Verdict::Drop { Verdict::Drop } else { self.send(conn) }
    }

    /// Leaves the sending to the caller.
    fn carry_out_h2(&mut self, conn: &mut Conn, plan: &Plan, id: u32) -> Verdict {
        if deliver(conn, plan, id, &mut self.h2_replies) == Verdict::Drop {
            return Verdict::Drop;
        }
        if plan.failing == Some(FailKind::Slow) {
            let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Keep };
            let drip = session.stream(id).and_then(|stream| stream.drip.as_ref());
            let length = drip.map_or(0, |drip| drip.rest.len() + 1);
            if let Some(ticket) = plan.ticket {
                self.desk.ledger.visits.tails.insert(ticket, tail(length, self.options.drip));
            }
            if length > 1 {
                self.agenda.add(plan.due + self.options.drip, conn.slot, conn.generation, Duty::Drip(id));
            }
        }
        Verdict::Keep
    }

    /// The next byte of a dripping reply is due.
    pub(crate) fn drip_h2(&mut self, conn: &mut Conn, id: u32) -> Verdict {
        let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Keep };
        if session.drip(id)
            && let Some(drip) = session.stream(id).and_then(|stream| stream.drip.as_mut())
        {
            drip.due += self.options.drip;
            self.agenda.add(drip.due + self.options.drip, conn.slot, conn.generation, Duty::Drip(id));
        }
        if self.deliver_messages(conn, id) == Verdict::Drop {
            return Verdict::Drop;
        }
        self.send(conn)
    }

    /// An idle connection is told that it ends.
    pub(crate) fn wind_down(&mut self, conn: &mut Conn) -> Verdict {
        let Speaks::Two(session) = &mut conn.speaks else { return Verdict::Drop };
        session.wind_down();
        self.send(conn)
    }
}

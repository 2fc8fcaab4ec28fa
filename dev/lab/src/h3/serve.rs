//! What the server does with connections of QUIC: reading, placing replies, failures, timers.

use quinn_proto::{ConnectionHandle, Dir, Event, StreamEvent, StreamId, VarInt};

use super::carrier::{Came, Carrier};
use super::{End, Http3, number, put_number};
use crate::agenda::{Due, Duty};
use crate::desk::Plan;
use crate::fail::FailKind;
use crate::outbox::Settled;
use crate::request::Route;
use crate::serve::{Arrival, tail};
use crate::server::{Arrived, Server};
use crate::socket;

/// The most packets of one turn.
const MOST_PACKETS: usize = 64;

impl Server {
    /// Packets have come.
    pub(crate) fn on_udp(&mut self) {
        let Some(mut http3) = self.http3.take() else { return };
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..MOST_PACKETS {
            let Ok((count, stamp, from)) = socket::receive_from(&http3.socket, &mut buffer, &mut self.control) else {
                break;
            };
            self.desk.ledger.bytes_received += count as u64;
            let tick = stamp.and_then(|stamp| self.clock.tick_of_stamp(stamp));
            let at = tick.unwrap_or_else(|| self.clock.now());
            self.woke = self.woke.max(at);
            let arrival = Arrival { at, by_kernel: tick.is_some() };
            let now = self.clock.instant();
            if let Some(handle) = http3.receive(&buffer[..count], from, now, &mut self.desk.ledger) {
                self.drive(&mut http3, handle, arrival);
            }
        }
        self.buffer = buffer;
        self.http3 = Some(http3);
        if !self.timed {
            self.admit_batch();
        }
    }

    /// Takes what happened on a connection, and sends what it has to send.
    fn drive(&mut self, http3: &mut Http3, handle: ConnectionHandle, arrival: Arrival) {
        let Some(carrier) = http3.carriers.get_mut(&handle) else { return };
        while let Some(event) = carrier.quic.poll() {
            match event {
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = carrier.quic.streams().accept(dir) {
                        self.read_stream(carrier, handle, id, arrival);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read_stream(carrier, handle, id, arrival),
                Event::Stream(StreamEvent::Writable { id }) if id.dir() == Dir::Bi => {
                    carrier.wake(Carrier::place_of(id));
                }
                _ => {}
            }
        }
        carrier.greet();
        carrier.perform_greeting(self.clock.instant());
        self.push_out(http3, handle);
    }

    fn read_stream(&mut self, carrier: &mut Carrier, handle: ConnectionHandle, id: StreamId, arrival: Arrival) {
        let ledger = &mut self.desk.ledger;
        match carrier.read(id, self.options.echo) {
            Came::Nothing => {}
            Came::Excluded => ledger.http3.after_goaway += 1,
            Came::Malformed(reason) => {
                ledger.malformed += 1;
                ledger.http3.first_error.get_or_insert(reason);
            }
            Came::Request(place, request) if request.route == Route::Stats => {
                let json = serde_json::to_vec(&self.report()).unwrap_or_default();
                let reply = self.h3_replies.with_body(200, request.shape.head_only, "application/json", json);
                carrier.answer(place, &reply, reply.body.len(), End::Finished);
            }
            Came::Request(place, request) => {
                ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
                ledger.http3.early_requests += u64::from(carrier.quic.is_handshaking());
                if u64::from(place) >= self.most_requests {
                    carrier.go_away(place + 1);
                }
                let (slot, generation) = (handle.0 as u32, carrier.generation);
                self.arrived.push(Arrived { at: arrival.at, slot, generation, stream: place, request });
            }
        }
    }

    /// Sends, enters what is thereby answered, and sets the timer.
    fn push_out(&mut self, http3: &mut Http3, handle: ConnectionHandle) {
        let now = self.clock.instant();
        http3.transmit(handle, now, &mut self.desk.ledger);
        let Some(carrier) = http3.carriers.get_mut(&handle) else { return };
        if !carrier.settled.is_empty() {
            let written = self.clock.now();
            carrier.settled.drain(..).for_each(|settled| self.desk.ledger.settle(settled, written));
        }
        let timer = carrier.quic.poll_timeout().map(|at| self.clock.tick_of_instant(at));
        if let Some(at) = timer
            && carrier.armed.is_none_or(|armed| at < armed)
        {
            carrier.armed = Some(at);
            self.agenda.add(at, handle.0 as u32, carrier.generation, Duty::Timer);
        }
    }

    /// Lets `act` work on a connection that is still there, and sends.
    fn with_carrier(&mut self, (slot, generation): (u32, u32), act: impl FnOnce(&mut Self, &mut Carrier)) {
        let Some(mut http3) = self.http3.take() else { return };
        let handle = ConnectionHandle(slot as usize);
        if let Some(carrier) = http3.carriers.get_mut(&handle).filter(|carrier| carrier.generation == generation) {
            act(self, carrier);
            let arrival = Arrival { at: self.woke, by_kernel: false };
            self.drive(&mut http3, handle, arrival);
        }
        self.http3 = Some(http3);
    }

    /// Puts a reply on its stream, now or when it is due.
    pub(crate) fn place_h3(&mut self, slot: u32, generation: u32, plan: Plan, place: u32) {
        self.with_carrier((slot, generation), |server, carrier| {
            if plan.due <= server.woke {
                server.carry_out_h3(carrier, &plan, (slot, place));
            } else if let Some(stream) = carrier.streams.get_mut(&place) {
                server.agenda.add(plan.due, slot, generation, Duty::Reply(place));
                stream.plan = Some(plan);
            }
        });
    }

    /// Something is due on a connection.
    pub(crate) fn on_duty_h3(&mut self, due: Due) {
        let Due { slot, generation, duty, .. } = due;
        self.with_carrier((slot, generation), |server, carrier| match duty {
            Duty::Reply(place) => {
                if let Some(plan) = carrier.streams.get_mut(&place).and_then(|stream| stream.plan.take()) {
                    server.carry_out_h3(carrier, &plan, (slot, place));
                }
            }
            Duty::Drip(place) => {
                let Some(stream) = carrier.streams.get_mut(&place) else { return };
                stream.released += 1;
                stream.due += server.options.drip;
                if stream.drips() {
                    server.agenda.add(stream.due + server.options.drip, slot, generation, Duty::Drip(place));
                }
                carrier.wake(place);
            }
            // It was set to an earlier instant meanwhile.
            Duty::Timer if carrier.armed != Some(due.at) => {}
            Duty::Timer => {
                carrier.armed = None;
                let now = server.clock.instant();
                if carrier.quic.poll_timeout().is_some_and(|at| at <= now) {
                    carrier.quic.handle_timeout(now);
                }
            }
            Duty::Idle | Duty::Linger | Duty::End => {}
        });
    }

    /// The frames of a reply, or of a failure.
    fn carry_out_h3(&mut self, carrier: &mut Carrier, plan: &Plan, (slot, place): (u32, u32)) {
        if carrier.performance.replies() {
            return carrier.perform(place, plan.ticket);
        }
        let instead = if let Some(FailKind::Status(status)) = plan.failing { Some(status) } else { None };
        let reply = self.h3_replies.to(&plan.request, instead);
        let (length, settled) = (reply.body.len(), Settled { status: reply.status, ticket: plan.ticket });
        let now = self.clock.instant();
        match plan.failing {
            None | Some(FailKind::Status(_)) => {
                carrier.answer(place, &reply, length, End::Finished);
                carrier.settle(place, settled);
            }
            Some(FailKind::Slow) => {
                carrier.answer(place, &reply, length, End::Finished);
                carrier.settle(place, settled);
                if let Some(ticket) = plan.ticket {
                    self.desk.ledger.visits.tails.insert(ticket, tail(length, self.options.drip));
                }
                if carrier.hold(place, length, plan.due) > 0 {
                    self.agenda.add(plan.due + self.options.drip, slot, carrier.generation, Duty::Drip(place));
                }
            }
            Some(FailKind::CloseEarly) => carrier.answer(place, &reply, length / 2, End::Reset(number::INTERNAL_ERROR)),
            Some(FailKind::Reset) => carrier.reset(place, number::INTERNAL_ERROR),
            Some(FailKind::Refused) => carrier.reset(place, number::REQUEST_REJECTED),
            Some(FailKind::Goaway) => {
                carrier.go_away(place);
                carrier.reset(place, number::REQUEST_REJECTED);
            }
            Some(FailKind::Never) => {}
            Some(FailKind::TruncateHead) => {
                let mut out = Vec::new();
                put_number(&mut out, number::HEADERS);
                put_number(&mut out, reply.head.len() as u64);
                out.extend_from_slice(&reply.head[..reply.head.len() / 2]);
                carrier.put(place, out, End::Finished);
            }
            // DATA before HEADERS.
            Some(FailKind::Garbage) => carrier.put(place, vec![0, 1, 0xff], End::Finished),
            Some(FailKind::Extra) => {
                carrier.answer(place, &reply, length, End::Finished);
                carrier.settle(place, settled);
                carrier.append(place, &[0, 1, b'x']);
            }
            Some(FailKind::Close) => carrier.quic.close(now, VarInt::from_u32(number::NO_ERROR), Vec::new().into()),
            Some(FailKind::ResetConnection) => {
                carrier.quic.close(now, VarInt::from_u32(number::INTERNAL_ERROR), Vec::new().into());
            }
        }
    }
}

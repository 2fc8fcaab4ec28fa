//! Handles QUIC connections in the server: reading, placing replies, failures, timers.

use quinn_proto::{ConnectionHandle, Dir, Event, StreamEvent, StreamId, VarInt};

use super::carrier::{Carrier, ReadOutcome};
use super::{Http3, StreamEnd, number, put_number};
use crate::agenda::{Due, Task};
use crate::fail::FailKind;
use crate::outbox::CompletedReply;
use crate::planner::ReplyPlan;
use crate::request::ReplyRoute;
use crate::serve::{Arrival, tail};
use crate::server::{IncomingRequest, LabServer};
use crate::socket;

/// Maximum number of packets in one turn of the loop.
// Due replies must not wait for an endless stream of packets.
const MAX_PACKETS: usize = 64;

impl LabServer {
    /// Receives datagrams and passes them to their connections.
    pub(crate) fn on_udp(&mut self) {
        let Some(mut http3) = self.http3.take() else { return };
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..MAX_PACKETS {
            let Ok((count, stamp, from)) =
                socket::receive_from(&http3.socket, &mut buffer, &mut self.control)
            else {
                break;
            };
            self.planner.ledger.bytes_received += count as u64;
            let tick = stamp.and_then(|stamp| self.clock.tick_of_stamp(stamp));
            let at = tick.unwrap_or_else(|| self.clock.now());
            self.wake_tick = self.wake_tick.max(at);
            let arrival = Arrival { at, by_kernel: tick.is_some() };
            let now = self.clock.instant();
            if let Some(handle) =
                http3.receive(&buffer[..count], from, now, &mut self.planner.ledger)
            {
                self.drive(&mut http3, handle, arrival);
            }
        }
        self.buffer = buffer;
        self.http3 = Some(http3);
        // Replies without due times leave now, not at the end of the turn.
        if !self.is_timed {
            self.admit_batch();
        }
    }

    /// Handles the events of a connection, and sends its packets.
    fn drive(&mut self, http3: &mut Http3, handle: ConnectionHandle, arrival: Arrival) {
        let Some(carrier) = http3.carriers.get_mut(&handle) else { return };
        while let Some(event) = carrier.quic.poll() {
            match event {
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = carrier.quic.streams().accept(dir) {
                        self.read_stream(carrier, handle, id, arrival);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    self.read_stream(carrier, handle, id, arrival);
                }
                Event::Stream(StreamEvent::Writable { id }) if id.dir() == Dir::Bi => {
                    carrier.wake(Carrier::place_of(id));
                }
                _ => {}
            }
        }
        carrier.start_control();
        carrier.send_greeting(self.clock.instant());
        self.push_out(http3, handle);
    }

    fn read_stream(
        &mut self,
        carrier: &mut Carrier,
        handle: ConnectionHandle,
        id: StreamId,
        arrival: Arrival,
    ) {
        let ledger = &mut self.planner.ledger;
        match carrier.read(id, self.options.echo) {
            ReadOutcome::Nothing => {}
            ReadOutcome::Excluded => ledger.http3.after_goaway += 1,
            ReadOutcome::Malformed(reason) => {
                ledger.malformed += 1;
                ledger.http3.first_error.get_or_insert(reason);
            }
            ReadOutcome::Request(place, request) if request.route == ReplyRoute::Stats => {
                let json = serde_json::to_vec(&self.report()).unwrap_or_default();
                let reply = self.h3_replies.with_body(
                    200,
                    request.shape.head_only,
                    "application/json",
                    json,
                );
                carrier.answer(place, &reply, reply.body.len(), StreamEnd::Finished);
            }
            ReadOutcome::Request(place, request) => {
                ledger.stamped_by_kernel += u64::from(arrival.by_kernel);
                ledger.http3.early_requests += u64::from(carrier.quic.is_handshaking());
                // Streams count from 1, so the number is also that of the request.
                if u64::from(place) >= self.max_requests {
                    carrier.go_away(place + 1);
                }
                let slot = handle.0 as u32;
                let generation = carrier.generation;
                self.incoming.push(IncomingRequest {
                    at: arrival.at,
                    slot,
                    generation,
                    stream: place,
                    request,
                });
            }
        }
    }

    /// Sends packets, records completed replies, and sets the timer.
    fn push_out(&mut self, http3: &mut Http3, handle: ConnectionHandle) {
        let now = self.clock.instant();
        http3.transmit(handle, now, &mut self.planner.ledger);
        let Some(carrier) = http3.carriers.get_mut(&handle) else { return };
        if !carrier.completed.is_empty() {
            let written = self.clock.now();
            carrier
                .completed
                .drain(..)
                .for_each(|completed| self.planner.ledger.record_reply(completed, written));
        }
        let timer = carrier.quic.poll_timeout().map(|at| self.clock.tick_of_instant(at));
        // A task cannot be removed. A later instant is set when the earlier one is reached.
        if let Some(at) = timer
            && carrier.armed.is_none_or(|armed| at < armed)
        {
            carrier.armed = Some(at);
            self.agenda.add(at, handle.0 as u32, carrier.generation, Task::Timer);
        }
    }

    /// Calls `act` with a connection if it still exists, and sends.
    fn with_carrier(
        &mut self,
        slot: u32,
        generation: u32,
        act: impl FnOnce(&mut Self, &mut Carrier),
    ) {
        let Some(mut http3) = self.http3.take() else { return };
        let handle = ConnectionHandle(slot as usize);
        if let Some(carrier) =
            http3.carriers.get_mut(&handle).filter(|carrier| carrier.generation == generation)
        {
            act(self, carrier);
            let arrival = Arrival { at: self.wake_tick, by_kernel: false };
            self.drive(&mut http3, handle, arrival);
        }
        self.http3 = Some(http3);
    }

    /// Puts a reply on its stream, now or when it is due.
    pub(crate) fn place_h3(&mut self, slot: u32, generation: u32, plan: ReplyPlan, place: u32) {
        self.with_carrier(slot, generation, |server, carrier| {
            if plan.due <= server.wake_tick {
                server.execute_h3(carrier, &plan, slot, place);
            } else if let Some(stream) = carrier.streams.get_mut(&place) {
                server.agenda.add(plan.due, slot, generation, Task::Reply(place));
                stream.plan = Some(plan);
            }
        });
    }

    /// Handles a task that is due on a connection.
    pub(crate) fn on_task_h3(&mut self, due: Due) {
        let Due { slot, generation, task, .. } = due;
        self.with_carrier(slot, generation, |server, carrier| match task {
            Task::Reply(place) => {
                if let Some(plan) =
                    carrier.streams.get_mut(&place).and_then(|stream| stream.plan.take())
                {
                    server.execute_h3(carrier, &plan, slot, place);
                }
            }
            Task::Drip(place) => {
                let Some(stream) = carrier.streams.get_mut(&place) else { return };
                stream.released += 1;
                stream.due += server.options.drip;
                if stream.is_dripping() {
                    server.agenda.add(
                        stream.due + server.options.drip,
                        slot,
                        generation,
                        Task::Drip(place),
                    );
                }
                carrier.wake(place);
            }
            // It was set to an earlier instant in the meantime.
            Task::Timer if carrier.armed != Some(due.at) => {}
            Task::Timer => {
                carrier.armed = None;
                let now = server.clock.instant();
                if carrier.quic.poll_timeout().is_some_and(|at| at <= now) {
                    carrier.quic.handle_timeout(now);
                }
            }
            Task::Idle | Task::Linger | Task::End => {}
        });
    }

    /// Sends the frames of a reply, or of a failure.
    fn execute_h3(&mut self, carrier: &mut Carrier, plan: &ReplyPlan, slot: u32, place: u32) {
        if carrier.hostile.replies() {
            return carrier.send_row(place, plan.ticket);
        }
        let override_status =
            if let Some(FailKind::Status(status)) = plan.failure { Some(status) } else { None };
        let reply = self.h3_replies.to(&plan.request, override_status);
        let length = reply.body.len();
        let completed = CompletedReply { status: reply.status, ticket: plan.ticket };
        let now = self.clock.instant();
        match plan.failure {
            None | Some(FailKind::Status(_)) => {
                carrier.answer(place, &reply, length, StreamEnd::Finished);
                carrier.mark_last_byte(place, completed);
            }
            Some(FailKind::Slow) => {
                carrier.answer(place, &reply, length, StreamEnd::Finished);
                carrier.mark_last_byte(place, completed);
                if let Some(ticket) = plan.ticket {
                    self.planner
                        .ledger
                        .visits
                        .tails
                        .insert(ticket, tail(length, self.options.drip));
                }
                if carrier.hold(place, length, plan.due) > 0 {
                    self.agenda.add(
                        plan.due + self.options.drip,
                        slot,
                        carrier.generation,
                        Task::Drip(place),
                    );
                }
            }
            Some(FailKind::CloseEarly) => {
                carrier.answer(place, &reply, length / 2, StreamEnd::Reset(number::INTERNAL_ERROR));
            }
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
                carrier.put_bytes(place, out, StreamEnd::Finished);
            }
            // DATA before HEADERS breaks RFC 9114, section 4.1.
            Some(FailKind::Garbage) => {
                carrier.put_bytes(place, vec![0, 1, 0xff], StreamEnd::Finished);
            }
            Some(FailKind::Extra) => {
                carrier.answer(place, &reply, length, StreamEnd::Finished);
                carrier.mark_last_byte(place, completed);
                carrier.append(place, &[0, 1, b'x']);
            }
            Some(FailKind::Close) => {
                carrier.quic.close(now, VarInt::from_u32(number::NO_ERROR), Vec::new().into());
            }
            Some(FailKind::ResetConnection) => {
                carrier.quic.close(
                    now,
                    VarInt::from_u32(number::INTERNAL_ERROR),
                    Vec::new().into(),
                );
            }
        }
    }
}

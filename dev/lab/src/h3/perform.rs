//! Sends the bytes of a `--hostile` row on an HTTP/3 connection.

use std::time::Instant;

use quinn_proto::{Dir, Side, StreamId, VarInt, WriteError};

use super::StreamEnd;
use super::carrier::{Carrier, id_of};
use super::hostile::Http3RowOutput;
use crate::hostile::{HostileReply, HostileRow, MAX_FLOOD, Trigger};
use crate::outbox::CompletedReply;

/// Maximum number of bytes of an endless row that are written at once.
// The event loop also has to serve the other connections.
const MAX_AT_ONCE: usize = 64 * 1024;

/// Minimum number of bytes of a piece.
const MIN_PIECE: usize = 16 * 1024;

/// When a row is sent, and the function that writes it.
type Act = (Trigger, fn(&mut Http3RowOutput));

/// State of the hostile row on a connection.
#[derive(Debug, Default)]
pub(super) struct HostileState {
    act: Option<Act>,
    /// Number of times that the row was sent.
    rounds: u32,
    has_greeted: bool,
    /// Request with the stream on which an endless row continues.
    endless: Option<u32>,
    /// Bytes that QUIC has not accepted yet, by stream, with the end of each stream.
    rest: Vec<(StreamId, Vec<u8>, StreamEnd)>,
    written: u64,
    /// Code with which the connection is closed once everything is sent.
    pub(super) closing: Option<u32>,
}

impl HostileState {
    /// Creates the state of a row; empty if the row has no bytes on streams.
    pub(super) fn new(row: Option<&'static HostileRow>) -> Self {
        let act = row.and_then(|row| {
            if let HostileReply::Http3(write) = row.writer {
                Some((row.trigger, write))
            } else {
                None
            }
        });
        Self { act, ..Self::default() }
    }

    fn is(&self, trigger: Trigger) -> bool {
        self.act.is_some_and(|(of_row, _)| of_row == trigger)
    }

    /// True if the row replaces the control stream.
    pub(super) fn replaces_control(&self) -> bool {
        self.is(Trigger::Greeting)
    }

    /// True if the row replaces replies.
    pub(super) fn replies(&self) -> bool {
        self.act.is_some() && !self.replaces_control()
    }

    /// True if the row is sent before the request is complete.
    pub(super) fn is_early(&self) -> bool {
        self.is(Trigger::Head)
    }

    fn next_output(&mut self, place: u32) -> Http3RowOutput {
        // Numbers of the client's bidirectional streams are multiples of 4 (RFC 9000, section 2.1).
        let stream = place.checked_sub(1).map_or(0, |number| u64::from(number) * 4);
        let mut output = Http3RowOutput { stream, round: self.rounds, ..Http3RowOutput::default() };
        if let Some((_, write)) = self.act {
            write(&mut output);
        }
        self.rounds += 1;
        output
    }

    /// Repeats the row until the piece is not short: QUIC is slow with many short ones.
    fn next_long_output(&mut self, place: u32) -> Http3RowOutput {
        let mut output = self.next_output(place);
        while (1..MIN_PIECE).contains(&(output.out.len() + output.control.len())) {
            let more = self.next_output(place);
            output.out.extend(more.out);
            output.control.extend(more.control);
        }
        output
    }
}

impl Carrier {
    /// Sends the row instead of the control stream, once.
    pub(super) fn send_greeting(&mut self, now: Instant) {
        if !self.hostile.replaces_control() || self.hostile.has_greeted || self.quic.is_closed() {
            return;
        }
        let mut output = self.hostile.next_output(0);
        if let Some(code) = output.close {
            self.hostile.has_greeted = true;
            return self.quic.close(now, VarInt::from_u32(code), Vec::new().into());
        }
        if !output.control.is_empty() {
            self.open_control(&std::mem::take(&mut output.control));
            if self.control().is_none() {
                // The client's transport parameters are not known yet.
                return;
            }
        }
        self.hostile.has_greeted = true;
        self.queue_other_streams(output);
    }

    /// Sends the row instead of a reply.
    pub(super) fn send_row(&mut self, place: u32, ticket: Option<u32>) {
        if self.hostile.is(Trigger::Endless) {
            self.hostile.rounds = 0;
        }
        let mut output = self.hostile.next_output(place);
        let out = std::mem::take(&mut output.out);
        let default_end = if out.is_empty() { StreamEnd::Open } else { StreamEnd::Finished };
        if self.hostile.is(Trigger::Endless) {
            self.hostile.endless = Some(place);
            self.hostile.rest.push((id_of(place), out, StreamEnd::Open));
        } else if output.end.is_some() || !out.is_empty() {
            self.put_bytes(place, out, output.end.unwrap_or(default_end));
        }
        if output.is_reply {
            self.mark_last_byte(place, CompletedReply { status: 200, ticket });
        }
        self.hostile.closing = output.close;
        if let Some(code) = output.stop {
            // A request that is complete can no longer be stopped.
            let _ = self.quic.recv_stream(id_of(place)).stop(VarInt::from_u32(code));
        }
        if let Some(code) = output.stop_control {
            let control = StreamId::new(Side::Client, Dir::Uni, 0);
            let _ = self.quic.recv_stream(control).stop(VarInt::from_u32(code));
        }
        self.queue_other_streams(output);
    }

    /// Queues the bytes for streams other than that of the request.
    fn queue_other_streams(&mut self, output: Http3RowOutput) {
        let control = self.control().map(|id| (id, output.control, output.control_end));
        self.hostile.rest.extend(control);
        for (bytes, end) in output.opened {
            if let Some(id) = self.quic.streams().open(Dir::Uni) {
                self.hostile.rest.push((id, bytes, end));
            }
        }
    }

    /// Passes as many bytes to QUIC as it accepts, and repeats an endless row.
    pub(super) fn pump_row(&mut self) {
        let mut budget = MAX_AT_ONCE;
        while self.write_rest(&mut budget)
            && budget > 0
            && self.hostile.written < MAX_FLOOD
            && let Some(place) = self.hostile.endless
        {
            let mut output = self.hostile.next_long_output(place);
            self.hostile.rest.push((
                id_of(place),
                std::mem::take(&mut output.out),
                StreamEnd::Open,
            ));
            self.queue_other_streams(output);
            self.hostile.rest.retain(|(_, bytes, _)| !bytes.is_empty());
            if self.hostile.rest.is_empty() {
                // No further stream may be opened for now.
                return;
            }
        }
    }

    /// Writes the queued bytes. Returns true if QUIC accepted all of them.
    fn write_rest(&mut self, budget: &mut usize) -> bool {
        let mut rest = std::mem::take(&mut self.hostile.rest);
        rest.retain_mut(|(id, bytes, end)| {
            let mut sender = self.quic.send_stream(*id);
            while !bytes.is_empty() {
                match sender.write(bytes) {
                    Ok(count) => {
                        bytes.drain(..count);
                        self.hostile.written += count as u64;
                        *budget = budget.saturating_sub(count);
                    }
                    Err(WriteError::Blocked) => return true,
                    Err(_) => {
                        // The client stopped the stream, so an endless row ends, too.
                        self.hostile.endless = None;
                        return false;
                    }
                }
            }
            let _ = match end {
                StreamEnd::Open => true,
                StreamEnd::Finished => sender.finish().is_ok(),
                StreamEnd::Reset(code) => sender.reset(VarInt::from_u32(*code)).is_ok(),
            };
            false
        });
        self.hostile.rest = rest;
        self.hostile.rest.is_empty()
    }
}

//! Sends what a row of `--hostile` says on a connection of HTTP/3.

use std::time::Instant;

use quinn_proto::{Dir, Side, StreamId, VarInt, WriteError};

use super::End;
use super::carrier::{Carrier, id_of};
use super::hostile::Stage;
use crate::hostile::{MOST_FLOOD, Row, Say, When};
use crate::outbox::Settled;

/// The most bytes of a row without end that are written at once.
const MOST_AT_ONCE: usize = 64 * 1024;

/// Bytes of a short piece.
const SHORT: usize = 16 * 1024;

/// When something is sent, and what sends it.
type Act = (When, fn(&mut Stage));

/// What a connection sends against the rules, and how far it is.
#[derive(Debug, Default)]
pub(super) struct Performance {
    act: Option<Act>,
    /// How many times it was sent.
    rounds: u32,
    has_greeted: bool,
    /// The request on whose stream a row without end goes on.
    endless: Option<u32>,
    /// Bytes that QUIC has not taken yet, by their stream, and how each stream ends.
    rest: Vec<(StreamId, Vec<u8>, End)>,
    written: u64,
    /// The code with which the connection is closed once it has sent what it has.
    pub(super) closing: Option<u32>,
}

impl Performance {
    /// Of a row, where it is one of bytes on streams.
    pub(super) fn new(row: Option<&'static Row>) -> Self {
        let act = row.and_then(|row| if let Say::Http3(say) = row.say { Some((row.when, say)) } else { None });
        Self { act, ..Self::default() }
    }

    fn is(&self, when: When) -> bool {
        self.act.is_some_and(|(own, _)| own == when)
    }

    /// Whether something stands in place of the control stream.
    pub(super) fn greets(&self) -> bool {
        self.is(When::Greeting)
    }

    /// Whether something stands in place of replies.
    pub(super) fn replies(&self) -> bool {
        self.act.is_some() && !self.greets()
    }

    /// Whether it stands there before the request is complete.
    pub(super) fn is_early(&self) -> bool {
        self.is(When::Head)
    }

    fn play(&mut self, place: u32) -> Stage {
        let stream = place.checked_sub(1).map_or(0, |number| u64::from(number) * 4);
        let mut stage = Stage { stream, round: self.rounds, ..Stage::default() };
        if let Some((_, say)) = self.act {
            say(&mut stage);
        }
        self.rounds += 1;
        stage
    }

    /// Rounds that make a piece which is not short: QUIC takes many short ones slowly.
    fn play_long(&mut self, place: u32) -> Stage {
        let mut stage = self.play(place);
        while (1..SHORT).contains(&(stage.out.len() + stage.control.len())) {
            let more = self.play(place);
            stage.out.extend(more.out);
            stage.control.extend(more.control);
        }
        stage
    }
}

impl Carrier {
    /// Sends in place of the control stream what the row says, once.
    pub(super) fn perform_greeting(&mut self, now: Instant) {
        if !self.performance.greets() || self.performance.has_greeted || self.quic.is_closed() {
            return;
        }
        let mut stage = self.performance.play(0);
        if let Some(code) = stage.close {
            self.performance.has_greeted = true;
            return self.quic.close(now, VarInt::from_u32(code), Vec::new().into());
        }
        if !stage.control.is_empty() {
            self.open_control(&std::mem::take(&mut stage.control));
            if self.control().is_none() {
                // The client's transport parameters are not known yet.
                return;
            }
        }
        self.performance.has_greeted = true;
        self.carry_out(stage);
    }

    /// Sends in place of a reply what the row says.
    pub(super) fn perform(&mut self, place: u32, ticket: Option<u32>) {
        if self.performance.is(When::Endless) {
            self.performance.rounds = 0;
        }
        let mut stage = self.performance.play(place);
        let out = std::mem::take(&mut stage.out);
        let usual = if out.is_empty() { End::Open } else { End::Finished };
        if self.performance.is(When::Endless) {
            self.performance.endless = Some(place);
            self.performance.rest.push((id_of(place), out, End::Open));
        } else if stage.end.is_some() || !out.is_empty() {
            self.put(place, out, stage.end.unwrap_or(usual));
        }
        if stage.replied {
            self.settle(place, Settled { status: 200, ticket });
        }
        self.performance.closing = stage.close;
        if let Some(code) = stage.stop {
            // A request that is complete cannot be stopped any more.
            let _ = self.quic.recv_stream(id_of(place)).stop(VarInt::from_u32(code));
        }
        if let Some(code) = stage.stop_control {
            let control = StreamId::new(Side::Client, Dir::Uni, 0);
            let _ = self.quic.recv_stream(control).stop(VarInt::from_u32(code));
        }
        self.carry_out(stage);
    }

    /// What a stage says on streams other than that of the request.
    fn carry_out(&mut self, stage: Stage) {
        let control = self.control().map(|id| (id, stage.control, stage.control_end));
        self.performance.rest.extend(control);
        for (bytes, end) in stage.opened {
            if let Some(id) = self.quic.streams().open(Dir::Uni) {
                self.performance.rest.push((id, bytes, end));
            }
        }
    }

    /// Hands to QUIC what it takes, and plays a row without end again.
    pub(super) fn pump_performance(&mut self) {
        let mut budget = MOST_AT_ONCE;
        while self.write_rest(&mut budget)
            && budget > 0
            && self.performance.written < MOST_FLOOD
            && let Some(place) = self.performance.endless
        {
            let mut stage = self.performance.play_long(place);
            self.performance.rest.push((id_of(place), std::mem::take(&mut stage.out), End::Open));
            self.carry_out(stage);
            self.performance.rest.retain(|(_, bytes, _)| !bytes.is_empty());
            if self.performance.rest.is_empty() {
                // No further stream may be opened for now.
                return;
            }
        }
    }

    /// Whether QUIC took everything.
    fn write_rest(&mut self, budget: &mut usize) -> bool {
        let mut rest = std::mem::take(&mut self.performance.rest);
        rest.retain_mut(|(id, bytes, end)| {
            let mut sender = self.quic.send_stream(*id);
            while !bytes.is_empty() {
                match sender.write(bytes) {
                    Ok(count) => {
                        bytes.drain(..count);
                        self.performance.written += count as u64;
                        *budget = budget.saturating_sub(count);
                    }
                    Err(WriteError::Blocked) => return true,
                    Err(_) => {
                        // The client stopped the stream: what has no end ends, too.
                        self.performance.endless = None;
                        return false;
                    }
                }
            }
            let _ = match end {
                End::Open => true,
                End::Finished => sender.finish().is_ok(),
                End::Reset(code) => sender.reset(VarInt::from_u32(*code)).is_ok(),
            };
            false
        });
        self.performance.rest = rest;
        self.performance.rest.is_empty()
    }
}

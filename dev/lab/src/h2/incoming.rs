//! Passes the frames of a client to the crate `h2`, and observes what `h2` does not report.

use super::frame::{FrameHead, HEAD, PREFACE, flag, kind};

/// Observes the frames of a client. Payloads are passed unchanged.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Number of remaining bytes of the preface.
    preface_remaining: usize,
    /// True if `h2` has its preface already, because the connection began as HTTP/1.1.
    is_upgraded: bool,
    /// Number of acknowledgements of SETTINGS that `h2` expects. None passes all of them.
    ///
    /// Hostile rows send SETTINGS that `h2` does not know.
    acknowledgements: Option<u32>,
    /// Beginning of a frame head.
    head: Vec<u8>,
    /// Number of remaining bytes of the payload.
    payload_remaining: usize,
    /// Streams that the client reset.
    pub(super) resets: Vec<u32>,
}

impl Incoming {
    /// Returns the state before the preface. With `is_hostile`, `h2` gets one acknowledgement of SETTINGS only.
    pub(super) fn new(is_hostile: bool) -> Self {
        Self {
            preface_remaining: PREFACE.len(),
            is_upgraded: false,
            acknowledgements: is_hostile.then_some(1),
            head: Vec::new(),
            payload_remaining: 0,
            resets: Vec::new(),
        }
    }

    /// Hides the client's preface from `h2`, which has received a replacement.
    pub(super) fn hide_preface(&mut self) {
        self.is_upgraded = true;
    }

    /// Passes bytes to `out`. Returns false if the preface is wrong and `h2` does not see it.
    pub(super) fn pass(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> bool {
        let count = bytes.len().min(self.preface_remaining);
        if count > 0 {
            let (preface, rest) = bytes.split_at(count);
            let expected = &PREFACE[PREFACE.len() - self.preface_remaining..];
            self.preface_remaining -= count;
            if !self.is_upgraded {
                out.extend_from_slice(preface);
            } else if !expected.starts_with(preface) {
                return false;
            }
            bytes = rest;
        }
        while !bytes.is_empty() {
            if self.payload_remaining == 0 && self.pass_head(&mut bytes, out) {
                continue;
            }
            let (payload, rest) = bytes.split_at(bytes.len().min(self.payload_remaining));
            out.extend_from_slice(payload);
            self.payload_remaining -= payload.len();
            bytes = rest;
        }
        true
    }

    /// Passes bytes of a head. Returns true if no payload follows in `bytes`.
    fn pass_head(&mut self, bytes: &mut &[u8], out: &mut Vec<u8>) -> bool {
        let count = bytes.len().min(HEAD - self.head.len());
        self.head.extend_from_slice(&bytes[..count]);
        *bytes = &bytes[count..];
        let Some(head) = FrameHead::parse(&self.head) else { return true };
        if !self.is_surplus(head) {
            out.extend_from_slice(&self.head);
        }
        if head.kind == kind::RST_STREAM {
            self.resets.push(head.stream);
        }
        self.head.clear();
        self.payload_remaining = head.length;
        head.length == 0
    }

    fn is_surplus(&mut self, head: FrameHead) -> bool {
        let Some(expected) = &mut self.acknowledgements else { return false };
        if head.kind != kind::SETTINGS || !head.has(flag::ACK) || head.length > 0 {
            return false;
        }
        let is_surplus = *expected == 0;
        *expected = expected.saturating_sub(1);
        is_surplus
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h2::frame;

    #[test]
    fn frames_are_passed_on_in_any_pieces() {
        let mut bytes = PREFACE.to_vec();
        frame::put_settings(&mut bytes, &[(4, 100)]);
        (0..2).for_each(|_| frame::put_frame(&mut bytes, kind::SETTINGS, flag::ACK, 0, &[]));
        frame::put_frame(&mut bytes, kind::DATA, 0, 1, b"payload");
        frame::put_reset(&mut bytes, 7, frame::Http2ErrorCode::Cancel);
        for piece in 1..bytes.len() {
            let mut ordinary = Incoming::new(false);
            let mut hostile = Incoming::new(true);
            let mut all = Vec::new();
            let mut filtered = Vec::new();
            for part in bytes.chunks(piece) {
                assert!(ordinary.pass(part, &mut all) && hostile.pass(part, &mut filtered));
            }
            assert_eq!(all, bytes);
            assert_eq!(ordinary.resets, [7]);
            assert_eq!(
                filtered.len(),
                bytes.len() - HEAD,
                "the second acknowledgement is left out"
            );
        }
    }

    #[test]
    fn the_preface_of_an_upgraded_connection_is_checked_and_hidden() {
        let mut incoming = Incoming::new(false);
        incoming.hide_preface();
        let mut out = Vec::new();
        assert!(
            incoming.pass(&PREFACE[..5], &mut out)
                && incoming.pass(&PREFACE[5..], &mut out)
                && out.is_empty()
        );
        let mut incoming = Incoming::new(false);
        incoming.hide_preface();
        assert!(!incoming.pass(b"GET / HTTP/1.1\r\n", &mut out));
    }
}

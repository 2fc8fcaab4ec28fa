//! Processes the peer's unidirectional streams: control, and those of QPACK (RFC 9114 section 6.2).

use super::frame::{self, FramePiece, Frames, Http3ErrorCode};
use super::request::RuleViolation;
use brunt_model::outcome::MalformedReply;

/// State of the control stream.
#[derive(Debug, Default)]
pub struct ControlStream {
    /// True if the settings were received.
    pub has_settings: bool,
    /// The first request that the peer does not process, by the number of its stream;
    /// set by a GOAWAY.
    pub goes_away_from: Option<u64>,
    /// Types of critical streams that were opened.
    opened: Vec<u64>,
}

/// A unidirectional stream.
#[derive(Debug)]
pub enum Uni {
    /// The type was not received yet. Contains its first bytes.
    New(Vec<u8>),
    /// The control stream.
    Control(Frames),
    /// Instructions of the peer's encoder. The only allowed one sets a table size of 0.
    Encoder,
    /// Instructions of the peer's decoder.
    Decoder(DecoderInstructions),
    /// A stream of an unknown type, which is ignored.
    Unknown,
}

/// Parses the instructions of a peer's decoder (RFC 9204 section 4.4). This encoder has no table,
/// so only cancellations of streams are valid.
#[derive(Debug, Default)]
pub struct DecoderInstructions {
    /// True if the next byte continues a stream number.
    is_within_number: bool,
}

impl DecoderInstructions {
    fn receive(&mut self, bytes: &[u8]) -> Result<(), RuleViolation> {
        for byte in bytes {
            if self.is_within_number {
                self.is_within_number = byte & 0x80 != 0;
            } else if byte & 0xc0 == 0x40 {
                // A prefix of ones continues in the next bytes (RFC 7541 section 5.1).
                self.is_within_number = byte & 0x3f == 0x3f;
            } else {
                return violation(Http3ErrorCode::DecoderStream, MalformedReply::QpackStream);
            }
        }
        Ok(())
    }
}

fn violation<T>(code: Http3ErrorCode, cause: MalformedReply) -> Result<T, RuleViolation> {
    Err(RuleViolation::Connection(code, cause))
}

impl Uni {
    /// Creates the state of a stream that was just opened.
    pub fn new() -> Self {
        Self::New(Vec::new())
    }

    /// Processes received bytes.
    ///
    /// # Errors
    ///
    /// The rule that the bytes violate.
    pub fn receive(
        &mut self,
        control: &mut ControlStream,
        bytes: &[u8],
    ) -> Result<(), RuleViolation> {
        match self {
            Self::New(begin) => {
                begin.extend_from_slice(bytes);
                let Some((kind, length)) = frame::number(begin) else { return Ok(()) };
                let rest = begin.split_off(length);
                *self = control.open(kind)?;
                self.receive(control, &rest)
            }
            Self::Control(frames) => control.receive(frames, bytes),
            // A table size of 0 is the only instruction within this client's limit.
            Self::Encoder if bytes.iter().any(|byte| *byte != 0x20) => {
                violation(Http3ErrorCode::EncoderStream, MalformedReply::QpackStream)
            }
            Self::Decoder(instructions) => instructions.receive(bytes),
            Self::Encoder | Self::Unknown => Ok(()),
        }
    }

    /// Records that the peer ended or reset the stream.
    ///
    /// # Errors
    ///
    /// If the stream must not end.
    pub fn end(&self) -> Result<(), RuleViolation> {
        match self {
            // Only the control stream and the streams of QPACK are critical (RFC 9114 section
            // 6.2.1, RFC 9204 section 4.2).
            Self::New(_) | Self::Unknown => Ok(()),
            _ => violation(Http3ErrorCode::ClosedCriticalStream, MalformedReply::H3CriticalStream),
        }
    }
}

impl ControlStream {
    fn open(&mut self, kind: u64) -> Result<Uni, RuleViolation> {
        let uni = match kind {
            frame::CONTROL_STREAM => Uni::Control(Frames::default()),
            frame::ENCODER_STREAM => Uni::Encoder,
            frame::DECODER_STREAM => Uni::Decoder(DecoderInstructions::default()),
            // The client sent no MAX_PUSH_ID, so the server must not push (RFC 9114 section 4.6).
            frame::PUSH_STREAM => {
                return violation(Http3ErrorCode::IdError, MalformedReply::H3Push);
            }
            // Unknown types are ignored, since extensions define them (RFC 9114 section 9).
            _ => return Ok(Uni::Unknown),
        };
        // Each critical stream may be opened once (RFC 9114 section 6.2.1).
        if self.opened.contains(&kind) {
            return violation(Http3ErrorCode::StreamCreation, MalformedReply::H3CriticalStream);
        }
        self.opened.push(kind);
        Ok(uni)
    }

    fn receive(&mut self, frames: &mut Frames, mut bytes: &[u8]) -> Result<(), RuleViolation> {
        let too_large = |cause| RuleViolation::Connection(Http3ErrorCode::ExcessiveLoad, cause);
        while let Some(piece) = frames.next(&mut bytes).map_err(too_large)? {
            let (kind, payload) = match piece {
                FramePiece::Whole(kind, payload, _) => (kind, Some(payload)),
                FramePiece::Part(kind, ..) => (kind, None),
            };
            match (kind, payload) {
                (frame::SETTINGS, Some(payload)) => self.on_settings(payload)?,
                // SETTINGS must be the first frame (RFC 9114 section 6.2.1).
                _ if !self.has_settings => {
                    return violation(Http3ErrorCode::MissingSettings, MalformedReply::H3Settings);
                }
                (frame::GOAWAY, Some(payload)) => self.on_goaway(payload)?,
                (frame::CANCEL_PUSH, _) => {
                    return violation(Http3ErrorCode::IdError, MalformedReply::H3Push);
                }
                (kind, None) if kind != frame::DATA && !frame::HTTP2_FRAMES.contains(&kind) => {}
                _ => {
                    return violation(
                        Http3ErrorCode::FrameUnexpected,
                        MalformedReply::H3FrameUnexpected,
                    );
                }
            }
        }
        Ok(())
    }

    fn on_settings(&mut self, payload: &[u8]) -> Result<(), RuleViolation> {
        let Ok(numbers) = frame::numbers(payload) else {
            return violation(Http3ErrorCode::FrameError, MalformedReply::H3Frame);
        };
        if !numbers.len().is_multiple_of(2) {
            return violation(Http3ErrorCode::FrameError, MalformedReply::H3Frame);
        }
        if std::mem::replace(&mut self.has_settings, true) {
            return violation(Http3ErrorCode::FrameUnexpected, MalformedReply::H3Settings);
        }
        let mut names: Vec<u64> = numbers.iter().copied().step_by(2).collect();
        let has_http2_setting = names.iter().any(|name| frame::HTTP2_SETTINGS.contains(name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        // Settings must not repeat (RFC 9114 section 7.2.4), and those of HTTP/2
        // are reserved (section 7.2.4.1).
        if has_http2_setting || names.len() < count {
            return violation(Http3ErrorCode::SettingsError, MalformedReply::H3Settings);
        }
        Ok(())
    }

    fn on_goaway(&mut self, payload: &[u8]) -> Result<(), RuleViolation> {
        let Some((from, _)) = frame::number(payload).filter(|(_, length)| *length == payload.len())
        else {
            return violation(Http3ErrorCode::FrameError, MalformedReply::H3Frame);
        };
        // A GOAWAY names a request stream, and a later one must not name a higher stream
        // (RFC 9114 section 5.2).
        if !from.is_multiple_of(4) || self.goes_away_from.is_some_and(|previous| from > previous) {
            return violation(Http3ErrorCode::IdError, MalformedReply::H3GoAway);
        }
        self.goes_away_from = Some(from);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of streams with these bytes, cut into pieces of `at` bytes.
    fn run(streams: &[&[u8]], at: usize) -> (Result<(), RuleViolation>, ControlStream) {
        let mut control = ControlStream::default();
        let mut result = Ok(());
        for bytes in streams {
            let mut uni = Uni::new();
            for piece in bytes.chunks(at) {
                result = result.and_then(|()| uni.receive(&mut control, piece));
            }
        }
        (result, control)
    }

    #[test]
    fn settings_and_goaway_are_accepted_and_unknown_frames_ignored() {
        let ours = frame::control_stream();
        let streams: [&[u8]; 5] = [
            &ours,
            &[2, 0x20],
            &[3, 0x41, 0x7f, 0x80, 0x01, 0x40],
            &[0x40, 0x54, 1, 2, 3],
            b"\x21anything",
        ];
        for at in 1..9 {
            let (result, control) = run(&streams, at);
            assert_eq!(
                (result, control.has_settings, control.goes_away_from),
                (Ok(()), true, None)
            );
        }
        let (result, control) = run(&[b"\0\x04\x02\x01\0\x21\x01x\x07\x01\x08\x07\x01\x04"], 1);
        assert_eq!((result, control.goes_away_from), (Ok(()), Some(4)));
    }

    #[test]
    fn protocol_violations_are_named() {
        let cases: [(&str, &[&[u8]], Http3ErrorCode, MalformedReply); 21] = [
            (
                "no settings",
                &[b"\0\x07\x01\0"],
                Http3ErrorCode::MissingSettings,
                MalformedReply::H3Settings,
            ),
            (
                "an unknown frame first",
                &[b"\0\x21\0"],
                Http3ErrorCode::MissingSettings,
                MalformedReply::H3Settings,
            ),
            (
                "settings twice",
                &[b"\0\x04\0\x04\0"],
                Http3ErrorCode::FrameUnexpected,
                MalformedReply::H3Settings,
            ),
            (
                "a setting twice",
                &[b"\0\x04\x04\x01\0\x01\0"],
                Http3ErrorCode::SettingsError,
                MalformedReply::H3Settings,
            ),
            (
                "a setting of HTTP/2",
                &[b"\0\x04\x02\x03\x01"],
                Http3ErrorCode::SettingsError,
                MalformedReply::H3Settings,
            ),
            (
                "half a setting",
                &[b"\0\x04\x01\x01"],
                Http3ErrorCode::FrameError,
                MalformedReply::H3Frame,
            ),
            (
                "half a number",
                &[b"\0\x04\x02\x01\x40"],
                Http3ErrorCode::FrameError,
                MalformedReply::H3Frame,
            ),
            (
                "a body",
                &[b"\0\x04\0\0\x01x"],
                Http3ErrorCode::FrameUnexpected,
                MalformedReply::H3FrameUnexpected,
            ),
            (
                "a head",
                &[b"\0\x04\0\x01\x01x"],
                Http3ErrorCode::FrameUnexpected,
                MalformedReply::H3FrameUnexpected,
            ),
            (
                "a PING of HTTP/2",
                &[b"\0\x04\0\x06\0"],
                Http3ErrorCode::FrameUnexpected,
                MalformedReply::H3FrameUnexpected,
            ),
            (
                "a limit of pushes",
                &[b"\0\x04\0\x0d\x01\0"],
                Http3ErrorCode::FrameUnexpected,
                MalformedReply::H3FrameUnexpected,
            ),
            (
                "a push that is cancelled",
                &[b"\0\x04\0\x03\x01\0"],
                Http3ErrorCode::IdError,
                MalformedReply::H3Push,
            ),
            ("a push", &[b"\x01\0"], Http3ErrorCode::IdError, MalformedReply::H3Push),
            (
                "a GOAWAY of a push",
                &[b"\0\x04\0\x07\x01\x01"],
                Http3ErrorCode::IdError,
                MalformedReply::H3GoAway,
            ),
            (
                "a GOAWAY taken back",
                &[b"\0\x04\0\x07\x01\x04\x07\x01\x08"],
                Http3ErrorCode::IdError,
                MalformedReply::H3GoAway,
            ),
            (
                "a GOAWAY with more",
                &[b"\0\x04\0\x07\x02\x04\x04"],
                Http3ErrorCode::FrameError,
                MalformedReply::H3Frame,
            ),
            (
                "two control streams",
                &[b"\0\x04\0", b"\0"],
                Http3ErrorCode::StreamCreation,
                MalformedReply::H3CriticalStream,
            ),
            (
                "two encoders",
                &[b"\x02", b"\x02"],
                Http3ErrorCode::StreamCreation,
                MalformedReply::H3CriticalStream,
            ),
            (
                "an insertion",
                &[b"\x02\x3f\xe1\x1f"],
                Http3ErrorCode::EncoderStream,
                MalformedReply::QpackStream,
            ),
            (
                "an acknowledgment",
                &[b"\x03\x81"],
                Http3ErrorCode::DecoderStream,
                MalformedReply::QpackStream,
            ),
            (
                "an increment behind a cancellation",
                &[b"\x03\x40\x00"],
                Http3ErrorCode::DecoderStream,
                MalformedReply::QpackStream,
            ),
        ];
        for (name, streams, code, cause) in cases {
            for at in [1, 2, 9] {
                assert_eq!(
                    run(streams, at).0,
                    Err(RuleViolation::Connection(code, cause)),
                    "{name}, cut after each {at}"
                );
            }
        }
    }

    #[test]
    fn streams_that_the_connection_needs_may_not_end() {
        let mut control = ControlStream::default();
        for (bytes, may_end) in
            [(&b"\0"[..], false), (b"\x02", false), (b"\x03", false), (b"\x21", true), (b"", true)]
        {
            let mut uni = Uni::new();
            uni.receive(&mut control, bytes).unwrap();
            assert_eq!(uni.end().is_ok(), may_end, "{bytes:?}");
        }
    }
}

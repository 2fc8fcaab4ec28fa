//! Frames and error codes (RFC 9113 sections 4, 6 and 7).

use crate::contract::MAX_HEAD;
use brunt_model::outcome::MalformedReply;

/// The bytes that a client sends first on each connection.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length of a frame's head, in bytes. Not related to [`MAX_HEAD`], the limit on a reply's header
/// fields.
pub const HEAD: usize = 9;
/// Maximum payload that this client accepts, and that a peer accepts by default, in bytes.
pub const DEFAULT_PAYLOAD: usize = 16_384;
/// Maximum size of a window, in bytes.
pub const MAX_WINDOW: i64 = (1 << 31) - 1;
/// Default window of either side, in bytes.
pub const DEFAULT_WINDOW: i64 = 65_535;

// Types of frames (RFC 9113 section 6).
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

// Flags of frames.
pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 32;

// Identifiers of settings (RFC 9113 section 6.5.2).
pub const HEADER_TABLE_SIZE: u16 = 1;
pub const ENABLE_PUSH: u16 = 2;
pub const MAX_CONCURRENT_STREAMS: u16 = 3;
pub const INITIAL_WINDOW_SIZE: u16 = 4;
pub const MAX_FRAME_SIZE: u16 = 5;
pub const MAX_HEADER_LIST_SIZE: u16 = 6;
/// Setting that allows the extended CONNECT (RFC 8441 section 3).
pub const ENABLE_CONNECT_PROTOCOL: u16 = 8;

/// Error codes that this client uses to end a stream or connection (RFC 9113 section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Http2ErrorCode {
    NoError = 0,
    ProtocolError = 1,
    FlowControlError = 3,
    StreamClosed = 5,
    FrameSizeError = 6,
    RefusedStream = 7,
    Cancel = 8,
    CompressionError = 9,
    EnhanceYourCalm = 11,
}

/// Returns the cause of failure for a stream that the server reset with this error code, which may
/// be any number.
pub fn reset_cause(code: u32) -> MalformedReply {
    match code {
        0 => MalformedReply::ResetNoError,
        1 => MalformedReply::ResetProtocolError,
        2 => MalformedReply::ResetInternalError,
        3 => MalformedReply::ResetFlowControlError,
        4 => MalformedReply::ResetSettingsTimeout,
        5 => MalformedReply::ResetStreamClosed,
        6 => MalformedReply::ResetFrameSizeError,
        7 => MalformedReply::ResetRefusedStream,
        8 => MalformedReply::ResetCancel,
        9 => MalformedReply::ResetCompressionError,
        10 => MalformedReply::ResetConnectError,
        11 => MalformedReply::ResetEnhanceYourCalm,
        12 => MalformedReply::ResetInadequateSecurity,
        13 => MalformedReply::ResetHttp11Required,
        _ => MalformedReply::ResetUnknown,
    }
}

/// Returns the cause of failure for requests on a connection that the server closed with this
/// error code, which may be any number. None: it closed without an error.
pub fn close_cause(code: u32) -> Option<MalformedReply> {
    Some(match code {
        0 => return None,
        1 => MalformedReply::ClosedHttp2ProtocolError,
        2 => MalformedReply::ClosedHttp2InternalError,
        3 => MalformedReply::ClosedHttp2FlowControlError,
        4 => MalformedReply::ClosedHttp2SettingsTimeout,
        5 => MalformedReply::ClosedHttp2StreamClosed,
        6 => MalformedReply::ClosedHttp2FrameSizeError,
        7 => MalformedReply::ClosedHttp2RefusedStream,
        8 => MalformedReply::ClosedHttp2Cancel,
        9 => MalformedReply::ClosedHttp2CompressionError,
        10 => MalformedReply::ClosedHttp2ConnectError,
        11 => MalformedReply::ClosedHttp2EnhanceYourCalm,
        12 => MalformedReply::ClosedHttp2InadequateSecurity,
        13 => MalformedReply::ClosedHttp2Http11Required,
        _ => MalformedReply::ClosedHttp2Unknown,
    })
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// Length of the payload, in bytes.
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHead {
    /// Parses the first [`HEAD`] bytes. None if there are fewer.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, kind, flags, rest @ ..] = bytes.first_chunk::<HEAD>()?;
        let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        let stream = u32::from_be_bytes(*rest) & 0x7fff_ffff;
        Some(Self { length, kind: *kind, flags: *flags, stream })
    }

    /// True if the frame has this flag.
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends the head of a frame. The length must be less than 2^24.
pub fn put_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    out.extend_from_slice(&(length as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Appends a frame without flags whose payload consists of these numbers.
pub fn put_numbers(out: &mut Vec<u8>, kind: u8, stream: u32, numbers: &[u32]) {
    put_head(out, numbers.len() * 4, kind, 0, stream);
    for number in numbers {
        out.extend_from_slice(&number.to_be_bytes());
    }
}

/// Appends the SETTINGS frame of this client: no pushes, the largest window, and the maximum size
/// of a reply's header fields.
pub fn put_settings(out: &mut Vec<u8>) {
    let settings = [
        (ENABLE_PUSH, 0),
        (INITIAL_WINDOW_SIZE, MAX_WINDOW as u32),
        (MAX_HEADER_LIST_SIZE, MAX_HEAD as u32),
    ];
    put_head(out, settings.len() * 6, SETTINGS, 0, 0);
    for (setting, value) in settings {
        out.extend_from_slice(&setting.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Returns the 32-bit number at the start of a payload; None if it is shorter.
pub fn number(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Returns the identifiers and values of the settings in a payload. An incomplete setting at the
/// end is ignored.
pub fn settings(payload: &[u8]) -> impl Iterator<Item = (u16, u32)> {
    payload.chunks_exact(6).filter_map(|six| {
        let (name, value) = six.split_first_chunk::<2>()?;
        Some((u16::from_be_bytes(*name), number(value)?))
    })
}

//! Reads and writes HTTP/2 frames: heads, flags, error codes and settings (RFC 9113, sections
//! 4, 6 and 7).
//!
//! It serves hostile rows and failures. The crate `h2` reads and writes all other frames.

/// Length of a frame head, in bytes.
pub const HEAD: usize = 9;

/// First bytes of a client.
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Maximum payload that both sides accept by default, in bytes.
pub const MAX_FRAME: usize = 16_384;

/// Frame types (RFC 9113, section 6).
pub mod kind {
    #![allow(missing_docs, reason = "the names of RFC 9113, section 6")]
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
}

/// Flags in frame heads.
pub mod flag {
    #![allow(missing_docs, reason = "the names of RFC 9113, section 6")]
    pub const ACK: u8 = 0x1;
    pub const END_STREAM: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// Numbers of settings.
pub mod setting {
    #![allow(missing_docs, reason = "the names of RFC 9113, section 6.5.2")]
    pub const HEADER_TABLE_SIZE: u16 = 1;
    pub const ENABLE_PUSH: u16 = 2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    pub const MAX_FRAME_SIZE: u16 = 5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
    /// RFC 8441, section 3.
    pub const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// Error codes in `RST_STREAM` and GOAWAY.
#[allow(missing_docs, reason = "the names of RFC 9113, section 7")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Http2ErrorCode {
    NoError = 0,
    ProtocolError = 1,
    InternalError = 2,
    FlowControlError = 3,
    StreamClosed = 5,
    FrameSizeError = 6,
    RefusedStream = 7,
    Cancel = 8,
    CompressionError = 9,
    EnhanceYourCalm = 11,
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// Length of the payload, in bytes.
    pub length: usize,
    /// Type of the frame, see [`kind`].
    pub kind: u8,
    /// Flags of the frame, see [`flag`].
    pub flags: u8,
    /// Stream; 0 is the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Parses the head at the start of `bytes`. None if it is incomplete.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let head = bytes.first_chunk::<HEAD>()?;
        Some(Self {
            length: usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]),
            kind: head[3],
            flags: head[4],
            // RFC 9113, section 4.1: the highest bit is reserved.
            stream: word(&head[5..]) & (u32::MAX >> 1),
        })
    }

    /// True if a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Returns the 32-bit number at the start of `bytes`; 0 for fewer than four bytes.
pub fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// Appends the head of a frame with a payload of `length` bytes.
pub fn put_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    let [_, high, middle, low] = (length as u32).to_be_bytes();
    let [a, b, c, d] = stream.to_be_bytes();
    out.extend_from_slice(&[high, middle, low, kind, flags, a, b, c, d]);
}

/// Appends a complete frame.
pub fn put_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    put_head(out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
}

/// Appends a header block as HEADERS, with CONTINUATION frames if it is
/// longer than `largest` bytes.
pub fn put_headers(out: &mut Vec<u8>, stream: u32, flags: u8, block: &[u8], largest: usize) {
    let (first, mut rest) = block.split_at(block.len().min(largest));
    put_frame(
        out,
        kind::HEADERS,
        flags | if rest.is_empty() { flag::END_HEADERS } else { 0 },
        stream,
        first,
    );
    while !rest.is_empty() {
        let (next, after) = rest.split_at(rest.len().min(largest));
        put_frame(
            out,
            kind::CONTINUATION,
            if after.is_empty() { flag::END_HEADERS } else { 0 },
            stream,
            next,
        );
        rest = after;
    }
}

/// Appends a SETTINGS frame, as numbers with values.
pub fn put_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    put_head(out, settings.len() * 6, kind::SETTINGS, 0, 0);
    for (id, value) in settings {
        out.extend_from_slice(&id.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends an `RST_STREAM` frame.
pub fn put_reset(out: &mut Vec<u8>, stream: u32, code: Http2ErrorCode) {
    put_frame(out, kind::RST_STREAM, 0, stream, &(code as u32).to_be_bytes());
}

/// Appends a `WINDOW_UPDATE` frame.
pub fn put_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    put_frame(out, kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
}

/// Appends GOAWAY with a debug text.
pub fn put_goaway(out: &mut Vec<u8>, last: u32, code: Http2ErrorCode, text: &str) {
    put_head(out, 8 + text.len(), kind::GOAWAY, 0, 0);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&(code as u32).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_settings_match_the_standard() {
        let mut bytes = Vec::new();
        put_settings(
            &mut bytes,
            &[(setting::MAX_CONCURRENT_STREAMS, 7), (setting::INITIAL_WINDOW_SIZE, 1 << 30)],
        );
        let head = FrameHead::parse(&bytes).unwrap();
        assert_eq!(head, FrameHead { length: 12, kind: kind::SETTINGS, flags: 0, stream: 0 });
        assert_eq!(bytes[HEAD..], [0, 3, 0, 0, 0, 7, 0, 4, 0x40, 0, 0, 0]);
        assert_eq!(FrameHead::parse(&bytes[..8]), None);
        let reserved = FrameHead::parse(&[1, 2, 3, 1, 5, 0x80, 0, 0, 9]).unwrap();
        assert_eq!((reserved.length, reserved.stream), (0x01_02_03, 9));
        assert!(
            reserved.has(flag::END_STREAM)
                && reserved.has(flag::END_HEADERS)
                && !reserved.has(flag::PADDED)
        );
    }

    #[test]
    fn a_long_header_block_takes_continuations() {
        let mut bytes = Vec::new();
        put_headers(&mut bytes, 3, flag::END_STREAM, &[7; 25], 10);
        let mut heads = Vec::new();
        while let Some(head) = FrameHead::parse(&bytes) {
            bytes.drain(..HEAD + head.length);
            heads.push((head.kind, head.flags, head.length));
        }
        assert_eq!(heads, [(1, 1, 10), (9, 0, 10), (9, 4, 5)]);
    }
}

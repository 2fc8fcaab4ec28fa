//! Lists the rows about resets of a request's stream, and closes of the connection,
//! with each error code.

use super::{BODY, Http3RowOutput, OK, StreamEnd, greeting, row};
use crate::hostile::HostileRow;

fn reset<const CODE: u32>(s: &mut Http3RowOutput) {
    s.end = Some(StreamEnd::Reset(CODE));
}

fn close<const CODE: u32>(s: &mut Http3RowOutput) {
    s.close = Some(CODE);
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    row(
        "h3-reset-no-error",
        "9114 8.1",
        "a reset with H3_NO_ERROR, without a reply",
        reset::<0x100>,
    ),
    row("h3-reset-internal-error", "9114 8.1", "a reset with H3_INTERNAL_ERROR", reset::<0x102>),
    row("h3-reset-excessive-load", "9114 8.1", "a reset with H3_EXCESSIVE_LOAD", reset::<0x107>),
    row(
        "h3-reset-request-rejected",
        "9114 4.1.1",
        "a reset with H3_REQUEST_REJECTED",
        reset::<0x10b>,
    ),
    row(
        "h3-reset-request-cancelled",
        "9114 8.1",
        "a reset with H3_REQUEST_CANCELLED",
        reset::<0x10c>,
    ),
    row(
        "h3-reset-request-incomplete",
        "9114 8.1",
        "a reset with H3_REQUEST_INCOMPLETE",
        reset::<0x10d>,
    ),
    row("h3-reset-message-error", "9114 8.1", "a reset with H3_MESSAGE_ERROR", reset::<0x10e>),
    row(
        "h3-reset-version-fallback",
        "9114 8.1",
        "a reset with H3_VERSION_FALLBACK",
        reset::<0x110>,
    ),
    row("h3-reset-unknown", "9114 9", "a reset with a code that does not exist", reset::<0x7777>),
    row("h3-reset-http2-code", "9114 9", "a reset with INTERNAL_ERROR of HTTP/2", reset::<0x2>),
    row("h3-reset-in-body", "9114 4.1", "HEADERS and half of the body, then a reset", |s| {
        s.head(&[OK, ("content-length", "20")]);
        s.data(BODY);
        s.end = Some(StreamEnd::Reset(0x102));
    }),
    row(
        "h3-close-no-error",
        "9114 5.3",
        "a close with H3_NO_ERROR, without a reply",
        close::<0x100>,
    ),
    row(
        "h3-close-general-protocol-error",
        "9114 8.1",
        "a close with H3_GENERAL_PROTOCOL_ERROR",
        close::<0x101>,
    ),
    row("h3-close-internal-error", "9114 8.1", "a close with H3_INTERNAL_ERROR", close::<0x102>),
    row(
        "h3-close-stream-creation-error",
        "9114 8.1",
        "a close with H3_STREAM_CREATION_ERROR",
        close::<0x103>,
    ),
    row(
        "h3-close-closed-critical-stream",
        "9114 8.1",
        "a close with H3_CLOSED_CRITICAL_STREAM",
        close::<0x104>,
    ),
    row(
        "h3-close-frame-unexpected",
        "9114 8.1",
        "a close with H3_FRAME_UNEXPECTED",
        close::<0x105>,
    ),
    row("h3-close-frame-error", "9114 8.1", "a close with H3_FRAME_ERROR", close::<0x106>),
    row("h3-close-excessive-load", "9114 8.1", "a close with H3_EXCESSIVE_LOAD", close::<0x107>),
    row("h3-close-id-error", "9114 8.1", "a close with H3_ID_ERROR", close::<0x108>),
    row("h3-close-settings-error", "9114 8.1", "a close with H3_SETTINGS_ERROR", close::<0x109>),
    row(
        "h3-close-missing-settings",
        "9114 8.1",
        "a close with H3_MISSING_SETTINGS",
        close::<0x10a>,
    ),
    row(
        "h3-close-request-rejected",
        "9114 8.1",
        "a close with H3_REQUEST_REJECTED",
        close::<0x10b>,
    ),
    row(
        "h3-close-request-cancelled",
        "9114 8.1",
        "a close with H3_REQUEST_CANCELLED",
        close::<0x10c>,
    ),
    row(
        "h3-close-request-incomplete",
        "9114 8.1",
        "a close with H3_REQUEST_INCOMPLETE",
        close::<0x10d>,
    ),
    row("h3-close-message-error", "9114 8.1", "a close with H3_MESSAGE_ERROR", close::<0x10e>),
    row("h3-close-connect-error", "9114 8.1", "a close with H3_CONNECT_ERROR", close::<0x10f>),
    row(
        "h3-close-version-fallback",
        "9114 8.1",
        "a close with H3_VERSION_FALLBACK",
        close::<0x110>,
    ),
    row(
        "h3-close-decompression-failed",
        "9204 6",
        "a close with QPACK_DECOMPRESSION_FAILED",
        close::<0x200>,
    ),
    row(
        "h3-close-encoder-stream-error",
        "9204 6",
        "a close with QPACK_ENCODER_STREAM_ERROR",
        close::<0x201>,
    ),
    row(
        "h3-close-decoder-stream-error",
        "9204 6",
        "a close with QPACK_DECODER_STREAM_ERROR",
        close::<0x202>,
    ),
    row("h3-close-unknown", "9114 9", "a close with a code that does not exist", close::<0x7777>),
    row("h3-close-0", "9114 9", "a close with the code 0, which is none of HTTP/3", close::<0>),
    greeting(
        "h3-close-in-handshake",
        "9000 10.2.3",
        "a close by the application before the handshake is done",
        |s| {
            s.close = Some(0x102);
        },
    ),
];

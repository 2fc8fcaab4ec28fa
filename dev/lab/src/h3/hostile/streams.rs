//! Lists the rows about unidirectional streams, settings, and frames of the control stream.

use super::{Http3RowOutput, StreamEnd, endless, greeting, number, put_number, row};
use crate::hostile::HostileRow;

/// Begins the control stream with SETTINGS of these raw numbers.
fn settings(s: &mut Http3RowOutput, numbers: &[u64]) {
    let mut payload = Vec::new();
    for number in numbers {
        put_number(&mut payload, *number);
    }
    s.greet(&[(number::SETTINGS, &payload)]);
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    greeting("h3-settings-missing", "9114 6.2.1", "GOAWAY before SETTINGS", |s| {
        s.greet(&[(number::GOAWAY, &[0])]);
    }),
    greeting(
        "h3-unknown-before-settings",
        "9114 6.2.1",
        "a frame of an unknown type before SETTINGS",
        |s| {
            s.greet(&[(0x21, b"unknown"), (number::SETTINGS, &[])]);
        },
    ),
    greeting("h3-data-before-settings", "9114 6.2.1", "DATA before SETTINGS", |s| {
        s.greet(&[(number::DATA, b"data"), (number::SETTINGS, &[])]);
    }),
    greeting("h3-settings-twice", "9114 7.2.4", "SETTINGS twice", |s| {
        s.greet(&[(number::SETTINGS, &[]), (number::SETTINGS, &[])]);
    }),
    greeting("h3-setting-twice", "9114 7.2.4", "the same setting twice", |s| {
        settings(s, &[6, 1000, 6, 1000]);
    }),
    greeting("h3-setting-enable-push", "9114 7.2.4.1", "SETTINGS_ENABLE_PUSH of HTTP/2", |s| {
        settings(s, &[2, 0]);
    }),
    greeting(
        "h3-setting-streams",
        "9114 7.2.4.1",
        "SETTINGS_MAX_CONCURRENT_STREAMS of HTTP/2",
        |s| {
            settings(s, &[3, 100]);
        },
    ),
    greeting("h3-setting-window", "9114 7.2.4.1", "SETTINGS_INITIAL_WINDOW_SIZE of HTTP/2", |s| {
        settings(s, &[4, 65_535]);
    }),
    greeting("h3-setting-frame-size", "9114 7.2.4.1", "SETTINGS_MAX_FRAME_SIZE of HTTP/2", |s| {
        settings(s, &[5, 16_384]);
    }),
    greeting("h3-setting-without-value", "9114 7.2.4", "a setting without its value", |s| {
        settings(s, &[6]);
    }),
    greeting("h3-setting-cut", "9114 7.1", "SETTINGS that end within a number", |s| {
        s.greet(&[(number::SETTINGS, &[6, 0x80, 1])]);
    }),
    greeting("h3-settings-too-large", "9114 10.5", "the head of SETTINGS of 2^30 bytes", |s| {
        s.control.extend_from_slice(&[0, 4, 0xc0, 0, 0, 0, 0x40, 0, 0, 0]);
    }),
    greeting("h3-second-control-stream", "9114 6.2.1", "a second control stream", |s| {
        s.greet(&[(number::SETTINGS, &[])]);
        s.open(number::CONTROL);
    }),
    greeting("h3-second-encoder-stream", "9204 4.2", "a second encoder stream", |s| {
        s.greet(&[(number::SETTINGS, &[])]);
        s.open(&[2]);
        s.open(&[2]);
    }),
    greeting("h3-second-decoder-stream", "9204 4.2", "a second decoder stream", |s| {
        s.greet(&[(number::SETTINGS, &[])]);
        s.open(&[3]);
        s.open(&[3]);
    }),
    greeting(
        "h3-control-ends-at-once",
        "9114 6.2.1",
        "a control stream that ends behind SETTINGS",
        |s| {
            s.greet(&[(number::SETTINGS, &[])]);
            s.control_end = StreamEnd::Finished;
        },
    ),
    row("h3-control-ends", "9114 6.2.1", "the end of the control stream", |s| {
        s.control_end = StreamEnd::Finished;
    }),
    row("h3-control-reset", "9114 6.2.1", "a reset of the control stream", |s| {
        s.control_end = StreamEnd::Reset(number::INTERNAL_ERROR);
    }),
    row("h3-control-stopped", "9114 6.2.1", "STOP_SENDING for the client's control stream", |s| {
        s.stop_control = Some(number::INTERNAL_ERROR);
    }),
    row("h3-encoder-ends", "9204 4.2", "an encoder stream that ends", |s| {
        s.opened.push((vec![2], StreamEnd::Finished));
    }),
    row("h3-decoder-ends", "9204 4.2", "a decoder stream that ends", |s| {
        s.opened.push((vec![3], StreamEnd::Finished));
    }),
    row("h3-push-stream", "9114 4.6", "a push stream although no push was allowed", |s| {
        s.open(&[1, 0]);
    }),
    row("h3-settings-again", "9114 7.2.4", "SETTINGS on the control stream again", |s| {
        s.control_frame(number::SETTINGS, &[]);
    }),
    row("h3-data-on-control", "9114 7.2.1", "DATA on the control stream", |s| {
        s.control_frame(number::DATA, b"data");
    }),
    row("h3-headers-on-control", "9114 7.2.2", "HEADERS on the control stream", |s| {
        s.control_frame(number::HEADERS, &super::block(&[super::OK]));
    }),
    row("h3-push-promise-on-control", "9114 7.2.5", "PUSH_PROMISE on the control stream", |s| {
        s.control_frame(5, &[0, 0, 0]);
    }),
    row("h3-cancel-push", "9114 7.2.3", "CANCEL_PUSH of a push that was not promised", |s| {
        s.control_frame(3, &[0]);
    }),
    row("h3-max-push-id", "9114 7.2.7", "MAX_PUSH_ID from a server", |s| {
        s.control_frame(0xd, &[0]);
    }),
    row("h3-priority-of-http2", "9114 7.2.8", "PRIORITY of HTTP/2 on the control stream", |s| {
        s.control_frame(2, &[0; 5]);
    }),
    row("h3-ping-of-http2", "9114 7.2.8", "PING of HTTP/2 on the control stream", |s| {
        s.control_frame(6, &[0; 8]);
    }),
    row(
        "h3-window-update-of-http2",
        "9114 7.2.8",
        "WINDOW_UPDATE of HTTP/2 on the control stream",
        |s| {
            s.control_frame(8, &[0, 0, 1, 0]);
        },
    ),
    row(
        "h3-continuation-of-http2",
        "9114 7.2.8",
        "CONTINUATION of HTTP/2 on the control stream",
        |s| {
            s.control_frame(9, &[]);
        },
    ),
    row("h3-goaway-of-push", "9114 5.2", "GOAWAY with a number that no request has", |s| {
        s.control_frame(number::GOAWAY, &[1]);
    }),
    row("h3-goaway-raised", "9114 5.2", "GOAWAY with 400, then with 404", |s| {
        s.control_frame(number::GOAWAY, &[0x41, 0x90]);
        s.control_frame(number::GOAWAY, &[0x41, 0x94]);
    }),
    row("h3-goaway-empty", "9114 7.1", "GOAWAY without a number", |s| {
        s.control_frame(number::GOAWAY, &[]);
    }),
    row("h3-goaway-long", "9114 7.1", "GOAWAY with a byte behind its number", |s| {
        s.control_frame(number::GOAWAY, &[0, 0]);
    }),
    row("h3-goaway-0", "9114 5.2", "GOAWAY that excludes each request", |s| {
        s.control_frame(number::GOAWAY, &[0]);
    }),
    endless(
        "h3-unknown-frame-flood",
        "9114 10.5",
        "frames of an unknown type on the control stream without end",
        |s| {
            (0..100).for_each(|_| s.control_frame(0x21, b"unknown"));
        },
    ),
    endless("h3-goaway-flood", "9114 10.5", "GOAWAY without end", |s| {
        (0..100).for_each(|_| s.control_frame(number::GOAWAY, &[0xbf, 0xff, 0xff, 0xfc]));
    }),
    endless(
        "h3-unknown-stream-flood",
        "9114 10.5",
        "streams of an unknown type without end",
        |s| {
            s.opened.push((b"\x21unknown".to_vec(), StreamEnd::Finished));
        },
    ),
];

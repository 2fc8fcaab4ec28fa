//! Lists the rows about frames, streams, settings and windows.

use super::{HostileRow, Http2RowOutput, Trigger, block, row_at};
use crate::h2::frame::{self, Http2ErrorCode, MAX_FRAME, flag, kind, setting};

const fn row(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http2RowOutput),
) -> HostileRow {
    row_at(Trigger::Request, name, section, text, write)
}

const fn endless(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http2RowOutput),
) -> HostileRow {
    row_at(Trigger::Endless, name, section, text, write)
}

const fn greeting(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut Http2RowOutput),
) -> HostileRow {
    row_at(Trigger::Greeting, name, section, text, write)
}

fn settings(output: &mut Http2RowOutput, settings: &[(u16, u32)]) {
    frame::put_settings(output.out, settings);
}

const TOP: u32 = u32::MAX >> 1;

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    greeting("http1-greeting", "9113 3.4", "an HTTP/1.1 reply before any frame", |s| {
        s.out.extend_from_slice(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    }),
    greeting("headers-before-settings", "9113 3.4", "no SETTINGS before the first reply", |_| {}),
    greeting("ping-before-settings", "9113 3.4", "PING before SETTINGS", |s| {
        s.frame(kind::PING, 0, 0, &[7; 8]);
    }),
    greeting(
        "settings-ack-first",
        "9113 3.4",
        "an acknowledgement of SETTINGS before SETTINGS",
        |s| {
            s.frame(kind::SETTINGS, flag::ACK, 0, &[]);
        },
    ),
    greeting(
        "settings-streams-0",
        "9113 6.5.2",
        "SETTINGS_MAX_CONCURRENT_STREAMS of 0, which is never raised",
        |s| {
            settings(s, &[(setting::MAX_CONCURRENT_STREAMS, 0)]);
        },
    ),
    row("no-frame", "9113 4.1", "bytes that are no frame", |s| {
        s.out.extend_from_slice(b"\xff\xfe\x01\x00This is not HTTP.\x07\r\n\x80\x81\r\n");
    }),
    row("cut-in-frame-head", "9113 4.1", "5 bytes of a frame's head, then a close", |s| {
        s.out.extend_from_slice(&[0, 0, 10, kind::HEADERS, flag::END_HEADERS]);
        s.close();
    }),
    row("cut-in-frame", "9113 4.1", "DATA with half of its payload, then a close", |s| {
        s.good_head();
        frame::put_head(s.out, 100, kind::DATA, flag::END_STREAM, s.stream);
        s.out.extend_from_slice(&[b'a'; 50]);
        s.close();
    }),
    row("cut-in-body", "9113 5.1", "HEADERS and DATA without END_STREAM, then a close", |s| {
        s.good_head();
        s.frame(kind::DATA, 0, s.stream, b"half");
        s.close();
    }),
    row("frame-too-large", "9113 4.2", "DATA longer than SETTINGS_MAX_FRAME_SIZE", |s| {
        s.good_head();
        s.last_data(&vec![b'a'; 1 << 20]);
    }),
    row("headers-too-large", "9113 4.2", "HEADERS longer than SETTINGS_MAX_FRAME_SIZE", |s| {
        let block = block(&[(":status", "200"), ("x-a", &"a".repeat(1 << 20))]);
        s.block(&block);
    }),
    row("data-on-idle-stream", "9113 5.1", "DATA on a stream that was not opened", |s| {
        // Clients number their streams in order, so this one is not open yet.
        s.frame(kind::DATA, flag::END_STREAM, s.stream + 1000, b"data");
    }),
    row("data-after-end", "9113 5.1", "DATA after END_STREAM, on the same stream", |s| {
        s.good_head();
        s.last_data(b"data");
        s.last_data(b"more");
    }),
    row("headers-after-end", "9113 5.1", "HEADERS after END_STREAM, on the same stream", |s| {
        s.good_head();
        s.last_data(b"data");
        s.good_head();
    }),
    row("headers-on-idle-stream", "9113 5.1.1", "HEADERS on a stream that was not opened", |s| {
        s.frame(kind::HEADERS, flag::END_HEADERS, s.stream + 1000, &block(&[(":status", "200")]));
    }),
    row("headers-on-even-stream", "9113 5.1.1", "HEADERS on stream 2, without a promise", |s| {
        s.frame(kind::HEADERS, flag::END_HEADERS, 2, &block(&[(":status", "200")]));
    }),
    row("data-on-stream-0", "9113 6.1", "DATA on stream 0", |s| s.frame(kind::DATA, 0, 0, b"data")),
    row("padding-too-long", "9113 6.1", "DATA whose padding is longer than the frame", |s| {
        s.good_head();
        s.frame(kind::DATA, flag::PADDED | flag::END_STREAM, s.stream, &[200, b'a', b'b', 0, 0]);
    }),
    row("padding-missing", "9113 6.1", "padded DATA without the length of its padding", |s| {
        s.good_head();
        s.frame(kind::DATA, flag::PADDED | flag::END_STREAM, s.stream, &[]);
    }),
    endless("empty-data-flood", "9113 10.5", "empty DATA without end", |s| {
        if s.round == 0 {
            s.good_head();
        }
        (0..100).for_each(|_| s.frame(kind::DATA, 0, s.stream, &[]));
    }),
    row("headers-on-stream-0", "9113 6.2", "HEADERS on stream 0", |s| {
        s.frame(kind::HEADERS, flag::END_HEADERS, 0, &block(&[(":status", "200")]));
    }),
    row(
        "headers-padding-too-long",
        "9113 6.2",
        "HEADERS whose padding is longer than the frame",
        |s| {
            s.frame(kind::HEADERS, flag::END_HEADERS | flag::PADDED, s.stream, &[9, 0x88]);
        },
    ),
    row(
        "headers-priority-short",
        "9113 6.2",
        "HEADERS shorter than the priority that its flag announces",
        |s| {
            s.frame(kind::HEADERS, flag::END_HEADERS | flag::PRIORITY, s.stream, &[0, 0, 0]);
        },
    ),
    row("priority-on-stream-0", "9113 6.3", "PRIORITY on stream 0", |s| {
        s.frame(kind::PRIORITY, 0, 0, &[0; 5]);
    }),
    row("priority-length", "9113 6.3", "PRIORITY of 4 bytes", |s| {
        s.frame(kind::PRIORITY, 0, s.stream, &[0; 4]);
    }),
    row("reset-on-stream-0", "9113 6.4", "RST_STREAM on stream 0", |s| {
        frame::put_reset(s.out, 0, Http2ErrorCode::Cancel);
    }),
    row("reset-on-idle-stream", "9113 6.4", "RST_STREAM on a stream that was not opened", |s| {
        frame::put_reset(s.out, s.stream + 1000, Http2ErrorCode::Cancel);
    }),
    row("reset-length", "9113 6.4", "RST_STREAM of 3 bytes", |s| {
        s.frame(kind::RST_STREAM, 0, s.stream, &[0; 3]);
    }),
    row("reset-unknown-code", "9113 7", "RST_STREAM with a code that does not exist", |s| {
        s.frame(kind::RST_STREAM, 0, s.stream, &0xabcd_u32.to_be_bytes());
    }),
    row(
        "reset-cancel",
        "9113 7",
        "RST_STREAM with CANCEL, as Go's gRPC ends a call after its deadline",
        |s| {
            s.reset(Http2ErrorCode::Cancel);
        },
    ),
    endless("reset-flood", "9113 10.5", "RST_STREAM of the same stream without end", |s| {
        (0..100).for_each(|_| s.reset(Http2ErrorCode::InternalError));
    }),
    row("settings-on-stream", "9113 6.5", "SETTINGS on a stream", |s| {
        s.frame(kind::SETTINGS, 0, s.stream, &[]);
    }),
    row("settings-length", "9113 6.5", "SETTINGS of 5 bytes", |s| {
        s.frame(kind::SETTINGS, 0, 0, &[0; 5]);
    }),
    row("settings-ack-payload", "9113 6.5", "an acknowledgement of SETTINGS with a payload", |s| {
        s.frame(kind::SETTINGS, flag::ACK, 0, &[0; 6]);
    }),
    row("settings-push-enabled", "9113 6.5.2", "SETTINGS_ENABLE_PUSH of 1 from a server", |s| {
        settings(s, &[(setting::ENABLE_PUSH, 1)]);
    }),
    row("settings-push-2", "9113 6.5.2", "SETTINGS_ENABLE_PUSH of 2", |s| {
        settings(s, &[(setting::ENABLE_PUSH, 2)]);
    }),
    row("settings-window-too-large", "9113 6.5.2", "SETTINGS_INITIAL_WINDOW_SIZE of 2^31", |s| {
        settings(s, &[(setting::INITIAL_WINDOW_SIZE, TOP + 1)]);
    }),
    row("settings-frame-too-small", "9113 6.5.2", "SETTINGS_MAX_FRAME_SIZE of 16383", |s| {
        settings(s, &[(setting::MAX_FRAME_SIZE, MAX_FRAME as u32 - 1)]);
    }),
    row("settings-frame-too-large", "9113 6.5.2", "SETTINGS_MAX_FRAME_SIZE of 2^24", |s| {
        settings(s, &[(setting::MAX_FRAME_SIZE, 1 << 24)]);
    }),
    endless("settings-flood", "9113 10.5", "SETTINGS without end", |s| {
        (0..100).for_each(|_| settings(s, &[(setting::MAX_CONCURRENT_STREAMS, 100)]));
    }),
    row("push-promise", "9113 6.6", "PUSH_PROMISE although push is disabled", |s| {
        let promised = [
            &2u32.to_be_bytes()[..],
            &block(&[(":method", "GET"), (":scheme", "http"), (":path", "/")]),
        ];
        s.frame(kind::PUSH_PROMISE, flag::END_HEADERS, s.stream, &promised.concat());
    }),
    row("push-promise-on-stream-0", "9113 6.6", "PUSH_PROMISE on stream 0", |s| {
        s.frame(kind::PUSH_PROMISE, flag::END_HEADERS, 0, &[0, 0, 0, 2, 0x82]);
    }),
    row("ping-length", "9113 6.7", "PING of 7 bytes", |s| s.frame(kind::PING, 0, 0, &[0; 7])),
    row("ping-on-stream", "9113 6.7", "PING on a stream", |s| {
        s.frame(kind::PING, 0, s.stream, &[0; 8]);
    }),
    endless("ping-flood", "9113 10.5", "PING without end", |s| {
        (0..100).for_each(|_| s.frame(kind::PING, 0, 0, &[1; 8]));
    }),
    row("goaway-on-stream", "9113 6.8", "GOAWAY on a stream", |s| {
        s.frame(kind::GOAWAY, 0, s.stream, &[0; 8]);
    }),
    row("goaway-length", "9113 6.8", "GOAWAY of 7 bytes", |s| s.frame(kind::GOAWAY, 0, 0, &[0; 7])),
    row(
        "goaway-rising",
        "9113 6.8",
        "GOAWAY with a greater last stream than the one before",
        |s| {
            frame::put_goaway(s.out, s.stream, Http2ErrorCode::NoError, "");
            frame::put_goaway(s.out, s.stream + 2, Http2ErrorCode::NoError, "");
        },
    ),
    row(
        "goaway-error",
        "9113 6.8",
        "GOAWAY with ENHANCE_YOUR_CALM and last stream 0, then a close",
        |s| {
            frame::put_goaway(s.out, 0, Http2ErrorCode::EnhanceYourCalm, "too many requests");
            s.close();
        },
    ),
    row(
        "goaway-unanswered",
        "9113 6.8",
        "GOAWAY that includes the stream, then a close without a reply",
        |s| {
            frame::put_goaway(s.out, s.stream, Http2ErrorCode::NoError, "");
            s.close();
        },
    ),
    row("window-update-0", "9113 6.9", "WINDOW_UPDATE of 0 on the stream", |s| {
        frame::put_window_update(s.out, s.stream, 0);
    }),
    row("window-update-0-connection", "9113 6.9", "WINDOW_UPDATE of 0 on the connection", |s| {
        frame::put_window_update(s.out, 0, 0);
    }),
    row("window-update-length", "9113 6.9", "WINDOW_UPDATE of 3 bytes", |s| {
        s.frame(kind::WINDOW_UPDATE, 0, 0, &[0; 3]);
    }),
    row("window-update-idle", "9113 5.1", "WINDOW_UPDATE on a stream that was not opened", |s| {
        frame::put_window_update(s.out, s.stream + 1000, 1);
    }),
    row(
        "window-overflow",
        "9113 6.9.1",
        "WINDOW_UPDATEs that raise the stream's window above 2^31-1",
        |s| {
            (0..2).for_each(|_| frame::put_window_update(s.out, s.stream, TOP));
        },
    ),
    row(
        "window-overflow-connection",
        "9113 6.9.1",
        "WINDOW_UPDATEs that raise the connection's window above 2^31-1",
        |s| {
            (0..2).for_each(|_| frame::put_window_update(s.out, 0, TOP));
        },
    ),
    row(
        "window-overflow-settings",
        "9113 6.9.2",
        "SETTINGS that raise the stream's window above 2^31-1",
        |s| {
            // Leaves room for the window with which the client began, so that only SETTINGS overflow
            // it.
            frame::put_window_update(s.out, s.stream, TOP - 100_000_000);
            settings(s, &[(setting::INITIAL_WINDOW_SIZE, TOP)]);
        },
    ),
    endless("window-exceeded", "9113 6.9.1", "64 MiB of DATA whatever the windows are", |s| {
        if s.round == 0 {
            s.good_head();
        }
        s.frame(kind::DATA, 0, s.stream, &[b'a'; MAX_FRAME]);
    }),
    row("continuation-alone", "9113 6.10", "CONTINUATION without HEADERS", |s| {
        s.frame(kind::CONTINUATION, flag::END_HEADERS, s.stream, &[0x88]);
    }),
    row("continuation-interleaved", "9113 6.10", "PING between HEADERS and CONTINUATION", |s| {
        s.frame(kind::HEADERS, 0, s.stream, &[0x88]);
        s.frame(kind::PING, 0, 0, &[0; 8]);
        s.frame(kind::CONTINUATION, flag::END_HEADERS | flag::END_STREAM, s.stream, &[]);
    }),
    row("continuation-other-stream", "9113 6.10", "CONTINUATION of another stream", |s| {
        s.frame(kind::HEADERS, 0, s.stream, &[0x88]);
        s.frame(kind::CONTINUATION, flag::END_HEADERS, s.stream + 2, &[]);
    }),
    row("continuation-after-end", "9113 6.10", "CONTINUATION after END_HEADERS", |s| {
        s.good_head();
        s.frame(kind::CONTINUATION, flag::END_HEADERS, s.stream, &[]);
    }),
    row("continuation-cut", "9113 6.10", "HEADERS without END_HEADERS, then a close", |s| {
        s.frame(kind::HEADERS, 0, s.stream, &[0x88]);
        s.close();
    }),
    endless("continuation-flood", "9113 10.5", "empty CONTINUATION without end", |s| {
        if s.round == 0 {
            s.frame(kind::HEADERS, 0, s.stream, &[0x88]);
        }
        (0..100).for_each(|_| s.frame(kind::CONTINUATION, 0, s.stream, &[]));
    }),
    endless(
        "header-list-endless",
        "9113 10.5.1",
        "header fields in CONTINUATION without end",
        |s| {
            if s.round == 0 {
                s.frame(kind::HEADERS, 0, s.stream, &[0x88]);
            }
            let fields = block(&[("x-a", &"a".repeat(1000))]);
            s.frame(kind::CONTINUATION, 0, s.stream, &fields);
        },
    ),
];

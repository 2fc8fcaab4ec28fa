//! Lists the `--hostile` rows of WebSocket (RFC 6455) and of its compression (RFC 7692).
//!
//! Rows with `deflate` in their name are for clients that offer `permessage-deflate`. Other clients
//! receive the same bytes.

use tungstenite::handshake::derive_accept_key as accept;

use super::deflate;
use super::frames::{BINARY, CLOSE, CONTINUATION, LAST, PING, PONG, TEXT};
use crate::hostile::{HostileReply, HostileRow, Trigger};

/// Output of a row.
#[derive(Debug, Default)]
pub struct WebSocketRowOutput {
    /// Key of the client.
    pub key: Vec<u8>,
    /// Bytes that the row sends.
    pub out: Vec<u8>,
    /// True if the connection closes after the row.
    pub closing: bool,
    /// True if the row contains a complete reply.
    pub is_reply: bool,
}

/// Reserved bits of a frame. The first one marks a compressed message.
const RESERVED: [u8; 3] = [0x40, 0x20, 0x10];
const COMPRESSED: u8 = RESERVED[0];

/// Returns a frame without a mask, with this first byte.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let head = match length {
        0..126 => vec![first, length as u8],
        126..0x1_0000 => [&[first, 126], &(length as u16).to_be_bytes()[..]].concat(),
        _ => [&[first, 127], &(length as u64).to_be_bytes()[..]].concat(),
    };
    [&head, payload].concat()
}

/// Text of the replies.
const BODY: &[u8] = b"abcdefghij";

impl WebSocketRowOutput {
    /// Appends a frame with this first byte.
    pub fn frame(&mut self, first: u8, payload: &[u8]) {
        self.out.extend(frame(first, payload));
    }

    /// Appends a close with this code.
    pub fn close(&mut self, code: u16) {
        self.frame(LAST | CLOSE, &code.to_be_bytes());
        self.closing = true;
    }

    /// Appends a complete and correct reply.
    pub fn reply(&mut self) {
        self.frame(LAST | TEXT, BODY);
        self.is_reply = true;
    }

    /// Appends the response to the handshake, with these fields instead of the default ones.
    fn answer(&mut self, status: &str, fields: &[&str]) {
        let fields: String = fields.iter().flat_map(|field| [*field, "\r\n"]).collect();
        self.out.extend_from_slice(format!("HTTP/1.1 {status}\r\n{fields}\r\n").as_bytes());
    }

    /// Appends the correct response to the handshake, with these additional fields.
    fn switching(&mut self, fields: &[&str]) {
        let accept = format!("Sec-WebSocket-Accept: {}", accept(&self.key));
        let default = ["Connection: Upgrade", "Upgrade: websocket", &accept];
        self.answer("101 Switching Protocols", &[&default, fields].concat());
    }
}

const fn row(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut WebSocketRowOutput),
) -> HostileRow {
    HostileRow {
        name,
        section,
        text,
        trigger: Trigger::Request,
        writer: HostileReply::WebSocket(write),
    }
}

const fn greeting(
    name: &'static str,
    section: &'static str,
    text: &'static str,
    write: fn(&mut WebSocketRowOutput),
) -> HostileRow {
    HostileRow {
        name,
        section,
        text,
        trigger: Trigger::Greeting,
        writer: HostileReply::WebSocket(write),
    }
}

fn closes<const CODE: u16>(s: &mut WebSocketRowOutput) {
    s.close(CODE);
}

/// Appends a handshake that accepts compression, with these parameters.
fn deflates(s: &mut WebSocketRowOutput, parameters: &str) {
    s.switching(&[&format!("Sec-WebSocket-Extensions: permessage-deflate{parameters}")]);
}

/// Returns this number of MiB of zeros, compressed. Each MiB is compressed independently, so that
/// all have the same bytes.
fn bomb(mebibytes: usize) -> Vec<u8> {
    let mut one = deflate::deflate(&vec![0; 1 << 20]);
    one.extend([0, 0, 0xff, 0xff]);
    // A sync flush ends each part at a byte border, so compressed parts can be joined.
    let mut packed = one.repeat(mebibytes);
    packed.truncate(packed.len() - 4);
    packed
}

/// Rows of this kind.
pub const ROWS: &[HostileRow] = &[
    greeting("ws-status-200", "6455 4.1", "status 200 in place of 101", |s| {
        s.answer("200 OK", &["Content-Length: 0"]);
    }),
    greeting("ws-accept-wrong", "6455 4.1", "a Sec-WebSocket-Accept of another key", |s| {
        s.key.push(b'x');
        s.switching(&[]);
    }),
    greeting("ws-accept-missing", "6455 4.1", "no Sec-WebSocket-Accept", |s| {
        s.answer("101 Switching Protocols", &["Connection: Upgrade", "Upgrade: websocket"]);
    }),
    greeting("ws-upgrade-missing", "6455 4.1", "no Upgrade field", |s| {
        let accept = format!("Sec-WebSocket-Accept: {}", accept(&s.key));
        s.answer("101 Switching Protocols", &["Connection: Upgrade", &accept]);
    }),
    greeting("ws-upgrade-other", "6455 4.1", "an upgrade to another protocol", |s| {
        let accept = format!("Sec-WebSocket-Accept: {}", accept(&s.key));
        s.answer("101 Switching Protocols", &["Connection: Upgrade", "Upgrade: h2c", &accept]);
    }),
    greeting("ws-connection-missing", "6455 4.1", "no Connection field", |s| {
        let accept = format!("Sec-WebSocket-Accept: {}", accept(&s.key));
        s.answer("101 Switching Protocols", &["Upgrade: websocket", &accept]);
    }),
    greeting("ws-extension-not-offered", "6455 9.1", "an extension that no client offers", |s| {
        s.switching(&["Sec-WebSocket-Extensions: x-lab"]);
    }),
    greeting(
        "ws-protocol-not-offered",
        "6455 4.1",
        "a subprotocol that the client did not offer",
        |s| {
            s.switching(&["Sec-WebSocket-Protocol: x-lab"]);
        },
    ),
    greeting(
        "ws-deflate-unknown-parameter",
        "7692 7",
        "permessage-deflate with an unknown parameter",
        |s| {
            deflates(s, "; x_lab");
        },
    ),
    greeting("ws-deflate-twice", "7692 5", "permessage-deflate agreed on twice", |s| {
        deflates(s, ", permessage-deflate");
    }),
    greeting(
        "ws-deflate-parameter-twice",
        "7692 7",
        "a parameter of permessage-deflate twice",
        |s| {
            deflates(s, "; server_no_context_takeover; server_no_context_takeover");
        },
    ),
    greeting("ws-deflate-window-7", "7692 7.1.2.1", "server_max_window_bits=7", |s| {
        deflates(s, "; server_no_context_takeover; server_max_window_bits=7");
    }),
    greeting("ws-deflate-window-16", "7692 7.1.2.2", "client_max_window_bits=16", |s| {
        deflates(s, "; server_no_context_takeover; client_max_window_bits=16");
    }),
    greeting(
        "ws-deflate-window-missing",
        "7692 7.1.2.1",
        "server_max_window_bits without a value",
        |s| {
            deflates(s, "; server_no_context_takeover; server_max_window_bits");
        },
    ),
    row("ws-masked", "6455 5.1", "a frame with a mask", |s| {
        s.out.extend_from_slice(&[LAST | TEXT, 0x81, 1, 2, 3, 4, b'a' ^ 1]);
    }),
    row("ws-reserved-1", "6455 5.2", "the first reserved bit, on a control frame", |s| {
        s.frame(LAST | RESERVED[0] | PING, b"");
    }),
    row("ws-reserved-2", "6455 5.2", "the second reserved bit", |s| {
        s.frame(LAST | RESERVED[1] | TEXT, BODY);
    }),
    row("ws-reserved-3", "6455 5.2", "the third reserved bit", |s| {
        s.frame(LAST | RESERVED[2] | TEXT, BODY);
    }),
    row("ws-opcode-3", "6455 5.2", "an opcode of data that is not defined", |s| {
        s.frame(LAST | 0x3, BODY);
    }),
    row("ws-opcode-11", "6455 5.2", "an opcode of control that is not defined", |s| {
        s.frame(LAST | 0xb, b"");
    }),
    row("ws-continuation-first", "6455 5.4", "a continuation of no message", |s| {
        s.frame(LAST | CONTINUATION, BODY);
    }),
    row("ws-message-within", "6455 5.4", "a message within a message", |s| {
        s.frame(TEXT, BODY);
        s.frame(LAST | TEXT, BODY);
    }),
    row("ws-ping-in-fragments", "6455 5.5", "a ping in fragments", |s| {
        s.frame(PING, b"a");
        s.frame(LAST | CONTINUATION, b"b");
    }),
    row("ws-ping-126", "6455 5.5", "a ping of 126 bytes", |s| s.frame(LAST | PING, &[b'a'; 126])),
    row("ws-close-126", "6455 5.5", "a close of 126 bytes", |s| {
        s.frame(LAST | CLOSE, &[&1000_u16.to_be_bytes()[..], &[b'a'; 124]].concat());
        s.closing = true;
    }),
    row("ws-length-2-63", "6455 5.2", "a length of 2^63", |s| {
        s.out.extend_from_slice(&[LAST | BINARY, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]);
    }),
    row("ws-length-in-16-bits", "6455 5.2", "a length of 10 in 16 bits", |s| {
        s.out.extend_from_slice(&[LAST | TEXT, 126, 0, 10]);
        s.out.extend_from_slice(BODY);
    }),
    row("ws-length-in-64-bits", "6455 5.2", "a length of 10 in 64 bits", |s| {
        s.out.extend_from_slice(&[LAST | TEXT, 127, 0, 0, 0, 0, 0, 0, 0, 10]);
        s.out.extend_from_slice(BODY);
    }),
    row(
        "ws-length-2-62",
        "6455 5.2",
        "the beginning of a message of 2^62 bytes, and nothing more",
        |s| {
            s.out.extend_from_slice(&[LAST | BINARY, 127, 0x40, 0, 0, 0, 0, 0, 0, 0, b'a']);
        },
    ),
    row(
        "ws-cut-in-frame-head",
        "6455 5.2",
        "half of a frame's head, then a close of the connection",
        |s| {
            s.out.extend_from_slice(&[LAST | TEXT, 126, 0]);
            s.closing = true;
        },
    ),
    row(
        "ws-cut-in-message",
        "6455 5.4",
        "a message without its last frame, then a close of the connection",
        |s| {
            s.frame(TEXT, BODY);
            s.closing = true;
        },
    ),
    row("ws-cut", "6455 7.1.5", "a close of the connection without a close frame", |s| {
        s.closing = true;
    }),
    row("ws-utf8", "6455 8.1", "a text message that is no UTF-8", |s| {
        s.frame(LAST | TEXT, b"abc\xc3\x28");
    }),
    row("ws-utf8-cut", "6455 8.1", "a text message that ends within a character", |s| {
        s.frame(LAST | TEXT, b"abc\xe2\x82");
    }),
    row("ws-utf8-surrogate", "6455 8.1", "a text message with a surrogate, in two frames", |s| {
        s.frame(TEXT, b"abc\xed");
        s.frame(LAST | CONTINUATION, b"\xa0\x80");
    }),
    row("ws-close-length-1", "6455 5.5.1", "a close with half of a code", |s| {
        s.frame(LAST | CLOSE, &[3]);
        s.closing = true;
    }),
    row("ws-close-0", "6455 7.4.2", "a close with code 0", closes::<0>),
    row("ws-close-999", "6455 7.4.2", "a close with code 999", closes::<999>),
    row("ws-close-1004", "6455 7.4.1", "a close with code 1004, which is reserved", closes::<1004>),
    row(
        "ws-close-1005",
        "6455 7.4.1",
        "a close with code 1005, which is never sent",
        closes::<1005>,
    ),
    row(
        "ws-close-1006",
        "6455 7.4.1",
        "a close with code 1006, which is never sent",
        closes::<1006>,
    ),
    row(
        "ws-close-1015",
        "6455 7.4.1",
        "a close with code 1015, which is never sent",
        closes::<1015>,
    ),
    row("ws-close-5000", "6455 7.4.2", "a close with code 5000", closes::<5000>),
    row("ws-close-reason", "6455 5.5.1", "a close whose reason is no UTF-8", |s| {
        s.frame(LAST | CLOSE, b"\x03\xe8\xff\xfe");
        s.closing = true;
    }),
    row(
        "ws-close-1000",
        "6455 7.4.1",
        "a close with code 1000 in place of a reply",
        closes::<1000>,
    ),
    row(
        "ws-close-1011",
        "6455 7.4.1",
        "a close with code 1011 in place of a reply",
        closes::<1011>,
    ),
    row("ws-close-without-code", "6455 5.5.1", "a close without a code in place of a reply", |s| {
        s.frame(LAST | CLOSE, b"");
        s.closing = true;
    }),
    row("ws-deflate-not-agreed", "7692 6", "a compressed message, which was not agreed on", |s| {
        s.frame(LAST | COMPRESSED | TEXT, &[0x4b, 0x4c, 0x4a, 0x06, 0x00]);
    }),
    row(
        "ws-deflate-garbage",
        "7692 7.2.2",
        "a compressed message that is no DEFLATE; with --ws-deflate",
        |s| {
            s.frame(LAST | COMPRESSED | TEXT, &[0xff; 40]);
        },
    ),
    row(
        "ws-deflate-bomb",
        "7692 8",
        "a compressed message of 256 MiB in 260 kB; with --ws-deflate",
        |s| {
            s.frame(LAST | COMPRESSED | BINARY, &bomb(256));
        },
    ),
    row(
        "ws-rare-fragments",
        "6455 5.4",
        "a message in four frames, two of them empty, with pings between",
        |s| {
            s.frame(TEXT, b"");
            s.frame(LAST | PING, b"between");
            s.frame(CONTINUATION, &BODY[..5]);
            s.frame(LAST | PONG, b"unasked");
            s.frame(CONTINUATION, b"");
            s.frame(LAST | CONTINUATION, &BODY[5..]);
            s.is_reply = true;
        },
    ),
    row("ws-rare-empty", "6455 5.6", "an empty message", |s| {
        s.frame(LAST | BINARY, b"");
        s.is_reply = true;
    }),
    row("ws-rare-character-cut", "6455 5.6", "text whose characters are cut between frames", |s| {
        let text = "h\u{e9} \u{20ac} \u{1f980}".as_bytes();
        text.iter()
            .enumerate()
            .for_each(|(at, byte)| s.frame(if at == 0 { TEXT } else { CONTINUATION }, &[*byte]));
        s.frame(LAST | CONTINUATION, b"");
        s.is_reply = true;
    }),
    row("ws-rare-pings", "6455 5.5.2", "1000 pings before the reply", |s| {
        (0..1000_u16).for_each(|number| s.frame(LAST | PING, &number.to_be_bytes()));
        s.reply();
    }),
    greeting(
        "ws-rare-handshake",
        "6455 4.1",
        "field names and values in other cases, and further fields",
        |s| {
            let accept = format!("sec-websocket-accept:   {}", accept(&s.key));
            let fields =
                ["connection: keep-alive, UPGRADE", "upgrade: WebSocket", "Server: lab", &accept];
            s.answer("101 whatever", &fields);
        },
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_description_and_rare_ones_reply() {
        for row in ROWS {
            let HostileReply::WebSocket(write) = row.writer else {
                panic!("{} is not of WebSocket", row.name)
            };
            let mut output = WebSocketRowOutput::default();
            write(&mut output);
            assert!(output.closing || !output.out.is_empty(), "{}", row.name);
            assert_eq!(
                output.is_reply,
                row.name.contains("-rare-") && row.trigger == Trigger::Request,
                "{}",
                row.name
            );
        }
    }
}

//! Tests `WebSocket`s over loopback sockets.

use std::io::{Read, Write};

use super::tests::Lab;
use crate::websocket::frames::{BINARY, CLOSE, CONTINUATION, LAST, PING, PONG, TEXT, masked};

/// A WebSocket that is open or being opened.
struct Client<S>(S);

impl<S: Read + Write> Client<S> {
    /// Opens a WebSocket for a path, and sends these bytes of frames with the handshake.
    fn open(mut stream: S, path: &str, first: &[u8]) -> Self {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: lab\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(&[request.as_bytes(), first].concat()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        assert!(
            head.starts_with("HTTP/1.1 101 ")
                && head.contains("Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            "{head}"
        );
        Self(stream)
    }

    fn send(&mut self, first: u8, payload: &[u8]) {
        self.0.write_all(&masked(first, payload)).unwrap();
    }

    /// Returns the first byte and the payload of the next frame.
    fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        let more = match head[1] {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let mut length = [0; 8];
        self.0.read_exact(&mut length[8 - more..]).unwrap();
        let length =
            if more == 0 { usize::from(head[1]) } else { u64::from_be_bytes(length) as usize };
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).unwrap();
        (head[0], payload)
    }

    /// Returns the code of the close, which must be the next frame and the last.
    fn closed(&mut self) -> u16 {
        let (first, payload) = self.frame();
        assert_eq!((first, self.rest()), (LAST | CLOSE, Vec::new()));
        u16::from_be_bytes(payload.try_into().unwrap())
    }

    fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset also ends the connection.
        let _ = self.0.read_to_end(&mut rest);
        rest
    }
}

fn open(lab: &Lab, path: &str) -> Client<std::net::TcpStream> {
    Client::open(lab.connect(), path, b"")
}

#[test]
fn each_message_has_a_reply_of_its_kind_and_is_counted() {
    for line in ["--body 5", "--body 5 --service const:1ms --workers 1"] {
        let lab = Lab::start(line);
        let mut client = Client::open(lab.connect(), "/", &masked(LAST | TEXT, b"first"));
        assert_eq!(client.frame(), (LAST | TEXT, b"abcde".to_vec()));
        client.send(TEXT, b"in ");
        client.send(LAST | PING, b"between");
        client.send(CONTINUATION, b"three ");
        assert_eq!(client.frame(), (LAST | PONG, b"between".to_vec()));
        client.send(LAST | CONTINUATION, b"frames");
        client.send(LAST | BINARY, &vec![0; 70_000]);
        assert_eq!(client.frame(), (LAST | TEXT, b"abcde".to_vec()));
        assert_eq!(client.frame(), (LAST | BINARY, b"abcde".to_vec()));
        client.send(LAST | CLOSE, &1000_u16.to_be_bytes());
        assert_eq!(client.closed(), 1000);
        let report = lab.end();
        assert_eq!(
            (report.requests.received, report.requests.answered, report.requests.malformed),
            (3, 3, 0)
        );
        assert_eq!(
            (report.requests.by_status.get(&101), report.websocket.connections),
            (Some(&3), 1)
        );
        assert_eq!(report.connections.closed, 1);
    }
}

#[test]
fn paths_and_options_work_as_over_http() {
    let lab = Lab::start("--record --chunked --keepalive-requests 2 --idle-timeout 200ms");
    let mut client = open(&lab, "/bytes/20000");
    client.send(LAST | BINARY, b"");
    let frames = [client.frame(), client.frame()];
    assert_eq!(
        frames.map(|(first, payload)| (first, payload.len())),
        [(BINARY, 16_384), (LAST, 3_616)]
    );
    client.send(LAST | TEXT, b"");
    assert_eq!([client.frame().0, client.frame().0, client.frame().0], [TEXT, LAST, LAST | CLOSE]);
    assert_eq!(open(&lab, "/delay/30").closed(), 1001, "idle");
    let refused = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\nConnection: close\r\n\r\n";
    assert!(
        lab.ask(&format!("GET /status/404 HTTP/1.1\r\n{refused}")).starts_with("HTTP/1.1 404 ")
    );
    lab.end();
    let lab = Lab::start("--service const:5ms");
    let mut client = open(&lab, "/delay/30");
    client.send(LAST | TEXT, b"x");
    client.frame();
    let truth = lab.end().truth.sojourn_seconds.unwrap();
    assert_eq!((truth.count, truth.p50), (1, 0.035));
}

#[test]
fn an_echo_is_the_message() {
    let lab = Lab::start("--echo --tls");
    let mut client = Client::open(lab.connect_tls(&[b"http/1.1"]), "/", b"");
    client.send(TEXT, b"Hel");
    client.send(LAST | CONTINUATION, b"lo");
    assert_eq!(client.frame(), (LAST | TEXT, b"Hello".to_vec()));
    client.send(LAST | BINARY, &vec![7; 70_000]);
    assert_eq!(client.frame(), (LAST | BINARY, vec![7; 70_000]));
    lab.end();
}

#[test]
fn a_protocol_violation_of_a_client_is_answered_with_a_close_frame() {
    let lab = Lab::start("");
    let mut client = open(&lab, "/");
    client.0.write_all(&[LAST | TEXT, 1, b'x']).unwrap();
    assert_eq!(client.closed(), 1002);
    let report = lab.end();
    assert_eq!((report.requests.received, report.requests.malformed), (0, 1));
    assert!(report.websocket.first_error.unwrap().contains("unmasked frame"));
}

#[test]
fn failures_affect_messages_like_requests() {
    for (kind, expected) in [
        ("503", &[LAST | CLOSE, 2, 3, 243][..]),
        ("reset", b""),
        ("close", b""),
        ("close-early", &[LAST | TEXT, 10, b'a', b'b', b'c', b'd', b'e']),
        ("truncate-head", &[LAST | TEXT]),
    ] {
        let lab = Lab::start(&format!("--fail 1:{kind}"));
        let mut client = open(&lab, "/");
        client.send(LAST | TEXT, b"x");
        assert_eq!(client.rest(), expected, "{kind}");
        assert_eq!(lab.end().requests.failed_by_kind[kind], 1);
    }
}

#[test]
fn a_slow_reply_is_not_interrupted_by_a_pong() {
    let lab = Lab::start("--fail 1:slow --drip 5ms --record");
    let mut client = open(&lab, "/");
    client.send(LAST | TEXT, b"x");
    std::thread::sleep(std::time::Duration::from_millis(15));
    client.send(LAST | PING, b"hi");
    assert_eq!(client.frame(), (LAST | TEXT, b"abcdefghij".to_vec()));
    assert_eq!(client.frame(), (LAST | PONG, b"hi".to_vec()));
    assert!((lab.end().truth.sojourn_seconds.unwrap().max - 0.055).abs() < 1e-9);
}

//! Tests the complete server over loopback sockets, with HTTP/2.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::tests::Lab;
use crate::h2::frame::{self, FrameHead, HEAD, PREFACE, flag, kind, setting, word};
use crate::h2::hpack::block;

/// A client that only knows frames.
pub(super) struct Client<S> {
    socket: S,
    held: Vec<u8>,
    decoder: fluke_hpack::Decoder<'static>,
}

/// Received frames of a connection, one per line.
type Lines = Vec<String>;

impl Client<TcpStream> {
    pub(super) fn new(lab: &Lab) -> Self {
        Self::on(lab.connect(), &[])
    }
}

impl<S: Read + Write> Client<S> {
    /// Sends the preface and settings, and acknowledges the settings of the server in advance.
    fn on(socket: S, settings: &[(u16, u32)]) -> Self {
        let mut client = Self { socket, held: Vec::new(), decoder: fluke_hpack::Decoder::new() };
        let mut bytes = PREFACE.to_vec();
        frame::put_settings(&mut bytes, settings);
        frame::put_frame(&mut bytes, kind::SETTINGS, flag::ACK, 0, &[]);
        client.socket.write_all(&bytes).unwrap();
        client
    }

    pub(super) fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let mut bytes = Vec::new();
        frame::put_frame(&mut bytes, kind, flags, stream, payload);
        self.socket.write_all(&bytes).unwrap();
    }

    fn head(&mut self, stream: u32, method: &str, path: &str, flags: u8) {
        let fields =
            [(":method", method), (":scheme", "http"), (":path", path), (":authority", "lab")];
        self.send(kind::HEADERS, flags | flag::END_HEADERS, stream, &block(&fields));
    }

    /// Sends requests that reach the server together.
    fn get_together(&mut self, streams: &[u32], path: &str) {
        let fields = block(&[
            (":method", "GET"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "lab"),
        ]);
        let mut bytes = Vec::new();
        for stream in streams {
            frame::put_frame(
                &mut bytes,
                kind::HEADERS,
                flag::END_STREAM | flag::END_HEADERS,
                *stream,
                &fields,
            );
        }
        self.socket.write_all(&bytes).unwrap();
    }

    /// Opens a WebSocket.
    pub(super) fn connect(&mut self, stream: u32, path: &str) {
        let fields = [
            (":method", "CONNECT"),
            (":protocol", "websocket"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "lab"),
            ("sec-websocket-version", "13"),
        ];
        self.send(kind::HEADERS, flag::END_HEADERS, stream, &block(&fields));
    }

    pub(super) fn get(&mut self, stream: u32, path: &str) {
        self.head(stream, "GET", path, flag::END_STREAM);
    }

    /// Returns the next frame as a line; None at the end.
    fn next(&mut self) -> Option<String> {
        loop {
            if let Some(head) = FrameHead::parse(&self.held)
                && self.held.len() >= HEAD + head.length
            {
                let bytes: Vec<u8> = self.held.drain(..HEAD + head.length).collect();
                return Some(self.line(head, &bytes[HEAD..]));
            }
            let mut buffer = [0; 4096];
            match self.socket.read(&mut buffer) {
                Ok(0) => {
                    return (!self.held.is_empty())
                        .then(|| format!("{} odd bytes", self.held.drain(..).count()));
                }
                Ok(count) => self.held.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return Some("ConnectionReset".to_owned());
                }
                Err(error) => return Some(format!("{error} after all")),
            }
        }
    }

    fn line(&mut self, head: FrameHead, payload: &[u8]) -> String {
        let end = if head.kind <= 1 && head.has(flag::END_STREAM) { " end" } else { "" };
        let text = match head.kind {
            kind::HEADERS => {
                let fields = self.decoder.decode(payload).unwrap();
                let status = fields.into_iter().find(|(name, _)| name == b":status");
                status
                    .map(|(_, value)| String::from_utf8_lossy(&value).into_owned())
                    .unwrap_or_default()
            }
            kind::DATA if payload.len() > 20 => format!("{} bytes", payload.len()),
            kind::DATA => payload.iter().copied().map(char::from).collect(),
            kind::SETTINGS if head.has(flag::ACK) => "ack".to_owned(),
            kind::SETTINGS => "settings".to_owned(),
            kind::RST_STREAM => format!("reset {}", word(payload)),
            kind::WINDOW_UPDATE => format!("window {}", word(payload)),
            kind::GOAWAY => {
                format!(
                    "goaway {} {} {}",
                    word(payload),
                    word(&payload[4..]),
                    String::from_utf8_lossy(&payload[8..])
                )
            }
            kind::PING => "ping".to_owned(),
            other => format!("frame {other}"),
        };
        format!("{}: {text}{end}", head.stream)
    }

    /// Returns the frames up to this line, without settings and windows of the connection.
    pub(super) fn until(&mut self, last: &str) -> Lines {
        let mut lines = Lines::new();
        while let Some(line) = self.next() {
            assert!(!line.ends_with("after all"), "{last} did not come, but {lines:?}");
            let done = line == last;
            if !["0: settings", "0: ack"].contains(&line.as_str()) && !line.starts_with("0: window")
            {
                lines.push(line);
            }
            if done {
                return lines;
            }
        }
        panic!("{last} did not come, but {lines:?}");
    }

    /// Returns the frames up to the end of the connection.
    fn rest(&mut self) -> Lines {
        let lines: Lines = std::iter::from_fn(|| self.next()).take(1000).collect();
        lines
            .into_iter()
            .filter(|line| {
                !line.contains("settings")
                    && !line.contains("ack")
                    && !line.starts_with("0: window")
            })
            .collect()
    }
}

#[test]
fn a_reply_is_given_and_counted() {
    let lab = Lab::start("--body 5 --status 201");
    let mut client = Client::new(&lab);
    client.get(1, "/");
    assert_eq!(client.until("1: abcde end"), ["1: 201", "1: abcde end"]);
    client.head(3, "HEAD", "/", flag::END_STREAM);
    assert_eq!(client.until("3: 201 end"), ["3: 201 end"]);
    client.send(kind::PING, 0, 0, b"pingping");
    assert_eq!(client.until("0: ping"), ["0: ping"]);
    drop(client);
    let report = lab.end();
    assert_eq!(
        (report.requests.received, report.requests.answered, report.http2.connections),
        (2, 2, 1)
    );
    assert_eq!(report.http2.first_error, None);
}

#[test]
fn both_versions_are_distinguished_by_their_first_bytes() {
    let lab = Lab::start("");
    for cut in [1, 2, 3, 23] {
        let mut socket = lab.connect();
        socket.write_all(&PREFACE[..cut]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let rest = TcpPiece { socket, skip: cut };
        let mut client = Client::on(rest, &[]);
        client.get(1, "/status/204");
        assert_eq!(client.until("1: 204 end"), ["1: 204 end"]);
    }
    let mut socket = lab.connect();
    for piece in ["P", "ROPFIND / HTTP/1.0\r\n\r\n"] {
        socket.write_all(piece.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let mut reply = String::new();
    socket.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert_eq!(lab.end().http2.connections, 4);
    let old = Lab::start("--http 1.1");
    assert!(old.ask(str::from_utf8(PREFACE).unwrap()).starts_with("HTTP/1.1 400"));
    let new = Lab::start("--http 2");
    assert!(new.ask("GET / HTTP/1.1\r\n\r\n").contains("no connection preface"));
    assert_eq!((old.end().http2.connections, new.end().requests.malformed), (0, 1));
}

/// Omits the first bytes that are written.
struct TcpPiece {
    socket: TcpStream,
    skip: usize,
}

impl Write for TcpPiece {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let skip = std::mem::take(&mut self.skip);
        self.socket.write_all(&bytes[skip..]).map(|()| bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Read for TcpPiece {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.socket.read(buffer)
    }
}

#[test]
fn http2_is_negotiated_by_alpn() {
    let lab = Lab::start("--tls --body 300k");
    let mut client = Client::on(
        lab.connect_tls(&[b"h2", b"http/1.1"]),
        &[(setting::INITIAL_WINDOW_SIZE, 1 << 20)],
    );
    client.send(kind::WINDOW_UPDATE, 0, 0, &(1u32 << 20).to_be_bytes());
    client.get(1, "/");
    let lines = client.until("1: 12288 bytes end");
    assert_eq!((lines.len(), lines[0].as_str()), (20, "1: 200"));
    drop(client);
    assert_eq!(lab.end().requests.answered, 1);
    let old = Lab::start("--tls --http 1.1");
    let mut stream = old.connect_tls(&[b"h2", b"http/1.1"]);
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert_eq!(old.end().http2.connections, 0);
}

#[test]
fn a_request_upgrades_its_connection() {
    let lab = Lab::start("--service const:5ms");
    let mut socket = lab.connect();
    let request = "GET /status/404 HTTP/1.1\r\nHost: lab\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\
                   HTTP2-Settings: AAQAAAAD\r\n\r\n";
    socket.write_all(request.as_bytes()).unwrap();
    let mut told = [0; 71];
    socket.read_exact(&mut told).unwrap();
    assert_eq!(&told[..], crate::h2::upgrade::SWITCHING);
    let mut client = Client::on(socket, &[(setting::INITIAL_WINDOW_SIZE, 3)]);
    assert_eq!(client.until("1: abc"), ["1: 404", "1: abc"]);
    client.send(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 100]);
    assert_eq!(client.until("1: defghij end"), ["1: defghij end"]);
    client.get(3, "/status/204");
    assert_eq!(client.until("3: 204 end"), ["3: 204 end"]);
    drop(client);
    let report = lab.end();
    assert_eq!(
        (report.requests.answered, report.http2.connections, report.connections.accepted),
        (2, 1, 1)
    );
}

#[test]
fn replies_are_sent_when_they_are_due() {
    let lab = Lab::start("--record --workers 0");
    let mut client = Client::new(&lab);
    for (stream, delay) in [(1, 90), (3, 10), (5, 50)] {
        client.get(stream, &format!("/delay/{delay}"));
    }
    let lines = client.until("1: abcdefghij end");
    let streams: Vec<&str> =
        lines.iter().filter(|line| line.ends_with("end")).map(|line| &line[..1]).collect();
    assert_eq!(streams, ["3", "5", "1"]);
    drop(client);
    let sojourn = lab.end().truth.sojourn_seconds.unwrap();
    assert_eq!((sojourn.count, sojourn.max), (3, 0.09));
}

#[test]
fn streams_wait_for_the_one_worker() {
    let lab = Lab::start("--service const:20ms --workers 1");
    let mut client = Client::new(&lab);
    (0..5).for_each(|n| client.get(1 + 2 * n, "/"));
    client.until("9: abcdefghij end");
    drop(client);
    let truth = lab.end().truth;
    let (sojourn, written) = (truth.sojourn_seconds.unwrap(), truth.written_seconds.unwrap());
    assert_eq!((sojourn.count, written.count, truth.stamped_by_kernel), (5, 5, 5));
    assert!(
        sojourn.max > 0.09 && sojourn.max <= 0.1 && written.max >= sojourn.max,
        "{sojourn:?} {written:?}"
    );
}

#[test]
fn connections_end_after_their_share_of_requests() {
    for line in ["--keepalive-requests 3", "--requests-per-connection 3 --service const:5ms"] {
        let lab = Lab::start(line);
        let mut client = Client::new(&lab);
        client.get_together(&[1, 3, 5, 7, 9], "/status/204");
        let mut lines = client.rest();
        lines.sort();
        assert_eq!(lines, ["0: goaway 5 0 ", "1: 204 end", "3: 204 end", "5: 204 end"]);
        drop(client);
        let report = lab.end();
        assert_eq!(
            (report.requests.received, report.http2.goaways, report.http2.after_goaway),
            (3, 1, 2)
        );
    }
}

#[test]
fn idle_connections_get_goaway() {
    let lab = Lab::start("--idle-timeout 50ms");
    let mut client = Client::new(&lab);
    client.get(1, "/status/204");
    assert_eq!(client.rest(), ["1: 204 end", "0: goaway 1 0 "]);
    lab.end();
}

#[test]
fn failures_fail_as_they_are_named() {
    for (kind, expected) in [
        ("503", &["1: 503", "1: abcdefghij end"][..]),
        ("reset", &["1: reset 2"]),
        ("refused", &["1: reset 7"]),
        ("goaway", &["0: goaway 0 0 "]),
        ("close", &[]),
        ("reset-connection", &["ConnectionReset"]),
        ("close-early", &["1: 200", "1: abcde", "1: reset 2"]),
        ("garbage", &["28 odd bytes"]),
        ("truncate-head", &["20 odd bytes"]),
        (
            "slow",
            &[
                "1: 200", "1: a", "1: b", "1: c", "1: d", "1: e", "1: f", "1: g", "1: h", "1: i",
                "1: j end",
            ],
        ),
        ("extra", &["1: 200", "1: abcdefghij end", "1: 40 bytes"]),
    ] {
        for service in ["", " --service const:1ms"] {
            let lab = Lab::start(&format!("--fail 1:{kind} --drip 1ms{service}"));
            let mut client = Client::new(&lab);
            client.get(1, "/");
            let lines = match expected.last() {
                Some(last)
                    if last.starts_with('1') && !last.ends_with("bytes")
                        || last.ends_with("40 bytes") =>
                {
                    client.until(last)
                }
                _ => client.rest(),
            };
            assert_eq!(lines, expected, "{kind}");
            drop(client);
            let report = lab.end();
            assert_eq!(report.requests.failed_by_kind.get(kind), Some(&1), "{kind}");
            let answered = ["503", "slow", "extra"].contains(&kind);
            assert_eq!(report.requests.answered, u64::from(answered), "{kind}");
        }
    }
}

#[test]
fn streams_beyond_the_maximum_are_refused() {
    let lab = Lab::start("--h2-streams 2 --service const:30ms");
    let mut client = Client::new(&lab);
    (0..3).for_each(|n| client.get(1 + 2 * n, "/status/204"));
    assert_eq!(client.until("3: 204 end"), ["5: reset 7", "1: 204 end", "3: 204 end"]);
    client.get(7, "/status/204");
    client.until("7: 204 end");
    drop(client);
    let report = lab.end();
    assert_eq!((report.requests.received, report.http2.refused), (3, 1));
}

#[test]
fn bodies_are_delayed_by_a_small_window() {
    let lab = Lab::start("--h2-window 10 --echo");
    let mut client = Client::new(&lab);
    client.head(1, "POST", "/", 0);
    let mut bytes = Vec::new();
    frame::put_frame(&mut bytes, kind::DATA, 0, 1, b"0123");
    frame::put_frame(&mut bytes, kind::DATA, flag::PADDED, 1, &[2, b'4', 0, 0]);
    client.socket.write_all(&bytes).unwrap();
    assert_eq!(
        client.until("1: window 5"),
        ["1: window 3", "1: window 5"],
        "the padding, and the bytes"
    );
    client.send(kind::DATA, flag::END_STREAM, 1, b"56789");
    let lines = client.until("1: 38 bytes end");
    assert_eq!(lines, ["1: 200", "1: 38 bytes end"]);
    client.head(3, "POST", "/", 0);
    client.send(kind::DATA, 0, 3, b"0123456789a");
    assert_eq!(client.until("3: reset 3"), ["3: reset 3"]);
    drop(client);
    let report = lab.end();
    assert_eq!(report.requests.malformed, 1);
    let error = report.http2.first_error.unwrap();
    assert!(error.contains("stream 3") && error.contains("flow-control"), "{error}");
}

#[test]
fn a_protocol_violation_ends_the_connection_and_is_reported() {
    let lab = Lab::start("");
    let mut client = Client::new(&lab);
    client.get(1, "/status/204");
    client.until("1: 204 end");
    client.send(kind::DATA, 0, 5, b"on an idle stream");
    assert_eq!(client.rest(), ["0: goaway 1 1 "]);
    let report = lab.end();
    assert_eq!((report.requests.malformed, report.http2.goaways), (1, 1));
    let error = report.http2.first_error.unwrap();
    assert!(error.contains("protocol"), "{error}");
}

#[test]
fn replies_stay_within_the_windows_of_the_client() {
    let lab = Lab::start("");
    let mut client = Client::on(lab.connect(), &[(setting::INITIAL_WINDOW_SIZE, 4)]);
    client.get(1, "/");
    client.get(3, "/");
    let mut lines = client.until("3: abcd");
    lines.sort();
    assert_eq!(lines, ["1: 200", "1: abcd", "3: 200", "3: abcd"]);
    client.send(kind::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 6]);
    assert_eq!(client.until("3: efghij end"), ["3: efghij end"]);
    client.send(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 2]);
    client.send(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 2]);
    client.send(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]);
    assert_eq!(client.until("1: e"), ["1: e"]);
    client.send(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 99]);
    assert_eq!(client.until("1: fghij end"), ["1: fghij end"]);
    drop(client);
    assert_eq!(lab.end().requests.answered, 2);
}

#[test]
fn hostile_rows_are_sent_instead_of_replies() {
    let lab = Lab::start("--hostile ping-length");
    let mut client = Client::new(&lab);
    client.get(1, "/");
    assert_eq!(client.until("0: ping"), ["0: ping"]);
    drop(client);
    assert_eq!(lab.end().requests.answered, 0);
    let flood = Lab::start("--hostile settings-flood --http 2");
    let mut client = Client::new(&flood);
    client.get(1, "/");
    (0..100_000).for_each(|_| drop(client.next().unwrap()));
    drop(client);
    flood.end();
    let early = Lab::start("--hostile rare-early-reply");
    let mut client = Client::new(&early);
    client.head(1, "POST", "/", 0);
    assert_eq!(client.until("1: reset 0"), ["1: 200", "1: abcdefghij end", "1: reset 0"]);
    client.send(kind::DATA, flag::END_STREAM, 1, b"late");
    client.get(3, "/");
    client.until("3: abcdefghij end");
    drop(client);
    let report = early.end();
    assert_eq!((report.requests.answered, report.http2.first_error), (2, None));
}

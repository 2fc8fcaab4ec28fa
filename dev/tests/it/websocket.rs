//! Tests WebSocket with an echo server and with the lab.
//!
//! * `http2`: streams of HTTP/2. `jmeter`: samplers of plugins of JMeter. `pushes`: unsolicited
//!   messages, and ends. `rows`: the hostile rows of the lab.

mod http2;
mod jmeter;
mod pushes;
mod rows;

use crate::world::brunt::run_stored_plan;
use crate::world::measure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::{DeflateDecoder, DeflateEncoder};
use sha1::{Digest, Sha1};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Behavior of the server for each message.
#[derive(Clone, Copy, PartialEq)]
enum Behavior {
    Echo,
    /// Sends a ping and another message first, and then the echo in two frames.
    Chatty,
    /// Closes with this code.
    Close(u16),
    /// Sends an invalid frame.
    Garbage,
    /// Sends the echo compressed, in two frames.
    Deflate,
    /// The same, but each message refers to earlier ones (context takeover), as with most servers.
    DeflateWithContext,
}

#[derive(Default)]
struct Counts {
    connections: AtomicU64,
    messages: AtomicU64,
    pongs: AtomicU64,
    pings: AtomicU64,
}

/// Starts a server on a free port, until the test ends.
fn server(manner: Behavior) -> (String, Arc<Counts>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("ws://{}/chat?room=1", listener.local_addr().expect("its address"));
    let counts = Arc::new(Counts::default());
    let shared = Arc::clone(&counts);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counts = Arc::clone(&shared);
            // Errors only mean that the client closed the connection.
            thread::spawn(move || drop(serve(stream, manner, &counts)));
        }
    });
    (url, counts)
}

/// Opens a WebSocket without extensions.
fn upgrade(stream: &mut TcpStream) -> std::io::Result<()> {
    let head = read_head(stream)?;
    stream.write_all(format!("{}\r\n\r\n", answer_to(&head)).as_bytes())
}

/// Reads the head of the request for a WebSocket.
fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// Answer to that head, without the blank line at its end.
fn answer_to(head: &str) -> String {
    assert!(
        head.starts_with("GET /chat?room=1 HTTP/1.1\r\n") && head.contains("Upgrade: websocket"),
        "{head}"
    );
    let key =
        head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).expect("a key");
    let accept =
        STANDARD.encode(Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")));
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}"
    )
}

fn serve(mut stream: TcpStream, manner: Behavior, counts: &Counts) -> std::io::Result<()> {
    let head = read_head(&mut stream)?;
    // The offer of browsers.
    let field = "Sec-WebSocket-Extensions: permessage-deflate";
    let is_offered = head.contains(&format!("{field}; client_max_window_bits\r\n"));
    let separately = "; server_no_context_takeover; client_no_context_takeover";
    let extension = match manner {
        Behavior::Deflate if is_offered => format!("\r\n{field}{separately}"),
        Behavior::DeflateWithContext if is_offered => format!("\r\n{field}"),
        _ => String::new(),
    };
    let mut context = DeflateEncoder::new(Vec::new(), Compression::default());
    stream.write_all(format!("{}{extension}\r\n\r\n", answer_to(&head)).as_bytes())?;
    counts.connections.fetch_add(1, Ordering::Relaxed);
    loop {
        let (first, payload) = read_frame(&mut stream)?;
        let opcode = first & 0x0f;
        match (opcode, manner) {
            (10, _) => drop(counts.pongs.fetch_add(1, Ordering::Relaxed)),
            (8, _) => return stream.write_all(&frame(0x88, &payload)),
            (9, _) => {
                counts.pings.fetch_add(1, Ordering::Relaxed);
                let news = if manner == Behavior::Chatty {
                    [frame(0x8a, b"another"), frame(0x81, b"news")].concat()
                } else {
                    Vec::new()
                };
                stream.write_all(&[news, frame(0x8a, &payload)].concat())?;
            }
            (1 | 2, Behavior::Echo) => stream.write_all(&frame(0x80 | opcode, &payload))?,
            (1 | 2, Behavior::Chatty) => {
                let (first, second) = payload.split_at(payload.len() / 2);
                let all = [
                    frame(0x89, b"hi"),
                    frame(0x81, b"news"),
                    frame(opcode, first),
                    frame(0x80, second),
                ];
                stream.write_all(&all.concat())?;
            }
            (1 | 2, Behavior::Close(code)) => {
                return stream.write_all(&frame(0x88, &code.to_be_bytes()));
            }
            (1 | 2, Behavior::Deflate | Behavior::DeflateWithContext) => {
                let payload = if first & 0x40 == 0 { payload } else { inflated(payload)? };
                if manner == Behavior::Deflate {
                    context = DeflateEncoder::new(Vec::new(), Compression::default());
                }
                context.write_all(&payload)?;
                context.flush()?;
                let packed = std::mem::take(context.get_mut());
                let packed = packed.strip_suffix(&[0, 0, 0xff, 0xff]).expect("its end").to_vec();
                let (first, second) = packed.split_at(packed.len() / 2);
                stream.write_all(&[frame(0x40 | opcode, first), frame(0x80, second)].concat())?;
            }
            (1 | 2, Behavior::Garbage) => return stream.write_all(b"\xff\xff\xff\xff"),
            _ => return Ok(()),
        }
        if matches!(opcode, 1 | 2) {
            counts.messages.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Decompresses a message.
fn inflated(packed: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut unpacked = DeflateDecoder::new(Vec::new());
    unpacked.write_all(&[packed, vec![0, 0, 0xff, 0xff]].concat())?;
    unpacked.finish()
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let head = match length {
        0..126 => vec![first, length as u8],
        126..0x1_0000 => [&[first, 126][..], &(length as u16).to_be_bytes()].concat(),
        _ => [&[first, 127][..], &(length as u64).to_be_bytes()].concat(),
    };
    [head, payload.to_vec()].concat()
}

fn read_frame(stream: &mut TcpStream) -> std::io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    assert!(head[0] & 0x80 != 0 && head[1] & 0x80 != 0, "whole messages, masked");
    let mut length = u64::from(head[1] & 0x7f);
    if length > 125 {
        let mut bytes = vec![0; if length == 126 { 2 } else { 8 }];
        stream.read_exact(&mut bytes)?;
        length = bytes.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
    }
    let mut mask = [0; 4];
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut mask)?;
    stream.read_exact(&mut payload)?;
    payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    Ok((head[0] & 0x7f, payload))
}

#[test]
fn messages_are_sent_and_their_echo_awaited() {
    let (url, counts) = server(Behavior::Echo);
    let ran = measure(&format!("{url} --data hello -c 4 -n 2000 --expect-body ^hello$"))
        .assert_all_good();
    assert_eq!((ran.count("completed"), counts.messages.load(Ordering::Relaxed)), (2000, 2000));
    assert_eq!(counts.connections.load(Ordering::Relaxed), 4);
    measure(&format!("{url} --data hello -c 8 -r 500 -d 1s")).assert_all_good();
}

#[test]
fn long_messages_arrive_complete() {
    let (url, _) = server(Behavior::Echo);
    for length in [125, 126, 70_000, 1_000_000] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), vec![b'x'; length]).expect("a file");
        let ran = measure(&format!("{url} --data @{} -c 2 -n 20", file.path().display()))
            .assert_all_good();
        assert_eq!(ran.count("completed"), 20, "{length}");
    }
}

#[test]
fn pings_are_answered_and_other_messages_ignored() {
    let (url, counts) = server(Behavior::Chatty);
    let ran =
        measure(&format!("{url} --data echo-of-this -c 2 -n 100 --expect-body ^echo-of-this$"))
            .assert_all_good();
    assert_eq!((ran.count("completed"), counts.messages.load(Ordering::Relaxed)), (100, 100));
    // The pong for the last message may still be in flight.
    assert!(counts.pongs.load(Ordering::Relaxed) >= 98);
}

#[test]
fn messages_are_compressed_in_both_directions_on_request() {
    let (url, counts) = server(Behavior::Deflate);
    let line = format!("{url} --data {} -c 2 -n 50", "hello,".repeat(300));
    let ran =
        measure(&format!("{line} --compressed --expect-body ^(hello,){{300}}$")).assert_all_good();
    assert!(ran.number("/bytes/received") < 50 * 100, "{}", ran.number("/bytes/received"));
    assert!(ran.number("/bytes/sent") < 50 * 400, "{}", ran.number("/bytes/sent"));
    measure(&format!("{line} --compressed")).assert_all_good();
    assert_eq!(counts.messages.load(Ordering::Relaxed), 100);
    let ran = measure(&line);
    assert_eq!(ran.failed("protocol"), 50, "nothing was offered");
}

#[test]
fn messages_that_refer_to_earlier_ones_are_decompressed() {
    let (url, _) = server(Behavior::DeflateWithContext);
    // It contains no repetitions, so only a reference to an earlier message is short.
    let message: String = (0..300_u32)
        .map(|number| char::from(b'a' + (number * number * 7919 % 25_013 % 26) as u8))
        .collect();
    for (load, connections) in [("-c 1 -n 50", 1), ("-c 3 -n 60", 3), ("-r 200 -n 40 -c 2", 2)] {
        let line = format!("{url} --data {message} {load} --compressed");
        for check in [format!("--expect-body ^{message}$"), String::new()] {
            let ran = measure(&format!("{line} {check}")).assert_all_good();
            let received = ran.number("/bytes/received") / ran.count("completed");
            assert!(received < 300 && connections > 0, "{load} {check}: {received} bytes each");
        }
    }
}

#[test]
fn the_lab_accepts_compressed_messages_in_each_window() {
    for options in ["", "--ws-client-bits 15", "--ws-client-bits 8 --chunked"] {
        let lab = crate::world::lab(&format!("--echo --ws-deflate {options}"));
        let url = lab.url_of("/").replace("http:", "ws:");
        let line = format!("{url} --data {} -c 2 -n 50", "hello,".repeat(300));
        let ran = measure(&format!("{line} --compressed --expect-body ^(hello,){{300}}$"))
            .assert_all_good();
        assert!(ran.number("/bytes/sent") < 50 * 400, "{options}: {}", ran.number("/bytes/sent"));
        assert!(
            ran.number("/bytes/received") < 50 * 100,
            "{options}: {}",
            ran.number("/bytes/received")
        );
        let ran = measure(&format!("{line} --expect-body ^(hello,){{300}}$")).assert_all_good();
        assert!(ran.number("/bytes/sent") > 50 * 1800, "{options}: nothing is offered");
        let knows = lab.into_statistics();
        assert_eq!(
            (&knows["websocket"]["compressed"], &knows["websocket"]["first_error"]),
            (&50.into(), &().into())
        );
    }
}

#[test]
fn several_messages_are_awaited_or_none() {
    let (url, _) = server(Behavior::Chatty);
    // Each message gets two replies: news, and its echo.
    let ran = measure(&format!("{url} --data echo -c 2 -n 50 --reply-events messages,2"))
        .assert_all_good();
    let all = ran.value("/transactions").as_array().expect("a list");
    assert_eq!(
        all.iter().map(|one| one["succeeded"].as_u64()).collect::<Vec<_>>(),
        [Some(50), Some(50)]
    );
    assert_eq!(ran.number("/bytes/received"), 50 * (2 + 4 + 2 + 4 + 2 + 2 + 2));
    // Unsolicited messages must not fill the sockets.
    measure(&format!("{url} --data quiet -c 2 -n 50000 --reply-events messages,0"))
        .assert_all_good();
    // The echo of the last message shows that the server has read all.
    let (url, counts) = server(Behavior::Chatty);
    let plan = format!(
        "load: {{users: 2, iterations: 1}}\nrepetitions: 1\nscenario:\n  steps:\n  - open: {url}\n  - loop: 25000\n    steps:\n    \
         - {{send: \"{url}\", data: quiet, reply_events: \"messages,0\"}}\n  \
         - {{send: \"{url}\", data: last, until: {{matches: \"^last$\"}}}}\n"
    );
    let dir = tempfile::TempDir::new().expect("a directory");
    std::fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let run = run_stored_plan(dir.path());
    assert_eq!(run["requests"]["errors"], 0, "{run}");
    assert_eq!(counts.messages.load(Ordering::Relaxed), 2 * 25_001);
}

#[test]
fn steps_open_ping_and_close() {
    let (url, counts) = server(Behavior::Echo);
    let dir = tempfile::TempDir::new().expect("a directory");
    let plan = format!(
        "load: {{users: 3, iterations: 20}}\nrepetitions: 1\nscenario:\n  steps:\n  - open: {url}\n    name: open\n  \
         - {{send: \"{url}\", data: hello, name: hello, check: {{contains: hello}}}}\n  - ping: {url}\n    name: ping\n  \
         - close: {url}\n    name: close\n"
    );
    std::fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let run = run_stored_plan(dir.path());
    let labels = run["labels"].as_array().expect("labels");
    let expected = ["open", "hello", "ping", "close"].map(|name| (Some(name.to_owned()), Some(60)));
    assert_eq!(
        labels
            .iter()
            .map(|label: &serde_json::Value| {
                (
                    label["label"].as_str().map(str::to_owned),
                    label["requests"]["completed"].as_u64(),
                )
            })
            .collect::<Vec<_>>(),
        expected
    );
    let [connections, messages, pings] = [&counts.connections, &counts.messages, &counts.pings]
        .map(|count| count.load(Ordering::Relaxed));
    assert_eq!((messages, pings), (60, 60));
    assert_eq!(connections, 60, "each iteration closes its own");
    // A pong with another payload than the ping is ignored.
    let (url, counts) = server(Behavior::Chatty);
    let ran = measure(&format!("{url} -X PING -c 2 -n 40")).assert_all_good();
    assert_eq!((ran.count("completed"), counts.pings.load(Ordering::Relaxed)), (40, 40));
}

#[test]
fn a_server_that_closes_or_breaks_the_framing_is_reported() {
    let (url, _) = server(Behavior::Close(1011));
    let ran = measure(&format!("{url} --data x -c 1 -n 5"));
    assert_eq!(ran.value("/outcomes")["close 1011 internal error"], 5, "{}", ran.out);
    let (url, _) = server(Behavior::Garbage);
    let ran = measure(&format!("{url} --data x -c 1 -n 5"));
    assert_eq!(ran.failed("protocol"), 5, "{}", ran.out);
    ran.assert_text(&["RFC 6455"]);
}

#[test]
fn the_lab_counts_each_message() {
    let lab = crate::world::lab("--service const:2ms --fail 5%:503 --body 300 --seed 3");
    let url = lab.url_of("/delay/1").replace("http:", "ws:");
    let ran = measure(&format!("{url} --data x -c 4 -n 400"));
    let failed = ran.value("/outcomes")["close 1011 internal error"].as_u64().unwrap_or(0);
    assert!((5..45).contains(&failed), "{failed}");
    assert_eq!(ran.count("good"), 400 - failed);
    let knows = lab.into_statistics();
    assert_eq!(knows["requests"]["received"], 400);
    assert_eq!(
        (&knows["requests"]["by_status"]["101"], &knows["websocket"]["first_error"]),
        (&(400 - failed).into(), &().into())
    );
    assert_eq!(knows["requests"]["failed_by_kind"]["503"], failed);
    let lab = crate::world::lab("--echo --tls");
    let url = lab.url_of("/").replace("https:", "wss:");
    let ran =
        measure(&format!("{url} --insecure --data hello -r 200 -d 500ms --expect-body ^hello$"))
            .assert_all_good();
    assert_eq!(lab.into_statistics()["requests"]["received"], ran.count("completed"));
}

#[test]
fn a_refused_websocket_is_reported() {
    let lab = crate::world::lab("");
    let url_of = |status: u16| lab.url_of(&format!("/status/{status}")).replace("http:", "ws:");
    for status in [503, 401, 404, 302, 200] {
        // Connections are opened before the load, during it, and for each request.
        for (load, requests) in
            [("-c 1 -n 5", 5), ("-c 4 -n 40", 40), ("-r 100 -n 20", 20), ("-c 2 -n 9 --http 2", 9)]
        {
            // Over HTTP/2, 200 opens a WebSocket.
            if status == 200 && load.contains("--http 2") {
                continue;
            }
            let line = format!("{} --data x {load}", url_of(status));
            let ran = measure(&line);
            let counts = (ran.status(status), ran.count("completed"), ran.count("good"));
            assert_eq!(counts, (requests, requests, 0), "{line}: {}{}", ran.out, ran.err);
            ran.assert_text(&[&format!("it answered with status {status}")]);
            let ran = measure(&format!("{line} --expect-status {status}"));
            assert_eq!(ran.count("good"), requests, "{line}: {}{}", ran.out, ran.err);
        }
    }
    let url = url_of(404);
    let refused = measure(&format!("{url} --http 3 --data x -n 5")).assert_code(2);
    assert!(
        refused.err.contains("WebSocket (ws:// and wss://) does not work with HTTP/3"),
        "{}",
        refused.err
    );
}

//! Sends replies in pieces of any size: the outcome does not depend on how the writes of a server
//! are cut.

use crate::compat::both::ours;
use crate::world::measure;
use crate::world::odd::{ScriptedServer, page, serve_connections};
use std::sync::atomic::{AtomicU64, Ordering};

/// Deterministic pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// Serves a page of this length in pieces of random sizes. If further requests wait, a piece may
/// contain the end of one reply and the beginning of the next.
fn serve_in_pieces(bytes: usize) -> ScriptedServer {
    let reply = page(&"x".repeat(bytes));
    let connections = AtomicU64::new(1);
    serve_connections(move |mut client| {
        let mut numbers = Numbers(connections.fetch_add(1, Ordering::Relaxed));
        let mut to_give = Vec::new();
        while client.request().is_some() {
            to_give.extend_from_slice(reply.as_bytes());
            let keep_back = if client.has_more() { numbers.below(reply.len()) } else { 0 };
            while to_give.len() > keep_back {
                let most = to_give.len() - keep_back;
                let length = [1, 2, 100, 1448, most][numbers.below(5)];
                let piece: Vec<u8> = to_give.drain(..length.min(most)).collect();
                if !client.write(piece) {
                    return;
                }
                if numbers.below(4) == 0 {
                    std::thread::yield_now();
                }
            }
        }
    })
}

const SIZES: [usize; 4] = [3_000, 5_000, 9_000, 40_000];

#[test]
fn bursts_of_httperf_are_read_in_pieces() {
    for bytes in SIZES {
        let server = serve_in_pieces(bytes);
        let port = server.address.port().to_string();
        for burst in ["2", "3", "6", "9"] {
            let words = [
                "--server",
                "127.0.0.1",
                "--port",
                &port,
                "--num-calls",
                "9",
                "--burst-length",
                burst,
            ];
            let output =
                ours("httperf", &[&words[..], &["--num-conns", "5", "--timeout", "20"]].concat());
            assert_eq!(
                output.field("Reply status:"),
                "1xx=0 2xx=45 3xx=0 4xx=0 5xx=0",
                "{bytes} B, burst of {burst}"
            );
        }
    }
}

#[test]
fn sessions_of_httperf_are_read_in_pieces() {
    for bytes in SIZES {
        let server = serve_in_pieces(bytes);
        let port = server.address.port().to_string();
        let words =
            ["--server", "127.0.0.1", "--port", &port, "--wsess=5,9,0.01", "--burst-length", "4"];
        let output = ours("httperf", &[&words[..], &["--timeout", "20"]].concat());
        assert_eq!(output.field("Reply status:"), "1xx=0 2xx=45 3xx=0 4xx=0 5xx=0", "{bytes} B");
    }
}

#[test]
fn a_plain_load_is_read_in_pieces() {
    for bytes in SIZES {
        let server = serve_in_pieces(bytes);
        let ran =
            measure(&format!("{} -c 4 -n 200 --timeout 20s", server.url_of("/"))).assert_all_good();
        assert_eq!((ran.count("good"), ran.connections("opened")), (200, 4), "{bytes} B");
    }
}

#[test]
fn a_searched_body_is_read_in_pieces() {
    let server = serve_in_pieces(9_000);
    let ran = measure(&format!(
        "{} -c 4 -n 100 --timeout 20s --expect-body x{{100}}",
        server.url_of("/")
    ))
    .assert_all_good();
    assert_eq!(ran.count("good"), 100);
}

#[test]
fn a_blank_line_after_a_reply_keeps_the_connection() {
    for pause in [false, true] {
        let server = serve_connections(move |mut client| {
            while client.request().is_some() {
                let is_written = if pause {
                    let page = client.write(page("page"));
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    page && client.write("\r\n")
                } else {
                    client.write(page("page") + "\r\n")
                };
                if !is_written {
                    return;
                }
            }
        });
        let ran =
            measure(&format!("{} -c 1 -n 20 --think 10ms", server.url_of("/"))).assert_all_good();
        assert_eq!((ran.count("good"), ran.connections("opened")), (20, 1), "{}", ran.out);
    }
}

#[test]
fn a_refused_upload_gets_its_reply() {
    let server = serve_connections(|mut client| {
        let mut line = [0; 1000];
        let _ = std::io::Read::read(&mut client.stream, &mut line);
        client.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
        // The server stops reading, and does not close.
        std::thread::sleep(std::time::Duration::from_secs(20));
    });
    let dir = tempfile::TempDir::new().expect("a directory");
    let body = dir.path().join("body");
    std::fs::write(&body, vec![b'x'; 20_000_000]).expect("a body");
    let ran = measure(&format!(
        "{} -c 1 -n 2 --timeout 15s -X POST --data @{}",
        server.url_of("/"),
        body.display()
    ));
    assert_eq!((ran.status(413), ran.count("failed")), (2, 0), "{}", ran.out);
    let sent = ran.number("/bytes/sent");
    assert!(sent > 0 && sent < 40_000_000, "{sent}");
}

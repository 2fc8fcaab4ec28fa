//! Tests `WebSocket`s over streams of HTTP/2.

use super::h2_tests::Client;
use super::tests::Lab;
use crate::h2::frame::{flag, kind};
use crate::websocket::frames::{CLOSE, CONTINUATION, LAST, PING, TEXT, masked};

/// A client with a WebSocket on stream 1.
fn open(lab: &Lab, path: &str) -> Client<std::net::TcpStream> {
    let mut client = Client::new(lab);
    client.connect(1, path);
    client
}

#[test]
fn each_message_has_a_reply_and_is_counted() {
    for line in ["--body 5", "--body 5 --service const:1ms --workers 1"] {
        let lab = Lab::start(line);
        let mut client = open(&lab, "/");
        assert_eq!(client.until("1: 200"), ["1: 200"]);
        client.send(kind::DATA, 0, 1, &[masked(TEXT, b"in "), masked(LAST | PING, b"hi")].concat());
        client.send(kind::DATA, 0, 1, &masked(LAST | CONTINUATION, b"two"));
        assert_eq!(
            client.until("1: \u{81}\u{5}abcde"),
            ["1: \u{8a}\u{2}hi", "1: \u{81}\u{5}abcde"]
        );
        client.get(3, "/");
        assert_eq!(client.until("3: abcde end"), ["3: 200", "3: abcde end"]);
        client.send(kind::DATA, 0, 1, &masked(LAST | CLOSE, &1000_u16.to_be_bytes()));
        assert_eq!(client.until("1: \u{88}\u{2}\u{3}\u{e8} end").len(), 1);
        client.send(kind::DATA, flag::END_STREAM, 1, b"");
        client.connect(5, "/status/404");
        assert_eq!(client.until("5: abcde end"), ["5: 404", "5: abcde end"]);
        drop(client);
        let report = lab.end();
        assert_eq!(
            (report.requests.received, report.requests.answered, report.requests.malformed),
            (3, 3, 0)
        );
        assert_eq!(
            (report.requests.by_status.get(&101), report.websocket.connections),
            (Some(&1), 1)
        );
        assert_eq!(report.http2.first_error, None);
    }
}

#[test]
fn failures_and_protocol_violations_end_the_stream() {
    for (kind_of_failure, expected) in [
        ("503", "1: \u{88}\u{2}\u{3}\u{f3} end"),
        ("reset", "1: reset 2"),
        ("close-early", "1: \u{81}\nabcde end"),
        ("truncate-head", "1: \u{81} end"),
        ("refused", "1: reset 7"),
    ] {
        let lab = Lab::start(&format!("--fail 1:{kind_of_failure}"));
        let mut client = open(&lab, "/");
        client.send(kind::DATA, 0, 1, &masked(LAST | TEXT, b"x"));
        client.until(expected);
        drop(client);
        assert_eq!(lab.end().requests.failed_by_kind[kind_of_failure], 1);
    }
    let lab = Lab::start("");
    let mut client = open(&lab, "/");
    client.send(kind::DATA, 0, 1, &[LAST | TEXT, 1, b'x']);
    client.until("1: \u{88}\u{2}\u{3}\u{ea} end");
    client.connect(3, "/");
    client.until("3: 200");
    client.send(kind::DATA, flag::END_STREAM, 3, b"");
    client.until("3:  end");
    drop(client);
    let report = lab.end();
    assert_eq!(report.requests.malformed, 1);
    assert!(report.websocket.first_error.unwrap().contains("unmasked frame"));
}

#[test]
fn a_slow_reply_keeps_its_position() {
    let lab = Lab::start("--fail 1:slow --drip 5ms --record");
    let mut client = open(&lab, "/");
    client.send(kind::DATA, 0, 1, &masked(LAST | TEXT, b"x"));
    std::thread::sleep(std::time::Duration::from_millis(15));
    client.send(kind::DATA, 0, 1, &masked(LAST | PING, b"hi"));
    let lines = client.until("1: \u{8a}\u{2}hi");
    let all: String = lines.iter().filter_map(|line| line.strip_prefix("1: ")).collect();
    assert_eq!(all, "200\u{81}\nabcdefghij\u{8a}\u{2}hi");
    drop(client);
    assert!((lab.end().truth.sojourn_seconds.unwrap().max - 0.055).abs() < 1e-9);
}

//! Tests servers that break rules of HTTP/3, and the failures that brunt reports.

use crate::world::certs::Authority;
use crate::world::quic::{QuicRule, QuicServer, ScriptedResponse};
use crate::world::{BruntOutput, command, measure};
use tempfile::TempDir;

/// A head with status 200.
const OK: &[u8] = &[1, 3, 0, 0, 0xd9];

/// Runs brunt against a server with these responses. Returns the report and the number of requests.
fn run(
    act: impl Fn(u64) -> ScriptedResponse + Send + 'static,
    options: &str,
) -> (BruntOutput, u64) {
    let dir = TempDir::new().expect("a directory");
    let certificate = Authority::new(dir.path()).certify("localhost");
    let server = QuicServer::start(&certificate, act);
    let resolve = format!("--resolve localhost:{}:127.0.0.1", server.port);
    let ran =
        measure(&format!("https://localhost:{}/ --http 3 -k {resolve} {options}", server.port));
    (ran, server.requests())
}

/// Returns a reply of these pieces.
fn reply(pieces: &[&[u8]]) -> ScriptedResponse {
    ScriptedResponse::Reply(pieces.concat())
}

/// Rows: name, response of the server, kind of failure, and its cause.
fn rows() -> Vec<(&'static str, ScriptedResponse, &'static str, &'static str)> {
    vec![
        ("no reply at all (4.1)", reply(&[]), "protocol", "pseudo_header"),
        ("DATA before HEADERS (4.1)", reply(&[&[0, 1, b'x']]), "protocol", "data_before_head"),
        (
            "a body shorter than its length (4.1.2)",
            reply(&[&[1, 6, 0, 0, 0xd9, 0x54, 1, b'4']]),
            "protocol",
            "body_length",
        ),
        (
            "a frame that the stream ends in (7.1)",
            reply(&[OK, &[0, 9, b'x']]),
            "protocol",
            "h3_frame",
        ),
        ("SETTINGS on a request (7.2.4)", reply(&[OK, &[4, 0]]), "protocol", "h3_frame_unexpected"),
        ("PING of HTTP/2 (7.2.8)", reply(&[OK, &[6, 0]]), "protocol", "h3_frame_unexpected"),
        (
            "DATA behind trailers (4.1)",
            reply(&[OK, b"\x01\x06\0\0\x22ab\0", &[0, 1, b'x']]),
            "protocol",
            "h3_frame_unexpected",
        ),
        ("PUSH_PROMISE (7.2.5)", reply(&[&[5, 1, 0]]), "protocol", "h3_push"),
        ("a dynamic table (QPACK 3.2)", reply(&[&[1, 3, 2, 0, 0x80]]), "protocol", "qpack_block"),
        (
            "a head beyond the limit (4.2.2)",
            reply(&[&[1, 0x80, 0x10, 0, 0, 0]]),
            "protocol",
            "head_too_large",
        ),
        (
            "a reserved setting (7.2.4.1)",
            unidirectional_bytes(b"\0\x04\x02\x03\x01"),
            "protocol",
            "h3_critical_stream",
        ),
        ("SETTINGS twice (7.2.4)", control_bytes(&[4, 0]), "protocol", "h3_settings"),
        (
            "DATA on the control stream (7.2.1)",
            control_bytes(&[0, 0]),
            "protocol",
            "h3_frame_unexpected",
        ),
        ("a GOAWAY that is none (5.2)", control_bytes(&[7, 1, 1]), "protocol", "h3_go_away"),
        ("a push stream (4.6)", unidirectional_bytes(&[1, 0]), "protocol", "h3_push"),
        (
            "an insertion (QPACK 4.3)",
            unidirectional_bytes(&[2, 0x3f, 0xe1, 0x1f]),
            "protocol",
            "qpack_stream",
        ),
        (
            "an acknowledgment (QPACK 4.4)",
            unidirectional_bytes(&[3, 0x80]),
            "protocol",
            "qpack_stream",
        ),
        (
            "the control stream ends (6.2.1)",
            ScriptedResponse::EndControl,
            "protocol",
            "h3_critical_stream",
        ),
        (
            "a reset with H3_INTERNAL_ERROR",
            ScriptedResponse::Reset(0x102),
            "stream_reset",
            "reset_h3_internal_error",
        ),
        (
            "a reset with H3_NO_ERROR",
            ScriptedResponse::Reset(0x100),
            "stream_reset",
            "reset_h3_no_error",
        ),
        (
            "a reset with a code of nobody",
            ScriptedResponse::Reset(0x777),
            "stream_reset",
            "reset_h3_unknown",
        ),
        (
            "a close with H3_EXCESSIVE_LOAD",
            ScriptedResponse::Close(0x107),
            "reset",
            "closed_h3_excessive_load",
        ),
        ("a close with a code of QPACK", ScriptedResponse::Close(0x200), "reset", "closed_qpack"),
        (
            "a close with a code of nobody",
            ScriptedResponse::Close(0x777),
            "reset",
            "closed_h3_unknown",
        ),
    ]
}

fn unidirectional_bytes(bytes: &[u8]) -> ScriptedResponse {
    ScriptedResponse::Uni(bytes.to_vec())
}

fn control_bytes(bytes: &[u8]) -> ScriptedResponse {
    ScriptedResponse::Control(bytes.to_vec())
}

#[test]
fn broken_rules_are_reported_with_their_cause() {
    for (name, act, failure, cause) in rows() {
        let (ran, _) = run(move |_| act.clone(), "-c 1 -n 1");
        assert_eq!(
            (ran.failed(failure), ran.number(&format!("/malformed/{cause}"))),
            (1, 1),
            "{name}: {}",
            ran.out
        );
    }
}

#[test]
fn a_close_without_an_error_and_silence_are_reported() {
    let (ran, _) = run(|_| ScriptedResponse::Close(0x100), "-c 1 -n 1");
    assert_eq!(ran.failed("closed_early"), 1, "{}", ran.out);
    let (ran, _) = run(|_| ScriptedResponse::Silence, "-c 1 -n 2 --timeout 200ms");
    assert_eq!(ran.failed("timeout"), 2, "{}", ran.out);
}

#[test]
fn requests_that_were_not_processed_are_sent_again_once() {
    let (ran, requests) = run(|_| ScriptedResponse::Reset(0x10b), "-c 1 -n 1");
    assert_eq!((ran.failed("unprocessed"), requests), (1, 2), "{}", ran.out);
    let (ran, requests) = run(|_| ScriptedResponse::Control(vec![7, 1, 0]), "-c 1 -n 1");
    assert_eq!((ran.failed("unprocessed"), requests), (1, 2), "{}", ran.out);
    let (ran, requests) = run(
        |n| if n % 2 == 1 { ScriptedResponse::Reset(0x10b) } else { reply(&[OK]) },
        "-c 1 -n 20",
    );
    assert_eq!((ran.assert_all_good().count("good"), requests), (20, 39));
}

#[test]
fn a_connection_that_goes_away_is_replaced() {
    let (ran, requests) =
        run(|_| ScriptedResponse::ControlAndReply(vec![7, 1, 4], OK.to_vec()), "-c 1 -n 6");
    let ran = ran.assert_all_good();
    assert_eq!((ran.count("good"), ran.connections("opened"), requests), (6, 6, 6));
}

#[test]
fn legal_but_rare_replies_are_accepted() {
    let unknown: &[u8] = &[0x21, 3, 1, 2, 3];
    let early: &[u8] = &[1, 3, 0, 0, 0xd8];
    let trailers: &[u8] = b"\x01\x06\0\0\x22ab\0";
    let (ran, _) = run(
        move |_| {
            reply(&[unknown, early, OK, unknown, &[0, 0], &[0, 2, b'o', b'k'], trailers, unknown])
        },
        "-c 2 --streams 4 -n 40 --expect-body ^ok$",
    );
    assert_eq!(ran.assert_all_good().count("good"), 40);
}

#[test]
fn early_data_is_reported_and_refused_data_is_sent_again() {
    let dir = TempDir::new().expect("a directory");
    let certificate = Authority::new(dir.path()).certify("localhost");
    let one = QuicServer::start(&certificate, |_| reply(&[OK]));
    let options = "--http 3 -k --no-keepalive -c 1 -n 20 --early-data";
    let url = format!("https://localhost:{}/", one.port);
    let resolve = format!("--resolve localhost:{}", one.port);
    let ran = measure(&format!("{url} {options} {resolve}:127.0.0.1")).assert_all_good();
    // A connection that ends before its session ticket arrives leaves none for the next.
    assert!(ran.connections("early_accepted") > 0, "{}", ran.out);
    assert_eq!((ran.connections("early_refused"), one.requests()), (0, 20));
    // The second server does not know the sessions of the first.
    let Some(two) =
        QuicServer::start_at(&certificate, &format!("127.0.0.2:{}", one.port), |_| reply(&[OK]))
    else {
        return;
    };
    let ran = measure(&format!("{url} {options} {resolve}:127.0.0.1 {resolve}:127.0.0.2"))
        .assert_all_good();
    assert!(ran.connections("early_refused") > 0, "{}", ran.out);
    assert_eq!(one.requests() + two.requests(), 40);
    // Requests with side effects wait for the end of the handshake.
    let ran =
        measure(&format!("{url} {options} {resolve}:127.0.0.1 --method POST")).assert_all_good();
    assert_eq!(ran.connections("early_accepted") + ran.connections("early_refused"), 0);
}

#[test]
fn a_server_without_a_common_version_is_reported_with_its_versions() {
    let dir = TempDir::new().expect("a directory");
    let certificate = Authority::new(dir.path()).certify("localhost");
    let server = QuicServer::start_with_rule(
        &certificate,
        &QuicRule::Versions(vec![0xff00_001d, 0x6b33_43cf]),
        |_| reply(&[OK]),
    );
    let url = format!("https://127.0.0.1:{}/", server.port);
    let expected = "no version of QUIC that brunt speaks (v1): draft-29, v2";
    let ran = measure(&format!("{url} --http 3 -k -n 5"));
    assert_eq!((ran.code, server.requests()), (3, 0), "{}", ran.err);
    assert!(ran.err.contains(expected), "{}{}", ran.out, ran.err);
    let checked = command(&format!("check {url} --http 3 -k")).output().expect("brunt");
    let checked =
        crate::world::brunt::with_single_spaces(&String::from_utf8_lossy(&checked.stdout));
    assert!(checked.contains(expected), "{checked}");
}

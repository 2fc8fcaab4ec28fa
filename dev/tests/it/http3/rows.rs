//! Tests each hostile row of the lab for HTTP/3, and the report of brunt.

use crate::world::lab::hostile_rows;
use crate::world::{lab, measure};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Rows whose requests fail: names without `h3-`, kind of failure, and cause.
const FAILED: &[(&[&str], &str, &str)] = &[
    (&["settings-again"], "protocol", "h3_settings"),
    (
        &["control-ends", "control-reset", "control-stopped", "encoder-ends", "decoder-ends"],
        "protocol",
        "h3_critical_stream",
    ),
    (&["push-stream", "cancel-push", "push-promise"], "protocol", "h3_push"),
    (
        &[
            "data-on-control",
            "headers-on-control",
            "push-promise-on-control",
            "max-push-id",
            "priority-of-http2",
            "ping-of-http2",
            "window-update-of-http2",
            "continuation-of-http2",
            "data-after-trailers",
            "headers-after-trailers",
            "settings-on-request",
            "goaway-on-request",
            "cancel-push-on-request",
            "max-push-id-on-request",
            "priority-on-request",
            "ping-on-request",
            "window-update-on-request",
            "continuation-on-request",
        ],
        "protocol",
        "h3_frame_unexpected",
    ),
    (&["goaway-of-push", "goaway-raised"], "protocol", "h3_go_away"),
    (
        &["goaway-empty", "goaway-long", "frame-cut", "frame-head-cut", "headers-cut"],
        "protocol",
        "h3_frame",
    ),
    (&["goaway-0", "reset-request-rejected"], "unprocessed", ""),
    (
        &[
            "unknown-frame-flood",
            "goaway-flood",
            "unknown-stream-flood",
            "empty-data-flood",
            "unknown-on-request-flood",
        ],
        "timeout",
        "",
    ),
    (&["no-request-stream"], "timeout", ""),
    (&["interim-endless"], "protocol", "too_many_interim"),
    (&["data-before-headers", "data-after-interim"], "protocol", "data_before_head"),
    (&["headers-too-large", "fields-too-large"], "protocol", "head_too_large"),
    (
        &["body-too-short", "body-too-long", "body-missing", "body-of-204", "body-of-304"],
        "protocol",
        "body_length",
    ),
    (&["content-length-no-number", "content-length-twice"], "protocol", "content_length"),
    (
        &[
            "no-reply",
            "interim-ends",
            "status-missing",
            "head-empty",
            "status-twice",
            "status-no-number",
            "status-four-digits",
            "status-101",
            "pseudo-after-field",
            "pseudo-unknown",
            "pseudo-of-request",
            "trailers-status",
        ],
        "protocol",
        "pseudo_header",
    ),
    (
        &[
            "name-upper-case",
            "name-empty",
            "name-with-space",
            "value-with-newline",
            "value-with-nul",
            "field-connection",
            "field-keep-alive",
            "field-transfer-encoding",
        ],
        "protocol",
        "header_field",
    ),
    (
        &[
            "qpack-block-empty",
            "qpack-prefix-cut",
            "qpack-required-insert-count",
            "qpack-insert-count-too-large",
            "qpack-index-beyond",
            "qpack-name-beyond",
            "qpack-dynamic-index",
            "qpack-post-base-index",
            "qpack-dynamic-name",
            "qpack-post-base-name",
            "qpack-number-too-large",
            "qpack-number-cut",
            "qpack-string-cut",
            "qpack-value-missing",
            "qpack-huffman-padding",
            "qpack-huffman-padding-long",
            "qpack-huffman-eos",
        ],
        "protocol",
        "qpack_block",
    ),
    (
        &[
            "qpack-capacity",
            "qpack-insert-name",
            "qpack-insert-literal",
            "qpack-duplicate",
            "qpack-acknowledgment",
            "qpack-increment-0",
            "qpack-increment",
        ],
        "protocol",
        "qpack_stream",
    ),
    (&["reset-no-error"], "stream_reset", "reset_h3_no_error"),
    (&["reset-internal-error", "reset-in-body"], "stream_reset", "reset_h3_internal_error"),
    (&["reset-excessive-load"], "stream_reset", "reset_h3_excessive_load"),
    (&["reset-request-cancelled"], "stream_reset", "reset_h3_request_cancelled"),
    (&["reset-request-incomplete"], "stream_reset", "reset_h3_request_incomplete"),
    (&["reset-message-error"], "stream_reset", "reset_h3_message_error"),
    (&["reset-version-fallback"], "stream_reset", "reset_h3_version_fallback"),
    (&["reset-unknown", "reset-http2-code"], "stream_reset", "reset_h3_unknown"),
    (&["close-no-error"], "closed_early", ""),
    (&["close-general-protocol-error"], "reset", "closed_h3_general_protocol_error"),
    (&["close-internal-error"], "reset", "closed_h3_internal_error"),
    (&["close-stream-creation-error"], "reset", "closed_h3_stream_creation_error"),
    (&["close-closed-critical-stream"], "reset", "closed_h3_closed_critical_stream"),
    (&["close-frame-unexpected"], "reset", "closed_h3_frame_unexpected"),
    (&["close-frame-error"], "reset", "closed_h3_frame_error"),
    (&["close-excessive-load"], "reset", "closed_h3_excessive_load"),
    (&["close-id-error"], "reset", "closed_h3_id_error"),
    (&["close-settings-error"], "reset", "closed_h3_settings_error"),
    (&["close-missing-settings"], "reset", "closed_h3_missing_settings"),
    (&["close-request-rejected"], "reset", "closed_h3_request_rejected"),
    (&["close-request-cancelled"], "reset", "closed_h3_request_cancelled"),
    (&["close-request-incomplete"], "reset", "closed_h3_request_incomplete"),
    (&["close-message-error"], "reset", "closed_h3_message_error"),
    (&["close-connect-error"], "reset", "closed_h3_connect_error"),
    (&["close-version-fallback"], "reset", "closed_h3_version_fallback"),
    (
        &["close-decompression-failed", "close-encoder-stream-error", "close-decoder-stream-error"],
        "reset",
        "closed_qpack",
    ),
    (&["close-unknown", "close-0"], "reset", "closed_h3_unknown"),
    (&["idle-timeout"], "stale", ""),
];

/// Rows that prevent every connection, so that nothing is measured, and the error message.
const UNMEASURED: &[(&[&str], &str)] = &[
    (
        &[
            "settings-missing",
            "unknown-before-settings",
            "data-before-settings",
            "settings-twice",
            "setting-twice",
            "setting-enable-push",
            "setting-streams",
            "setting-window",
            "setting-frame-size",
        ],
        "settings are missing, come twice, or have a wrong value (RFC 9114 section 7.2.4)",
    ),
    (
        &["setting-without-value", "setting-cut"],
        "a frame has a wrong length, or its stream ends in it (RFC 9114 section 7.1)",
    ),
    (&["settings-too-large"], "the head is larger than 64 kB"),
    (
        &[
            "second-control-stream",
            "second-encoder-stream",
            "second-decoder-stream",
            "control-ends-at-once",
            "no-control-stream",
            "no-stream-data",
            "no-data",
        ],
        "a control stream ended, or was opened twice (RFC 9114 section 6.2)",
    ),
    (&["close-in-handshake"], "caused the connection to be closed during the handshake"),
    (
        &[
            "quic-silence",
            "quic-garbage",
            "quic-own-packet",
            "quic-retry-bad-tag",
            "quic-retry-empty",
            "quic-retry-endless",
            "quic-reset-like",
            "quic-wrong-keys",
        ],
        "connecting timed out",
    ),
    (
        &["quic-other-version"],
        "protocol error: the server offers no version of QUIC that brunt speaks (v1): draft-29",
    ),
    (
        &["quic-no-version"],
        "protocol error: the server offers no version of QUIC that brunt speaks (v1): none",
    ),
    (&["quic-close-no-error"], "closed early: aborted by peer"),
    (
        &[
            "quic-close-internal-error",
            "quic-close-parameters",
            "quic-close-violation",
            "quic-close-token",
            "quic-close-unknown",
        ],
        "connection reset: aborted by peer",
    ),
    (&["quic-close-of-application"], "connection reset: closed by peer"),
    (&["quic-close-refused"], "connection refused: aborted by peer"),
    (&["quic-close-alert"], "TLS handshake failed: aborted by peer"),
    (
        &["quic-close-no-protocol", "alpn-h2", "alpn-draft"],
        "the server does not offer HTTP/3 (no_application_protocol)",
    ),
    (&["quic-empty-packet"], "packet payload is empty"),
    (&["quic-stream-in-initial"], "STREAM: illegal frame type in handshake"),
    (&["quic-done-in-initial"], "HANDSHAKE_DONE: illegal frame type in handshake"),
    (&["quic-token-in-initial"], "in NEW_TOKEN"),
    (&["quic-unknown-frame"], "invalid frame ID"),
    (&["quic-ack-below-0"], "in ACK: malformed"),
    (&["quic-ack-unsent"], "unsent packet acked"),
    (&["quic-reserved-bits"], "reserved bits set"),
    (&["quic-crypto-garbage"], "TLS error"),
    (&["quic-crypto-far"], "received more data in CRYPTO frames than can be buffered"),
];

/// Number of rows that are tested at once.
const AT_ONCE: usize = 4;

/// Runs two requests against a hostile row. Asserts the outcome in bounded time.
#[allow(clippy::disallowed_methods, reason = "a stopwatch around another program")]
fn assert_row(name: &str) {
    let row = name.trim_start_matches("h3-");
    let lab = lab(&format!("--tls --http3 --hostile {name} --body 100"));
    let began = Instant::now();
    let body = if row == "rare-early-reply" {
        format!(" --data {}", "x".repeat(3000))
    } else {
        String::new()
    };
    let ran = measure(&format!(
        "{} --http 3 -k -c 1 -n 2 --timeout 2 --connect-timeout 2{body}",
        lab.url_of("/")
    ));
    assert!(began.elapsed() < Duration::from_secs(30), "{name}");
    if row.starts_with("rare-") {
        assert_eq!(ran.assert_all_good().count("completed"), 2, "{name}");
    } else if let Some((_, failure, cause)) = FAILED.iter().find(|(names, ..)| names.contains(&row))
    {
        assert_eq!(
            (ran.failed(failure), ran.count("good")),
            (2, 0),
            "{name}: {}{}",
            ran.out,
            ran.err
        );
        let causes = ran.value("/malformed").as_object().map_or(0, serde_json::Map::len);
        let named = if cause.is_empty() {
            causes == 0
        } else {
            ran.number(&format!("/malformed/{cause}")) == 2
        };
        assert!(named, "{name}: {}", ran.value("/malformed"));
    } else {
        let entry = UNMEASURED.iter().find(|(names, _)| names.contains(&row));
        let (_, expected) = entry.unwrap_or_else(|| panic!("{name} is in no table here"));
        assert!(ran.code == 3 && ran.err.contains(expected), "{name}: {}{}", ran.out, ran.err);
    }
}

fn next(names: &Mutex<Vec<String>>) -> Option<String> {
    names.lock().expect("the names").pop()
}

#[test]
fn hostile_servers_are_reported_and_never_block() {
    let names = hostile_rows("h3-");
    assert!(names.len() > 150, "{names:?}");
    let listed_rows = FAILED
        .iter()
        .map(|(names, ..)| names.len())
        .chain(UNMEASURED.iter().map(|(names, _)| names.len()));
    let rare = names.iter().filter(|name| name.starts_with("h3-rare-")).count();
    assert_eq!(
        listed_rows.sum::<usize>() + rare,
        names.len(),
        "a row that is gone, or stands here twice"
    );
    let (floods, rest): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| name.ends_with("-flood"));
    let rest = Mutex::new(rest);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(name) = next(&rest) {
                    assert_row(&name);
                }
            });
        }
    });
    for name in &floods {
        assert_row(name);
    }
}

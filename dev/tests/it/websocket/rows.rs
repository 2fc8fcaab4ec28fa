//! Tests each hostile row of the lab for WebSocket, and the report of brunt.

use crate::world::lab::hostile_rows;
use crate::world::{lab, measure};
use std::time::{Duration, Instant};

/// Rows whose requests fail in another way than by an invalid frame: names without `ws-`, and the
/// failure.
const FAILED: &[(&[&str], &str)] = &[
    (&["cut-in-frame-head", "cut-in-message", "cut"], "closed_early"),
    // A message that does not match is ignored, and the next one is awaited.
    (&["length-2-62", "deflate-bomb"], "timeout"),
];

/// Rows that close the WebSocket, and the outcome.
const CLOSED: &[(&str, &str)] = &[
    ("close-1000", "close 1000 normal closure"),
    ("close-1011", "close 1011 internal error"),
    ("close-without-code", "close 1005 no code"),
];

/// Begins of the names of rows whose frames break a rule, and the rule.
const BROKEN: &[(&[&str], &str)] = &[
    (&["masked"], "mask"),
    (&["reserved-", "deflate-not-agreed"], "reserved"),
    (&["opcode-"], "opcode"),
    (&["deflate-garbage"], "deflate"),
    (&["continuation-first", "message-within"], "fragment"),
    (&["ping-", "close-126"], "control"),
    (&["length-"], "length"),
    (&["utf8"], "text"),
    (&["close-"], "close"),
];

/// Rows that open no WebSocket, and the error message.
const UNMEASURED: &[(&[&str], &str)] = &[
    (
        &["accept-wrong", "accept-missing"],
        "Sec-WebSocket-Accept does not fit the key (RFC 6455 section 4.1)",
    ),
    (&["upgrade-missing", "upgrade-other"], "no `Upgrade: websocket` (RFC 6455 section 4.1)"),
    (&["connection-missing"], "no `Connection: Upgrade` (RFC 6455 section 4.1)"),
    (
        &["extension-not-offered"],
        "wants an extension that was not offered: x-lab (RFC 6455 section 9.1)",
    ),
    (
        &["protocol-not-offered"],
        "chose the subprotocol `x-lab`, which was not offered (RFC 6455 section 4.1)",
    ),
    (&["deflate-twice"], "it may agree on the extension once (RFC 7692 section 7.1)"),
    (&["deflate-parameter-twice"], "a parameter is repeated (RFC 7692 section 7.1)"),
    (
        &[
            "deflate-unknown-parameter",
            "deflate-window-7",
            "deflate-window-16",
            "deflate-window-missing",
        ],
        "a parameter is unknown, or its value is wrong (RFC 7692 section 7.1)",
    ),
];

#[test]
#[allow(clippy::disallowed_methods, reason = "a stopwatch around another program")]
fn hostile_servers_are_reported_and_never_block() {
    let names = hostile_rows("ws-");
    assert!(names.len() > 50, "{names:?}");
    for name in &names {
        let row = name.trim_start_matches("ws-");
        let compressed = row.starts_with("deflate-") && row != "deflate-not-agreed";
        let (agrees, offers) = if compressed {
            (" --ws-deflate", " --compressed --expect-body ^a$")
        } else {
            ("", "")
        };
        let lab = lab(&format!("--hostile {name}{agrees}"));
        let began = Instant::now();
        let url = lab.url_of("/").replace("http:", "ws:");
        let ran = measure(&format!("{url} --data hello -c 1 -n 2 --timeout 1{offers}"));
        assert!(began.elapsed() < Duration::from_secs(15), "{name}");
        if row == "status-200" {
            assert_eq!((ran.status(200), ran.count("good")), (2, 0), "{}", ran.out);
        } else if row.starts_with("rare-") {
            assert_eq!(ran.assert_all_good().count("completed"), 2, "{name}");
        } else if let Some((_, expected)) =
            UNMEASURED.iter().find(|(names, _)| names.contains(&row))
        {
            assert!(ran.code == 3 && ran.err.contains(expected), "{name}: {}{}", ran.out, ran.err);
        } else if let Some((_, outcome)) = CLOSED.iter().find(|(name, _)| *name == row) {
            assert_eq!(
                (ran.value("/outcomes")[outcome].as_u64(), ran.count("good")),
                (Some(2), 0),
                "{name}: {}",
                ran.out
            );
        } else if let Some((_, failure)) = FAILED.iter().find(|(names, _)| names.contains(&row)) {
            assert_eq!((ran.failed(failure), ran.count("good")), (2, 0), "{name}: {}", ran.out);
        } else {
            let rule = BROKEN.iter().find(|(names, _)| names.iter().any(|n| row.starts_with(n)));
            let (_, rule) = rule.unwrap_or_else(|| panic!("{name} has no rule"));
            let failures = (
                ran.failed("protocol"),
                ran.number(&format!("/malformed/web_socket_{rule}")),
                ran.count("good"),
            );
            assert_eq!(failures, (2, 2, 0), "{name}: {}", ran.out);
        }
    }
}

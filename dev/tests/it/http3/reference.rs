//! Tests HTTP/3 with the lab, which accepts 0-RTT, refuses it, validates addresses by Retry, and
//! counts that.

use crate::world::{lab, measure};

const SECURE: &str = "--tls --http3";

#[test]
fn requests_match_the_statistics_of_the_lab() {
    let lab = lab(&format!("{SECURE} --service const:2ms --fail 5%:503 --fail 5%:reset --seed 3"));
    let ran = measure(&format!("{} --http 3 -k -c 2 --streams 8 -n 600", lab.url_of("/")));
    let knows = lab.into_statistics();
    let [refused, reset] = ["503", "reset"]
        .map(|kind| knows["requests"]["failed_by_kind"][kind].as_u64().unwrap_or(0));
    assert!(refused > 5 && reset > 5, "{knows}");
    assert_eq!((ran.status(503), ran.failed("stream_reset")), (refused, reset));
    assert_eq!(
        (&knows["requests"]["received"], &knows["http3"]["connections"]),
        (&600.into(), &2.into())
    );
    assert_eq!(knows["http3"]["first_error"], serde_json::Value::Null);
}

#[test]
fn paths_and_bodies_equal_those_of_the_request() {
    let lab = lab(&format!("{SECURE} --echo"));
    let body = "x".repeat(3000);
    let echoed = format!("--data {body} --expect-body (?s)HTTP/3.+xx$");
    measure(&format!("{} --http 3 -k -n 20 {echoed}", lab.url_of("/a"))).assert_all_good();
    let lab = crate::world::lab(&format!("{SECURE} --grpc --keepalive-requests 50"));
    let ran =
        measure(&format!("{} --http 3 -k -c 2 --streams 4 -n 400", lab.url_of("/bytes/300000")))
            .assert_all_good();
    assert!(ran.number("/bytes/received") > 400 * 300_000);
    let knows = lab.into_statistics();
    assert_eq!(knows["requests"]["received"], 400);
    assert!(knows["http3"]["connections"].as_u64() >= Some(8), "{knows}");
}

#[test]
fn early_data_is_accepted_or_refused() {
    let options = "--http 3 -k --no-keepalive -c 1 -n 20 --early-data";
    let accepting = lab(SECURE);
    let ran = measure(&format!("{} {options}", accepting.url_of("/"))).assert_all_good();
    let accepted = ran.connections("early_accepted");
    assert!(accepted > 0 && ran.connections("early_refused") == 0, "{}", ran.out);
    let knows = accepting.into_statistics();
    assert_eq!(
        (&knows["http3"]["early_requests"], &knows["requests"]["received"]),
        (&accepted.into(), &20.into())
    );
    let refusing = lab(&format!("{SECURE} --refuse-early-data"));
    let ran = measure(&format!("{} {options}", refusing.url_of("/"))).assert_all_good();
    assert!(
        ran.connections("early_refused") > 0 && ran.connections("early_accepted") == 0,
        "{}",
        ran.out
    );
    let knows = refusing.into_statistics();
    assert_eq!(
        (&knows["http3"]["early_requests"], &knows["requests"]["received"]),
        (&0.into(), &20.into())
    );
}

#[test]
fn a_retry_is_answered() {
    let lab = lab(&format!("{SECURE} --retry"));
    let ran = measure(&format!("{} --http 3 -k --no-keepalive -c 2 -n 20", lab.url_of("/")))
        .assert_all_good();
    assert_eq!(
        (ran.count("completed"), ran.connections("opened"), ran.connections("quic_retries")),
        (20, 20, 20)
    );
    let until_retry = ran.figure("/connections/quic_retry_seconds");
    assert!(
        until_retry > 0.0 && until_retry <= ran.figure("/phases_seconds/connect/max"),
        "{until_retry}: {}",
        ran.out
    );
    ran.assert_text(&["Retry on 20,"]);
    let knows = lab.into_statistics();
    assert_eq!(knows["http3"]["connections"], 20);
    // The first message of TLS takes two packets. The server answers each one that arrives before
    // the client gets the Retry.
    let retries = knows["http3"]["retries"].as_u64().unwrap_or_default();
    assert!((20..=40).contains(&retries), "{retries}");
}

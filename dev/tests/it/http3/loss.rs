//! Compares the packets that brunt reports as lost with those that a proxy drops in each direction.
//!
//! `BRUNT_PROVE=1` requires 2,000 lost packets per direction. Figures go to the file that
//! `BRUNT_PROVE_OUT` names, as rows of a Markdown table.

use super::secure;
use crate::world::lossy::LossyProxy;
use crate::world::{BruntOutput, lab, measure};
use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Permitted deviation of a reported count, as a share of the true count.
const WITHIN: f64 = 0.1;

fn is_full_proof() -> bool {
    env::var("BRUNT_PROVE").is_ok_and(|v| v == "1")
}

/// Minimum number of lost packets per direction.
fn least() -> u64 {
    if is_full_proof() { 2000 } else { 100 }
}

/// Measures until enough packets were lost, and compares the reported counts with those of the
/// proxy. `run` measures through the port of the proxy.
fn assert_agreement(server: &str, port: u16, per_mille: u64, run: impl Fn(u16) -> BruntOutput) {
    let mut directions = [Direction::default(); 2];
    while directions.iter().any(|direction| direction.dropped < least()) {
        let proxy = LossyProxy::start(port, per_mille);
        let ran = run(proxy.port).assert_all_good();
        let reported = ["packets_lost", "server_packets_lost"].map(|name| ran.connections(name));
        for (direction, (reported, (received, dropped))) in
            directions.iter_mut().zip(reported.into_iter().zip(proxy.counts()))
        {
            direction.received += received;
            direction.dropped += dropped;
            direction.reported += reported;
        }
    }
    for (name, Direction { received, dropped, reported }) in
        ["to the server", "from the server"].iter().zip(directions)
    {
        let deviation = reported as f64 / dropped as f64 - 1.0;
        let row = format!(
            "| {server} | {name} | {received} | {dropped} | {reported} | {:+.2} % |",
            deviation * 100.0
        );
        eprintln!("{row}");
        note(&row);
        assert!(deviation.abs() <= WITHIN, "{row}");
    }
}

/// Datagrams to or from the server: received by the proxy, dropped by it, and reported as lost by
/// brunt.
#[derive(Debug, Clone, Copy, Default)]
struct Direction {
    received: u64,
    dropped: u64,
    reported: u64,
}

fn note(row: &str) {
    let Some(file) = env::var_os("BRUNT_PROVE_OUT") else { return };
    let mut file =
        OpenOptions::new().create(true).append(true).open(file).expect("the file of figures");
    writeln!(file, "{row}").expect("a line of figures");
}

#[test]
fn loss_to_and_from_the_lab_equals_that_of_the_proxy() {
    let lab = lab("--tls --http3");
    assert_agreement("brunt-lab", lab.port(), 100, |port| {
        measure(&format!("https://127.0.0.1:{port}/ --http 3 -k -c 1 --streams 4 -n 5000"))
    });
}

#[test]
fn loss_to_and_from_caddy_equals_that_of_the_proxy() {
    let test = "loss_to_and_from_caddy_equals_that_of_the_proxy";
    let Some((caddy, _, _dir)) = secure(test, "") else { return };
    // quic-go skips a number with each probe timeout. With few packets these are as frequent as
    // losses, so replies are long.
    assert_agreement("caddy", caddy.port, 10, |port| {
        let options = format!("--http 3 -k --resolve localhost:{port}:127.0.0.1 -c 1 --streams 4");
        measure(&format!("https://localhost:{port}/long {options} -n 600"))
    });
}

#[test]
fn without_loss_only_skipped_numbers_are_missing() {
    let lab = lab("--tls --http3");
    let ran = measure(&format!("{} --http 3 -k -c 1 --streams 8 -n 4000", lab.url_of("/")))
        .assert_all_good();
    let received = ran.connections("packets_received");
    let lost = ran.connections("server_packets_lost");
    assert!(received > 500, "{}", ran.out);
    // The QUIC of the lab skips one number in 64, then one in each power of two.
    assert!(lost <= u64::from(received.ilog2()), "{lost} of {received}: {}", ran.out);
    ran.assert_text(&["of the server's", "lost or skipped"]);
}

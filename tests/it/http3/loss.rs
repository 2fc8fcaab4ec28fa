//! The packets that brunt reports as lost are those that a proxy between it and the server drops, in each direction.
//!
//! `BRUNT_PROVE=1` asks for 2,000 lost packets in each direction. Figures go to the file that `BRUNT_PROVE_OUT` names, as rows of a
//! Markdown table.

use super::secure;
use crate::world::lossy::Lossy;
use crate::world::{Ran, lab, measure};
use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Datagrams that are dropped of 1000.
const PER_MILLE: u64 = 100;
/// By which share of the true count a reported one may differ.
const WITHIN: f64 = 0.1;

fn in_full() -> bool {
    env::var("BRUNT_PROVE").is_ok_and(|v| v == "1")
}

/// Requests, and the packets that are lost with them in each direction at least.
fn size() -> (u64, u64) {
    if in_full() { (40_000, 2000) } else { (2500, 100) }
}

/// The reported counts are near those of the proxy.
fn agrees(server: &str, proxy: &Lossy, ran: &Ran) {
    let (dropped, came) = (proxy.dropped(), proxy.came());
    let rows = [
        ("to the server", dropped.0, came.0, ran.connections("packets_lost")),
        ("from the server", dropped.1, came.1, ran.connections("server_packets_lost")),
    ];
    for (direction, dropped, came, told) in rows {
        let deviation = told as f64 / dropped as f64 - 1.0;
        let row = format!("| {server} | {direction} | {came} | {dropped} | {told} | {:+.2} % |", deviation * 100.0);
        eprintln!("{row}");
        note(&row);
        assert!(dropped >= size().1, "too few were dropped: {row}");
        assert!(deviation.abs() <= WITHIN, "{row}\n{}", ran.out);
    }
}

fn note(row: &str) {
    let Some(file) = env::var_os("BRUNT_PROVE_OUT") else { return };
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("the file of figures");
    writeln!(file, "{row}").expect("a line of figures");
}

#[test]
fn loss_to_and_from_the_lab_is_what_the_proxy_dropped() {
    let lab = lab("--tls --http3");
    let proxy = Lossy::before(lab.port(), PER_MILLE);
    let url = format!("https://127.0.0.1:{}/", proxy.port);
    let ran = measure(&format!("{url} --http 3 -k -c 1 --streams 4 -n {}", size().0)).all_good();
    agrees("brunt-lab", &proxy, &ran);
}

#[test]
fn loss_to_and_from_caddy_is_what_the_proxy_dropped() {
    let test = "loss_to_and_from_caddy_is_what_the_proxy_dropped";
    let Some((caddy, _, _dir)) = secure(test, "") else { return };
    let proxy = Lossy::before(caddy.port, PER_MILLE);
    let url = format!("https://localhost:{}/", proxy.port);
    let options = format!("--http 3 -k --resolve localhost:{}:127.0.0.1 -c 1 --streams 4", proxy.port);
    let ran = measure(&format!("{url} {options} -n {}", size().0)).all_good();
    agrees("caddy", &proxy, &ran);
}

#[test]
fn without_loss_only_skipped_numbers_are_missing() {
    let lab = lab("--tls --http3");
    let ran = measure(&format!("{} --http 3 -k -c 1 --streams 8 -n 4000", lab.at("/"))).all_good();
    let (received, lost) = (ran.connections("packets_received"), ran.connections("server_packets_lost"));
    assert!(received > 500, "{}", ran.out);
    // The lab's QUIC skips one number in 64, then one in each power of two.
    assert!(lost <= u64::from(received.ilog2()), "{lost} of {received}: {}", ran.out);
    ran.says(&["of the server's", "lost or skipped"]);
}

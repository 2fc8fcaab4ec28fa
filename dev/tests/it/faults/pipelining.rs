//! Tests replies to pipelined requests, in pieces of random size (`brunt httperf --burst-length`).

use super::row::{ExpectedConnections, FaultRow};
use super::script::{ServerStep, in_pieces, page, sizes};
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    let calls = "--num-conns 5 --num-calls 9 --burst-length 3";
    let sessions = "--wsess=5,9,0.01 --burst-length 4";
    vec![
        bursts("3 kB pages in bursts of 3", 3, Duration::ZERO).httperf(45, calls),
        bursts("5 kB pages in bursts of 3", 5, Duration::ZERO).httperf(45, calls),
        bursts("9 kB pages in bursts of 3", 9, Duration::ZERO).httperf(45, calls),
        bursts("40 kB pages in bursts of 3", 40, Duration::ZERO).httperf(45, calls),
        bursts("3 kB pages in bursts of 3, with pauses", 3, Duration::from_micros(300))
            .httperf(45, calls),
        bursts("5 kB pages in bursts of 3, with pauses", 5, Duration::from_micros(300))
            .httperf(45, calls),
        bursts("40 kB pages in bursts of 3, with pauses", 40, Duration::from_micros(300))
            .httperf(45, calls),
        bursts("5 kB pages in bursts of 4 in sessions", 5, Duration::ZERO).httperf(45, sessions),
        bursts("9 kB pages in bursts of 4 in sessions", 9, Duration::from_micros(300))
            .httperf(45, sessions),
        bursts("3 kB pages in bursts of 6", 3, Duration::ZERO)
            .httperf(36, "--num-conns 3 --num-calls 12 --burst-length 6"),
    ]
}

/// Sends each reply in pieces of random size. The sequence of sizes differs between connections.
fn bursts(name: &'static str, kilobytes: usize, pause: Duration) -> FaultRow {
    let row = FaultRow::by_connection(name, move |number| {
        let bytes = page(&"x".repeat(kilobytes * 1000));
        let mut steps = Vec::new();
        for turn in 0..20 {
            steps.push(ServerStep::Request);
            steps.extend(in_pieces(bytes.as_bytes(), sizes(number * 20 + turn, 6000), pause));
        }
        steps
    });
    row.connections(ExpectedConnections::Accepted)
}

//! Compares the reports of the drop-in `httperf` with those of the real httperf: lines, labels,
//! units and decimals.

use super::both::{ToolPair, both, over_tls};
use crate::world::{Nginx, nginx};
use std::fmt::Write;
use std::fs;

/// Both tools, and an nginx. Skips the test and returns None if one of them is missing.
fn ready(test: &str) -> Option<(ToolPair, Nginx)> {
    let test = format!("compat::httperf::{test}");
    let nginx = nginx(
        &test,
        "location /gone { return 404 nothing; } location /d/ { rewrite .* /index.html break; }",
    )?;
    Some((both(&test, "httperf")?, nginx))
}

/// Beginnings of lines with measured times; everything else must be equal.
const MEASURED: [&str; 11] = [
    "Maximum connect burst length",
    "Connection rate",
    "Connection time",
    "Request rate",
    "Reply rate",
    "Reply time",
    "CPU time",
    "Net I/O",
    "Session rate",
    "Session lifetime",
    "reply-rate",
];

/// Masks the measured numbers of a report; their number of decimals remains.
pub fn mask(text: &str) -> String {
    text.lines()
        .filter(|line| !line.contains("FD_SETSIZE"))
        .map(|line| mask_line(line) + "\n")
        .collect()
}

/// Lines that do not contain a text.
pub fn without(text: &str, word: &str) -> String {
    text.lines().filter(|line| !line.contains(word)).map(|line| line.to_owned() + "\n").collect()
}

fn mask_line(line: &str) -> String {
    if let Some(at) = line.find("test-duration") {
        return line[..at].to_owned() + &numbers(&line[at..]);
    }
    let measured = MEASURED.iter().any(|label| line.starts_with(label))
        || line.starts_with("httperf: maximum");
    // The number of successful sessions is counted, not measured.
    match line.find('(').filter(|_| line.starts_with("Session rate")) {
        Some(at) => numbers(&line[..at]) + &line[at..],
        None if measured => numbers(line),
        None => line.to_owned(),
    }
}

fn numbers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[at..];
        let length = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let decimals = number[..length].split_once('.').map_or(0, |(_, digits)| digits.len());
        let _ = write!(out, "{}<{decimals} decimals>", &rest[..at]);
        rest = &number[length..];
    }
    out + rest
}

fn agree(httperf: &ToolPair, port: u16, lines: &[&str]) {
    let port = port.to_string();
    for line in lines {
        let words = ["--server", "127.0.0.1", "--port", &port]
            .into_iter()
            .chain(line.split(' ').filter(|w| !w.is_empty()));
        httperf.agree_masked(&words.collect::<Vec<_>>(), mask);
    }
}

#[test]
fn reports_are_the_same() {
    let Some((httperf, nginx)) = ready("reports_are_the_same") else { return };
    agree(
        &httperf,
        nginx.port,
        &[
            "",
            "--num-conns 3 --num-calls 4",
            "--num-conn 3 --num-call=4 --rate 100",
            "--num-conns 4 --rate 50 --burst-length 3 --num-calls 6",
            "--http-version 1.0 --num-calls 3",
            "--uri /gone --num-conns 2",
            "--method HEAD --num-calls 3",
            "--method POST --uri /gone",
            "--uri /long --num-conns 3",
            "--uri /d --wset 10,0.5 --num-conns 4",
            "--period e0.01 --num-conns 4",
            "--period u0.01,0.02 --num-conns 4",
            "--period d0.01 --num-conns 4",
            "--hog --close-with-reset --num-conns 3",
            "--timeout 2 --think-timeout 3 --num-conns 2",
            "--add-header X:y\\n --num-conns 2",
            "--verbose --num-conns 2",
            "--client 1/3 --num-conns 2",
            "--recv-buffer 8000 --send-buffer 2000",
            "--max-connections 2 --max-piped-calls 7 --num-conns 2",
            "--server-name foo --retry-on-failure --rate 1e3 --num-conns 5",
            "some words beside",
        ],
    );
}

#[test]
fn reports_over_tls_are_the_same() {
    let test = "compat::httperf::reports_over_tls_are_the_same";
    let Some((nginx, _certificates)) = over_tls(test) else { return };
    let Some(httperf) = both(test, "httperf") else { return };
    agree(
        &httperf,
        nginx.port,
        &[
            "--ssl",
            "--ssl --num-conns 3 --num-calls 4 --rate 100",
            "--ssl --ssl-no-reuse --num-conns 2",
        ],
    );
}

#[test]
fn sessions_are_reported_the_same() {
    let Some((httperf, nginx)) = ready("sessions_are_reported_the_same") else { return };
    let file = nginx.dir.path().join("sessions");
    let text = "# two sessions\n/d/a think=0.02\n  /d/b\n\t/d/c\n/gone method=POST contents=\"x\\ny\"\n\n/d/e method=HEAD\n";
    fs::write(&file, text).expect("a file");
    let log = format!("--wsesslog 3,0.01,{}", file.display());
    agree(
        &httperf,
        nginx.port,
        &[
            "--wsess 3,4,0.05 --rate 50",
            "--wsess 2,6,0.05 --burst-length 3",
            "--wsess 2,5,0 --burst-length 5",
            "--session-cookies --wsess 2,3,0",
            "--uri /gone --wsess 2,2,0 --failure-status 404",
            "--http-version 1.0 --wsess 2,3,0",
            &log,
        ],
    );
}

#[test]
fn requests_and_replies_are_shown_the_same() {
    let Some((httperf, nginx)) = ready("requests_and_replies_are_shown_the_same") else { return };
    // The second of the day may change between both runs.
    for line in [
        "--print-request --num-calls 2",
        "--print-reply",
        "--print-reply=header",
        "--print-reply=body --uri /page.txt",
    ] {
        let port = nginx.port.to_string();
        let words = ["--server", "127.0.0.1", "--port", &port].into_iter().chain(line.split(' '));
        httperf
            .agree_masked(&words.collect::<Vec<_>>(), |text: &str| without(&mask(text), "Date: "));
    }
}

#[test]
fn invalid_options_are_reported_the_same() {
    let Some((httperf, nginx)) = ready("invalid_options_are_reported_the_same") else { return };
    agree(
        &httperf,
        nginx.port,
        &[
            "--nonsense",
            "--num 3",
            "-x",
            "--timeout",
            "--hog=1",
            "--num-conns 2.5",
            "--num-calls 1.5",
            "--rate x",
            "--period u1",
            "--period x",
            "--burst-length 0",
            "--client 3",
            "--port 99999",
            "--http-version 2.0",
            "--wset 4,1.7",
            "--wsess 1",
            "--wsess 3,4,0.1,5",
            "--wsesslog 1,2",
            "--wsesslog 1,1,/nonexistent",
            "--wlog n,/nonexistent",
            "--session-cookies",
            "--debug 1",
        ],
    );
}

/// The only test that waits for a rate over five seconds.
#[test]
fn rates_are_taken_every_five_seconds() {
    let Some(nginx) = nginx("compat::httperf::rates_are_taken_every_five_seconds", "") else {
        return;
    };
    let port = nginx.port.to_string();
    let words =
        ["--server", "127.0.0.1", "--port", &port, "--rate", "20", "--num-conns", "103", "-v"];
    let output = super::both::ours("httperf", &words);
    let rates: Vec<f64> = output
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("reply-rate = ")?.trim().parse().ok())
        .collect();
    // 100 requests begin in five seconds. One before the end, or one after it, may be counted on the other side.
    assert!(matches!(rates[..], [rate] if (19.8..=20.2).contains(&rate)), "{}", output.out);
    assert!(output.field("Reply rate [replies/s]:").ends_with("(1 samples)"), "{}", output.out);
    assert!(
        output.out.contains("Total: connections 103 requests 103 replies 103 "),
        "{}",
        output.out
    );
}

#[test]
fn masks_keep_decimals() {
    let total = "Total: connections 5 requests 15 replies 15 test-duration 0.014 s";
    assert_eq!(
        mask_line(total),
        "Total: connections 5 requests 15 replies 15 test-duration <3 decimals> s"
    );
    assert_eq!(
        mask_line("Session rate [sess/s]: min 0.00 (2/3)"),
        "Session rate [sess/s]: min <2 decimals> (2/3)"
    );
}

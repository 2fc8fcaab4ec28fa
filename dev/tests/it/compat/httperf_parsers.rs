//! Runs parsers of the report of httperf on the output of the drop-in. Each is rewritten from its
//! published source.

use super::both::{ToolOutput, ours};
use crate::world::nginx;
use regex::Regex;

/// Runs the drop-in with this line against an nginx. Returns None if nginx is not installed.
fn run_httperf(test: &str, line: &str) -> Option<ToolOutput> {
    let nginx = nginx(&format!("compat::httperf_parsers::{test}"), "")?;
    let port = nginx.port.to_string();
    let words = ["--server", "127.0.0.1", "--port", &port].into_iter().chain(line.split(' '));
    Some(ours("httperf", &words.collect::<Vec<_>>()))
}

/// The seven lines that autobench reads, each with one decimal.
const SEVEN: [&str; 7] = [
    r"^Total: connections \d+ requests \d+ replies (\d+) test-duration",
    r"^Connection rate: (\d+\.\d)",
    r"^Request rate: (\d+\.\d)",
    r"^Reply rate .*min (\d+\.\d) avg (\d+\.\d) max (\d+\.\d) stddev (\d+\.\d)",
    r"^Reply time .* response (\d+\.\d)",
    r"^Net I/O: (\d+\.\d)",
    r"^Errors: total (\d+)",
];

fn takes(report: &str, patterns: &[&str]) {
    for pattern in patterns {
        let pattern = Regex::new(pattern).expect("a pattern");
        let matching = report.lines().filter(|line| pattern.is_match(line)).count();
        assert_eq!(matching, 1, "{pattern}: {report}");
    }
}

#[test]
fn autobench_reads_the_output() {
    let line = "--uri / --num-conn 40 --num-call 2 --timeout 5 --rate 200";
    let Some(output) = run_httperf("autobench_reads_the_output", line) else { return };
    takes(&output.out, &SEVEN);
    // autobench adds nothing: each figure is a plain number even if nothing was measured.
    let none = ours(
        "httperf",
        &["--server", "127.0.0.1", "--port", "1", "--num-conn", "2", "--num-call", "1"],
    );
    takes(&none.out, &SEVEN);
    assert!(!none.out.contains("NaN") && !none.out.contains("inf"), "{}", none.out);
}

/// autoperf reads stdout and stderr as one.
#[test]
fn autoperf_reads_the_output() {
    let Some(output) = run_httperf(
        "autoperf_reads_the_output",
        "--hog --uri=/ --num-conn 40 --rate 200 --timeout 5",
    ) else {
        return;
    };
    let all_output = output.out + &output.err;
    takes(&all_output, &SEVEN);
    takes(&all_output, &[r"^Reply status: 1xx=\d+ 2xx=\d+ 3xx=\d+ 4xx=\d+ 5xx=(\d+)"]);
}

/// httperfrb and gohttperf require that the line of the command begins with the name of the
/// program. httperfjs stops at lines about descriptors.
#[test]
fn the_first_line_is_the_command() {
    let Some(output) = run_httperf("the_first_line_is_the_command", "--num-conns 20 --rate 100")
    else {
        return;
    };
    assert!(output.out.starts_with("httperf --client=0/1 --server=127.0.0.1 "), "{}", output.out);
    assert!(
        !output.err.contains("file descriptors") && !output.err.contains("FD_SETSIZE"),
        "{}",
        output.err
    );
}

/// Parser httperf-output-parser by wjessop: one pattern for the whole report, with lines in a fixed
/// order.
#[test]
fn the_whole_report_matches_one_pattern() {
    let Some(output) =
        run_httperf("the_whole_report_matches_one_pattern", "--num-conns 20 --rate 100")
    else {
        return;
    };
    let labels = [
        r"Maximum connect burst length: \d+\n",
        r"\nTotal: connections \d+ requests \d+ replies \d+ test-duration \d+\.\d{3} s\n",
        r"\nConnection rate: [\d.]+ conn/s \([\d.]+ ms/conn, <=\d+ concurrent connections\)\n",
        r"Connection time \[ms\]: min [\d.]+ avg [\d.]+ max [\d.]+ median \d+\.5 stddev [\d.]+\n",
        r"Connection time \[ms\]: connect [\d.]+\nConnection length \[replies/conn\]: [\d.]+\n",
        r"\nRequest rate: [\d.]+ req/s \([\d.]+ ms/req\)\nRequest size \[B\]: [\d.]+\n",
        r"\nReply rate \[replies/s\]: min [\d.]+ avg [\d.]+ max [\d.]+ stddev [\d.]+ \(\d+ samples\)\n",
        r"Reply time \[ms\]: response [\d.]+ transfer [\d.]+\n",
        r"Reply size \[B\]: header [\d.]+ content [\d.]+ footer [\d.]+ \(total [\d.]+\)\n",
        r"Reply status: 1xx=\d+ 2xx=\d+ 3xx=\d+ 4xx=\d+ 5xx=\d+\n",
        r"\nCPU time \[s\]: user [\d.]+ system [\d.]+ \(user [\d.]+% system [\d.]+% total [\d.]+%\)\n",
        r"Net I/O: [\d.]+ KB/s \([\d.]+\*10\^6 bps\)\n",
        r"\nErrors: total \d+ client-timo \d+ socket-timo \d+ connrefused \d+ connreset \d+\n",
        r"Errors: fd-unavail \d+ addrunavail \d+ ftab-full \d+ other \d+\n$",
    ];
    let whole = Regex::new(&labels.concat()).expect("a pattern");
    assert!(whole.is_match(&output.out), "{}", output.out);
}

//! Runs parsers of ab's report and files on the output of the drop-in. Each is rewritten from its
//! published source.

use super::both::{ToolOutput, ours};
use crate::world::{Nginx, nginx};
use std::collections::HashMap;
use std::fs;
use tempfile::TempDir;

/// Starts an nginx. Skips the test and returns None if it is not installed.
fn server(test: &str) -> Option<Nginx> {
    nginx(&format!("compat::ab_parsers::{test}"), "")
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

/// Parser of Blazemeter Taurus: the version, and the rows of `-g` split at tabs.
#[test]
fn taurus_reads_the_output() {
    let Some(nginx) = server("taurus_reads_the_output") else { return };
    let version = ours("ab", &["-V"]);
    let found = version.out.split("Version ").nth(1).and_then(|rest| rest.split(' ').next());
    // Taurus would pass -l to versions above 2.4.7, and count differently.
    assert_eq!(found, Some("2.3"));
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("ab.tsv").display().to_string();
    let url = nginx.url_of("/");
    let words =
        ["-n", "50", "-s", "10", "-c", "5", "-d", "-r", "-g", &file, "-H", "X-One: 1", "-k", &url];
    assert_eq!(ours("ab", &words).code, Some(0));
    let text = fs::read_to_string(&file).expect("the rows");
    let mut rows = 0;
    for row in text.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        assert!(cells[1].parse::<u64>().is_ok_and(|seconds| seconds > 1_700_000_000), "{row}");
        let [connect, total, wait] = [2, 4, 5].map(|i| number(cells[i]) / 1000.0);
        assert!(connect <= total && wait <= total, "{row}");
        rows += 1;
    }
    assert_eq!(rows, 50);
}

/// Parser of the Phoronix Test Suite: the fourth word of the last line of all output that contains
/// `second:`.
#[test]
fn phoronix_reads_the_output() {
    let Some(nginx) = server("phoronix_reads_the_output") else { return };
    let output = ours("ab", &["-n", "500", "-c", "20", &nginx.url_of("/")]);
    let all = format!("{}{}", output.out, output.err);
    let line = all.lines().rfind(|line| line.contains("second:")).expect("a line");
    assert!(number(line.split_whitespace().nth(3).expect("a word")) > 0.0);
}

/// Number of `LABEL: +(number) UNIT`, which must occur exactly once.
fn once(output: &ToolOutput, label: &str, unit: &str) -> f64 {
    let found: Vec<&str> =
        output.out.lines().filter(|l| l.starts_with(label) && l.ends_with(unit)).collect();
    assert_eq!(found.len(), 1, "{label}: {found:?}");
    number(found[0][label.len()..].split_whitespace().next().expect("a number"))
}

/// Parser of `PerfKitBenchmarker`: every field exactly once, the CSV of 101 rows, and two columns
/// of the rows for gnuplot.
#[test]
fn perfkit_benchmarker_reads_the_output() {
    let Some(nginx) = server("perfkit_benchmarker_reads_the_output") else { return };
    let dir = TempDir::new().expect("a directory");
    let [csv, tsv] = ["csv", "tsv"].map(|name| dir.path().join(name).display().to_string());
    let url = nginx.url_of("/");
    let words = [
        "-r", "-k", "-t", "20", "-n", "400", "-c", "4", "-m", "GET", "-s", "30", "-e", &csv, "-g",
        &tsv, &url,
    ];
    let output = ours("ab", &words);
    for (label, unit) in [
        ("Complete requests:", ""),
        ("Failed requests:", ""),
        ("Requests per second:", "[#/sec] (mean)"),
        ("Time per request:", "[ms] (mean)"),
        ("Time per request:", "(mean, across all concurrent requests)"),
        ("Transfer rate:", "[Kbytes/sec] received"),
        ("Time taken for tests:", "seconds"),
        ("Total transferred:", "bytes"),
        ("HTML transferred:", "bytes"),
    ] {
        once(&output, label, unit);
    }
    let text = fs::read_to_string(csv).expect("the CSV");
    let mut rows = text.lines();
    assert_eq!(rows.next(), Some("Percentage served,Time in ms"));
    let rows: Vec<(f64, f64)> = rows
        .map(|row| row.split_once(',').map(|(p, ms)| (number(p), number(ms))).expect("two"))
        .collect();
    assert_eq!(rows.len(), 101);
    assert!(rows.is_sorted_by_key(|row| row.1) && rows[0].0 == 0.0 && rows[100].0 == 100.0);
    let text = fs::read_to_string(tsv).expect("the rows");
    let names: Vec<&str> = text.lines().next().expect("a head").split('\t').collect();
    let seconds = column_of(&names, "seconds");
    let total = column_of(&names, "ttime");
    assert_eq!(
        text.lines()
            .skip(1)
            .map(|row| row.split('\t').collect::<Vec<_>>())
            .filter(|r| number(r[seconds]) > 0.0 && number(r[total]) >= 0.0)
            .count(),
        400
    );
}

fn column_of(names: &[&str], name: &str) -> usize {
    names.iter().position(|n| *n == name).expect("a column")
}

/// Parser of Bees with Machine Guns: `-v 3`, filtered for fixed words; it counts good replies in
/// the printed heads.
#[test]
fn bees_with_machine_guns_reads_the_output() {
    let Some(nginx) = server("bees_with_machine_guns_reads_the_output") else { return };
    let dir = TempDir::new().expect("a directory");
    let csv = dir.path().join("csv").display().to_string();
    let words = [
        "-v",
        "3",
        "-r",
        "-n",
        "20",
        "-c",
        "2",
        "-e",
        &csv,
        "-C",
        "sessionid=NotARealSessionID",
        &nginx.url_of("/"),
    ];
    let output = ours("ab", &words);
    let words_of_interest = [
        "Time per request:",
        "Requests per second:",
        "Failed requests:",
        "Connect:",
        "Receive:",
        "Length:",
        "Exceptions:",
        "Complete requests:",
        "HTTP/1.1",
    ];
    let lines_of_interest: Vec<&str> = output
        .out
        .lines()
        .filter(|line| words_of_interest.iter().any(|word| line.contains(word)))
        .collect();
    assert!(number_between(&lines_of_interest, "Time per request:", "[ms] (mean)") > 0.0);
    assert!(number_between(&lines_of_interest, "Requests per second:", "[#/sec] (mean)") > 0.0);
    assert_eq!(
        (
            number_between(&lines_of_interest, "Failed requests:", ""),
            number_between(&lines_of_interest, "Complete requests:", "")
        ),
        (0.0, 20.0)
    );
    assert_eq!(lines_of_interest.iter().filter(|line| line.contains("HTTP/1.1 2")).count(), 20);
    assert!(
        fs::read_to_string(csv)
            .expect("the CSV")
            .lines()
            .next()
            .is_some_and(|head| head.contains("Time in ms"))
    );
}

fn number_between(lines: &[&str], before: &str, after: &str) -> f64 {
    let line =
        lines.iter().find(|line| line.contains(before) && line.contains(after)).expect("a line");
    let rest = line.split(before).nth(1).expect("a value");
    number(rest[..rest.rfind(after).expect("a unit")].trim())
}

/// Parser of the benchmark of PHP frameworks by kenjis: `cut -d" " -f7`, and eight blanks before
/// the 0.
#[test]
fn kenjis_reads_the_output() {
    let Some(nginx) = server("kenjis_reads_the_output") else { return };
    let output = ours("ab", &["-c", "10", "-t", "3", "-n", "300", &nginx.url_of("/")]);
    let line =
        output.out.lines().find(|line| line.starts_with("Requests per second:")).expect("a line");
    assert!(number(line.split(' ').nth(6).expect("a seventh field")) > 0.0, "{line}");
    assert!(output.out.contains("Failed requests:        0\n"));
}

/// Parser ab-to-csv: uses the numbers of lines.
#[test]
fn ab_to_csv_reads_the_output() {
    let Some(nginx) = server("ab_to_csv_reads_the_output") else { return };
    let output = ours("ab", &["-n", "100", "-c", "2", &nginx.url_of("/")]);
    let lines: Vec<&str> = output.out.lines().collect();
    for (at, label) in [
        (7, "Server Software:"),
        (8, "Server Hostname:"),
        (9, "Server Port:"),
        (11, "Document Path:"),
        (12, "Document Length:"),
        (14, "Concurrency Level:"),
        (15, "Time taken for tests:"),
        (16, "Complete requests:"),
        (17, "Failed requests:"),
        (18, "Total transferred:"),
        (19, "HTML transferred:"),
        (20, "Requests per second:"),
    ] {
        assert!(lines[at].starts_with(label), "line {}: {}", at + 1, lines[at]);
    }
    let table = lines.iter().position(|line| line.starts_with("Percentage of")).expect("the table");
    assert!(lines[table + 1].starts_with("  50% "));
}

/// Parser apachebench by Amakata: every `label: value`; the last of a label counts.
#[test]
fn amakata_reads_the_output() {
    let Some(nginx) = server("amakata_reads_the_output") else { return };
    let output = ours("ab", &["-n", "10", &nginx.url_of("/")]);
    let fields: HashMap<&str, &str> = output
        .out
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(label, value)| (label, value.trim()))
        .collect();
    assert_eq!((fields["Server Hostname"], fields["Complete requests"]), ("127.0.0.1", "10"));
    assert!(fields["Time per request"].contains("across all"));
}

/// Parser apachebench-graphs and similar ones: `using 9` of gnuplot on `-g`, separated by blanks,
/// and the CSV as numbers.
#[test]
fn apachebench_graphs_reads_the_output() {
    let Some(nginx) = server("apachebench_graphs_reads_the_output") else { return };
    let dir = TempDir::new().expect("a directory");
    let [csv, tsv] = ["csv", "tsv"].map(|name| dir.path().join(name).display().to_string());
    ours("ab", &["-n", "40", "-g", &tsv, "-e", &csv, &nginx.url_of("/")]);
    let text = fs::read_to_string(tsv).expect("the rows");
    let ninth: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|row| number(row.split_whitespace().nth(8).expect("nine columns")))
        .collect();
    let fifth: Vec<f64> =
        text.lines().skip(1).map(|row| number(row.split('\t').nth(4).expect("five"))).collect();
    assert!(ninth.len() == 40 && ninth == fifth && ninth.is_sorted());
    let text = fs::read_to_string(csv).expect("the CSV");
    assert!(text.lines().skip(1).all(|row| row.split(',').map(number).count() == 2));
}

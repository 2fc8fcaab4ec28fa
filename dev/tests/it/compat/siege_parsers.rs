//! Runs parsers of the report, lines and log of siege on the output of the drop-in. Each is
//! rewritten from its published source.

use super::both::{ToolOutput, ours};
use super::siege::{PLAIN, rc};
use crate::world::{Nginx, command, nginx};
use std::fs;
use std::process::Output;
use tempfile::TempDir;

/// Starts an nginx, and creates a directory. Skips the test and returns None if nginx is not
/// installed.
fn server(test: &str) -> Option<(Nginx, TempDir)> {
    Some((
        nginx(&format!("compat::siege_parsers::{test}"), "")?,
        TempDir::new().expect("a directory"),
    ))
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Parser of Blazemeter Taurus: a siegerc by $SIEGERC; lines of stdout with exactly two escapes,
/// split at commas.
#[test]
fn taurus_reads_the_output() {
    let Some((nginx, dir)) = server("taurus_reads_the_output") else { return };
    let output = ours("siege", &["-h"]);
    assert_eq!(output.code, Some(0));
    let text = "verbose = true\ncsv = true\ntimestamp = false\nfullurl = true\ndisplay-id = true\ncookies = true\ncache = false\n\
                accept-encoding = gzip\nuser-agent = x\nlogging = false\n";
    let rc = rc(dir.path(), "siegerc", text);
    let list = dir.path().join("urls");
    fs::write(&list, format!("{}\n{}\n", nginx.url_of("/"), nginx.url_of("/long")))
        .expect("a list");
    let mut siege = command("siege --reps 3 --benchmark --concurrent 2 --header X-One:1 --file");
    let out = siege.arg(&list).env("SIEGERC", &rc).output().expect("brunt");
    assert!(out.status.success());
    let mut rows = 0;
    for line in String::from_utf8_lossy(&out.stdout)
        .lines()
        .filter(|line| line.matches('\x1b').count() == 2)
    {
        let between =
            &line[line.find('m').expect("a color") + 1..line.rfind('\x1b').expect("its end")];
        let cells: Vec<&str> = between.split(',').map(str::trim).collect();
        assert_eq!(cells.len(), 8, "{between}");
        assert_eq!((cells[2], cells[5].starts_with("http://")), ("200", true));
        assert!(number(cells[3]) >= 0.0 && number(cells[4]) > 0.0);
        assert_eq!((cells[7].len(), &cells[7][4..5], &cells[7][10..11]), (19, "-", " "));
        rows += 1;
    }
    assert_eq!(rows, 6);
}

/// Parser of oss-performance by hhvm: the first line of `--version`; a log with a head and exactly
/// one row.
#[test]
fn oss_performance_reads_the_output() {
    let Some((nginx, dir)) = server("oss_performance_reads_the_output") else { return };
    let version = ours("siege", &["--version"]);
    let first = version.err.lines().next().expect("a version").to_owned();
    assert!(
        first.starts_with("SIEGE 4.0.")
            && !["SIEGE 4.0.0", "SIEGE 4.0.1", "SIEGE 4.0.2"].contains(&&*first)
    );
    let rc = rc(dir.path(), "rc", PLAIN);
    let log = dir.path().join("log").display().to_string();
    let list = dir.path().join("urls").display().to_string();
    fs::write(&list, nginx.url_of("/")).expect("a list");
    let log_to = format!("--log={log}");
    let words =
        ["-R", &rc, "-c", "3", "-f", &list, "--benchmark", "--no-parser", "-t", "1S", &log_to];
    assert_eq!(ours("siege", &words).code, Some(0));
    let text = fs::read_to_string(log).expect("a log");
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 2);
    let cells: Vec<f64> = rows[1].split(',').skip(1).map(|cell| number(cell.trim())).collect();
    let [hits, response, rate, okay, failed] = [0, 3, 4, 7, 8].map(|at| cells[at]);
    assert!(
        hits > 100.0 && okay == hits && failed == 0.0 && rate > 0.0 && response >= 0.0,
        "{text}"
    );
}

/// Parser of the Phoronix Test Suite: the third word of the last line that contains `rate:` and not
/// HTTP.
#[test]
fn phoronix_reads_the_output() {
    let Some((nginx, dir)) = server("phoronix_reads_the_output") else { return };
    let rc = rc(dir.path(), "rc", &format!("{PLAIN}verbose = true\n"));
    let url = nginx.url_of("/");
    let output = ours("siege", &["-R", &rc, "-r50", "-b", "-c20", &url]);
    let all = format!("{}{}", output.out, output.err);
    let line =
        all.lines().rfind(|line| !line.contains("HTTP") && line.contains("rate:")).expect("a line");
    assert!(number(line.split_whitespace().nth(2).expect("a word")) > 0.0);
}

/// Parser of `DCPerf` and django-workload: lines of good transactions by their fields; every other
/// line is searched for labels.
#[test]
fn dcperf_reads_the_output() {
    let Some((nginx, dir)) = server("dcperf_reads_the_output") else { return };
    let rc = rc(dir.path(), "rc", &format!("{PLAIN}connection = keep-alive\nfailures = 1000\n"));
    let list = dir.path().join("urls").display().to_string();
    let log = dir.path().join("log").display().to_string();
    fs::write(&list, format!("{}\n{} POST a=b\n", nginx.url_of("/"), nginx.url_of("/")))
        .expect("a list");
    // Pauses cause a note, which must contain none of the labels.
    let words =
        ["-v", "-R", &rc, "-c", "4", "-d", "0.4", "-t", "2S", "-f", &list, &format!("--log={log}")];
    let out = command("siege").args(words).output().expect("brunt");
    let labels = [
        "Transactions",
        "Availability",
        "Elapsed time",
        "Data transferred",
        "Response time",
        "Transaction rate",
        "Throughput",
        "Concurrency",
        "Successful transactions",
        "Failed transactions",
        "Longest transaction",
        "Shortest transaction",
    ];
    let mut good = 0;
    let mut found = Vec::new();
    for line in text(&out).lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if line.contains("HTTP/1.1 200") && fields.len() >= 9 {
            assert!(
                number(fields[2]) >= 0.0 && fields[8].starts_with('/')
                    || fields[8].starts_with("http://"),
                "{line}"
            );
            good += 1;
            continue;
        }
        for label in labels.iter().filter(|label| line.contains(**label)) {
            let value = line
                .split(':')
                .nth(1)
                .expect("a value")
                .split_whitespace()
                .next()
                .expect("a number");
            number(value);
            found.push(*label);
        }
    }
    assert!(good > 4);
    assert_eq!(found, labels, "{}", text(&out));
}

/// Parser siege2csv of siege: consecutive reports, by their labels; letters are removed.
#[test]
fn siege2csv_reads_the_output() {
    let Some((nginx, dir)) = server("siege2csv_reads_the_output") else { return };
    let rc = rc(dir.path(), "rc", PLAIN);
    let url = nginx.url_of("/");
    let reports: Vec<ToolOutput> =
        ["1", "3"].iter().map(|c| ours("siege", &["-R", &rc, "-c", c, "-r4", &url])).collect();
    let all: String = reports.iter().map(|output| output.err.clone()).collect();
    assert_eq!(numbers_of(&all, "Transactions"), [4.0, 12.0]);
    assert_eq!(numbers_of(&all, "Successful transactions"), [4.0, 12.0]);
    for label in [
        "Elapsed time",
        "Data transferred",
        "Response time",
        "Transaction rate",
        "Throughput",
        "Concurrency",
    ] {
        assert_eq!(numbers_of(&all, label).len(), 2, "{label}");
    }
}

fn numbers_of(reports: &str, label: &str) -> Vec<f64> {
    let lines = reports.lines().filter(|line| line.starts_with(label));
    lines
        .map(|line| {
            number(
                line.split(':')
                    .nth(1)
                    .expect("a value")
                    .trim_matches(|c: char| !c.is_ascii_digit()),
            )
        })
        .collect()
}

/// The format of 4.1.7 and later, by the option and by the environment; `-j` has priority over the
/// environment.
#[test]
fn formats_of_other_releases_are_available() {
    let Some((nginx, dir)) = server("formats_of_other_releases_are_available") else { return };
    let rc = rc(dir.path(), "rc", PLAIN);
    let url = nginx.url_of("/");
    let words = ["-R", &rc, "-c1", "-r2", &url];
    let by_option = ours("siege", &[&["--brunt-siege-format", "4.1.7"], &words[..]].concat());
    assert!(by_option.err.contains("Transactions:\t\t        2    hits\n"), "{}", by_option.err);
    assert!(
        by_option
            .err
            .lines()
            .any(|line| line.starts_with("Response time:\t\t") && line.ends_with(" ms"))
    );
    let by_environment = |more: &[&str]| {
        command("siege")
            .env("BRUNT_SIEGE_FORMAT", "4.1.7")
            .args(more)
            .args(words)
            .output()
            .expect("brunt")
    };
    assert!(text(&by_environment(&[])).contains("Successful transactions:        2\n"));
    assert!(
        text(&by_environment(&["-j"])).starts_with("{\t\"transactions\":\t\t\t           2,\n")
    );
    let text_all_the_same =
        ours("siege", &[&["--brunt-siege-format=4.0", "-j"], &words[..]].concat());
    assert!(text_all_the_same.out.starts_with('{'));
    let refused = ours("siege", &["--brunt-siege-format=5", &url]);
    assert!(
        refused.code == Some(1)
            && refused.err.contains("write 4.0 (seconds), 4.1.7 (milliseconds) or json")
    );
}

//! Tests the contents of the page.

use super::*;
use crate::cases::{CASES, named};
use crate::memory::MemoryGrowth;
use crate::summary::tests::run;

fn machine() -> BenchMachine {
    BenchMachine {
        cpu: "A CPU".to_owned(),
        cores: 2,
        system: "Debian".to_owned(),
        kernel: "6.1".to_owned(),
        date: "2026-11-20".to_owned(),
        commit: String::new(),
        command: "brunt-bench".to_owned(),
        versions: vec![("wrk", "wrk 4.1".to_owned())],
    }
}

fn page(cases: &[BenchCase], results: &Results) -> String {
    let machine = machine();
    BenchPage {
        machine: &machine,
        cases,
        results,
        rounds: 1,
        seconds: 7,
        missing: &[BenchTool::Brunt],
    }
    .markdown()
}

#[test]
fn a_missing_tool_has_dashes_in_the_table_of_a_case() {
    let results = Results {
        measurements: vec![run("keepalive-10b", BenchTool::Wrk, 0, [154_463.2, 5.5, 0.0])],
        notes: vec!["two\nlines".to_owned()],
        ..Results::default()
    };
    let page = page(&[*named("keepalive-10b").unwrap()], &results);
    let lines: Vec<String> =
        page.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(lines.contains(
        &"| wrk | 154,463 | 5.50 | 1.38 | 4.12 | 5.0 | 1.00 (1.00–1.00) | 1.00 (1.00–1.00) | – |".to_owned()
    ));
    assert!(lines.contains(&"| brunt | – | – | – | – | – | – | – | – |".to_owned()));
    assert!(page.contains("Not installed (shown as –): brunt."));
    assert!(page.contains("* two lines\n"));
}

#[test]
fn an_open_loop_shows_lag_in_microseconds() {
    let runs = vec![run("open-2000", BenchTool::Floor, 0, [2000.0, 10.0, 6e-5])];
    let page = page(
        &[*named("open-2000").unwrap()],
        &Results { measurements: runs, ..Results::default() },
    );
    let floor = page.lines().find(|line| line.starts_with("| floor")).unwrap();
    assert!(floor.contains(" 30.0 |") && floor.contains(" 60.0 |"), "{floor}");
}

#[test]
fn targets_are_listed_with_their_verdicts() {
    let growth =
        MemoryGrowth { requests: 1_000_000, short_bytes: 5_000_000, long_bytes: 6_000_000 };
    let page =
        page(&[*named("memory").unwrap()], &Results { growth: Some(growth), ..Results::default() });
    assert!(page.contains("5.0 MB for 1,000,000 requests, 6.0 MB for 10,000,000 (× 1.200)"));
    assert!(page.contains("**missed**"));
}

#[test]
fn a_page_without_results_has_all_sections() {
    let page = page(&CASES, &Results::default());
    assert_eq!(page.matches("\n## ").count(), CASES.len() + 1);
    assert!(page.contains("commit unknown"));
    assert!(!page.contains("| met |"));
}

#[test]
fn numbers_are_grouped_by_three() {
    assert_eq!([0.4, 999.6, 1_234_567.0].map(grouped), ["0", "1,000", "1,234,567"]);
    assert_eq!([0.123_456, 4096.0].map(significant), ["0.1235", "4,096"]);
}

//! Compares the files of ab: all requests for gnuplot, and percentiles as CSV. Tests the additional
//! files of brunt.

use super::both::{ToolPair, both};
use crate::world::brunt::program;
use crate::world::nginx;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn read(dir: &Path, name: &str) -> Vec<String> {
    let path = dir.join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(str::to_owned).collect()
}

/// One process may open only a few files, so it gets only a few connections.
#[test]
fn connections_beyond_the_limit_of_a_process_use_several() {
    let test = "compat::ab_files::connections_beyond_the_limit_of_a_process_use_several";
    let Some(nginx) = nginx(test, "") else { return };
    let brunt = program("BRUNT_BIN", "brunt");
    let line = format!(
        "ulimit -n 120; exec {} ab -q -k -n 2000 -c 100 {}",
        brunt.display(),
        nginx.url_of("/")
    );
    let out = Command::new("sh").args(["-c", &line]).output().expect("brunt");
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&out.stderr));
    assert!(text.contains("Complete requests:      2000\nFailed requests:        0\n"), "{text}");
}

/// Replaces each run of digits by `9`.
fn shape(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '9' } else { c };
        if !(c == '9' && out.ends_with('9')) {
            out.push(c);
        }
    }
    out
}

fn write(ab: &ToolPair, url: &str, dir: &Path, real: bool) {
    let name = |ending: &str| {
        dir.join(format!("{}.{ending}", if real { "real" } else { "ours" })).display().to_string()
    };
    let csv = name("csv");
    let tsv = name("tsv");
    let words = ["-q", "-n", "300", "-c", "5", "-e", &csv, "-g", &tsv, url];
    let output = if real { ab.real(&words) } else { ab.ours(&words) };
    assert_eq!(output.code, Some(0), "{}", output.err);
}

#[test]
fn files_have_the_same_form() {
    let test = "compat::ab_files::files_have_the_same_form";
    let (Some(ab), Some(nginx)) = (both(test, "ab"), nginx(test, "")) else { return };
    let dir = TempDir::new().expect("a directory");
    write(&ab, &nginx.url_of("/"), dir.path(), true);
    write(&ab, &nginx.url_of("/"), dir.path(), false);
    for (name, rows) in [("csv", 102), ("tsv", 301)] {
        let real = read(dir.path(), &format!("real.{name}"));
        let ours = read(dir.path(), &format!("ours.{name}"));
        assert_eq!((real.len(), ours.len()), (rows, rows), "{name}");
        assert_eq!(real[0], ours[0], "{name}");
    }
    let real = read(dir.path(), "real.csv");
    let ours = read(dir.path(), "ours.csv");
    assert_eq!(shapes_of(&real), shapes_of(&ours));
    let real = read(dir.path(), "real.tsv");
    let ours = read(dir.path(), "ours.tsv");
    // Both began within this test, so day and month are of the same clock.
    assert_eq!(shape(&real[1]), shape(&ours[1]));
    assert!(day_of(&real) == day_of(&ours) || real[1] < ours[1], "{} {}", real[1], ours[1]);
    assert!(
        ours[1..].is_sorted_by_key(|line: &String| line
            .split('\t')
            .nth(4)
            .and_then(|v| v.parse::<u64>().ok())
            .expect("a number")),
        "the quickest first"
    );
}

fn day_of(lines: &[String]) -> String {
    lines[1][..10].to_owned()
}

fn shapes_of(lines: &[String]) -> Vec<String> {
    lines.iter().map(|l| shape(l)).collect::<Vec<_>>()
}

#[test]
fn an_unwritable_file_is_reported() {
    let Some(nginx) = nginx("compat::ab_files::an_unwritable_file_is_reported", "") else { return };
    let output = super::both::ours("ab", &["-e", "/nonexistent/x", &nginx.url_of("/")]);
    assert_eq!(output.code, Some(1), "{}", output.err);
    assert!(
        output.err.contains("Cannot open CSV output file: No such file or directory"),
        "{}",
        output.err
    );
}

#[test]
fn additional_output_goes_to_other_files() {
    let test = "compat::ab_files::additional_output_goes_to_other_files";
    let Some(nginx) = nginx(test, "") else { return };
    let dir = TempDir::new().expect("a directory");
    let json = path_in(&dir, "run.json");
    let html = path_in(&dir, "run.html");
    let store = path_in(&dir, "store");
    let plain = super::both::ours("ab", &["-S", "-n", "20", &nginx.url_of("/")]);
    assert!(!Path::new(&store).exists());
    let words = [
        "--brunt-json",
        &json,
        "-S",
        "-n",
        "20",
        "--brunt-report",
        &html,
        "--brunt-store-dir",
        &store,
        &nginx.url_of("/"),
    ];
    let output = super::both::ours("ab", &words);
    assert_eq!(
        output.out.lines().count(),
        plain.out.lines().count(),
        "stdout is ab's: {}",
        output.out
    );
    let run: serde_json::Value =
        serde_json::from_str(&read(dir.path(), "run.json").concat()).expect("JSON");
    assert_eq!(run["requests"]["completed"], 20);
    assert!(fs::read_to_string(&html).expect("a page").contains("<html"));
    assert!(
        output.err.contains("brunt - saved as ") && Path::new(&store).is_dir(),
        "{}",
        output.err
    );
}

fn path_in(dir: &TempDir, name: &str) -> String {
    dir.path().join(name).display().to_string()
}

#[test]
fn several_processes_and_threads_count_as_one() {
    let Some(nginx) = nginx("compat::ab_files::several_processes_and_threads_count_as_one", "")
    else {
        return;
    };
    for option in ["--brunt-processes", "--brunt-threads"] {
        let before = nginx.requests();
        let output = super::both::ours(
            "ab",
            &[option, "2", "-k", "-n", "600", "-c", "6", &nginx.url_of("/")],
        );
        let counted = (
            output.field("Complete requests:"),
            output.field("HTML transferred:"),
            nginx.requests() - before,
        );
        assert_eq!(counted, ("600", "6000 bytes", 600), "{option}: {}", output.err);
    }
}

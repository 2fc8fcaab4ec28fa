//! Tests `brunt certify` and `brunt lab`: results of tools are read, and no process is left.
//!
//! Only rough deviations fail here; `make honesty` measures the accuracy.

use crate::world::server::ServerProcess;
use crate::world::{command, wait_until};
use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::process::Stdio;
use tempfile::TempDir;

/// Tests that measure and need a quiet machine.
mod accuracy {
    use super::*;
    use crate::world::machine::retry_under_steal_time;
    use crate::world::skip::{program, skip};

    /// Results of a comparison. Skips the test and returns None if the machine was busy.
    fn league(test: &str, line: &str) -> Option<Vec<Value>> {
        let dir = TempDir::new().expect("a directory");
        let file = dir.path().join("league.json");
        let output = command(&format!("certify {line} -o text -o json={}", file.display()))
            .output()
            .expect("brunt");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let json: Value =
            serde_json::from_str(&fs::read_to_string(file).expect("a league")).expect("JSON");
        let results = json["results"].as_array().expect("results").clone();
        if let Some(busy) = results
            .iter()
            .find(|result| result["outcome"] == "no truth" || result["outcome"] == "unknown")
        {
            skip(
                &format!("certify::accuracy::{test}"),
                &format!("no quiet moment: {}", busy["reason"]),
            );
            return None;
        }
        assert!(matches!(output.status.code(), Some(0 | 4)), "{errors}");
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("the figure farthest from the truth"),
            "{errors}"
        );
        Some(results)
    }

    fn assert_near(result: &Value, figure: &str) {
        assert_eq!(result["outcome"], "scored", "{result}");
        let off = result["deviation"][figure]
            .as_f64()
            .unwrap_or_else(|| panic!("no {figure} in {result}"));
        assert!(off.abs() < 0.5, "{figure} is not even near: {result}");
    }

    #[test]
    fn brunt_reports_the_waiting_time_of_users() {
        retry_under_steal_time(
            "certify::accuracy::brunt_reports_the_waiting_time_of_users",
            || {
                // A stall of 1 s in a load of 7 s affects more than a tenth of the requests.
                let line = "--case stall --loop open --seconds 2";
                let Some(results) = league("brunt_reports_the_waiting_time_of_users", line) else {
                    return;
                };
                assert_eq!(results.len(), 1);
                assert_near(&results[0], "p50");
                assert_near(&results[0], "p99");
                assert!(
                    results[0]["truth"]["response_time_seconds"]["p99"].as_f64() > Some(0.5),
                    "{}",
                    results[0]
                );
            },
        );
    }

    #[test]
    fn closed_loops_of_several_tools_are_read() {
        retry_under_steal_time("certify::accuracy::closed_loops_of_several_tools_are_read", || {
            let name = "closed_loops_of_several_tools_are_read";
            if let Some(missing) = ["wrk", "ab"].iter().find(|tool| program(tool).is_none()) {
                return skip(
                    &format!("certify::accuracy::{name}"),
                    &format!("{missing} is not installed"),
                );
            }
            let line = "--tool brunt,wrk,ab --case const --loop closed --seconds 2";
            let Some(results) = league(name, line) else { return };
            let tools: Vec<_> =
                results.iter().map(|result| result["tool"].as_str().unwrap_or("")).collect();
            assert_eq!(tools, ["brunt", "wrk", "ab"]);
            for result in &results {
                assert_near(result, "p50");
            }
        });
    }
}

#[test]
fn the_lab_is_part_of_brunt() {
    let plain = output_of_lab("");
    assert!(plain.starts_with("listening on http://127.0.0.1:"), "{plain}");
    assert_eq!(plain.lines().count(), 1, "JSON only where it is asked for: {plain}");
    let figures = output_of_lab("--stats -");
    assert!(figures.contains("\"received\":0"), "{figures}");
    let refused = command("lab --listen 0.0.0.0:80").output().expect("brunt");
    assert_eq!(refused.status.code(), Some(2));
}

fn output_of_lab(options: &str) -> String {
    let mut lab = command(&format!("lab --until-stdin-closes --max-runtime 20s {options}"));
    let mut lab = ServerProcess::start(lab.stdin(Stdio::piped()).stdout(Stdio::piped()));
    drop(lab.child.stdin.take());
    wait_until("the lab's end", || lab.exit_status().is_some());
    std::io::read_to_string(lab.child.stdout.take().expect("its output")).expect("text")
}

#[test]
fn mistakes_are_reported() {
    for (line, words) in [
        ("certify --tool locust", "wrk,"),
        ("certify --case slow", "stall"),
        ("certify -o html", "markdown"),
        ("certify --seconds 1", "write 2 to 600"),
    ] {
        let output = command(line).output().expect("brunt");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && errors.contains(words), "{line}: {errors}");
    }
}

#[test]
fn ctrl_c_leaves_no_process() {
    let dir = TempDir::new().expect("a directory");
    let mut certify = command("certify --case const --loop open --seconds 60 -o json");
    let out = File::create(dir.path().join("out")).expect("a file");
    let mut certify = ServerProcess::start(certify.stdout(out).stderr(Stdio::null()));
    let parent = Pid::from_child(&certify.child);
    let mut children_of_brunt = Vec::new();
    wait_until("the server and the generator", || {
        children_of_brunt = children(parent);
        children_of_brunt.len() == 2
    });
    certify.signal(Signal::INT);
    wait_until("its end", || certify.exit_status().is_some());
    assert_eq!(certify.exit_status().and_then(|status| status.code()), Some(130));
    assert!(
        children_of_brunt.iter().all(|child| test_kill_process(*child).is_err()),
        "{children_of_brunt:?} are left"
    );
    let league: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("out")).expect("a league"))
            .expect("JSON");
    assert_eq!(league["results"].as_array().map(Vec::len), Some(0), "{league:#}");
}

/// Child processes, by the fourth field of `/proc/PID/stat`, which follows the name in parentheses.
fn children(parent: Pid) -> Vec<Pid> {
    let all =
        fs::read_dir("/proc").expect("processes").filter_map(|entry| process_number(&entry.ok()?));
    all.filter(|pid| parent_of(*pid) == Some(parent.as_raw_nonzero().get()))
        .filter_map(Pid::from_raw)
        .collect()
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

fn process_number(entry: &fs::DirEntry) -> Option<i32> {
    entry.file_name().to_str()?.parse::<i32>().ok()
}

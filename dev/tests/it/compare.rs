//! Compares two servers by alternating runs, or by stored runs.
//!
//! A block is two runs of a fraction of a second, so the tests assert decisions and no figures.

use crate::world::machine::retry_under_steal_time;
use crate::world::{Lab, command, lab, nginx, start, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::process::Output;
use tempfile::TempDir;

/// Output of brunt, and the directory of its store.
pub struct CommandResult {
    pub dir: TempDir,
    code: i32,
    pub out: String,
    err: String,
    pub json: Value,
}

/// Runs brunt with the words of a line, one of which may be quoted by `'`, and a separate store.
pub fn brunt(line: &str) -> CommandResult {
    brunt_in(TempDir::new().expect("a directory"), line)
}

pub fn brunt_in(dir: TempDir, line: &str) -> CommandResult {
    let json = dir.path().join("json");
    let _ = fs::remove_file(&json);
    let reports =
        ["compare", "check", "find"].iter().any(|with| line.split(' ').any(|word| word == *with));
    let mut command = command("");
    command.args(words(line)).env("BRUNT_STORE", dir.path().join("store")).current_dir(dir.path());
    if reports {
        command.args(["-o", "text", "-o"]).arg(format!("json={}", json.display()));
    }
    let Output { status, stdout, stderr } = command.output().expect("brunt");
    let json = fs::read(&json)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(Value::Null);
    CommandResult {
        dir,
        code: status.code().expect("an exit code"),
        out: lossy_text(&stdout),
        err: lossy_text(&stderr),
        json,
    }
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words(line: &str) -> Vec<String> {
    line.split('\'')
        .enumerate()
        .flat_map(|(i, part): (usize, &str)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

impl CommandResult {
    pub fn assert_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }

    /// Verdicts on each figure of the first pair, the deciding one first.
    pub fn verdicts(&self) -> Vec<&str> {
        let measures =
            self.json.pointer("/analysis/comparison/pairs/0/measures").and_then(Value::as_array);
        let found: Vec<String> = measures
            .into_iter()
            .flatten()
            .filter_map(|of: &Value| of["verdict"].as_str().map(str::to_owned))
            .collect();
        assert!(!found.is_empty(), "{}{}", self.out, self.err);
        found
            .into_iter()
            .filter_map(|word: String| {
                ["better", "worse", "equal", "undecided"].into_iter().find(|fixed| **fixed == word)
            })
            .collect()
    }

    pub fn comparison(&self, key: &str) -> &Value {
        &self.json["analysis"]["comparison"][key]
    }

    pub fn assert_text(&self, text: &str) {
        let all = single_spaced(&format!("{}{}", self.out, self.err));
        assert!(all.contains(text), "no `{text}` in:\n{}{}", self.out, self.err);
    }
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Starts a server with this service time.
pub fn server(milliseconds: u32) -> Lab {
    lab(&format!("--service const:{milliseconds}ms"))
}

#[test]
fn a_slower_server_is_worse_and_ends_the_comparison_early() {
    retry_under_steal_time(
        "compare::a_slower_server_is_worse_and_ends_the_comparison_early",
        || {
            let fast = server(2);
            let slow = server(9);
            let line = format!(
                "compare fast={} slow={} -r 60 -d 400ms --repeat 14 --metric p50,throughput --fail-if 'p50 worse by 50%' \
             -o junit=junit.xml -o markdown=pr.md",
                fast.url_of("/"),
                slow.url_of("/")
            );
            let result = brunt(&line).assert_code(9);
            assert_eq!(result.verdicts()[0], "worse");
            assert_eq!(result.comparison("ended"), "decided");
            assert!(
                result.comparison("blocks").as_u64().is_some_and(|blocks| blocks < 14),
                "{}",
                result.out
            );
            result.assert_text("faster than slow at 60/s (p50 ");
            result.assert_text("after repetition 1: p50:");
            assert!(
                read_output(&result, "junit.xml").contains("<failure type=\"worse\""),
                "{}",
                read_output(&result, "junit.xml")
            );
            assert!(
                read_output(&result, "pr.md")
                    .contains("## slow against fast at 60/s\n\n| Measure | fast | slow |"),
                "{}",
                read_output(&result, "pr.md")
            );
            // Stored runs give the same decision, and are complete.
            let again = brunt_in(result.dir, "compare run:last --metric p50").assert_code(9);
            assert_eq!(again.verdicts(), ["worse"]);
            let report = brunt_in(again.dir, "report last").assert_code(0);
            report.assert_text("decided after");
            assert!(!report.out.contains("is incomplete"), "{}", report.out);
        },
    );
}

fn read_output(result: &CommandResult, name: &str) -> String {
    fs::read_to_string(result.dir.path().join(name)).unwrap_or_default()
}

#[test]
fn a_server_does_not_differ_from_itself() {
    retry_under_steal_time("compare::a_server_does_not_differ_from_itself", || {
        let one = server(5);
        let line = format!(
            "compare A={0} B={0} -r 60 -d 400ms --metric p50 --alpha 0.01",
            one.url_of("/")
        );
        let result = brunt(&format!("{line} --repeat 6")).assert_code(0);
        assert!(["undecided", "equal"].contains(&result.verdicts()[0]), "{}", result.out);
        result.assert_text("6 blocks");
        brunt(&format!("{line} --require-decision --repeat 2")).assert_code(8);
    });
}

#[test]
fn compression_of_replies_is_reported() {
    let test = "compression_of_replies_is_reported";
    let text = "default_type text/plain; gzip_types text/plain; gzip_min_length 1; gzip_comp_level 9; access_log off;";
    let (Some(plain), Some(packed)) =
        (nginx(test, "access_log off;"), nginx(test, &format!("gzip on; {text}")))
    else {
        return;
    };
    retry_under_steal_time(test, || {
        let line = format!(
            "compare plain={} packed={} -c 4 -d 500ms --compressed --repeat 14 --metric throughput",
            plain.url_of("/page.txt"),
            packed.url_of("/page.txt")
        );
        let result = brunt(&line).assert_code(0);
        assert_eq!(result.verdicts(), ["worse"], "{}", result.out);
        result.assert_text("compression of the reply: plain has none, packed has gzip");
        let line = format!(
            "compare A={0} B={0} -c 4 -d 500ms --repeat 6 --alpha 0.01",
            plain.url_of("/page.txt")
        );
        let same = brunt(&line).assert_code(0);
        assert!(["undecided", "equal"].contains(&same.verdicts()[0]), "{}", same.out);
    });
}

#[test]
fn servers_of_a_plan_are_started_and_compared() {
    let dir = TempDir::new().expect("a directory");
    let lab = crate::world::brunt::program("BRUNT_LAB_BIN", "brunt-lab");
    let plan = format!(
        "ports: [http]\nscript: {{request: \"http://127.0.0.1:${{port.http}}/\"}}\n\
         load: {{rate: 60, duration: 300ms}}\nrepetitions: 2\n\
         compare: {{metrics: [p50, errors], min_difference: 10%, fail_if: p50 worse by 1%}}\n\
         server:\n  start: exec {} --listen 127.0.0.1:${{port.http}} --service const:${{time}}\n  \
         ready: http://127.0.0.1:${{port.http}}/\n\
         contenders:\n  fast: {{vars: {{time: 2ms}}}}\n  slow: {{vars: {{time: 9ms}}}}\n",
        lab.display()
    );
    fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let result = brunt_in(dir, "compare plan.yaml").assert_code(0);
    result.assert_text("2 repetitions are too few");
    assert_eq!(
        (result.verdicts()[0], result.comparison("blocks").as_u64()),
        ("undecided", Some(2))
    );
    brunt_in(result.dir, "plan show plan.yaml").assert_code(0).assert_text("compare:");
}

#[test]
fn stored_runs_are_compared_as_far_as_possible() {
    retry_under_steal_time("compare::stored_runs_are_compared_as_far_as_possible", || {
        let fast = server(2);
        let slow = server(9);
        let mut dir = TempDir::new().expect("a directory");
        for (url, name) in [(fast.url_of("/"), "a"), (slow.url_of("/"), "b")] {
            let line = format!("sweep {url} -r 60 -d 300ms --repeat 4 --name {name} -q");
            dir = brunt_in(dir, &line).assert_code(0).dir;
        }
        let result =
            brunt_in(dir, "compare A=run:a B=run:b --metric p50 --fail-if 'p50 worse by 50%'")
                .assert_code(9);
        assert_eq!(result.verdicts(), ["worse"]);
        assert_eq!(result.comparison("ended"), "stored");
        result.assert_text("not alternating");
        result.assert_text("It is unknown whether servers were restarted");
        let alone = brunt_in(result.dir, "compare run:a").assert_code(2);
        alone.assert_text("a comparison needs two");
    });
}

#[test]
fn one_run_per_side_is_reported_as_undecided() {
    let fast = server(2);
    let slow = server(9);
    let mut dir = TempDir::new().expect("a directory");
    for (url, name) in [(fast.url_of("/"), "a"), (slow.url_of("/"), "b")] {
        dir = brunt_in(dir, &format!("sweep {url} -r 60 -d 300ms --repeat 1 --name {name} -q"))
            .assert_code(0)
            .dir;
    }
    let result =
        brunt_in(dir, "compare A=run:a B=run:b --metric p50 --require-decision").assert_code(8);
    assert_eq!(result.verdicts(), ["undecided"]);
    result.assert_text(
        "p50: too few runs to show any difference: their smallest possible p-value is 1 (required: 0.05).",
    );
    result.assert_text("At least 4 runs per side are needed.");
    result.assert_text("1 and 1 run are too few");
}

#[test]
fn an_interrupted_comparison_is_reported_and_resumed() {
    let one = server(2);
    let dir = TempDir::new().expect("a directory");
    let line = format!(
        "compare A={0} B={0} -r 40 -d 300ms --metric p50 --repeat 6 --name again --store {1}",
        one.url_of("/"),
        dir.path().display()
    );
    let running = start(&mut command(&line));
    wait_until("the first block", || running.stderr().contains("after repetition 1"));
    running.signal(Signal::INT);
    let first = running.finish_unchecked().assert_code(130);
    first.assert_text(&["Comparison - stopped after", "of 6 at most", "-> continue with --resume"]);
    let stored = first.value("/trials").as_array().map_or(0, Vec::len);
    let again = start(&mut command(&format!("{line} --resume"))).finish_unchecked();
    assert!([0, 5, 6].contains(&again.code), "{}{}", again.out, again.err);
    assert_eq!(
        (again.value("/interrupted"), &again.json["id"]),
        (&Value::Bool(false), &first.json["id"])
    );
    assert!(again.value("/trials").as_array().map_or(0, Vec::len) >= stored, "{}", again.out);
}

#[test]
fn different_replies_are_reported_before_the_load() {
    let small = lab("--body 100");
    let large = lab("--body 20000");
    let line = format!(
        "compare A={} B={} C={} -r 40 -d 300ms --repeat 1",
        small.url_of("/"),
        large.url_of("/"),
        small.url_of("/c")
    );
    let result = brunt(&line).assert_code(0);
    let before = position_in_errors(
        &result,
        "different replies: body of the reply: A has 100 bytes, B has 20,000 bytes.",
    );
    assert!(before < position_in_errors(&result, "1/3 A"), "{}", result.err);
    assert!(
        position_in_errors(&result, "p99: 1 block cannot show any difference")
            < position_in_errors(&result, "1/3 A"),
        "{}",
        result.err
    );
    assert_eq!(result.comparison("pairs").as_array().map(Vec::len), Some(2));
    result.assert_text("C against A at 40/s");
}

fn position_in_errors(result: &CommandResult, text: &str) -> usize {
    result.err.find(text).unwrap_or_else(|| panic!("no `{text}` in:\n{}", result.err))
}

#[test]
fn invalid_comparisons_are_refused_with_a_correction() {
    let one = server(1);
    let url = one.url_of("/");
    let dir = TempDir::new().expect("a directory");
    let plan = dir.path().join("plan.yaml");
    fs::write(
        &plan,
        format!("script: {{request: \"{url}\"}}\nload: {{rate: 5}}\ncontenders: {{A: , B: }}\n"),
    )
    .expect("a plan");
    let plan = plan.display();
    for (line, expected) in [
        (format!("compare {url}"), "a comparison needs two; write two"),
        (format!("compare {url} {url}"), "two servers have the name"),
        (format!("compare A={url} run:x"), "cannot be mixed"),
        (format!("compare A={url} B={url} --metric speed"), "write one of p50"),
        (format!("compare A={url} B={url} --fail-if 'p99 > 5%'"), "`worse by` is missing"),
        (format!("compare A={url} B={url} --metric cpu"), "add --probe process=NAME"),
        (format!("compare A={url} B={url} --time-budget 1s"), "one repetition takes 20 s"),
        (format!("compare A={url} B={url} --alpha 0.7"), "more than 0 and up to 0.5"),
        (format!("compare A={url} B={url} --min-difference 2"), "more than 0% and less than 100%"),
        (format!("compare A={url} B={url} --at peak"), "write load, capacity or both"),
        (format!("compare A={url} B={url} --at both"), "at which load, besides the capacity?"),
        (
            format!("compare A={url} B={url} --at capacity --metric p99"),
            "only capacities are compared; write --at both",
        ),
        (
            format!("compare A={url} B={url} --at capacity -d 5s"),
            "a search chooses the duration of its trials",
        ),
        (
            format!("compare A={url} B={url} --at capacity --objective 1-3-10"),
            "would be a second capacity",
        ),
        (
            format!("compare A={url} B={url} --at capacity --time-budget 1m"),
            "that is 3 s for each of 20 searches",
        ),
        (format!("compare A={url} B={url} --metric capacity"), "add --at capacity, or --at both"),
        (
            format!("compare A={url} B={url} --trial-duration 1s"),
            "that is of a search for the capacity",
        ),
        (
            format!("compare {plan} --at capacity"),
            "--at cannot change the searches of a plan; write compare.at",
        ),
        (format!("find {url} --objective 'p99 < soon'"), "write"),
        (format!("find {url} --require 'knee > 5'"), "only a capacity can be required"),
        (format!("find {url} --time-budget 5s"), "three trials of 3s do not fit into it"),
        ("compare run:nothing run:there".to_owned(), "no stored run or experiment matches"),
    ] {
        brunt(&line).assert_code(2).assert_text(expected);
    }
    brunt(&format!("compare A={url} B=http://127.0.0.1:1/ -r 5"))
        .assert_code(3)
        .assert_text("no response from");
}

//! Compares the capacities of two servers, which are searched repeatedly and alternately.
//!
//! Searches are as short as possible, so the tests assert decisions and no figures.

use crate::compare::{brunt, brunt_in};
use crate::world::machine::retry_under_steal_time;
use crate::world::skip::skip;
use crate::world::{command, lab, start, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

const SHORT: &str =
    "--objective 'p99 < 500ms' --trial-duration 1s --warmup 100ms --grace 300ms --cooldown 0s";

/// Capacities found for the contender with this name.
fn capacities_of(json: &Value, contender: &str) -> Vec<Option<f64>> {
    let searches = json.pointer("/analysis/comparison/searched").and_then(Value::as_array);
    let matching = searches.into_iter().flatten().filter(|one| one["contender"] == contender);
    matching.map(|one| one["at"]["value"].as_f64()).collect()
}

#[test]
#[ignore = "a proof in real time: make prove PROOF=find"]
fn a_server_with_more_capacity_is_better() {
    let test = "capacities::a_server_with_more_capacity_is_better";
    retry_under_steal_time(test, || {
        let slow = lab("--workers 1 --service const:20ms");
        let fast = lab("--workers 1 --service const:5ms");
        let line = format!(
            "compare slow={} fast={} --at both -r 20 -d 500ms {SHORT} --start-load 30 --repeat 4 --alpha 0.5 --time-budget 100s",
            slow.url_of("/"),
            fast.url_of("/")
        );
        let result = brunt(&line);
        if unknown_capacities(&result.json, "slow") + unknown_capacities(&result.json, "fast") > 0 {
            return skip(test, "the generator was the limit, so that capacities were not found");
        }
        let result = result.assert_code(0);
        assert_eq!(result.verdicts(), ["better"], "{}{}", result.out, result.json);
        assert_eq!(result.comparison("ended"), "decided");
        result.assert_text("higher in capacity than slow (capacity ");
        result.assert_text("slow, repetition 1: trial 1: 30/s");
        result.assert_text("after repetition 1: capacity:");
        result.assert_text("Capacities per second, repetition");
        // Given loads are compared in addition, and decide nothing.
        result.assert_text("fast against slow at 20/s");
        let again = brunt_in(result.dir, "compare run:last").assert_code(0);
        assert_eq!(again.verdicts(), ["better"]);
    });
}

fn unknown_capacities(json: &Value, contender: &str) -> usize {
    capacities_of(json, contender).iter().filter(|value| value.is_none()).count()
}

#[test]
fn a_plan_compares_capacities_and_resumes_after_a_stop() {
    let dir = TempDir::new().expect("a directory");
    let lab = crate::world::brunt::program("BRUNT_LAB_BIN", "brunt-lab");
    let plan = format!(
        "ports: [http]\nscript: {{request: \"http://127.0.0.1:${{port.http}}/\"}}\nload: {{warmup: 100ms}}\n\
         objectives: [p99 < 500ms]\nrepetitions: 2\ncompare: {{at: capacity}}\n\
         find: {{trial_duration: 1s, max_load: 400, start_load: 200, time_budget: 8s, between: 0s}}\n\
         server:\n  start: echo $BRUNT_CONTENDER >>starts; exec {} --listen 127.0.0.1:${{port.http}} --service const:1ms\n  \
         ready: http://127.0.0.1:${{port.http}}/\ncontenders: {{a: {{}}, b: {{}}}}\n",
        lab.display()
    );
    let file = dir.path().join("plan.yaml");
    fs::write(&file, plan).expect("a plan");
    let line = format!("run {} --store {}", file.display(), dir.path().join("store").display());
    let running = start(&mut command(&line));
    wait_until("the first trial of b", || running.stderr().contains("b, repetition 1: trial 1"));
    running.signal(Signal::INT);
    let first = running.finish_unchecked().assert_code(130);
    assert_eq!(capacities_of(&first.json, "b").len(), 0, "{}", first.out);
    let again = start(&mut command(&format!("{line} --resume"))).finish_unchecked();
    assert!([0, 5].contains(&again.code), "{}{}", again.out, again.err);
    // All met the objectives at 400/s: only a lower bound of their capacities is known, so nothing
    // is decided.
    assert_eq!(
        (capacities_of(&again.json, "a"), capacities_of(&again.json, "b")),
        (vec![None, None], vec![None, None]),
        "{}",
        again.out
    );
    again.assert_text(&[
        "not known in 2 of 2 searches: the highest load allowed met the objectives; raise it (--max-load",
        "2 repetitions are too few",
    ]);
    let starts = fs::read_to_string(dir.path().join("starts")).expect("starts");
    // Each repetition of each contender starts its server once; the interrupted one starts it
    // twice.
    assert_eq!(starts.split_whitespace().collect::<String>(), "abbba", "{}", again.err);
    let refused =
        command(&format!("compare {} --repeat 3", file.display())).output().expect("brunt");
    assert!(
        String::from_utf8_lossy(&refused.stderr)
            .contains("write compare.time_budget and repetitions in the plan")
    );
}

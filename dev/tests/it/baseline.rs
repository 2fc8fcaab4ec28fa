//! Saves baselines, and compares later runs or a server with them.

use crate::compare::{brunt, brunt_in, server};

#[test]
fn a_baseline_is_compared_with_later_runs() {
    let fast = server(2);
    let slow = server(9);
    let dir = brunt(&sweep_line(&fast.url_of("/"))).assert_code(0).dir;
    let dir = brunt_in(dir, "baseline save main").assert_code(0).dir;
    let result = brunt_in(dir, "baseline check main").assert_code(2);
    result.assert_text("no run of sweep was stored since the baseline `main`");
    let dir = brunt_in(result.dir, &sweep_line(&slow.url_of("/"))).assert_code(0).dir;
    let result = brunt_in(dir, "baseline check main --metric p50 --fail-if 'p50 worse by 50%'")
        .assert_code(9);
    result.assert_text("faster than now at 60/s (p50 ");
    let list = brunt_in(result.dir, "baseline list").assert_code(0);
    list.assert_text("main");
    let refused = brunt_in(list.dir, "runs rm sweep");
    let removed = brunt_in(refused.dir, "baseline rm main").assert_code(0);
    brunt_in(removed.dir, "baseline check main")
        .assert_code(2)
        .assert_text("is not among the saved ones");
}

fn sweep_line(url: &str) -> String {
    format!("sweep it={url} -r 60 -d 300ms --repeat 4 -q")
}

#[test]
fn a_server_is_measured_like_the_baseline_and_compared_with_it() {
    let fast = server(2);
    let slow = server(9);
    let dir = brunt(&format!("sweep it={} -r 60 -d 300ms --repeat 4 -q", fast.url_of("/")))
        .assert_code(0)
        .dir;
    let dir = brunt_in(dir, "baseline save main").assert_code(0).dir;
    let same = brunt_in(
        dir,
        &format!(
            "baseline check main {} --metric p50 --fail-if 'p50 worse by 50%'",
            fast.url_of("/")
        ),
    );
    let same = same.assert_code(0);
    same.assert_text("now against main at 60/s");
    let line = format!(
        "baseline check main {} --metric p50 --fail-if 'p50 worse by 50%' -o junit=j.xml",
        slow.url_of("/")
    );
    let worse = brunt_in(same.dir, &line).assert_code(9);
    assert_eq!(worse.verdicts(), ["worse"]);
    worse.assert_text("faster than now at 60/s (p50 ");
    let junit = std::fs::read_to_string(worse.dir.path().join("j.xml")).unwrap_or_default();
    assert!(junit.contains("<failure type=\"worse\""), "{junit}");
    let unreachable = brunt_in(worse.dir, "baseline check main http://127.0.0.1:1/");
    unreachable.assert_code(3).assert_text("nothing was measured: no connection to");
}

#[test]
fn a_missing_baseline_is_reported() {
    let nothing = brunt("baseline save main").assert_code(2);
    nothing.assert_text("no stored run or experiment matches");
    let missing = brunt_in(nothing.dir, "baseline check main").assert_code(2);
    missing.assert_text("the baseline `main` is not among the saved ones");
    brunt_in(missing.dir, "baseline list").assert_code(0).assert_text("no baseline yet");
}

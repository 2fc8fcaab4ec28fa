//! Saves baselines, and compares later runs or a server with them.

use crate::compare::{brunt, brunt_in, server};

#[test]
fn a_baseline_is_compared_with_later_runs() {
    let fast = server(2);
    let slow = server(9);
    let sweep = |url: String| format!("sweep it={url} -r 60 -d 300ms --repeat 4 -q");
    let dir = brunt(&sweep(fast.at("/"))).ends(0).dir;
    let dir = brunt_in(dir, "baseline save main").ends(0).dir;
    let said = brunt_in(dir, "baseline check main").ends(2);
    said.says("no run of sweep was stored since the baseline `main`");
    let dir = brunt_in(said.dir, &sweep(slow.at("/"))).ends(0).dir;
    let said = brunt_in(dir, "baseline check main --metric p50 --fail-if 'p50 worse by 50%'").ends(9);
    said.says("faster than now at 60/s (p50 ");
    let list = brunt_in(said.dir, "baseline list").ends(0);
    list.says("main");
    let refused = brunt_in(list.dir, "runs rm sweep");
    let named = brunt_in(refused.dir, "baseline rm main").ends(0);
    brunt_in(named.dir, "baseline check main").ends(2).says("is not among the saved ones");
}

#[test]
fn a_server_is_measured_like_the_baseline_and_compared_with_it() {
    let fast = server(2);
    let slow = server(9);
    let dir = brunt(&format!("sweep it={} -r 60 -d 300ms --repeat 4 -q", fast.at("/"))).ends(0).dir;
    let dir = brunt_in(dir, "baseline save main").ends(0).dir;
    let same =
        brunt_in(dir, &format!("baseline check main {} --metric p50 --fail-if 'p50 worse by 50%'", fast.at("/")));
    let same = same.ends(0);
    same.says("now against main at 60/s");
    let line = format!("baseline check main {} --metric p50 --fail-if 'p50 worse by 50%' -o junit=j.xml", slow.at("/"));
    let worse = brunt_in(same.dir, &line).ends(9);
    assert_eq!(worse.verdicts(), ["worse"]);
    worse.says("faster than now at 60/s (p50 ");
    let junit = std::fs::read_to_string(worse.dir.path().join("j.xml")).unwrap_or_default();
    assert!(junit.contains("<failure type=\"worse\""), "{junit}");
    let nobody = brunt_in(worse.dir, "baseline check main http://127.0.0.1:1/");
    nobody.ends(3).says("nothing was measured: no connection to");
}

#[test]
fn a_missing_baseline_is_reported() {
    let nothing = brunt("baseline save main").ends(2);
    nothing.says("no stored run or experiment matches");
    let missing = brunt_in(nothing.dir, "baseline check main").ends(2);
    missing.says("the baseline `main` is not among the saved ones");
    brunt_in(missing.dir, "baseline list").ends(0).says("no baseline yet");
}

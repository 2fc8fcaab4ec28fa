//! Compares the figures of brunt with the truth of the lab: the targets of the project, in short
//! form, or in full if `BRUNT_PROVE` is 1. Figures go to the file that `BRUNT_PROVE_OUT` names, one
//! JSON object per line.
//!
//! The lab refuses its truth if the machine did not let it write when replies were due. Then a test
//! tries again, three times at most, and is skipped if it gets no truth. A proof tries more often,
//! and fails.

use crate::world::lab::prompt_lab;
use crate::world::machine::retry_under_steal_time;
use crate::world::skip::skip;
use crate::world::{BruntOutput, measure};
use serde_json::{Value, json};
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Runs one measurement at a time, to limit disturbance.
static ALONE: Mutex<()> = Mutex::new(());

/// Lag at p99 in seconds above which the machine was too busy for a short measurement. Does not
/// apply to a proof.
const MOST_LAG: f64 = 0.0002;

/// A target: the load, and the permitted deviation from the truth.
struct Target {
    name: &'static str,
    lab: &'static str,
    load: String,
    percentiles: &'static [&'static str],
    /// Permitted deviation: a share of the truth plus seconds.
    within: (f64, f64),
}

fn is_full_proof() -> bool {
    env::var("BRUNT_PROVE").is_ok_and(|v| v == "1")
}

/// Number of attempts to get the truth of the lab.
fn attempts() -> usize {
    if is_full_proof() { 10 } else { 3 }
}

/// Measures until the lab accepts its truth. Returns the last reason if it never does.
fn against_truth(target: &Target) -> Result<(BruntOutput, Value), String> {
    let mut why = String::new();
    for _ in 0..attempts() {
        let lab = prompt_lab(target.lab);
        let ran = measure(&format!("{} {}", lab.url_of("/"), target.load)).assert_all_good();
        let truth = lab.into_statistics()["truth"].clone();
        let lag = ran.figure("/lag_seconds/p99");
        if truth["accepted"] == true && (lag < MOST_LAG || is_full_proof()) {
            return Ok((ran, truth["sojourn_seconds"].clone()));
        }
        why = format!("{} (and brunt was late by {lag} s at p99)", truth["reason"]);
    }
    Err(why)
}

fn prove(target: &Target) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if is_full_proof() {
        assert_agreement(target);
    } else {
        retry_under_steal_time(&format!("accuracy::{}", target.name), || assert_agreement(target));
    }
}

fn assert_agreement(target: &Target) {
    let (ran, truth) = match against_truth(target) {
        Ok(figures) => figures,
        Err(why) if is_full_proof() => {
            panic!("nothing is proved: the lab refuses its truth: {why}")
        }
        Err(why) => {
            return skip(&format!("accuracy::{}", target.name), &format!("no quiet moment: {why}"));
        }
    };
    assert_eq!(truth["count"].as_u64(), Some(ran.count("completed")));
    let mut missed = Vec::new();
    for percentile in target.percentiles {
        let reported = ran.figure(&format!("/response_time_seconds/{percentile}"));
        let true_value = truth[percentile].as_f64();
        let true_value = true_value.unwrap_or_else(|| panic!("no {percentile} in {truth}"));
        let is_met =
            (reported - true_value).abs() <= true_value * target.within.0 + target.within.1;
        note(target, percentile, reported, true_value, is_met, &ran);
        if !is_met {
            missed.push(format!("{percentile}: {reported} s, truly {true_value} s"));
        }
    }
    assert!(missed.is_empty(), "{}: {missed:?}\n{}", target.name, ran.out);
}

/// Prints a figure, and appends it to the file of figures if there is one.
fn note(
    target: &Target,
    percentile: &str,
    reported: f64,
    true_value: f64,
    is_met: bool,
    ran: &BruntOutput,
) {
    let deviation = reported / true_value - 1.0;
    eprintln!(
        "{} {percentile}: {:.3} ms, truly {:.3} ms ({:+.2} %)",
        target.name,
        reported * 1e3,
        true_value * 1e3,
        deviation * 100.0
    );
    let Some(file) = env::var_os("BRUNT_PROVE_OUT") else { return };
    let figure = json!({
        "target": target.name, "lab": target.lab, "load": target.load, "percentile": percentile, "met": is_met,
        "brunt_seconds": reported, "truth_seconds": true_value, "deviation": deviation,
        "allowed_share": target.within.0, "allowed_seconds": target.within.1,
        "requests": ran.count("completed"), "lag_p99_seconds": ran.figure("/lag_seconds/p99"),
    });
    let mut file =
        OpenOptions::new().create(true).append(true).open(file).expect("the file of figures");
    writeln!(file, "{figure}").expect("a line of figures");
}

#[test]
fn reported_queueing_matches_the_truth() {
    let seconds = if is_full_proof() { 60 } else { 8 };
    prove(&Target {
        name: "reported_queueing_matches_the_truth",
        lab: "--service exp:10ms --workers 8 --precise",
        load: format!("-r 400 -d {seconds}s"),
        percentiles: &["p50", "p90", "p99"],
        within: (0.02, 0.0002),
    });
}

#[test]
#[ignore = "a proof in real time: make prove PROOF=accuracy"]
fn a_reported_stall_matches_the_truth() {
    let seconds = if is_full_proof() { 30 } else { 12 };
    prove(&Target {
        name: "a_reported_stall_matches_the_truth",
        lab: "--stall 1s/5s --precise",
        load: format!("-r 200 -d {seconds}s"),
        percentiles: &["p90", "p99"],
        within: (0.03, 0.0),
    });
}

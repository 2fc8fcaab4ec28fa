//! How often the interval of a capacity holds the true one, on simulated servers.
//!
//! The short form runs with every test. The full one, 1000 searches of each kind: `BRUNT_PROVE=1 cargo test -p brunt-search
//! capacity:: -- --nocapture`; its figures go to the file that `BRUNT_PROVE_OUT` names, one JSON object a line.

use crate::simulation::KINDS;
use crate::simulation::servers::{Kind, SLOW};
use crate::simulation::trial::{Searched, search};
use serde_json::json;
use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;

fn in_full() -> bool {
    env::var("BRUNT_PROVE").is_ok_and(|v| v == "1")
}

/// How many searches are made of each kind; of a proof, as many as `BRUNT_PROVE_SEARCHES` says.
fn searches(short: u32) -> u32 {
    let asked = env::var("BRUNT_PROVE_SEARCHES").ok().and_then(|n| n.parse().ok());
    if in_full() { asked.unwrap_or(1000) } else { short }
}

/// What many searches of one kind of server came to.
#[derive(Default)]
struct Score {
    held: u32,
    below: u32,
    above: u32,
    open: u32,
    half_widths: Vec<f64>,
    errors: Vec<f64>,
    trials: Vec<f64>,
    seconds: Vec<f64>,
}

impl Score {
    fn of(kind: &Kind, searches: u32) -> Self {
        let mut score = Self::default();
        for seed in 0..searches {
            score.count(kind, &search(kind, u64::from(seed)));
        }
        score
    }

    fn count(&mut self, kind: &Kind, found: &Searched) {
        let at = found.answer.capacities[0].at;
        let (low, high) = (at.low.unwrap_or(0.0), at.high.unwrap_or(f64::INFINITY));
        match kind.capacity {
            truth if truth < low => self.below += 1,
            truth if truth > high => self.above += 1,
            _ => self.held += 1,
        }
        let value = at.value.unwrap_or(f64::INFINITY);
        self.open += u32::from(at.low.is_none() || at.high.is_none() || at.value.is_none());
        self.half_widths.push((high - low) / 2.0 / value);
        self.errors.push((value / kind.capacity - 1.0).abs());
        self.trials.push(found.answer.trials.len() as f64);
        self.seconds.push(found.seconds);
    }

    fn searches(&self) -> u32 {
        self.held + self.below + self.above
    }

    fn coverage(&self) -> f64 {
        f64::from(self.held) / f64::from(self.searches())
    }

    /// The targets that a proof is held to, where they are missed.
    fn missed(&self) -> Vec<String> {
        let (half_width, trials) = (at(&self.half_widths, 0.5), at(&self.trials, 0.5));
        let targets = [
            (
                self.coverage() >= 0.93,
                format!("{:.3} of the intervals hold the truth, not 0.93", self.coverage()),
            ),
            (half_width <= 0.03, format!("half the interval is {half_width:.3} of it, not 0.03")),
            (trials <= 12.0, format!("{trials} trials, not 12")),
        ];
        targets.into_iter().filter(|(met, _)| !met).map(|(_, target)| target).collect()
    }

    fn note(&self, kind: &Kind) -> String {
        let figures = json!({
            "server": kind.name, "searches": self.searches(), "coverage": self.coverage(),
            "truth_below_interval": self.below, "truth_above_interval": self.above, "open_intervals": self.open,
            "half_width_median": at(&self.half_widths, 0.5), "half_width_p95": finite(at(&self.half_widths, 0.95)),
            "error_median": at(&self.errors, 0.5), "trials_median": at(&self.trials, 0.5),
            "trials_p95": at(&self.trials, 0.95), "seconds_median": at(&self.seconds, 0.5),
        });
        let Some(file) = env::var_os("BRUNT_PROVE_OUT").filter(|_| in_full()) else {
            return figures.to_string();
        };
        let mut file =
            OpenOptions::new().create(true).append(true).open(file).expect("the file of figures");
        writeln!(file, "{figures}").expect("a line of figures");
        figures.to_string()
    }
}

/// JSON has no infinity: an open interval is null.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn at(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * q) as usize).min(sorted.len() - 1)]
}

#[test]
fn intervals_contain_the_true_capacity() {
    let searches = searches(20);
    let mut missed = Vec::new();
    for kind in &KINDS {
        let score = Score::of(kind, searches);
        println!("{}", score.note(kind));
        let name = kind.name;
        if in_full() {
            missed.extend(score.missed().into_iter().map(|target| format!("{name}: {target}")));
        } else {
            // Of twenty, binomial with 93 %: fewer than 15 are held about once in a thousand times.
            assert!(
                score.coverage() >= 0.74 && at(&score.errors, 0.5) < 0.05,
                "{name}: {}",
                score.coverage()
            );
        }
    }
    assert!(missed.is_empty(), "targets missed: {missed:#?}");
}

#[test]
fn with_little_data_the_interval_is_wide_and_contains_the_truth() {
    let score = Score::of(&SLOW, searches(20));
    println!("{}", score.note(&SLOW));
    let (least, most) = if in_full() { (0.93, 0.1) } else { (0.74, 0.2) };
    assert!(
        score.coverage() >= least && at(&score.half_widths, 0.5) < most,
        "{}",
        score.coverage()
    );
}

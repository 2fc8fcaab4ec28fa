//! How often the interval of a capacity holds the true one, on simulated servers.

mod simulation;

use simulation::trial::{Searched, search};
use simulation::{KINDS, Kind};

#[derive(Default)]
struct Score {
    held: u32,
    low: u32,
    high: u32,
    widths: Vec<f64>,
    errors: Vec<f64>,
    trials: Vec<f64>,
    seconds: Vec<f64>,
    open: u32,
    precise: u32,
}

impl Score {
    fn count(&mut self, kind: &Kind, found: &Searched) {
        let at = found.answer.capacities[0].at;
        let (low, high) = (at.low.unwrap_or(0.0), at.high.unwrap_or(f64::INFINITY));
        match kind.capacity {
            c if c < low => self.low += 1,
            c if c > high => self.high += 1,
            _ => self.held += 1,
        }
        self.open += u32::from(!(at.value.is_some() && low > 0.0 && high.is_finite()));
        self.precise += u32::from(found.answer.ended == brunt_model::answer::SearchEnd::Precise);
        let value = at.value.unwrap_or(f64::NAN);
        self.widths.push((high - low) / 2.0 / value);
        self.errors.push((value / kind.capacity - 1.0).abs());
        self.trials.push(found.answer.trials.len() as f64);
        self.seconds.push(found.seconds);
    }
}

fn at(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * q) as usize).min(sorted.len() - 1)]
}

#[test]
fn explore() {
    let n: u64 = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let only: Option<usize> = std::env::var("K").ok().and_then(|n| n.parse().ok());
    for (index, kind) in KINDS.iter().enumerate().filter(|(i, _)| only.is_none_or(|o| o == *i)) {
        let mut score = Score::default();
        for seed in 0..n {
            let found = search(kind, seed * 31 + index as u64);
            if n <= 3 {
                println!("{}", found.answer.sentence);
                for t in &found.answer.trials {
                    println!(
                        "  {:8.1} {:5.1}s {:8.1} {:?} {} {:?} {:?} {:?}",
                        t.load, t.seconds, t.achieved, t.sides, t.why, t.known.low, t.known.value, t.known.high
                    );
                }
                println!(
                    "{:?} {:?} {:.1} {:?}",
                    found.answer.drift, found.answer.ended, found.seconds, found.answer.recovery
                );
            }
            score.count(kind, &found);
        }
        println!(
            "{}: held {:.1} % (low {} high {}) half {:.2} %, p95 {:.2} %; error {:.2} %; trials {} p95 {}; seconds {:.0}; open {} precise {}",
            kind.name,
            100.0 * f64::from(score.held) / n as f64,
            score.low,
            score.high,
            100.0 * at(&score.widths, 0.5),
            100.0 * at(&score.widths, 0.95),
            100.0 * at(&score.errors, 0.5),
            at(&score.trials, 0.5),
            at(&score.trials, 0.95),
            at(&score.seconds, 0.5),
            score.open,
            score.precise
        );
    }
}

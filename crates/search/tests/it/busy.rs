//! How often the interval of a capacity holds the true one where the generator's machine is busy with something else.
//!
//! Searches of a minute each, with fixed seeds, under random steal and under a busy neighbor: 500 of each, and 2,000 if
//! `BRUNT_PROVE` is 1.

use crate::simulation::machine::Machine;
use crate::simulation::servers::lab;
use crate::simulation::trial::capacity;
use brunt_model::answer::Estimate;
use statrs::distribution::{Binomial, DiscreteCDF as _};
use std::env;
use std::thread;
use std::time::Duration;

const WITHIN: Duration = Duration::from_mins(1);
/// How sure a test is that rejects.
const LEVEL: f64 = 0.001;

fn searches() -> u64 {
    if env::var("BRUNT_PROVE").is_ok_and(|v| v == "1") { 2000 } else { 500 }
}

fn searched(machine: Machine, searches: u64) -> Vec<Estimate> {
    let threads = thread::available_parallelism().map_or(2, |n| n.get() as u64);
    let part = |first: u64| {
        move || {
            (first..searches)
                .step_by(threads as usize)
                .map(|seed| capacity(&lab(machine), WITHIN, seed))
                .collect()
        }
    };
    let running: Vec<thread::JoinHandle<Vec<Estimate>>> =
        (0..threads).map(|first| thread::spawn(part(first))).collect();
    running.into_iter().flat_map(|thread| thread.join().expect("searches")).collect()
}

/// The median width; that of an open interval has no end.
fn width(all: &[Estimate]) -> f64 {
    let mut widths: Vec<f64> = all
        .iter()
        .map(|at| at.high.zip(at.low).map_or(f64::INFINITY, |(high, low)| high - low))
        .collect();
    widths.sort_by(f64::total_cmp);
    widths[widths.len() / 2]
}

fn count(all: &[Estimate], of: impl Fn(&Estimate) -> bool) -> u64 {
    all.iter().filter(|at| of(at)).count() as u64
}

fn holds(machine: Machine, widest: f64) {
    let searches = searches();
    let truth = lab(machine).capacity;
    let all = searched(machine, searches);
    let too_high = count(&all, |at| at.low.is_some_and(|low| low > truth));
    let too_low = count(&all, |at| at.high.is_some_and(|high| high < truth));
    let whole = count(&all, |at| at.low.is_some() && at.high.is_some());
    let quiet = width(&searched(Machine::Quiet, searches / 5));
    let told = format!(
        "{machine:?}: {too_high} lower ends above the truth, {too_low} upper ends below it, {whole} of {searches} with both \
         ends, median width {:.1}, on a quiet machine {quiet:.1}",
        width(&all)
    );
    let binomial = |share: f64| Binomial::new(share, searches).expect("a share");
    assert!(too_high == 0 || binomial(0.025).sf(too_high - 1) > LEVEL, "{told}");
    assert!(too_high + too_low == 0 || binomial(0.05).sf(too_high + too_low - 1) > LEVEL, "{told}");
    assert!(whole * 10 >= searches * 8 && width(&all) <= widest * quiet, "{told}");
}

#[test]
fn intervals_contain_the_capacity_under_random_steal() {
    holds(Machine::Steal, 1.5);
}

#[test]
fn intervals_contain_the_capacity_with_a_busy_neighbor() {
    holds(Machine::Neighbor, 1.5);
}

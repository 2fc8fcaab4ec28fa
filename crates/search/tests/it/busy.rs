//! How often the interval of a capacity holds the true one where the generator's machine is busy with something else.
//!
//! Searches of three minutes each, with fixed seeds, under random steal and under a busy neighbor: 60 of each, and 1,000 if
//! `BRUNT_PROVE` is 1.

use crate::simulation::machine::Machine;
use crate::simulation::servers::lab;
use crate::simulation::trial::capacity;
use brunt_model::answer::Estimate;
use statrs::distribution::{Binomial, DiscreteCDF as _};
use std::env;
use std::thread;
use std::time::Duration;

const WITHIN: Duration = Duration::from_mins(3);
/// How sure a test is that rejects.
const LEVEL: f64 = 0.001;

fn searches() -> u64 {
    if env::var("BRUNT_PROVE").is_ok_and(|v| v == "1") { 1000 } else { 60 }
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

fn count(all: &[Estimate], of: impl Fn(&Estimate) -> bool) -> u64 {
    all.iter().filter(|at| of(at)).count() as u64
}

fn holds(machine: Machine) {
    let searches = searches();
    let truth = lab(machine).capacity;
    let all = searched(machine, searches);
    let too_high = count(&all, |at| at.low.is_some_and(|low| low > truth));
    let too_low = count(&all, |at| at.high.is_some_and(|high| high < truth));
    let known = count(&all, |at| at.low.is_some());
    let told = format!(
        "{machine:?}: {too_high} lower ends above the truth, {too_low} upper ends below it, {known} of {searches} with a lower end"
    );
    let binomial = |share: f64| Binomial::new(share, searches).expect("a share");
    assert!(too_high == 0 || binomial(0.025).sf(too_high - 1) > LEVEL, "{told}");
    assert!(too_high + too_low == 0 || binomial(0.05).sf(too_high + too_low - 1) > LEVEL, "{told}");
    assert!(known * 10 >= searches * 8, "{told}");
}

#[test]
fn intervals_contain_the_capacity_under_random_steal() {
    holds(Machine::Steal);
}

#[test]
fn intervals_contain_the_capacity_with_a_busy_neighbor() {
    holds(Machine::Neighbor);
}

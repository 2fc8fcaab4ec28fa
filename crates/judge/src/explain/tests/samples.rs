use super::world::{SimulatedRequest, World, failure, reply};
use brunt_model::finding::{FigureEstimate, PercentileInterval, Severity};
use brunt_model::goal::{Aim, Goal, Until};
use brunt_model::objective::{Metric, Relation};
use brunt_model::{Failure, Objective};
use std::time::Duration;

fn requests(n: f64) -> World {
    World::open(n / 10.0).lasting(10.0).answering(|_| reply(0.004))
}

#[test]
fn percentiles_need_samples_beyond_them() {
    let world = requests(500.0);
    assert_eq!(
        world.says("few_samples"),
        "p99 needs 1,000 requests (have 500); p95 is the highest reliable percentile."
    );
    assert_eq!(world.finds("few_samples").unwrap().severity, Severity::Note);
    assert_eq!(world.finds("few_samples").unwrap().remedy.unwrap(), "run longer: `-d 20s`");
    assert_eq!(requests(60.0).finds("few_samples").unwrap().severity, Severity::Warning);
    assert!(requests(10.0).says("few_samples").contains("no percentile is reliable"));
    requests(1000.0).is_silent("few_samples");
}

#[test]
fn a_high_percentile_is_judged_only_if_it_is_requested() {
    let objective = Objective {
        metric: Metric::Quantile(0.999),
        step: None,
        relation: Relation::Below,
        bound: 0.1,
    };
    let bounded = requests(1000.0).with(|w| w.plan.objectives = vec![objective]);
    assert!(
        bounded.says("few_samples").starts_with("p99.9 needs 10,000 requests (have 1,000); p99 is")
    );
    let goal = Goal { aim: Aim::Quantile(0.999), within: 0.05 };
    let until = Until { goals: vec![goal], least: Duration::from_secs(1) };
    let aimed = requests(1000.0).with(|w| w.plan.until = Some(until));
    assert!(aimed.says("few_samples").starts_with("p99.9 needs 10,000 requests"));
}

#[test]
fn autocorrelated_samples_reduce_the_effective_sample_size() {
    let estimate = Some(FigureEstimate { value: 0.004, low: 0.003, high: None });
    let interval = PercentileInterval {
        quantile: 0.99,
        estimate,
        effective_samples: 90.0,
        too_short: None,
        method: String::new().into(),
    };
    let world = requests(2000.0).with(|w| w.judgement.intervals = vec![interval]);
    let expected =
        "p99 needs 1,000 independent requests (have 2,000, autocorrelated: worth 90); p95 is";
    assert!(world.says("few_samples").starts_with(expected));
    requests(2000.0).is_silent("few_samples");
}

#[test]
fn requests_without_an_end_bound_the_percentiles() {
    let hanging = |one_in| {
        move |asked: SimulatedRequest| match asked.number % one_in {
            0 => failure(Failure::Timeout, 1.0),
            _ => reply(0.004),
        }
    };
    let said = World::open(500.0).answering(hanging(20)).says("censored");
    assert!(
        said.contains("5.00 %") && said.contains("125 timed out") && said.contains("above p95 "),
        "{said}"
    );
    World::open(500.0).answering(hanging(1000)).is_silent("censored");
}

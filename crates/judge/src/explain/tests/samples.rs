use super::world::{SimulatedRequest, World, failure, reply};
use brunt_model::Failure;
use brunt_model::finding::{Estimate, Interval, Weight};

fn requests(n: f64) -> World {
    World::open(n / 10.0).lasting(10.0).answering(|_| reply(0.004))
}

#[test]
fn percentiles_need_samples_beyond_them() {
    let world = requests(1000.0);
    assert_eq!(
        world.says("few_samples"),
        "Too few samples for p99.9: with 1,000 requests, p99 is the highest percentile that is known."
    );
    assert_eq!(world.finds("few_samples").unwrap().weight, Weight::Note);
    assert!(world.finds("few_samples").unwrap().remedy.unwrap().contains("10,000"));
    assert!(requests(500.0).says("few_samples").contains("p99, p99.9: with 500 requests, p95"));
    assert_eq!(requests(60.0).finds("few_samples").unwrap().weight, Weight::Warning);
    assert!(requests(10.0).says("few_samples").contains("no percentile is known"));
    requests(10_000.0).is_silent("few_samples");
}

#[test]
fn samples_that_depend_on_each_other_count_for_less() {
    let estimate = Some(Estimate { value: 0.004, low: 0.003, high: None });
    let interval =
        Interval { quantile: 0.999, estimate, effective_samples: 900.0, too_short: None, method: String::new() };
    let world = requests(20_000.0).with(|w| w.judgement.intervals = vec![interval]);
    assert!(world.says("few_samples").contains("p99.9"));
    requests(20_000.0).is_silent("few_samples");
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
    assert!(said.contains("5.00 %") && said.contains("125 timed out") && said.contains("above p95 "), "{said}");
    World::open(500.0).answering(hanging(1000)).is_silent("censored");
}

//! Tests of studies: their trials as observations, and the bottlenecks of their servers.

use super::*;
use crate::explain::tests::world::{World, reply};
use brunt_model::analysis::{Band, Bottleneck, Culprit};
use brunt_model::event::Finish;
use brunt_model::experiment::{
    Contender, ContenderHooks, Experiment, HookCommands, LoadStep, TrialOrder,
};
use brunt_model::objective::{Metric, Relation};
use brunt_model::{
    Environment, Judgement, Objective, Run, Study, Tick, Trial, TrialIndex, Verdict,
};
use std::path::PathBuf;
use std::time::Duration;

const SECONDS: f64 = 4.5;
/// One server that takes 5 ms: 200/s.
const SERVICE: f64 = 0.005;

/// An open loop on one server with a queue: evenly spaced requests wait for the rest
/// of the earlier ones.
fn world(rate: f64) -> World {
    let behind = move |number: u64| (number as f64 * (SERVICE - 1.0 / rate)).max(0.0);
    World::open(rate).lasting(SECONDS).answering(move |asked| reply(SERVICE + behind(asked.number)))
}

fn step(rate: f64) -> LoadStep {
    let mut plan = world(rate).plan;
    plan.objectives = vec![Objective {
        metric: Metric::Quantile(0.99),
        step: None,
        relation: Relation::Below,
        bound: 0.1,
    }];
    LoadStep::new(rate, plan)
}

fn trial(step: usize, rate: f64, named: Option<(Culprit, &str)>) -> Trial {
    let run = world(rate).run();
    let mut judgement = judged(&run);
    judgement.bottleneck = named.map(|(culprit, sentence)| Bottleneck {
        culprit,
        sentence: sentence.into(),
        evidence: Vec::new(),
        others: Vec::new(),
    });
    Trial { place: TrialIndex { repetition: 0, contender: 0, step }, id: None, run, judgement }
}

/// Judges a run, except for the verdict: a simulated generator fails some consistency checks.
fn judged(run: &Run) -> Judgement {
    Judgement { verdict: Verdict::default(), ..crate::judge(run) }
}

const RATES: [f64; 7] = [40.0, 80.0, 120.0, 160.0, 240.0, 280.0, 320.0];

fn study(bottleneck: impl Fn(f64) -> Option<(Culprit, &'static str)>) -> Study {
    let contender = Contender {
        name: "one".into(),
        factors: Vec::new(),
        steps: RATES.map(step).to_vec(),
        server: None,
        hooks: ContenderHooks::default(),
        probes: Vec::new(),
    };
    let experiment = Experiment {
        name: "e".into(),
        about: String::new(),
        contenders: vec![contender],
        repetitions: 1,
        order: TrialOrder::Interleaved,
        cooldown: Duration::ZERO,
        hooks: HookCommands::default(),
        seed: 1,
        directory: PathBuf::new(),
        scratch: None,
        question: brunt_model::Question::Sweep,
        source: String::new(),
    };
    Study {
        id: None,
        experiment,
        environment: Environment::default(),
        unix_seconds: 0.0,
        trials: RATES
            .iter()
            .enumerate()
            .map(|(i, rate)| trial(i, *rate, bottleneck(*rate)))
            .collect(),
        warnings: Vec::new(),
        interrupted: false,
        resumptions: Vec::new(),
    }
}

#[test]
fn an_observation_has_the_figures_of_its_run() {
    let seen = observe(&study(|_| None));
    assert_eq!(
        (seen.contenders.len(), seen.unit, seen.observations.len()),
        (1, LoadUnit::PerSecond, 7)
    );
    assert_eq!(seen.notes, Vec::<String>::new());
    let calm = &seen.observations[1];
    assert!(
        (calm.offered.unwrap() - 80.0).abs() < 0.5 && (calm.achieved - 80.0).abs() < 0.5,
        "{calm:?}"
    );
    assert!(
        (calm.mean.unwrap() - SERVICE).abs() < 1e-5
            && (quantile(calm, 0.99) - SERVICE).abs() < 1e-5,
        "{calm:?}"
    );
    assert_eq!(
        (calm.errors, calm.objectives.as_slice(), calm.cut_short),
        (Some(0.0), &[Some(true)][..], false)
    );
    let over = &seen.observations[6];
    assert!(
        (over.offered.unwrap() - 320.0).abs() < 1.0 && (over.achieved - 200.0).abs() < 2.0,
        "{over:?}"
    );
    assert_eq!(over.objectives, [Some(false)]);
}

fn quantile(of: &Observation, quantile: f64) -> f64 {
    of.quantiles.iter().find(|q| q.quantile == quantile).unwrap().seconds
}

#[test]
fn blocks_last_a_second_and_add_up() {
    let seen = observe(&study(|_| None));
    for (rate, seen) in RATES.iter().zip(&seen.observations) {
        let seconds: Vec<f64> = seen.blocks.iter().map(|block| block.seconds).collect();
        assert!(seconds.len() == 5 || seconds.len() == 4, "{seconds:?}");
        assert!(
            seconds.iter().all(|s| (0.45..=1.5).contains(s))
                && (seconds.iter().sum::<f64>() - SECONDS).abs() < 0.11
        );
        let completed: u64 = seen.blocks.iter().map(|block| block.completed).sum();
        assert!((completed as f64 - rate.min(200.0) * SECONDS).abs() < 0.11 * rate, "{completed}");
        // A sketch has a relative error of 0.8 %.
        let first = seen.blocks[0].mean.unwrap();
        assert!(*rate > 200.0 || (first / SERVICE - 1.0).abs() < 0.01, "{first}");
    }
}

#[test]
fn limits_are_found_and_percentiles_have_their_intervals() {
    let analysis = analyse_study(&study(|_| None));
    let one = &analysis.contenders[0];
    assert!((at(one, LimitKind::Saturation).value / 200.0 - 1.0).abs() < 0.02, "{:?}", one.limits);
    assert_eq!(at(one, LimitKind::Knee).value, 160.0);
    assert_eq!(at(one, LimitKind::Kept).value, 160.0);
    assert_eq!(at(one, LimitKind::Objective).value, 160.0);
    assert_eq!(at(one, LimitKind::Objective).band, Band::One);
    assert_eq!(one.bottleneck, None);
    assert_eq!(one.curve[0].p50.unwrap().band, Band::WithinRun, "{:?}", one.curve[0]);
    let [capacity] = said(&analysis, "capacity")[..] else { panic!("{:?}", analysis.findings) };
    assert_eq!(
        capacity,
        "one: throughput saturates at 200/s, the response time bends at 160/s and p99 < 100ms holds up to 160/s."
    );
}

#[test]
fn the_bottleneck_is_that_of_most_trials_beyond_the_saturation_point() {
    let workers = "all 20 php-fpm children busy, 35 requests queued";
    let analysis = analyse_study(&study(|rate| match rate {
        ..200.0 => Some((Culprit::NotFound, "nothing was at its limit")),
        ..300.0 => Some((Culprit::Workers, workers)),
        _ => Some((Culprit::Cpu, "the machine's cores were busy")),
    }));
    let found = analysis.contenders[0].bottleneck.clone().unwrap();
    assert_eq!((found.culprit, &found.sentence[..]), (Culprit::Workers, workers));
    let capacity = said(&analysis, "capacity");
    assert!(
        capacity[0].starts_with(&format!("one: throughput saturates at 200/s ({workers}), ")),
        "{capacity:?}"
    );
    assert!(said(&analysis, "bottleneck").is_empty(), "it is said once");
}

#[test]
fn a_limited_generator_is_reported_as_a_warning() {
    let analysis = analyse_study(&study(|rate| match rate {
        ..250.0 => Some((Culprit::NotFound, "nothing was at its limit")),
        _ => Some((Culprit::Generator, "a worker thread had no time left")),
    }));
    assert!(
        said(&analysis, "bottleneck")[0].starts_with("The generator was the bottleneck, not one")
    );
}

#[test]
fn a_bottleneck_of_half_of_the_trials_is_not_that_of_the_server_or_the_generator() {
    for (culprit, sentence) in [
        (Culprit::Generator, "a worker thread had no time left"),
        (Culprit::Cpu, "the machine's cores were busy"),
    ] {
        let analysis = analyse_study(&study(|rate| match rate {
            ..300.0 => None,
            _ => Some((culprit, sentence)),
        }));
        assert_eq!(analysis.contenders[0].bottleneck, None);
        let capacity = said(&analysis, "capacity");
        assert!(!capacity[0].contains(sentence), "{capacity:?}");
    }
}

#[test]
fn an_interrupted_run_is_marked_as_incomplete() {
    let mut study = study(|_| None);
    let mut short = world(80.0).ending_at(1.0);
    short.finish = Some(Finish { at: Tick(0), interrupted: true, error: None });
    study.trials[1].run = short.run();
    study.trials[1].judgement = judged(&study.trials[1].run);
    study.trials.pop();
    study.interrupted = true;
    let seen = observe(&study);
    assert!(seen.observations[1].cut_short && !seen.observations[0].cut_short);
    assert_eq!(seen.notes, ["The experiment is incomplete: 6 of 7 trials."]);
    let analysis = analyse_study(&study);
    assert_eq!(analysis.contenders[0].curve.len(), 5);
    assert!(said(&analysis, "trials_left_out")[0].contains("one at 80/s"));
}

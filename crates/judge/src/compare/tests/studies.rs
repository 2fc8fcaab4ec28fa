//! Tests of studies of simulated runs, and of stored runs.

use super::*;
use crate::compare::foresee::undecidable_figures;
use crate::compare::sample::ContenderPairs;
use crate::compare::{
    compare, compare_sample, compare_stored, end_reason, fewest_blocks, fewest_of_sweep, findings,
    sentences, undecidable_stored_figures,
};
use crate::explain::tests::world::{World, reply};
use brunt_model::comparison::{Better, ComparisonEnd, Test};
use brunt_model::experiment::{
    Contender, ContenderHooks, Experiment, HookCommands, LoadStep, TrialOrder,
};
use brunt_model::finding::State;
use brunt_model::question::Regression;
use brunt_model::{Environment, Judgement, LoadUnit, Run, Study, Trial, TrialIndex, Verdict};
use std::path::PathBuf;
use std::time::Duration;

const RATE: f64 = 100.0;
const NO_CPU: &str = "server CPU per request: unknown, since no CPU time of the server was read.";

/// A server that takes 5 ms × `slower`; each repetition deviates by a share.
fn run(slower: f64, repetition: u32) -> Run {
    let seconds = 0.005 * slower * (1.0 + 0.01 * f64::from(repetition));
    World::open(RATE).lasting(2.0).answering(move |_| reply(seconds)).run()
}

fn trial(contender: usize, repetition: u32, run: Run) -> Trial {
    // A simulated generator fails some consistency checks.
    let judgement = Judgement { verdict: Verdict::default(), ..crate::judge(&run) };
    Trial { place: TrialIndex { repetition, contender, step: 0 }, id: None, run, judgement }
}

/// A, and B, which is slower by this factor in each repetition.
pub fn study(slower: &[f64]) -> Study {
    let contender = |name: &str| Contender {
        name: name.into(),
        factors: Vec::new(),
        steps: vec![LoadStep::new(RATE, World::open(RATE).lasting(2.0).plan)],
        server: None,
        hooks: ContenderHooks::default(),
        probes: Vec::new(),
    };
    let experiment = Experiment {
        name: "e".into(),
        about: String::new(),
        contenders: vec![contender("A"), contender("B")],
        repetitions: 10,
        order: TrialOrder::Interleaved,
        cooldown: Duration::ZERO,
        hooks: HookCommands::default(),
        seed: 1,
        directory: PathBuf::new(),
        scratch: None,
        question: brunt_model::Question::Sweep,
        source: String::new(),
    };
    let block = |(repetition, slower): (usize, &f64)| {
        let repetition = repetition as u32;
        [trial(0, repetition, run(1.0, repetition)), trial(1, repetition, run(*slower, repetition))]
    };
    Study {
        id: None,
        experiment,
        environment: Environment::default(),
        unix_seconds: 0.0,
        trials: slower.iter().enumerate().flat_map(block).collect(),
        warnings: Vec::new(),
        interrupted: false,
        resumptions: Vec::new(),
    }
}

const WORSE: [f64; 9] = [1.06, 1.05, 1.065, 1.055, 1.07, 1.058, 1.049, 1.061, 1.063];

fn asked() -> ComparisonSettings {
    let fail_if = vec![Regression { measure: P99, by: 0.03 }];
    ComparisonSettings { fail_if, ..spec(&[P99, P50, THROUGHPUT, ERRORS, Measure::ServerCpu]) }
}

#[test]
fn a_study_ends_once_it_is_decided() {
    assert_eq!(
        (1..10).find(|n| end_reason(&study(&WORSE[..*n]), &asked(), &[]).is_some()),
        Some(7)
    );
    let study = study(&WORSE[..7]);
    assert_eq!(end_reason(&study, &asked(), &[]), Some(ComparisonEnd::Decided));
    let comparison = compare(&study, &asked(), &[], ComparisonEnd::Decided);
    assert_eq!((comparison.blocks, comparison.most, comparison.more), (7, 10, None));
    let pair = &comparison.pairs[0];
    assert_eq!((&pair.ours[..], &pair.theirs[..], pair.load), ("A", "B", Some(RATE)));
    let told: Vec<&str> = pair.measures.iter().map(|one| &one.sentence[..]).collect();
    assert_eq!(told[0], "p99: B is worse by 5.8 % (4.9 to 7.0)");
    // There are no readings of the server, so its CPU is not among the measures.
    assert_eq!(pair.measures.len(), 4, "{told:?}");
    assert_eq!(
        comparison.failed,
        ["p99: B is worse by 5.8 % (4.9 to 7.0) at 100/s, which is more than 3 %"]
    );
    assert_eq!(comparison.differences, [NO_CPU]);
    let p99 = pair.shift.iter().find(|shift| shift.quantile == 0.99).unwrap();
    assert!(
        p99.low > 0.000_2 && p99.seconds < 0.000_4 && p99.high > p99.seconds,
        "{:?}",
        pair.shift
    );
    let conclusions = sentences(&comparison.pairs, LoadUnit::PerSecond);
    assert_eq!(
        conclusions,
        [
            "A is 5.46 % faster than B at 100/s (p99 5.14 ms against 5.44 ms, 95 % CI 4.67 to 6.54 %)."
        ]
    );
    assert_eq!(findings(&comparison).len(), 1);
}

#[test]
fn the_contenders_of_a_sweep_are_compared_at_each_load() {
    let told = |study: &Study, rule: &str| -> Vec<String> {
        let conclusions = crate::sweep::analyse_study(study).conclusions.into_iter();
        conclusions
            .filter(|finding| finding.rule == rule)
            .map(|finding| finding.sentence.into())
            .collect()
    };
    assert_eq!(
        told(&study(&WORSE[..7]), "faster"),
        [
            "A is 5.46 % faster than B at 100/s (p50 5.14 ms against 5.44 ms, 95 % CI 4.72 to 6.32 %; p99 5.14 ms against 5.44 ms)."
        ]
    );
    assert_eq!(told(&study(&WORSE[..3]), "faster"), Vec::<String>::new());
    assert_eq!(
        told(&study(&WORSE[..3]), "undecided"),
        [
            "Undecided: A or B at 100/s (p50 5.03 ms against 5.32 ms so far): 3 repetitions are too few."
        ]
    );
}

#[test]
fn an_invalid_trial_excludes_its_block() {
    let mut study = study(&WORSE[..8]);
    study.trials[3].judgement.verdict.state = State::Invalid;
    study.trials[4].judgement.verdict.state = State::Limited;
    let comparison = compare(&study, &asked(), &[], ComparisonEnd::Stopped);
    assert_eq!(comparison.blocks, 7);
    assert_eq!(
        comparison.differences,
        [
            "B at 100/s in repetition 2 is excluded with its block: a consistency check failed in it.",
            "In 1 of 8 trials of A, the generator was the limit.",
            NO_CPU,
        ]
    );
}

#[test]
fn figures_and_their_difference_never_contradict_each_other() {
    let mut random = 7u64;
    let mut next = || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        0.5 + (random >> 33) as f64 / 2f64.powi(31)
    };
    for _ in 0..300 {
        let ours: Vec<f64> = (0..7).map(|_| next()).collect();
        let ratios: Vec<f64> = (0..7).map(|_| 0.9 + 0.2 * (next() - 0.5)).collect();
        let figures = pair(vec![(P99, times(&ours, &ratios, 10))]);
        let found = &decided(&[figures], &spec(&[P99]))[0].compared[0];
        let shift = found.shift.expect("all values are known");
        assert!((found.theirs / found.ours - 1.0 - shift).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn contenders_without_errors_are_equal() {
    let none = vec![0.0; 2];
    let found =
        &decided(&[pair(vec![(ERRORS, times(&none, &none, 10))])], &spec(&[ERRORS]))[0].compared[0];
    assert_eq!((found.verdict, &found.sentence[..]), (Better::Equal, "errors: 0 % with both"));
    let one = pair(vec![(ERRORS, times(&[0.0, 0.5], &[1.0, 1.0], 10))]);
    let found = &decided(&[one], &spec(&[ERRORS]))[0].compared[0];
    assert_eq!(found.verdict, Better::Undecided, "{found:?}");
}

#[test]
fn other_differences_between_contenders_are_reported() {
    let mut study = study(&WORSE[..2]);
    for trial in study.trials.iter_mut().filter(|trial| trial.place.contender == 1) {
        trial.run.environment.kernel = "Linux 6.18".into();
        trial.run.environment.server = Some("nginx".into());
        trial.run.plan.as_mut().unwrap().connection.http = brunt_model::plan::HttpVersion::V1_0;
        trial.run.total.bytes_received *= 2;
    }
    let said = compare(&study, &asked(), &[], ComparisonEnd::Stopped).differences;
    let begins = |what: &str| said.iter().any(|sentence| sentence.starts_with(what));
    assert!(begins("kernel: A has "), "{said:?}");
    assert!(said.contains(&"server: B has nginx, that of A is unknown.".into()), "{said:?}");
    assert!(said.contains(&"protocol: A has HTTP/1.1, B has HTTP/1.0.".into()), "{said:?}");
    assert!(begins("bytes per reply, head and body: A has "), "{said:?}");
    assert_eq!(said.len(), 5, "{said:?}");
}

#[test]
fn stored_runs_are_compared_as_two_groups() {
    let runs =
        |slower: f64, count: u32| -> Vec<Run> { (0..count).map(|n| run(slower, n)).collect() };
    let (ours, theirs) = (runs(1.0, 4), runs(1.3, 4));
    let groups = |count: usize| {
        [
            ("A".to_owned(), ours[..count].iter().collect()),
            ("B".to_owned(), theirs[..count].iter().collect()),
        ]
    };
    let stored = |count| {
        compare_sample(
            &ContenderPairs::of_groups(&groups(count), |_| Judgement::default()),
            &spec(&[P99]),
        )
    };
    let comparison = stored(4);
    let first = &comparison.pairs[0].measures[0];
    assert_eq!(
        (first.test, first.verdict, comparison.ended),
        (Test::MannWhitney, Better::Worse, ComparisonEnd::Stored)
    );
    assert!((first.p.unwrap() - 2.0 / 70.0).abs() < 1e-12);
    assert_eq!(comparison.pairs[0].load, Some(RATE));
    assert!(comparison.differences[0].starts_with("The runs were not alternating"));
    let one = stored(1);
    assert_eq!(
        one.pairs[0].measures[0].sentence,
        "p99: undecided: 1 and 1 run are too few (B is 30.0 % higher so far)"
    );
    let invalid = Run { flow_all: brunt_model::Flow::default(), ..run(1.0, 0) };
    let of_invalid =
        [("A".to_owned(), vec![&invalid, &invalid]), ("B".to_owned(), vec![&invalid, &invalid])];
    let left_out = compare_stored(&of_invalid, &spec(&[P99]));
    assert_eq!(left_out.pairs[0].measures[0].sentence, "p99: no data");
    assert_eq!(left_out.differences.len(), 6, "{:?}", left_out.differences);
}

#[test]
fn too_few_blocks_are_reported_in_advance() {
    let all = spec(&[P99, P50, THROUGHPUT, ERRORS, Measure::ServerCpu]);
    assert_eq!(undecidable_figures(1, 1, 10, &all), Vec::<String>::new());
    assert_eq!(undecidable_figures(1, 1, 6, &spec(&[P99])), Vec::<String>::new());
    assert_eq!(
        undecidable_figures(1, 1, 3, &spec(&[P99])),
        [
            "p99: 3 blocks cannot show any difference: their smallest possible p-value is 0.25 (required: 0.05). At least 6 blocks are needed."
        ]
    );
    assert_eq!(
        undecidable_figures(1, 1, 8, &all),
        [
            "p50, throughput, errors, server CPU per request: 8 blocks decide only where p99 was found to differ; by themselves \
          they take 9 (at 0.0063)."
        ]
    );
    assert_eq!(undecidable_figures(4, 2, 8, &all).len(), 2);
    assert_eq!(undecidable_figures(0, 1, 2, &all), Vec::<String>::new());
}

#[test]
fn the_default_number_of_repetitions_can_decide() {
    let contenders = |count: usize, loads: usize| {
        let one = study(&WORSE[..1]).experiment.contenders.swap_remove(0);
        let steps = vec![one.steps[0].clone(); loads];
        vec![Contender { steps, ..one }; count]
    };
    // Each pair of a sweep has its share of 5 %, and its loads are tested one after the other.
    let of_sweep = [1, 2, 3, 5].map(|count| fewest_of_sweep(&contenders(count, 8)));
    assert_eq!(of_sweep, [None, Some(6), Some(7), Some(8)]);
    let all = spec(&[P99, P50, THROUGHPUT, ERRORS]);
    for loads in [1, 8] {
        let fewest = fewest_blocks(&contenders(2, loads), &all);
        let cannot = |blocks| {
            let told = undecidable_figures(1, loads, blocks, &all);
            told.iter().any(|sentence| sentence.starts_with("p99: "))
        };
        assert_eq!([fewest - 1, fewest].map(cannot), [true, false], "{loads} loads");
    }
}

#[test]
fn figures_that_few_stored_runs_cannot_decide_are_reported() {
    let alone = spec(&[P99]);
    assert_eq!(
        (undecidable_stored_figures(4, &[4], &alone), undecidable_stored_figures(0, &[], &alone)),
        (Vec::new(), Vec::new())
    );
    // 2/C(6, 3) = 0.1, and 2/C(8, 4) = 0.029. With one more figure, 0.025 is left, which
    // requires 2/C(10, 5) = 0.008.
    let told = undecidable_stored_figures(3, &[3], &alone);
    assert!(
        told[0].contains("is 0.1 (required: 0.05). At least 4 runs per side are needed."),
        "{told:?}"
    );
    assert!(
        undecidable_stored_figures(1, &[1], &spec(&[P99, P50]))[0]
            .ends_with("At least 5 runs per side are needed.")
    );
}

#[test]
fn a_disturbed_stored_run_proves_only_that_its_server_is_no_worse() {
    let runs = |slower: f64| -> Vec<Run> { (0..4).map(|n| run(slower, n)).collect() };
    let verdict = |slower: f64, disturbed_side: usize| {
        let sides = [runs(1.0), runs(slower)];
        let groups = [
            ("A".to_owned(), sides[0].iter().collect()),
            ("B".to_owned(), sides[1].iter().collect()),
        ];
        let judge = |run: &Run| {
            let is_disturbed = sides[disturbed_side].iter().any(|other| std::ptr::eq(other, run));
            let state = if is_disturbed { State::BusyMachine } else { State::Ok };
            Judgement { verdict: Verdict { state, ..Verdict::default() }, ..Judgement::default() }
        };
        let comparison = compare_sample(&ContenderPairs::of_groups(&groups, judge), &spec(&[P99]));
        assert!(
            comparison.differences.iter().any(|text| text.contains("4 of 4")),
            "{comparison:?}"
        );
        comparison.pairs[0].measures[0].clone()
    };
    let slower = verdict(1.3, 1);
    assert_eq!(slower.verdict, Better::Undecided, "{slower:?}");
    // The measured values stay in the report.
    assert!(slower.theirs > 1.25 * slower.ours && slower.ours > 0.0, "{slower:?}");
    // The first server alone is at least as fast as measured, and the second is slower than that.
    assert_eq!(verdict(1.3, 0).verdict, Better::Worse);
    assert_eq!(verdict(0.7, 1).verdict, Better::Better);
    assert_eq!(verdict(0.7, 0).verdict, Better::Undecided);
}

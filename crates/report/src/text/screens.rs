//! Tests the brief report of the main kinds of run on terminals of 60, 80 and 120 columns.

use super::write_as;
use crate::story::{self, RunBuilder};
use crate::view::{BRIEF_LINES, Color, View};
use brunt_model::finding::{
    ConsistencyCheck, FigureEstimate, FigureEvidence, LimitingResource, OtherCause,
    PercentileInterval, Severity, State, Steady, ThresholdSide, UseOrigin, Verdict,
};
use brunt_model::objective::{Metric, Relation};
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Finding, Judgement, Objective, Plan, Run, StageKind, TestStage};
use std::time::Duration;

fn text(view: &View, run: &Run, judgement: &Judgement) -> String {
    let mut out = Vec::new();
    write_as(view, run, judgement, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the judgement of a run without problems, with an interval for each percentile.
fn judged(run: &Run) -> Judgement {
    let interval = |quantile: f64| PercentileInterval {
        quantile,
        estimate: Some(estimate(seconds_of(run.total.response_quantile(quantile).value))),
        effective_samples: 812.0,
        too_short: None,
        method: "overlapping batch means from 10 blocks of 1 s".into(),
    };
    Judgement {
        intervals: [0.5, 0.75, 0.9, 0.95, 0.99].map(interval).to_vec(),
        throughput: Some(estimate(run.throughput())),
        steady: Some(Steady { cut: Duration::ZERO, reached: true, method: "MSER-5".into() }),
        checks: vec![ConsistencyCheck {
            name: "begun requests".into(),
            holds: true,
            arithmetic: "1 = 1".into(),
        }],
        findings: vec![
            finding(
                Severity::Note,
                "Client and server share this machine: they compete for its 2 cores.",
                None,
            ),
            finding(
                Severity::Note,
                "p99.9 needs about 10,000 requests (have 1,000); p99 is the highest reliable percentile.",
                Some("-d 100s"),
            ),
        ],
        ..Judgement::default()
    }
}

fn estimate(value: f64) -> FigureEstimate {
    FigureEstimate { value, low: value * 0.98, high: Some(value * 1.03) }
}

fn finding(weight: Severity, sentence: &str, remedy: Option<&str>) -> Finding {
    Finding {
        rule: "x".into(),
        severity: weight,
        sentence: sentence.into(),
        remedy: remedy.map(Into::into),
    }
}

fn open() -> Run {
    let mut story = RunBuilder::open(100.0, None);
    for i in 0..1000 {
        story.reply(i * 10, 800 + (i * 37) % 600, 200);
    }
    story.run()
}

fn invalid(run: &Run) -> Judgement {
    let check = ConsistencyCheck {
        name: "begun requests".into(),
        holds: false,
        arithmetic: "1,000 ≠ 998 + 1".into(),
    };
    let verdict = Verdict { state: State::Invalid, ..Verdict::default() };
    Judgement { verdict, checks: vec![check], ..judged(run) }
}

fn limited(run: &Run) -> Judgement {
    let causes = vec![
        OtherCause {
            limit: LimitingResource::Worker,
            origin: UseOrigin::Generator,
            lasted: Duration::from_secs(8),
            sentence: "for 8.00 s a worker thread used 99.7 % of a core".into(),
            remedy: "--threads 2, or another machine".into(),
        },
        OtherCause {
            limit: LimitingResource::Cores,
            origin: UseOrigin::Generator,
            lasted: Duration::from_secs(8),
            sentence: "for 6.00 s no core was idle".into(),
            remedy: "a separate machine for brunt".into(),
        },
    ];
    let evidence = vec![
        FigureEvidence {
            limit: LimitingResource::Worker,
            name: "busiest worker, cores".into(),
            value: 0.997,
            threshold: 0.98,
            side: ThresholdSide::AtLeast,
        },
        FigureEvidence {
            limit: LimitingResource::Cores,
            name: "idle CPU, share of all cores".into(),
            value: 0.0046,
            threshold: 0.1,
            side: ThresholdSide::Below,
        },
    ];
    let unseen = vec!["conntrack is not loaded".into()];
    Judgement {
        verdict: Verdict { state: State::Limited, causes, evidence, unseen, ..Verdict::default() },
        ..judged(run)
    }
}

fn many_errors() -> (Run, Judgement) {
    let mut story = story::overloaded();
    story.plan.objectives = vec![
        Objective {
            metric: Metric::Quantile(0.5),
            step: None,
            relation: Relation::Below,
            bound: 0.5,
        },
        Objective { metric: Metric::Errors, step: None, relation: Relation::Below, bound: 0.01 },
        Objective {
            metric: Metric::Goodput,
            step: None,
            relation: Relation::AtLeast,
            bound: 150.0,
        },
    ];
    let run = story.run();
    let mut judgement = judged(&run);
    judgement.findings.insert(
        0,
        finding(
            Severity::Warning,
            "5.95 % of the requests were errors: 80 dropped, 19 × status 503.",
            Some("lower --rate"),
        ),
    );
    (run, judgement)
}

fn nothing() -> Run {
    let mut story = RunBuilder::closed(8.0);
    for i in 0..400 {
        story.failure(i * 20, 45 + i % 7, Failure::Refused);
    }
    story.run()
}

fn populations() -> Run {
    let mut story = story::closed();
    let mut second = story.plan.populations[0].clone();
    story.plan.populations[0].name = "readers".into();
    second.name = "writers".into();
    let parts = [story.plan.populations[0].clone(), second.clone()].map(|one| {
        let mut part = story::closed();
        part.plan.populations = vec![one];
        part.run()
    });
    story.plan.populations.push(second);
    Run { populations: parts.into(), ..story.run() }
}

/// A run on four agents, one of them lost, with stages before and after the load.
fn lost_agent() -> (Run, Judgement) {
    let mut run = story::fleet(4, Some(2));
    run.warnings.push(
        "agent load-3 ended before its time (its connection was closed): from 6.0 s on its share of the load is missing, and its requests in flight count as cut".into(),
    );
    if let Some(plan) = &mut run.plan {
        let stage = |kind| TestStage {
            kind,
            plan: Plan { stages: Vec::new(), ..plan.clone() },
            runs_after_stop: false,
            places: Vec::new(),
        };
        plan.stages = [StageKind::Setup, StageKind::Teardown].map(stage).into();
    }
    let cause = OtherCause {
        limit: LimitingResource::Agent,
        origin: UseOrigin::Generator,
        lasted: Duration::from_secs(4),
        sentence: "agent load-3 was lost: its share is missing from 6.0 s of the measured time on, 10 % of the planned load".into(),
        remedy: "see the warning for the reason of the loss, and measure again".into(),
    };
    let verdict = Verdict {
        state: State::Limited,
        causes: vec![cause],
        agents: vec![State::Ok, State::Ok, State::Limited, State::BusyMachine],
        ..Verdict::default()
    };
    let judgement = Judgement { verdict, ..judged(&run) };
    (run, judgement)
}

/// A run without most of its load.
fn without_most_of_its_load() -> (Run, Judgement) {
    let (run, mut judgement) = lost_agent();
    judgement.verdict.state = State::Invalid;
    (run, judgement)
}

fn many_agents() -> (Run, Judgement) {
    let run = story::fleet(200, None);
    let mut judgement = judged(&run);
    judgement.verdict.agents = vec![State::Ok; 200];
    (run, judgement)
}

fn failing_probe() -> Run {
    let mut story = story::closed();
    story.warn("php-fpm:http://127.0.0.1/status: no reading for 3 s: connection refused");
    story.run()
}

/// Returns every kind of run, with its name.
fn kinds() -> Vec<(&'static str, Run, Judgement)> {
    let closed = story::closed().run();
    let open = open();
    let (errors, of_errors) = many_errors();
    let (lost, of_lost) = lost_agent();
    let (missing, of_missing) = without_most_of_its_load();
    let (many, of_many) = many_agents();
    let no_reply = Verdict { state: State::Unjudged, ..Verdict::default() };
    vec![
        ("closed loop", closed.clone(), judged(&closed)),
        ("open loop", open.clone(), judged(&open)),
        ("INVALID", closed.clone(), invalid(&closed)),
        ("LIMITED", open.clone(), limited(&open)),
        ("many errors", errors, of_errors),
        ("no reply", nothing(), Judgement { verdict: no_reply, ..Judgement::default() }),
        ("several populations", populations(), judged(&closed)),
        ("a probe fails", failing_probe(), judged(&closed)),
        ("an agent was lost", lost, of_lost),
        ("most of the load is missing", missing, of_missing),
        ("200 agents", many, of_many),
    ]
}

fn screens(view: View) -> String {
    let mut screens = Vec::new();
    for (name, run, judgement) in kinds() {
        let text = text(&view, &run, &judgement);
        assert!(text.lines().all(|line| line.chars().count() <= view.columns.max(72)), "{text}");
        assert!(
            view.columns < 80 || text.lines().count() <= BRIEF_LINES,
            "{} lines:\n{text}",
            text.lines().count()
        );
        screens.push(format!("===== {name} =====\n{text}"));
    }
    screens.join("\n")
}

#[test]
fn the_brief_report_of_a_plain_run_has_at_most_20_lines() {
    let closed = story::closed().run();
    let open = open();
    for run in [&closed, &open] {
        let screen = text(&View::default(), run, &judged(run));
        assert!(screen.lines().count() <= 20, "{screen}");
    }
}

#[test]
fn output_to_a_pipe_is_not_shortened() {
    let (run, judgement) = many_errors();
    let long = "a note of many words ".repeat(20);
    let judgement = Judgement { findings: vec![finding(Severity::Note, &long, None)], ..judgement };
    let pipe = View { lines: None, ..View::default() };
    let shown = text(&pipe, &run, &judgement);
    assert!(!shown.contains('…'), "{shown}");
    assert_eq!(shown.split_whitespace().filter(|word| *word == "many").count(), 20, "{shown}");
}

#[test]
fn screens_of_60_columns() {
    insta::assert_snapshot!(screens(View { columns: 60, ..View::default() }));
}

#[test]
fn screens_of_80_columns() {
    insta::assert_snapshot!(screens(View::default()));
}

#[test]
fn screens_of_120_columns() {
    insta::assert_snapshot!(screens(View { columns: 120, ..View::default() }));
}

#[test]
fn a_limited_run_in_full() {
    let run = open();
    insta::assert_snapshot!(text(&View::default().in_full(), &run, &limited(&run)));
}

#[test]
fn a_run_on_agents_in_full() {
    let (run, judgement) = lost_agent();
    insta::assert_snapshot!(text(&View::default().in_full(), &run, &judgement));
}

#[test]
fn colors_change_no_text() {
    for (name, run, judgement) in kinds() {
        let colored = text(&View { color: Color::Ansi, ..View::default() }, &run, &judgement);
        let plain = text(&View::default(), &run, &judgement);
        let bare: String = colored
            .split('\x1b')
            .map(|part| {
                part.split_once('m')
                    .filter(|(code, _)| code.starts_with('['))
                    .map_or(part, |(_, rest)| rest)
            })
            .collect();
        assert_eq!(bare, plain, "{name}");
        assert!(colored.contains("\x1b[1"), "{name}");
    }
}

use crate::story::{self, RunBuilder};
use crate::view::View;
use brunt_model::objective::{Metric, Relation};
use brunt_model::{
    Body, Failure, Finish, Judgement, Load, LoadShape, LoadStage, Objective, Run, ThinkTime, Tick,
};
use insta::assert_snapshot;
use proptest::prelude::*;
use std::time::Duration;

fn text_as(view: &View, run: &Run, judgement: &Judgement) -> String {
    let mut out = Vec::new();
    super::write_as(view, run, judgement, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the full report at 96 columns.
fn text_of(run: &Run) -> String {
    text_as(&View { columns: 96, ..View::default() }.in_full(), run, &Judgement::default())
}

fn text(story: &RunBuilder) -> String {
    text_of(&story.run())
}

#[test]
fn a_closed_loop() {
    assert_snapshot!(text(&story::closed()));
}

#[test]
fn an_overloaded_open_loop() {
    let mut story = story::overloaded();
    let bound = |metric, relation, bound| Objective { metric, step: None, relation, bound };
    story.plan.objectives = vec![
        bound(Metric::Quantile(0.5), Relation::Below, 0.5),
        bound(Metric::Quantile(0.99), Relation::AtMost, 3.0),
        bound(Metric::Errors, Relation::Below, 0.01),
        bound(Metric::Goodput, Relation::AtLeast, 150.0),
    ];
    assert_snapshot!(text(&story));
}

#[test]
fn a_run_without_data() {
    let mut story = RunBuilder::closed(8.0);
    for i in 0..400 {
        story.failure(i * 20, 45 + i % 7, Failure::Refused);
    }
    assert_snapshot!(text(&story));
    story.failure(9000, 100, Failure::Tls);
    let several = text(&story);
    assert!(
        several.contains("measured: 400 of 401 requests ended as 'connection refused'"),
        "{several}"
    );
    assert!(
        several.contains("\n  TLS handshake failed    1  0.25 %   the TLS handshake"),
        "{several}"
    );
}

#[test]
fn a_run_without_data_has_the_reason_of_the_engine() {
    let mut story = RunBuilder::open(10.0, None);
    story.finish = Finish {
        at: Tick(0),
        interrupted: false,
        error: Some("no worker could be started.".into()),
    };
    let text = text(&story);
    assert!(text.contains("\nNothing could be measured: no worker could be started.\n"), "{text}");
    assert!(!text.contains("Throughput") && !text.contains("Times"), "{text}");
}

#[test]
fn several_labels_of_an_interrupted_run() {
    let names: Vec<String> =
        (0..22).map(|i| format!("http://127.0.0.1:8080/shop/category/{i}/item.html")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut story = RunBuilder::of(Load::Closed {
        users: LoadShape {
            stages: vec![
                LoadStage { from: 0.0, to: 500.0, duration: Some(Duration::from_secs(30)) },
                LoadStage { from: 500.0, to: 500.0, duration: Some(Duration::from_mins(2)) },
            ],
        },
        think: ThinkTime { least: Duration::from_secs(1), most: Duration::from_secs(3) },
    })
    .labels(&names);
    story.plan.main_mut().stop.duration = Some(Duration::from_secs(150));
    story.plan.main_mut().stop.warmup = Duration::from_secs(5);
    for i in 0..2300 {
        let label = i % 23 % 22;
        let status = if label == 3 && i % 5 == 0 { 500 } else { 200 };
        story.reply(i * 4, 400 + label * 30 + i % 11, status).label = label as u32;
    }
    story.finish.interrupted = true;
    assert_snapshot!(text(&story));
}

#[test]
fn the_load_is_described_in_words() {
    let mut story = RunBuilder::open(0.5, None);
    story.plan.main_mut().scenario.requests[0].method = "POST".into();
    story.plan.main_mut().scenario.requests[0].body = Body::Text("x=1".into());
    story.plan.connection.requests_per_connection = Some(1);
    story.plan.main_mut().stop.requests = Some(100);
    story.plan.main_mut().stop.duration = None;
    story.reply(1, 1, 200);
    let text = text(&story);
    assert!(text.starts_with("POST http://127.0.0.1:8080/ with a body of 3 B\n"), "{text}");
    let load = "open loop, Poisson arrivals, 0.5/s, as many connections as it takes, a new connection for each request";
    assert!(text.replace("\n               ", " ").contains(load), "{text}");
    assert!(text.contains("Duration       100 requests in 10 s\n"), "{text}");
}

/// Returns a story of arbitrary samples: (planned instant, duration, outcome, label).
fn told(samples: &[(u64, u64, usize, u32)], open: bool, labels: &[&str]) -> RunBuilder {
    let story = if open { RunBuilder::open(100.0, Some(3)) } else { RunBuilder::closed(3.0) };
    let mut story = story.labels(labels);
    for (at, micros, outcome, label) in samples {
        let sample = match Failure::all().nth(*outcome) {
            Some(failure) => story.failure(*at, *micros, failure),
            None => story.reply(*at, *micros, [200, 302, 404, 503][outcome % 4]),
        };
        sample.label = *label;
    }
    story
}

proptest! {
    // A case writes twenty reports.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_run_can_be_written(
        samples in prop::collection::vec((0u64..12_000, 0u64..20_000_000, 0usize..25, 0u32..4), 0..40),
        open in any::<bool>(),
        labels in 1usize..4,
        kept in any::<u64>(),
    ) {
        let events = told(&samples, open, &["/a", "/b", "/c\x1b[2J"][..labels]).events();
        let some = events.iter().enumerate().filter(|(i, _)| kept >> (i % 64) & 1 == 1).map(|e| e.1);
        for run in [Run::of(&events), Run::of(some)] {
            let text = text_of(&run);
            prop_assert!(text.lines().all(|l| l.chars().count() <= 96), "{}", text);
            prop_assert!(!text.contains(['\x1b', '\r']) && !text.contains("NaN") && !text.contains("\n\n\n"));
            // Pictures are slow, and are drawn from the same shapes as SVG.
            for format in crate::REPORTS.iter().filter(|format| !format.name.starts_with("png")) {
                let judgement = Judgement::default();
                let subject = crate::ReportSubject::Run(&run, &judgement);
                format.write(subject, &View::default(), &mut Vec::new()).unwrap();
            }
        }
    }
}

#[test]
fn a_study_of_two_contenders() {
    let (study, analysis) =
        story::sweep_of(&(1..=12).map(|n| f64::from(n) * 40.0).collect::<Vec<_>>(), 3);
    let mut out = Vec::new();
    super::write_study(&study, &analysis, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 96));
    assert_snapshot!(text);
}

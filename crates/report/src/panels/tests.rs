use super::*;
use crate::figure::ChartUnit;
use crate::single::study_of;
use crate::story;
use brunt_model::finding::{FigureEstimate, PercentileInterval};
use brunt_model::series::{Series, SeriesPoint};
use brunt_model::{Flow, Judgement, Phase, Reading, Run, Tick};
use std::collections::BTreeSet;

fn of_sweep() -> Vec<Chart> {
    let (study, analysis) = story::sweep_of(&[120.0, 300.0, 480.0], 2);
    figures(&study, &analysis)
}

#[test]
fn a_sweep_has_its_charts_over_load_and_over_the_time_of_chosen_trials() {
    let ids: Vec<String> = of_sweep().into_iter().map(|figure| figure.id).collect();
    insta::assert_debug_snapshot!(ids, @r#"
    [
        "throughput",
        "p99",
        "response",
        "errors",
        "server-cpu",
        "server-memory",
        "server-machine-memory",
        "server-load-average",
        "server-workers",
        "server-network",
        "other-prometheus-app-numbers",
        "other-prometheus-app-per-second",
        "generator-cpu",
        "percentiles",
        "time-throughput-c1-300-1",
        "time-p99-c1-300-1",
        "time-response-c1-300-1",
        "time-statuses-c1-300-1",
        "time-under-way-c1-300-1",
        "time-heat-c1-300-1",
        "time-server-cpu-c1-300-1",
        "time-server-memory-c1-300-1",
        "time-server-machine-memory-c1-300-1",
        "time-server-load-average-c1-300-1",
        "time-server-workers-c1-300-1",
        "time-server-network-c1-300-1",
        "time-other-prometheus-app-numbers-c1-300-1",
        "time-other-prometheus-app-per-second-c1-300-1",
        "time-generator-cpu-c1-300-1",
        "histogram-c1-300-1",
        "time-throughput-c1-480-1",
        "time-p99-c1-480-1",
        "time-response-c1-480-1",
        "time-errors-c1-480-1",
        "time-statuses-c1-480-1",
        "time-under-way-c1-480-1",
        "time-heat-c1-480-1",
        "time-server-cpu-c1-480-1",
        "time-server-memory-c1-480-1",
        "time-server-machine-memory-c1-480-1",
        "time-server-load-average-c1-480-1",
        "time-server-workers-c1-480-1",
        "time-server-network-c1-480-1",
        "time-other-prometheus-app-numbers-c1-480-1",
        "time-other-prometheus-app-per-second-c1-480-1",
        "time-generator-cpu-c1-480-1",
        "histogram-c1-480-1",
        "time-throughput-c2-300-1",
        "time-p99-c2-300-1",
        "time-response-c2-300-1",
        "time-errors-c2-300-1",
        "time-statuses-c2-300-1",
        "time-under-way-c2-300-1",
        "time-heat-c2-300-1",
        "time-server-cpu-c2-300-1",
        "time-server-memory-c2-300-1",
        "time-server-machine-memory-c2-300-1",
        "time-server-load-average-c2-300-1",
        "time-server-workers-c2-300-1",
        "time-server-network-c2-300-1",
        "time-other-prometheus-app-numbers-c2-300-1",
        "time-other-prometheus-app-per-second-c2-300-1",
        "time-generator-cpu-c2-300-1",
        "histogram-c2-300-1",
        "time-throughput-c2-480-1",
        "time-p99-c2-480-1",
        "time-response-c2-480-1",
        "time-errors-c2-480-1",
        "time-statuses-c2-480-1",
        "time-under-way-c2-480-1",
        "time-heat-c2-480-1",
        "time-server-cpu-c2-480-1",
        "time-server-memory-c2-480-1",
        "time-server-machine-memory-c2-480-1",
        "time-server-load-average-c2-480-1",
        "time-server-workers-c2-480-1",
        "time-server-network-c2-480-1",
        "time-other-prometheus-app-numbers-c2-480-1",
        "time-other-prometheus-app-per-second-c2-480-1",
        "time-generator-cpu-c2-480-1",
        "histogram-c2-480-1",
    ]
    "#);
}

#[test]
fn every_figure_has_a_distinct_name_and_a_sentence() {
    let figures = of_sweep();
    let ids: BTreeSet<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids.len(), figures.len());
    assert!(
        figures.iter().all(|f| f.about.ends_with('.') && f.about.len() > 20),
        "{:?}",
        figures.iter().map(|f| &f.about).collect::<Vec<_>>()
    );
    insta::assert_snapshot!(figures[0].about, @r"nginx: 120/s at 120/s, 350/s at 480/s; apache: 120/s at 120/s, 290/s at 480/s; offered: 120/s at 120/s, 480/s at 480/s; nginx knee at 288/s; nginx saturation point at 360/s; apache knee at 240/s; apache saturation point at 300/s.");
}

#[test]
fn readings_without_a_row_are_shown() {
    let figures = of_sweep();
    let other = figures.iter().find(|f| f.id == "other-prometheus-app-per-second").unwrap();
    assert_eq!((other.y.unit, other.lines.len()), (ChartUnit::PerSecond, 2));
    // Three collections per second at full load; 240/s are two thirds of the capacity of nginx.
    let at_300 = other.lines[0].points.iter().find(|p| p.x == 300.0).unwrap();
    assert!((at_300.y.unwrap() - 300.0 / 360.0 * 3.0).abs() < 0.1, "{at_300:?}");
}

#[test]
fn a_single_run_has_charts_over_time_and_its_percentile_curve() {
    let (study, analysis) = study_of(&story::closed().run(), &Judgement::default());
    let ids: Vec<String> = figures(&study, &analysis).into_iter().map(|figure| figure.id).collect();
    assert_eq!(
        ids,
        [
            "percentiles",
            "time-throughput",
            "time-p99",
            "time-response",
            "time-statuses",
            "time-under-way",
            "time-heat",
            "histogram"
        ]
    );
}

fn figure<'a>(all: &'a [Chart], id: &str) -> &'a Chart {
    let found = all.iter().find(|figure| figure.id == id);
    found.unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn each_reply_is_in_the_charts_of_statuses_and_response_times() {
    let run = story::overloaded().run();
    let (study, _) = study_of(&run, &Judgement::default());
    let all = of_trial(&study, 0);
    let histogram = figure(&all, "histogram");
    let bars = &histogram.lines[0].points;
    let counted: f64 = bars.iter().filter_map(|point| point.y).sum();
    assert_eq!(counted, run.total.response.count() as f64);
    // The first bar begins at or below the minimum, and the line ends above the maximum.
    let [first, last] = [bars[0].x, bars[bars.len() - 1].x].map(|x| x * 1e9);
    assert!(first <= run.total.response.min() as f64 && last > run.total.response.max() as f64);
    let points = crate::intervals::of_run(&run).points;
    let seconds: Vec<f64> = points.iter().map(SeriesPoint::seconds).collect();
    let replies = figure(&all, "time-statuses").lines.iter().map(|line| {
        let rates = line.points.iter().filter_map(|point| point.y);
        (
            line.name.to_string(),
            rates.zip(&seconds).map(|(y, width)| y * width).sum::<f64>().round(),
        )
    });
    let statuses = run.total.statuses.sorted().into_iter();
    let expected: Vec<(String, f64)> =
        statuses.map(|(status, count)| (status.to_string(), count as f64)).collect();
    assert_eq!(replies.collect::<Vec<_>>(), expected);
}

#[test]
fn rare_statuses_share_a_line() {
    let statuses = (0..12).map(|n| (400 + n, 100 - u64::from(n)));
    let point = SeriesPoint {
        to: Tick(1_000_000_000),
        statuses: statuses.collect(),
        ..SeriesPoint::default()
    };
    let second = SeriesPoint { from: point.to, to: Tick(2_000_000_000), ..point.clone() };
    let run = Run { series: Series::of_points([point, second]), ..Run::default() };
    let (study, _) = study_of(&run, &Judgement::default());
    let all = of_trial(&study, 0);
    let lines: Vec<(&str, Option<f64>)> = figure(&all, "time-statuses")
        .lines
        .iter()
        .map(|line| (line.name.as_str(), line.points[0].y))
        .collect();
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[0], ("400", Some(100.0)));
    assert_eq!(lines[7], ("others", Some(93.0 + 92.0 + 91.0 + 90.0 + 89.0)));
}

#[test]
fn passed_checks_are_shown_if_there_are_checks() {
    let flows = [(10, 0), (10, 4), (0, 0)];
    let points = flows.iter().zip(0..).map(|(&(completed, failed_checks), second)| SeriesPoint {
        from: Tick(second * 1_000_000_000),
        to: Tick((second + 1) * 1_000_000_000),
        phase: Phase::Measure,
        flow: Flow { completed, failed_checks, ..Flow::default() },
        ..SeriesPoint::default()
    });
    let run = Run { series: Series::of_points(points), ..story::closed().run() };
    let shares = |run: &Run| -> Vec<Option<f64>> {
        let (study, _) = study_of(run, &Judgement::default());
        let all = of_trial(&study, 0);
        let checks = all.iter().find(|figure| figure.id == "time-checks");
        checks
            .map_or(Vec::new(), |chart| chart.lines[0].points.iter().map(|point| point.y).collect())
    };
    assert_eq!(shares(&run), [Some(1.0), Some(0.6), None]);
    let mut passed = story::closed().run();
    assert_eq!(shares(&passed), [], "the plan has no checks");
    passed.plan.as_mut().unwrap().reply_policies[0].checks.same_length = true;
    let all = shares(&passed);
    assert!(!all.is_empty() && all.iter().flatten().all(|share| *share == 1.0));
}

fn study_ids(study: &Study, analysis: &Analysis) -> Vec<String> {
    of_study(study, analysis).into_iter().map(|chart| chart.id).collect()
}

#[test]
fn the_first_charts_are_those_of_the_compared_figures() {
    let (study, mut analysis) = story::comparison::compared();
    let found = study_ids(&study, &analysis);
    assert_eq!(found[..2], ["repetition-p99", "repetition-throughput"]);
    let (overloaded, mut other) = story::sweep_of(&[480.0], 2);
    other.comparison.clone_from(&analysis.comparison);
    let expected = ["repetition-p99", "repetition-errors", "repetition-throughput"];
    let found = study_ids(&overloaded, &other);
    assert_eq!(found[..3], expected);
    let median = brunt_model::Measure::Run(brunt_model::objective::Metric::Quantile(0.5));
    analysis.comparison.as_mut().unwrap().pairs[0].measures[0].measure = median;
    let all = of_study(&study, &analysis);
    assert_eq!(
        (all[0].id.as_str(), &*all[0].title),
        ("repetition-p50", "p50 of the response time by repetition")
    );
    // Each contender has its trials, and the median with its interval.
    assert_eq!(all[0].lines.len(), 4);
    assert!(all[0].lines[1].points.iter().all(|point| point.low.is_some() && point.high.is_some()));
    assert_eq!(ChartSelection::Key.figures(&study, &analysis)[0].id, "repetition-p50");
}

#[test]
fn each_compared_figure_has_a_chart_with_its_interval() {
    use brunt_model::analysis::{Band, BandedFigure, MetricFigure};
    use brunt_model::objective::Metric;
    for (metric, id) in [
        (Metric::Goodput, "repetition-goodput"),
        (Metric::Max, "repetition-max"),
        (Metric::Quantile(0.999), "repetition-p99.9"),
    ] {
        let (study, mut analysis) = story::comparison::compared();
        analysis.comparison.as_mut().unwrap().pairs[0].measures[0].measure =
            brunt_model::Measure::Run(metric);
        let figure = BandedFigure { value: 2.0, low: 1.0, high: 3.0, band: Band::Range };
        for contender in &mut analysis.contenders {
            contender.curve[0].others = vec![MetricFigure { metric, figure }];
        }
        let first = of_study(&study, &analysis).swap_remove(0);
        assert_eq!((first.id.as_str(), first.lines.len()), (id, 4));
        assert!(first.lines[0].points.iter().all(|point| point.y.is_some_and(|y| y > 0.0)));
        assert_eq!(
            first.lines[1].points[0].low.zip(first.lines[1].points[0].high),
            Some((1.0, 3.0))
        );
    }
}

fn key_ids(study: &Study, analysis: &Analysis) -> Vec<String> {
    ChartSelection::Key.figures(study, analysis).into_iter().map(|figure| figure.id).collect()
}

#[test]
fn the_key_charts_depend_on_objectives_and_loads() {
    let (study, analysis) = story::sweep_of(&[120.0, 300.0, 480.0], 2);
    assert_eq!(key_ids(&study, &analysis), ["throughput", "p99", "errors"]);
    let (study, analysis) = story::sweep_of(&[120.0, 200.0], 2);
    assert_eq!(key_ids(&study, &analysis), ["throughput", "p99", "server-cpu"]);
    let (study, analysis) = story::sweep_of(&[120.0], 3);
    assert_eq!(
        key_ids(&study, &analysis),
        ["repetition-throughput", "repetition-p99", "percentiles"]
    );
    let (study, analysis) = study_of(&story::closed().run(), &Judgement::default());
    assert_eq!(key_ids(&study, &analysis), ["time-throughput", "time-p99", "percentiles"]);
    let (study, analysis) = study_of(&story::overloaded().run(), &Judgement::default());
    assert_eq!(key_ids(&study, &analysis), ["time-throughput", "time-p99", "time-errors"]);
    let runs = [story::closed().run(), story::overloaded().run()];
    let judgement = Judgement::default();
    let several = [("a".to_owned(), &runs[0], &judgement), ("b".to_owned(), &runs[1], &judgement)];
    let (study, analysis) = crate::single::study_of_several(&several);
    assert_eq!(key_ids(&study, &analysis).len(), 3);
}

#[test]
fn p99_over_load_has_its_range_and_the_objective() {
    let figures = of_sweep();
    let p99 = figures.iter().find(|figure| figure.id == "p99").unwrap();
    let names: Vec<&str> = p99.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["nginx", "apache", "objective p99 < 1s"]);
    assert!(p99.lines[0].points.iter().all(|point| point.low <= point.y && point.y <= point.high));
    assert!(p99.lines[0].points.iter().any(|point| point.low < point.high));
    assert!(p99.lines[2].points.iter().all(|point| point.y == Some(1.0)));
}

#[test]
fn p99_over_time_is_shown_with_that_of_the_whole_run() {
    let run = story::closed().run();
    let estimate = FigureEstimate { value: 0.0012, low: 0.0011, high: Some(0.0013) };
    let interval = PercentileInterval {
        quantile: 0.99,
        estimate: Some(estimate),
        effective_samples: 1000.0,
        too_short: None,
        method: String::new().into(),
    };
    let judgement = Judgement { intervals: vec![interval], ..Judgement::default() };
    let (study, _) = study_of(&run, &judgement);
    let figures = of_trial(&study, 0);
    let p99 = figures.iter().find(|figure| figure.id == "time-p99").unwrap();
    let whole = &p99.lines[1];
    assert_eq!((p99.lines.len(), whole.name.as_str()), (2, "whole run (95 % CI)"));
    assert!(
        whole.points.iter().all(|point| (point.low, point.high) == (Some(0.0011), Some(0.0013)))
    );
}

#[test]
fn constant_zeros_are_not_drawn() {
    let zero = ["tcp.listen_overflows_total", "custom_total"];
    let mut story = story::closed();
    for second in 0..=10_u64 {
        let values = zero.iter().map(|name| ((*name).to_owned(), 0.0)).collect();
        let at = brunt_model::Tick(second * 1_000_000_000);
        story.probed.push(Reading { at, source: "host:here".into(), values });
    }
    let (study, analysis) = study_of(&story.run(), &Judgement::default());
    let ids: Vec<String> = figures(&study, &analysis).into_iter().map(|figure| figure.id).collect();
    assert_eq!(
        ids,
        [
            "percentiles",
            "time-throughput",
            "time-p99",
            "time-response",
            "time-statuses",
            "time-under-way",
            "time-heat",
            "histogram"
        ]
    );
    // Of two contenders, one without errors is a result.
    let (study, analysis) = story::sweep_of(&[120.0, 300.0], 2);
    let all = figures(&study, &analysis);
    let errors = all.iter().find(|figure| figure.id == "errors").unwrap();
    assert_eq!(
        errors.lines.iter().map(|line| (line.name.as_str(), line.is_zero())).collect::<Vec<_>>(),
        [("nginx", true), ("apache", false)]
    );
}

#[test]
fn memory_of_the_server_is_drawn_in_short_trials_apart_from_the_machines() {
    // Memory by pages is read every 5 s only, resident memory every second.
    for (seconds, name) in [(3_u64, "process:lab resident"), (10, "process:lab")] {
        let mut story = story::closed();
        for second in 0..=seconds {
            let at = brunt_model::Tick(second * 1_000_000_000);
            let mut values = vec![("memory.resident_bytes".to_owned(), 5e6)];
            values.extend((second % 5 == 0).then(|| ("memory.proportional_bytes".to_owned(), 4e6)));
            story.probed.push(Reading { at, source: "process:lab".into(), values });
            let values = vec![
                ("memory.total_bytes".to_owned(), 8e9),
                ("memory.available_bytes".to_owned(), 6e9),
            ];
            story.probed.push(Reading { at, source: "host:here".into(), values });
        }
        let (study, _) = study_of(&story.run(), &Judgement::default());
        let all = of_trial(&study, 0);
        let names = |id: &str| {
            let figure = all.iter().find(|figure| figure.id == id).unwrap();
            figure.lines.iter().map(|line| line.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names("time-server-memory"), [name]);
        assert_eq!(names("time-server-machine-memory"), ["host:here in use"]);
    }
}

#[test]
fn the_title_is_the_name_of_the_plan() {
    let mut run = story::closed().run();
    assert_eq!(study_of(&run, &Judgement::default()).0.experiment.name, "http://127.0.0.1:8080/");
    run.environment.plan_name = Some("shop".into());
    assert_eq!(study_of(&run, &Judgement::default()).0.experiment.name, "shop");
}

#[test]
fn without_data_no_charts_are_shown() {
    let (study, analysis) = study_of(&brunt_model::Run::default(), &Judgement::default());
    assert_eq!(figures(&study, &analysis), []);
}

#[test]
fn a_heat_map_counts_every_reply_once() {
    let run = story::closed().run();
    let (study, _) = study_of(&run, &Judgement::default());
    let heat = of_trial(&study, 0).into_iter().find_map(|figure| figure.heat).unwrap();
    assert_eq!(heat.counts.iter().flatten().sum::<u64>(), 1000);
    assert_eq!((heat.x.len(), heat.y.len()), (heat.counts.len() + 1, heat.counts[0].len() + 1));
}

/// Returns the shaded spans of a run with this number of replies in each tenth of a second.
fn shaded(seconds: u64, replies: impl Fn(u64) -> u64) -> Vec<(f64, Option<f64>, String)> {
    const TENTH: u64 = 100_000_000;
    let points = (0..seconds * 10).map(|tenth| SeriesPoint {
        from: Tick(tenth * TENTH),
        to: Tick((tenth + 1) * TENTH),
        phase: Phase::Measure,
        flow: Flow { completed: replies(tenth), ..Flow::default() },
        ..SeriesPoint::default()
    });
    let run = Run {
        phases: vec![(Phase::Measure, Tick(0))],
        series: Series::of_points(points),
        last_interval_end: Tick(seconds * 10 * TENTH),
        ..Run::default()
    };
    let (study, _) = study_of(&run, &Judgement::default());
    let marks = of_trial(&study, 0).swap_remove(0).marks;
    marks.into_iter().map(|mark| (mark.x, mark.until, mark.name.into())).collect()
}

#[test]
fn a_stall_is_shaded_and_a_low_load_is_not() {
    let stall = shaded(10, |tenth| if (40..65).contains(&tenth) { 0 } else { 10 });
    assert_eq!(stall, [(4.0, Some(6.5), "no replies".to_owned())]);
    assert_eq!(shaded(10, |tenth| if tenth == 40 { 0 } else { 10 }), []);
    assert_eq!(shaded(100, |tenth| u64::from(tenth % 30 == 0)), []);
}

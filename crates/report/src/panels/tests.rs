use super::*;
use crate::figure::Unit;
use crate::single::study_of;
use crate::story;
use brunt_model::Judgement;
use std::collections::BTreeSet;

fn of_sweep() -> Vec<Figure> {
    let (study, analysis) = story::sweep_of(&[120.0, 300.0, 480.0], 2);
    figures(&study, &analysis)
}

#[test]
fn a_sweep_has_its_charts_over_load_and_over_the_time_of_chosen_trials() {
    let ids: Vec<String> = of_sweep().into_iter().map(|figure| figure.id).collect();
    insta::assert_debug_snapshot!(ids, @r#"
    [
        "throughput",
        "response",
        "errors",
        "server-cpu",
        "server-memory",
        "server-load-average",
        "server-workers",
        "server-network",
        "other-prometheus-app-numbers",
        "other-prometheus-app-per-second",
        "generator-cpu",
        "percentiles",
        "time-throughput-c1-300-1",
        "time-response-c1-300-1",
        "time-under-way-c1-300-1",
        "time-heat-c1-300-1",
        "time-server-cpu-c1-300-1",
        "time-server-memory-c1-300-1",
        "time-server-load-average-c1-300-1",
        "time-server-workers-c1-300-1",
        "time-server-network-c1-300-1",
        "time-other-prometheus-app-numbers-c1-300-1",
        "time-other-prometheus-app-per-second-c1-300-1",
        "time-generator-cpu-c1-300-1",
        "time-throughput-c1-480-1",
        "time-response-c1-480-1",
        "time-errors-c1-480-1",
        "time-under-way-c1-480-1",
        "time-heat-c1-480-1",
        "time-server-cpu-c1-480-1",
        "time-server-memory-c1-480-1",
        "time-server-load-average-c1-480-1",
        "time-server-workers-c1-480-1",
        "time-server-network-c1-480-1",
        "time-other-prometheus-app-numbers-c1-480-1",
        "time-other-prometheus-app-per-second-c1-480-1",
        "time-generator-cpu-c1-480-1",
        "time-throughput-c2-300-1",
        "time-response-c2-300-1",
        "time-errors-c2-300-1",
        "time-under-way-c2-300-1",
        "time-heat-c2-300-1",
        "time-server-cpu-c2-300-1",
        "time-server-memory-c2-300-1",
        "time-server-load-average-c2-300-1",
        "time-server-workers-c2-300-1",
        "time-server-network-c2-300-1",
        "time-other-prometheus-app-numbers-c2-300-1",
        "time-other-prometheus-app-per-second-c2-300-1",
        "time-generator-cpu-c2-300-1",
        "time-throughput-c2-480-1",
        "time-response-c2-480-1",
        "time-errors-c2-480-1",
        "time-under-way-c2-480-1",
        "time-heat-c2-480-1",
        "time-server-cpu-c2-480-1",
        "time-server-memory-c2-480-1",
        "time-server-load-average-c2-480-1",
        "time-server-workers-c2-480-1",
        "time-server-network-c2-480-1",
        "time-other-prometheus-app-numbers-c2-480-1",
        "time-other-prometheus-app-per-second-c2-480-1",
        "time-generator-cpu-c2-480-1",
    ]
    "#);
}

#[test]
fn every_figure_has_a_name_of_its_own_and_a_sentence() {
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
fn readings_that_no_row_names_show_up_by_themselves() {
    let figures = of_sweep();
    let other = figures.iter().find(|f| f.id == "other-prometheus-app-per-second").unwrap();
    assert_eq!((other.y.unit, other.lines.len()), (Unit::PerSecond, 2));
    // Three collections a second at full load, two thirds of nginx' capacity at 240/s.
    let at_300 = other.lines[0].points.iter().find(|p| p.x == 300.0).unwrap();
    assert!((at_300.y.unwrap() - 300.0 / 360.0 * 3.0).abs() < 0.1, "{at_300:?}");
}

#[test]
fn a_single_run_has_charts_over_time_and_its_percentile_curve() {
    let (study, analysis) = study_of(&story::closed().run(), &Judgement::default());
    let ids: Vec<String> = figures(&study, &analysis).into_iter().map(|figure| figure.id).collect();
    assert_eq!(ids, ["percentiles", "time-throughput", "time-response", "time-under-way", "time-heat"]);
}

#[test]
fn nothing_measured_is_nothing_shown() {
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

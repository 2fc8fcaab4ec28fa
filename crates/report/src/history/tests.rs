use super::*;
use crate::view::Color;
use brunt_model::finding::State;
use brunt_model::run_history::{
    ChangeSearch, ChangedFact, HistoryEntry, HistoryMeasure, HistorySegment, HistorySeries,
    MeasuredFigure, RelativeSize, RunHistory,
};

/// Twelve runs a week apart, the last six of them slower.
pub fn slower() -> SeriesHistory {
    let entries: Vec<HistoryEntry> = (0..12)
        .map(|number| {
            let value = [0.0100, 0.0102, 0.0099][number % 3] * if number < 6 { 1.0 } else { 1.2 };
            let ends = Some(value * 0.97).zip(Some(value * 1.03));
            HistoryEntry {
                id: format!("run{number:02}"),
                started_unix_seconds: 1_777_593_600.0 + 604_800.0 * number as f64,
                figure: Some(MeasuredFigure {
                    value,
                    low: ends.map(|ends| ends.0),
                    high: ends.map(|ends| ends.1),
                    is_lower_bound: false,
                }),
                verdict: Some(if number == 8 { State::Limited } else { State::Ok }),
                is_interrupted: false,
                is_from_index: false,
                exclusion: None,
                tags: Vec::new(),
            }
        })
        .collect();
    let segment = |first: &str, last: &str, value: f64| HistorySegment {
        first_id: first.into(),
        last_id: last.into(),
        runs: 6,
        doubtful_runs: usize::from(value > 0.011),
        level: MeasuredFigure {
            value,
            low: Some(value * 0.99),
            high: Some(value * 1.02),
            is_lower_bound: false,
        },
    };
    let segments = vec![segment("run00", "run05", 0.0100), segment("run06", "run11", 0.0120)];
    let change = HistoryChange {
        before_id: "run05".into(),
        after_id: "run06".into(),
        unix_seconds: entries[6].started_unix_seconds,
        before: segments[0].level,
        after: segments[1].level,
        relative: Some(RelativeSize { value: 0.2, low: Some(0.17), high: Some(0.23) }),
        p: 0.0042,
        facts: vec![ChangedFact {
            before_id: "run05".into(),
            after_id: "run06".into(),
            subject: "environment".into(),
            name: "kernel".into(),
            before: "Linux 6.1.0".into(),
            after: "Linux 6.12.0".into(),
        }],
    };
    SeriesHistory {
        series: HistorySeries {
            like_id: "run11".into(),
            what: "http://shop.example/cart".into(),
            load: "500/s".into(),
            other_plans: 2,
            older_runs: 0,
            most_runs: 200,
            further_series: 1,
        },
        history: RunHistory {
            measure: HistoryMeasure::P99,
            segments,
            entries,
            search: ChangeSearch::Searched,
            runs_needed: 8,
            level: 0.05,
            changes: vec![change],
            autocorrelation: None,
        },
    }
}

fn text(columns: usize) -> String {
    let mut out = Vec::new();
    let view = View { columns, color: Color::None, ..View::default() };
    write_as(&view, &slower(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_history_fits_into_three_widths() {
    for columns in [60, 80, 120] {
        let text = text(columns);
        println!("{text}");
        for part in
            ["1 change point in 12 counted runs", "kernel: Linux 6.1.0 → Linux 6.12.0", "limited"]
        {
            // A narrow text is wrapped.
            let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(joined.contains(part), "{part}: {text}");
        }
        // Only the command, which is one word for each side, may be wider.
        let wide = text.lines().filter(|line| line.chars().count() > columns);
        assert!(wide.clone().all(|line| line.contains("run:")), "{text}");
    }
}

#[test]
fn the_command_compares_runs_of_the_two_segments() {
    let of_series = slower();
    let command = comparison_command(&of_series, &of_series.history.changes[0]);
    assert_eq!(
        command,
        "brunt compare before=run:run01,run:run02,run:run03,run:run04,run:run05 \
         after=run:run06,run:run07,run:run08,run:run09,run:run10"
    );
}

#[test]
fn the_chart_has_a_point_for_each_run_and_a_mark_for_each_change() {
    let chart = chart(&slower().history);
    assert_eq!(chart.lines.iter().map(|line| line.known().count()).collect::<Vec<_>>(), [12, 4]);
    assert_eq!(chart.marks[0].name, "+20.0 %");
    assert!(chart.about.contains("worse"), "{}", chart.about);
    assert!(crate::svg::of_figure(&chart).is_some());
}

//! Sentences and cells of a history.

use crate::figure::ChartUnit;
use crate::texts::message;
use crate::utc::{date, date_and_minute};
use brunt_model::finding::State;
use brunt_model::numbers::{UNKNOWN, plain, signed_percent};
use brunt_model::run_history::{
    BetterDirection, ChangeSearch, ChangedFact, Exclusion, HistoryChange, HistoryEntry,
    HistoryMeasure, MeasuredFigure, RelativeSize, RunHistory, SeriesHistory,
};
use brunt_model::{Text, text};
use std::cmp::Ordering;

/// Number of columns of the table of runs.
const COLUMNS: usize = 5;

/// Returns the titles of the columns of the table of runs.
pub fn head() -> [Text; COLUMNS] {
    [
        message!("history-column.id"),
        message!("history-column.when"),
        message!("history-column.figure"),
        message!("history-column.interval"),
        message!("history-column.verdict"),
    ]
}

/// Name of a measure within an English sentence.
pub fn measure_in_sentence(measure: HistoryMeasure) -> String {
    let title = measure.title();
    let mut letters = title.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// Unit of a measure in charts and tables.
pub fn unit_of(measure: HistoryMeasure) -> ChartUnit {
    match measure {
        HistoryMeasure::Capacity | HistoryMeasure::Throughput => ChartUnit::PerSecond,
        HistoryMeasure::Errors => ChartUnit::Share,
        _ => ChartUnit::Seconds,
    }
}

/// Formats a value of a measure.
pub fn value(measure: HistoryMeasure, value: f64) -> String {
    unit_of(measure).show(value).into()
}

/// Formats a figure, with `≥` if it is a lower bound.
pub fn figure(measure: HistoryMeasure, figure: &MeasuredFigure) -> String {
    let bound = if figure.is_lower_bound { "≥ " } else { "" };
    format!("{bound}{}", value(measure, figure.value))
}

/// Formats the interval of a figure; unknown if an end is.
pub fn interval(measure: HistoryMeasure, figure: &MeasuredFigure) -> String {
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => {
            format!("{}–{}", value(measure, low), value(measure, high))
        }
        _ => UNKNOWN.into(),
    }
}

/// Returns the cells of a run.
pub fn row(measure: HistoryMeasure, entry: &HistoryEntry) -> [Text; COLUMNS] {
    let of_figure = |format: fn(HistoryMeasure, &MeasuredFigure) -> String| {
        entry.figure.as_ref().map_or(UNKNOWN.into(), |known| format(measure, known))
    };
    [
        Text::from(&*entry.id),
        date_and_minute(entry.started_unix_seconds).into(),
        of_figure(figure).into(),
        of_figure(interval).into(),
        entry
            .verdict
            .map_or(UNKNOWN.into(), |verdict| message!("state-name", state = verdict.key())),
    ]
}

/// Returns the remark on a run: a change before it, its exclusion, its tags. None without one.
pub fn remark(history: &RunHistory, entry: &HistoryEntry) -> Option<Text> {
    let change = history.changes.iter().find(|change| change.after_id == entry.id);
    let change =
        change.map(|change| text!("history-remark.change", size = size(history.measure, change)));
    let exclusion = entry.exclusion.map(Exclusion::words);
    let interrupted = entry.is_interrupted.then(|| text!("history-remark.interrupted"));
    let source = entry.is_from_index.then(|| text!("history-remark.from-index"));
    let tags = (!entry.tags.is_empty()).then(|| entry.tags.join(", ").into());
    let parts = [change, exclusion, interrupted, source, tags];
    let parts: Vec<Text> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| text::series(parts))
}

/// Relative size of a change; the absolute values if there is none.
pub fn size(measure: HistoryMeasure, change: &HistoryChange) -> String {
    change.relative.map_or_else(
        || format!("{} → {}", figure(measure, &change.before), figure(measure, &change.after)),
        |relative| signed_percent(relative.value),
    )
}

/// A change in one sentence: `Aug 1, 2026, between a and b: 10.0 ms → 12.1 ms, +21.0 % (95 % CI +18.0 % to +24.0 %); p = 0.002, worse`.
pub fn change(measure: HistoryMeasure, change: &HistoryChange) -> Text {
    let day = date(change.unix_seconds);
    let before_id = &*change.before_id;
    let after_id = &*change.after_id;
    let before = figure(measure, &change.before);
    let after = figure(measure, &change.after);
    let size = change.relative.map(relative_size).unwrap_or_default();
    let p = p_value(change.p);
    match (change.after.value.total_cmp(&change.before.value), measure.better()) {
        (Ordering::Greater, BetterDirection::Higher) | (Ordering::Less, BetterDirection::Lower) => {
            text!("history-change.better", day, before_id, after_id, before, after, size, p)
        }
        (Ordering::Greater, BetterDirection::Lower) | (Ordering::Less, BetterDirection::Higher) => {
            text!("history-change.worse", day, before_id, after_id, before, after, size, p)
        }
        // The distribution changed, though its median did not.
        (Ordering::Equal, _) => {
            text!("history-change", day, before_id, after_id, before, after, size, p)
        }
    }
}

fn relative_size(size: RelativeSize) -> Text {
    let relative = signed_percent(size.value);
    match size.low.zip(size.high) {
        Some((low, high)) => text!(
            "history-change.size-with-interval",
            relative,
            low = signed_percent(low),
            high = signed_percent(high)
        ),
        None => text!("history-change.size", relative),
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// Facts that changed near a change, each in one line.
pub fn facts(change: &HistoryChange) -> Vec<Text> {
    change.facts.iter().map(|changed| fact_text(change, changed)).collect()
}

fn fact_text(change: &HistoryChange, changed: &ChangedFact) -> Text {
    let fact = changed.name.clone();
    let before = changed.before.clone();
    let after = changed.after.clone();
    if changed.after_id == change.after_id {
        return text!("history-change.fact", fact, before, after);
    }
    let before_id = &*changed.before_id;
    let after_id = &*changed.after_id;
    text!("history-change.fact-between", fact, before, after, before_id, after_id)
}

/// The answer of a history in one sentence.
pub fn conclusion(history: &RunHistory) -> Text {
    let counted = history.entries.iter().filter(|entry| entry.counted().is_some()).count();
    let runs = message!("counted-runs", count = counted);
    if history.search == ChangeSearch::TooFewRuns {
        let needed = history.runs_needed.to_string();
        return message!("history-conclusion.too-few-runs", runs, needed);
    }
    let level = level(history);
    match history.changes.len() {
        0 => message!("history-conclusion.no-change", runs, level),
        changes => message!("history-conclusion", changes, runs, level),
    }
}

/// The false-alarm rate as text.
fn level(history: &RunHistory) -> String {
    format!("{} %", plain(100.0 * history.level))
}

/// Text alternative of the chart.
pub fn about(history: &RunHistory) -> Text {
    let changes = history
        .changes
        .iter()
        .map(|point| text!("sentence", clause = change(history.measure, point)));
    let changes = changes.reduce(|first, next| message!("history-conclusion.changes", first, next));
    let conclusion = conclusion(history);
    match changes {
        Some(changes) => message!("history-conclusion.about", conclusion, changes),
        None => conclusion,
    }
}

/// Remarks on the runs of a history: what is left out, and what makes it doubtful.
pub fn remarks(of_series: &SeriesHistory) -> Vec<Text> {
    let SeriesHistory { series, history } = of_series;
    let mut remarks = Vec::new();
    if series.older_runs > 0 {
        let most = series.most_runs.to_string();
        remarks.push(message!("history-note.older-runs", count = series.older_runs, most));
    }
    if series.other_plans > 0 {
        let id = &*series.like_id;
        remarks.push(message!("history-note.other-plans", count = series.other_plans, id));
    }
    if series.further_series > 0 {
        let count = series.further_series.to_string();
        remarks.push(message!("history-note.further-series", count));
    }
    let excluded = history.entries.iter().filter(|entry| entry.exclusion.is_some()).count();
    if excluded > 0 {
        remarks.push(message!("history-note.excluded", count = excluded));
    }
    let doubtful: usize = history.segments.iter().map(|segment| segment.doubtful_runs).sum();
    if doubtful > 0 {
        let verdict = message!("state-name", state = State::Ok.key());
        remarks.push(message!("history-note.doubtful", count = doubtful, verdict));
    }
    match history.autocorrelation {
        None if history.search == ChangeSearch::Searched => {
            remarks.push(message!("history-note.independent"));
        }
        Some(autocorrelation) if autocorrelation > 0.4 => {
            let autocorrelation = format!("{autocorrelation:.1}");
            remarks.push(message!("history-note.similar", autocorrelation));
        }
        _ => {}
    }
    remarks
}

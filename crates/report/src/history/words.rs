//! Sentences and cells of a history.

use crate::figure::ChartUnit;
use crate::utc::{day, rfc3339};
use brunt_model::finding::State;
use brunt_model::numbers::{UNKNOWN, plain, plural, signed_percent, three_digits};
use brunt_model::run_history::{
    BetterDirection, ChangeSearch, ChangedFact, HistoryChange, HistoryEntry, HistoryMeasure,
    MeasuredFigure, RunHistory, SeriesHistory,
};
use std::cmp::Ordering;

/// Titles of the columns of the table of runs.
pub const HEAD: [&str; 5] = ["id", "when (UTC)", "figure", "95 % CI", "verdict"];

/// Heading of the facts near a change.
pub const FACTS_TITLE: &str = "Changed at the same time:";

/// Sentence for a change without such facts.
pub const NO_FACTS: &str =
    "No known fact about data, environment, server or version changed within two runs of it.";

/// Name of a measure within a sentence.
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
    unit_of(measure).show(value)
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
pub fn row(measure: HistoryMeasure, entry: &HistoryEntry) -> [String; HEAD.len()] {
    let of_figure = |format: fn(HistoryMeasure, &MeasuredFigure) -> String| {
        entry.figure.as_ref().map_or(UNKNOWN.into(), |known| format(measure, known))
    };
    let at = rfc3339(entry.started_unix_seconds).replace('T', " ");
    [
        entry.id.clone(),
        // The 16 characters of date, hour and minute.
        at.chars().take(16).collect(),
        of_figure(figure),
        of_figure(interval),
        entry.verdict.key().to_owned(),
    ]
}

/// Returns the remark on a run: a change before it, its exclusion, its tags.
pub fn remark(history: &RunHistory, entry: &HistoryEntry) -> String {
    let change = history.changes.iter().find(|change| change.after_id == entry.id);
    let change = change.map(|change| format!("change: {}", size(change)));
    let exclusion = entry.exclusion.map(|exclusion| exclusion.words().to_owned());
    let interrupted = entry.is_interrupted.then(|| "interrupted".to_owned());
    let source = entry.is_from_index.then(|| "from the index: no log and no digest".to_owned());
    let tags = (!entry.tags.is_empty()).then(|| entry.tags.join(", "));
    let parts = [change, exclusion, interrupted, source, tags];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Relative size of a change; the absolute values if there is none.
pub fn size(change: &HistoryChange) -> String {
    change.relative.map_or_else(
        || format!("{} → {}", three_digits(change.before), three_digits(change.after)),
        |relative| signed_percent(relative.value),
    )
}

/// A change in one sentence: `Aug 1, between a and b: 10.0 ms → 12.1 ms, +21.0 % (95 % CI +18.0 % to +24.0 %); p = 0.002, worse`.
pub fn change(measure: HistoryMeasure, change: &HistoryChange) -> String {
    let relative = change.relative.map(|relative| {
        let ends = relative.low.zip(relative.high).map(|(low, high)| {
            format!(" (95 % CI {} to {})", signed_percent(low), signed_percent(high))
        });
        format!(", {}{}", signed_percent(relative.value), ends.unwrap_or_default())
    });
    let direction =
        match (change.after.total_cmp(&change.before), measure.better()) {
            (Ordering::Greater, BetterDirection::Higher)
            | (Ordering::Less, BetterDirection::Lower) => ", better",
            (Ordering::Greater, BetterDirection::Lower)
            | (Ordering::Less, BetterDirection::Higher) => ", worse",
            // The distribution changed, though its median did not.
            (Ordering::Equal, _) => "",
        };
    format!(
        "{}, between {} and {}: {} → {}{}; p = {}{direction}",
        day(change.unix_seconds),
        change.before_id,
        change.after_id,
        value(measure, change.before),
        value(measure, change.after),
        relative.unwrap_or_default(),
        p_value(change.p),
    )
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// Facts that changed near a change, each in one line.
pub fn facts(change: &HistoryChange) -> Vec<String> {
    change.facts.iter().map(|changed| fact(change, changed)).collect()
}

fn fact(change: &HistoryChange, fact: &ChangedFact) -> String {
    let values = format!("{}: {} → {}", fact.name, fact.before, fact.after);
    if fact.after_id == change.after_id {
        return values;
    }
    format!("{values} (between {} and {})", fact.before_id, fact.after_id)
}

/// The answer of a history in one sentence.
pub fn conclusion(history: &RunHistory) -> String {
    let counted = history.entries.iter().filter(|entry| entry.counted().is_some()).count();
    let runs = plural(counted as u64, "counted run");
    if history.search == ChangeSearch::TooFewRuns {
        return format!(
            "Unknown whether the level changed: {runs}, and a change point needs at least {}.",
            history.runs_needed
        );
    }
    let changes = match history.changes.len() {
        0 => "No change point".to_owned(),
        count => plural(count as u64, "change point"),
    };
    format!(
        "{changes} in {runs} (false-alarm rate with independent runs: {} of histories without a change).",
        level(history)
    )
}

/// The false-alarm rate as text.
fn level(history: &RunHistory) -> String {
    format!("{} %", plain(100.0 * history.level))
}

/// Text alternative of the chart.
pub fn about(history: &RunHistory) -> String {
    let changes = history.changes.iter().map(|point| change(history.measure, point));
    let sentences = std::iter::once(conclusion(history)).chain(changes.map(|text| text + "."));
    sentences.collect::<Vec<_>>().join(" ")
}

/// Remarks on the runs of a history: what is left out, and what makes it doubtful.
pub fn remarks(of_series: &SeriesHistory) -> Vec<String> {
    let SeriesHistory { series, history } = of_series;
    let mut remarks = Vec::new();
    if series.older_runs > 0 {
        remarks.push(format!(
            "{} left out: a history has at most {} runs; raise the number with --last.",
            plural(series.older_runs as u64, "older run"),
            series.most_runs
        ));
    }
    if series.other_plans > 0 {
        remarks.push(format!(
            "{} of the same servers, labels and load left out: their plans differ from that of {}.",
            plural(series.other_plans as u64, "run"),
            series.like_id
        ));
    }
    if series.further_series > 0 {
        remarks.push(format!(
            "Further series in the selection: {}. Choose one by one of its runs, with --like ID.",
            series.further_series
        ));
    }
    let excluded = history.entries.iter().filter(|entry| entry.exclusion.is_some()).count();
    if excluded > 0 {
        remarks.push(format!("{} shown, but not counted.", plural(excluded as u64, "run")));
    }
    let doubtful: usize = history.segments.iter().map(|segment| segment.doubtful_runs).sum();
    if doubtful > 0 {
        remarks.push(format!(
            "{} with another verdict than {}: counted, because a selection by verdict would be one by result.",
            plural(doubtful as u64, "run"),
            State::Ok.key()
        ));
    }
    match history.autocorrelation {
        None if history.search == ChangeSearch::Searched => remarks.push(
            "Too few runs for an estimate of their autocorrelation: independent noise is assumed.".to_owned(),
        ),
        Some(autocorrelation) if autocorrelation > 0.4 => remarks.push(format!(
            "Successive runs are similar (autocorrelation {autocorrelation:.1}): false change points are more frequent than in independent runs."
        )),
        _ => {}
    }
    remarks
}

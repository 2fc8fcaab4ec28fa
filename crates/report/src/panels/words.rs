//! Writes the text alternatives of figures.

use super::load;
use crate::figure::{Chart, ChartLine, ChartUnit};
use crate::study::name_of;
use crate::texts::message;
use brunt_model::numbers;
use brunt_model::text::Value;
use brunt_model::{Study, Text, Trial};

/// Maximum number of lines that are described; further ones are only counted.
const MAX_DESCRIBED: usize = 6;

/// Adds the text alternative to a figure that has none.
pub fn with_text(mut figure: Chart) -> Chart {
    if figure.about.is_empty() {
        figure.about = sentence(&figure);
    }
    figure
}

/// Returns the name of a trial, such as `nginx at 300/s, repetition 2`.
pub fn trial(study: &Study, trial: &Trial) -> Text {
    let load = load::axis(study).unit.show(load::of(study, trial));
    let name = name_of(&study.experiment, trial);
    match study.experiment.repetitions {
        0 | 1 => message!("trial-at-load", name, load),
        _ => {
            let repetition = (trial.place.repetition + 1).to_string();
            message!("trial-at-load.repetition", name, load, repetition)
        }
    }
}

/// Converts a name to a form that fits into ids and file names.
pub fn slug(text: &str) -> String {
    let plain =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let words: String = plain.collect();
    words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn sentence(figure: &Chart) -> Text {
    if let Some(heat) = &figure.heat {
        let count = numbers::count(heat.counts.iter().flatten().sum::<u64>());
        let y = figure.y.unit;
        let low = y.show(heat.y.first().copied().unwrap_or(0.0));
        let high = y.show(heat.y.last().copied().unwrap_or(0.0));
        return message!("chart-about.values", count, low, high);
    }
    let lines = figure.lines.iter();
    let mut clauses: Vec<Text> =
        lines.filter_map(|line| of_line(line, figure.x.unit, figure.y.unit)).collect();
    let rest = clauses.len().saturating_sub(MAX_DESCRIBED);
    clauses.truncate(MAX_DESCRIBED);
    clauses.extend((rest > 0).then(|| message!("chart-about.more", count = rest)));
    clauses.extend(figure.marks.iter().map(|mark| {
        message!("chart-about.mark", mark = mark.name.clone(), x = figure.x.unit.show(mark.x))
    }));
    message!("chart-about", clauses = Value::Series(clauses))
}

fn of_line(line: &ChartLine, x: ChartUnit, y: ChartUnit) -> Option<Text> {
    let points: Vec<(f64, f64)> = line.known().collect();
    let first = points.first()?;
    let last = points.last()?;
    let (_, most) = points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let name = line.name.clone();
    let ends = message!(
        "chart-about.ends",
        first = y.show(first.1),
        from = x.show(first.0),
        last = y.show(last.1),
        to = x.show(last.0)
    );
    Some(if most > first.1.max(last.1) {
        message!("chart-about.line-with-peak", name, ends, peak = y.show(most))
    } else {
        message!("chart-about.line", name, ends)
    })
}

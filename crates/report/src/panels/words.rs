//! Writes the text alternatives of figures.

use super::load;
use crate::figure::{Chart, ChartLine, ChartUnit};
use crate::study::name_of;
use brunt_model::numbers;
use brunt_model::{Study, Trial};

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
pub fn trial(study: &Study, trial: &Trial) -> String {
    let load = load::axis(study).unit.show(load::of(study, trial));
    let name = name_of(&study.experiment, trial);
    match study.experiment.repetitions {
        0 | 1 => format!("{name} at {load}"),
        _ => format!("{name} at {load}, repetition {}", trial.place.repetition + 1),
    }
}

/// Converts a name to a form that fits into ids and file names.
pub fn slug(text: &str) -> String {
    let plain =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let words: String = plain.collect();
    words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn sentence(figure: &Chart) -> String {
    if let Some(heat) = &figure.heat {
        let count = heat.counts.iter().flatten().sum::<u64>();
        let low = heat.y.first().copied().unwrap_or(0.0);
        let high = heat.y.last().copied().unwrap_or(0.0);
        let y = figure.y.unit;
        return format!(
            "{} values between {} and {}.",
            numbers::count(count),
            y.show(low),
            y.show(high)
        );
    }
    let lines: Vec<String> = figure
        .lines
        .iter()
        .filter_map(|line| of_line(line, figure.x.unit, figure.y.unit))
        .collect();
    let rest = lines.len().saturating_sub(MAX_DESCRIBED);
    let mut text = lines[..lines.len() - rest].join("; ");
    if rest > 0 {
        text += &format!("; {rest} more");
    }
    let marks = figure
        .marks
        .iter()
        .map(|mark| format!("; {} at {}", mark.name, figure.x.unit.show(mark.x)));
    text + &marks.collect::<String>() + "."
}

fn of_line(line: &ChartLine, x: ChartUnit, y: ChartUnit) -> Option<String> {
    let points: Vec<(f64, f64)> = line.known().collect();
    let first = points.first()?;
    let last = points.last()?;
    let (_, most) = points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let ends = format!(
        "{} at {}, {} at {}",
        y.show(first.1),
        x.show(first.0),
        y.show(last.1),
        x.show(last.0)
    );
    let peak = if most > first.1.max(last.1) {
        format!(", at most {}", y.show(most))
    } else {
        String::new()
    };
    Some(format!("{}: {ends}{peak}", line.name))
}

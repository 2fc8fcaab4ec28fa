//! Text alternatives of figures.

use super::load;
use crate::figure::{Figure, Line, Unit};
use crate::study::name_of;
use brunt_model::numbers;
use brunt_model::{Study, Trial};

/// More lines than this are counted, not told.
const MOST_TOLD: usize = 6;

/// The figure with its sentence, where it has none yet.
pub fn told(mut figure: Figure) -> Figure {
    if figure.about.is_empty() {
        figure.about = sentence(&figure);
    }
    figure
}

/// A trial, in words: `nginx at 300/s, repetition 2`.
pub fn trial(study: &Study, trial: &Trial) -> String {
    let at = load::axis(study).unit.show(load::of(study, trial));
    let name = name_of(&study.experiment, trial);
    match study.experiment.repetitions {
        0 | 1 => format!("{name} at {at}"),
        _ => format!("{name} at {at}, repetition {}", trial.place.repetition + 1),
    }
}

/// A name that fits into ids and file names.
pub fn slug(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let words: String = plain.collect();
    words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn sentence(figure: &Figure) -> String {
    if let Some(heat) = &figure.heat {
        let count = heat.counts.iter().flatten().sum::<u64>();
        let (low, high) = (heat.y.first().copied().unwrap_or(0.0), heat.y.last().copied().unwrap_or(0.0));
        let y = figure.y.unit;
        return format!("{} values between {} and {}.", numbers::count(count), y.show(low), y.show(high));
    }
    let lines: Vec<String> =
        figure.lines.iter().filter_map(|line| of_line(line, figure.x.unit, figure.y.unit)).collect();
    let rest = lines.len().saturating_sub(MOST_TOLD);
    let mut text = lines[..lines.len() - rest].join("; ");
    if rest > 0 {
        text += &format!("; {rest} more");
    }
    let marks = figure.marks.iter().map(|mark| format!("; {} at {}", mark.name, figure.x.unit.show(mark.x)));
    text + &marks.collect::<String>() + "."
}

fn of_line(line: &Line, x: Unit, y: Unit) -> Option<String> {
    let known: Vec<(f64, f64)> = line.known().collect();
    let (first, last) = (known.first()?, known.last()?);
    let (_, most) = known.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let ends = format!("{} at {}, {} at {}", y.show(first.1), x.show(first.0), y.show(last.1), x.show(last.0));
    let peak = if most > first.1.max(last.1) { format!(", at most {}", y.show(most)) } else { String::new() };
    Some(format!("{}: {ends}{peak}", line.name))
}

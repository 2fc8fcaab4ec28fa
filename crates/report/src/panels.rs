//! Defines every chart of a study once, for the page, SVG and PNG.
//!
//! Input is a [`Study`] and its [`Analysis`], output is [`Chart`]s. Out of scope: drawing and
//! analysis. A new chart is a row of [`PANELS`]; a chart of readings is a row of `GAUGES` in
//! `panels/gauges.rs`. Readings without a row have charts, too.

mod compared;
mod gauges;
mod heat;
pub(crate) mod load;
mod outcomes;
mod p99;
mod readings;
mod share;
mod time;
mod words;

pub use time::of_trial;

use crate::figure::Chart;
use brunt_model::analysis::LimitKind;
use brunt_model::{Analysis, Study};

/// A chart, or several charts of the same kind.
pub struct Panel {
    /// Beginning of the ids of its figures.
    pub id: &'static str,
    /// Returns the figures. Empty ones are removed later.
    pub figures: fn(&Study, &Analysis) -> Vec<Chart>,
}

/// All panels of a study, in display order. Those of its trials follow.
pub const PANELS: &[Panel] = &[
    Panel { id: "throughput", figures: load::throughput },
    Panel { id: "p99", figures: p99::over_load },
    Panel { id: "response", figures: load::response },
    Panel { id: "errors", figures: load::errors },
    Panel { id: "repetition-throughput", figures: load::throughput_of_repetitions },
    Panel { id: "repetition-p99", figures: p99::over_repetitions },
    Panel { id: "compared", figures: compared::figures },
    Panel { id: "server", figures: readings::server_by_load },
    Panel { id: "other", figures: readings::others_by_load },
    Panel { id: "generator", figures: readings::generator_by_load },
    Panel { id: "percentiles", figures: share::percentiles },
];

/// The charts that a report contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartSelection {
    /// The three key charts.
    Key,
    /// All charts that are not empty.
    All,
}

impl ChartSelection {
    /// Returns the selected charts of a study.
    pub fn figures(self, study: &Study, analysis: &Analysis) -> Vec<Chart> {
        match self {
            Self::Key => key_figures(study, analysis),
            Self::All => figures(study, analysis),
        }
    }
}

/// Returns all figures that are not empty.
pub fn figures(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let mut all = of_study(study, analysis);
    all.extend(time::of_chosen(study, analysis).into_iter().filter_map(shown));
    all
}

/// Returns all figures that are not empty, without those of single trials.
pub fn of_study(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let all = PANELS.iter().flat_map(|panel| (panel.figures)(study, analysis));
    let mut charts: Vec<Chart> = all.filter_map(shown).collect();
    compared::put_first(&mut charts, analysis);
    charts
}

/// Ids of the key charts, in order of preference: throughput, p99, and the reason (errors, else
/// the most used resource).
const KEY_CHARTS: [&[&str]; 3] = [
    &["throughput", "repetition-throughput", "time-throughput"],
    &["p99", "repetition-p99", "time-p99", "percentiles"],
    &[
        "errors",
        "time-errors",
        "server-cpu",
        "time-server-cpu",
        "server-machine-cpu",
        "time-server-machine-cpu",
        "percentiles",
        "time-response",
    ],
];

/// Returns the three key charts: throughput and p99 over load or time, and errors or utilization.
fn key_figures(study: &Study, analysis: &Analysis) -> Vec<Chart> {
    let mut all = figures(study, analysis);
    let mut key: Vec<Chart> = compared::take_deciding(&mut all, analysis).into_iter().collect();
    for ids in KEY_CHARTS {
        if key.iter().any(|chart| ids.contains(&chart.id.as_str())) {
            continue;
        }
        let place = ids.iter().find_map(|id| all.iter().position(|figure| figure.id == *id));
        key.extend(place.map(|place| all.remove(place)));
    }
    // If several runs are compared, the ids of their charts contain the run, so that
    // none is found above.
    key.extend(all);
    key.truncate(KEY_CHARTS.len());
    key
}

/// Prepares a figure for display: adds its text alternative, and removes lines of constant zeros.
/// None if nothing is left.
fn shown(mut figure: Chart) -> Option<Chart> {
    // A contender without errors is a result if another one has some.
    let compared: Vec<u8> = figure
        .lines
        .iter()
        .filter(|line| line.contender.is_some() && !line.is_zero())
        .map(|line| line.dash)
        .collect();
    figure.lines.retain(|line| {
        !line.is_zero() || line.contender.is_some() && compared.contains(&line.dash)
    });
    (!figure.is_empty()).then(|| words::with_text(figure))
}

/// Returns the indexes of the trials that are shown over time. For each contender these are one
/// near its limit and one at its highest load; without a sweep, its first trial.
pub fn chosen(study: &Study, analysis: &Analysis) -> Vec<usize> {
    let contenders = 0..study.experiment.contenders.len();
    let mut chosen: Vec<usize> = contenders
        .flat_map(|contender| {
            loads_of_interest(study, analysis, contender)
                .into_iter()
                .map(move |load| (contender, load))
        })
        .filter_map(|(contender, load)| first_trial(study, contender, load))
        .collect();
    chosen.dedup();
    chosen
}

/// Returns the load near a contender's limit, and its highest load; only one if they are equal.
fn loads_of_interest(study: &Study, analysis: &Analysis, contender: usize) -> Vec<f64> {
    let mut loads: Vec<f64> = study.trials_of(contender).map(|t| load::of(study, t)).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let Some(&highest) = loads.last() else { return Vec::new() };
    let limit = limit_of(analysis, contender).unwrap_or(highest);
    let near = loads.iter().copied().min_by(|a, b| (a - limit).abs().total_cmp(&(b - limit).abs()));
    let mut two: Vec<f64> = near.into_iter().chain([highest]).collect();
    two.dedup();
    two
}

/// Returns the load at a contender's limit, by the first of these definitions that has a value.
fn limit_of(analysis: &Analysis, contender: usize) -> Option<f64> {
    let limits = &analysis.contenders.get(contender)?.limits;
    [LimitKind::Knee, LimitKind::Kept, LimitKind::Asymptotes]
        .into_iter()
        .find_map(|kind| limits.iter().find(|limit| limit.kind == kind).and_then(|limit| limit.at))
        .map(|at| at.value)
}

/// Returns the first trial at a load; an interrupted one only if there is no other.
fn first_trial(study: &Study, contender: usize, load: f64) -> Option<usize> {
    let mut trials = study
        .trials
        .iter()
        .enumerate()
        .filter(|(_, t)| t.place.contender == contender && load::of(study, t) == load)
        .map(|(index, trial)| (index, trial.run.is_interrupted()));
    let first = trials.clone().next()?.0;
    trials.find(|(_, is_interrupted)| !is_interrupted).map(|(index, _)| index).or(Some(first))
}

#[cfg(test)]
mod tests;

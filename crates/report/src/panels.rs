//! Every chart of a study, defined once: page, SVG and PNG draw what is made here.
//!
//! Data comes in as a [`Study`] and its [`Analysis`], and goes out as [`Figure`]s. Out of scope: a drawing, and an
//! analysis. A new chart is a row of [`PANELS`]; a chart of readings, a row of `GAUGES` in `panels/gauges.rs`. Readings
//! that no row names have charts of their own all the same.

mod gauges;
mod heat;
pub(crate) mod load;
mod p99;
mod readings;
mod share;
mod time;
mod words;

pub use time::of_trial;

use crate::figure::Figure;
use brunt_model::analysis::LimitKind;
use brunt_model::{Analysis, Study};

/// A chart, or several of a kind.
pub struct Panel {
    /// What the ids of its figures begin with.
    pub id: &'static str,
    /// Its figures; empty ones are left out later.
    pub figures: fn(&Study, &Analysis) -> Vec<Figure>,
}

/// Every panel, in the order in which they are shown.
pub const PANELS: &[Panel] = &[
    Panel { id: "throughput", figures: load::throughput },
    Panel { id: "p99", figures: p99::over_load },
    Panel { id: "response", figures: load::response },
    Panel { id: "errors", figures: load::errors },
    Panel { id: "repetition-throughput", figures: load::throughput_of_repetitions },
    Panel { id: "repetition-p99", figures: p99::over_repetitions },
    Panel { id: "server", figures: readings::server_by_load },
    Panel { id: "other", figures: readings::others_by_load },
    Panel { id: "generator", figures: readings::generator_by_load },
    Panel { id: "percentiles", figures: share::percentiles },
    Panel { id: "time", figures: time::of_chosen },
];

/// Which charts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartSelection {
    /// The three key charts.
    Key,
    /// Every chart that shows something.
    All,
}

impl ChartSelection {
    /// The charts of a study.
    pub fn figures(self, study: &Study, analysis: &Analysis) -> Vec<Figure> {
        match self {
            Self::Key => key_figures(study, analysis),
            Self::All => figures(study, analysis),
        }
    }
}

/// Every figure that shows something.
pub fn figures(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let all = PANELS.iter().flat_map(|panel| (panel.figures)(study, analysis));
    all.filter_map(shown).collect()
}

/// Ids of the charts that answer first, by rank: throughput, p99, and the reason (errors, else the most used resource).
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

/// The three key charts: throughput and p99 over load or time, and errors or utilization.
fn key_figures(study: &Study, analysis: &Analysis) -> Vec<Figure> {
    let mut all = figures(study, analysis);
    let mut key = Vec::new();
    for ids in KEY_CHARTS {
        let place = ids.iter().find_map(|id| all.iter().position(|figure| figure.id == *id));
        key.extend(place.map(|place| all.remove(place)));
    }
    // The charts of several runs side by side have ids with the run in them.
    let rest = KEY_CHARTS.len() - key.len();
    key.extend(all.into_iter().take(rest));
    key
}

/// The figure as it is shown: with its sentence, without lines of constant zeros; None where nothing is left.
fn shown(mut figure: Figure) -> Option<Figure> {
    // A contender without errors is a result where another one has some.
    let compared: Vec<u8> =
        figure.lines.iter().filter(|line| line.contender.is_some() && !line.is_zero()).map(|line| line.dash).collect();
    figure.lines.retain(|line| !line.is_zero() || line.contender.is_some() && compared.contains(&line.dash));
    (!figure.is_empty()).then(|| words::told(figure))
}

/// The trials that are worth a look over time, by index: of each contender one near its limit and one at its highest
/// load; of a study without a sweep, the first of each contender.
pub fn chosen(study: &Study, analysis: &Analysis) -> Vec<usize> {
    let contenders = 0..study.experiment.contenders.len();
    let mut chosen: Vec<usize> = contenders
        .flat_map(|contender| {
            loads_of_interest(study, analysis, contender).into_iter().map(move |load| (contender, load))
        })
        .filter_map(|(contender, load)| first_trial(study, contender, load))
        .collect();
    chosen.dedup();
    chosen
}

/// The load near a contender's limit, and its highest; one where they are the same.
fn loads_of_interest(study: &Study, analysis: &Analysis, contender: usize) -> Vec<f64> {
    let mut loads: Vec<f64> = study.of(contender).map(|t| load::of(study, t)).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    let Some(&highest) = loads.last() else { return Vec::new() };
    let limit = limit_of(analysis, contender).unwrap_or(highest);
    let near = loads.iter().copied().min_by(|a, b| (a - limit).abs().total_cmp(&(b - limit).abs()));
    let mut two: Vec<f64> = near.into_iter().chain([highest]).collect();
    two.dedup();
    two
}

/// The load at which a contender is at its limit, by the first of these definitions that gives one.
fn limit_of(analysis: &Analysis, contender: usize) -> Option<f64> {
    let limits = &analysis.contenders.get(contender)?.limits;
    let of = |kind| limits.iter().find(|limit| limit.kind == kind).and_then(|limit| limit.at);
    [LimitKind::Knee, LimitKind::Kept, LimitKind::Asymptotes].into_iter().find_map(of).map(|at| at.value)
}

fn first_trial(study: &Study, contender: usize, load: f64) -> Option<usize> {
    let of = |whole: fn(&brunt_model::Run) -> bool| {
        study.trials.iter().position(|t| t.place.contender == contender && load::of(study, t) == load && whole(&t.run))
    };
    of(|run| !run.interrupted()).or_else(|| of(|_| true))
}

#[cfg(test)]
mod tests;

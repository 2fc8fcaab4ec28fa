//! Writes the tables of a sweep, one per contender.

use super::block::ReportBlock;
use super::{Subject, load_head};
use crate::readings::server_cpu;
use brunt_model::Trial;
use brunt_model::analysis::{BandedFigure, ContenderAnalysis, CurvePoint};
use brunt_model::finding::State;
use brunt_model::numbers::{UNKNOWN, fraction, plain, seconds, three_digits};

/// A column: its head, and the function that returns its cells. None means unknown.
type Column<'a> = (&'static str, Box<dyn Fn(&CurvePoint) -> Option<String> + 'a>);

/// Returns the table of each contender. Columns without known values are omitted.
pub fn blocks(subject: &Subject<'_>) -> Vec<ReportBlock> {
    let mut blocks = Vec::new();
    for (contender, analysis) in
        subject.analysis.contenders.iter().enumerate().filter(|c| !c.1.curve.is_empty())
    {
        blocks.push(ReportBlock::Heading(analysis.contender.clone()));
        blocks.push(table(&columns(subject, contender, analysis), &analysis.curve));
    }
    blocks
}

fn table(columns: &[Column<'_>], curve: &[CurvePoint]) -> ReportBlock {
    // Tools other than brunt report only some of the figures, so whole columns may be unknown.
    let cells: Vec<Vec<Option<String>>> =
        columns.iter().map(|c| curve.iter().map(|p| c.1(p)).collect()).collect();
    let shown: Vec<usize> =
        (0..columns.len()).filter(|i| cells[*i].iter().any(Option::is_some)).collect();
    let head = shown.iter().map(|i| columns[*i].0.to_owned()).collect();
    let rows = (0..curve.len()).map(|point| {
        let row = shown
            .iter()
            .map(|i| cells[*i][point].clone().unwrap_or_else(|| empty_cell(columns[*i].0)));
        row.collect()
    });
    ReportBlock::Table(head, rows.collect())
}

fn empty_cell(head: &str) -> String {
    // No flag is good news, not an unknown value.
    if head == FLAGS { String::new() } else { UNKNOWN.to_owned() }
}

/// Head of the column of outliers and other irregularities.
const FLAGS: &str = "flags";

fn columns<'a>(
    subject: &'a Subject<'a>,
    contender: usize,
    analysis: &'a ContenderAnalysis,
) -> Vec<Column<'a>> {
    let load = load_head(subject.unit);
    vec![
        (load, Box::new(|p| Some(plain(p.load)))),
        ("offered", Box::new(|p| p.offered.map(|figure| three_digits(figure.value)))),
        ("achieved", Box::new(|p| Some(three_digits(p.achieved.value)))),
        ("mean", Box::new(|p| p.mean.map(|figure| seconds(figure.value)))),
        ("p50", Box::new(move |p| quantile(&trials(subject, contender, p.load), p.p50, 0.5))),
        ("p95", Box::new(move |p| quantile(&trials(subject, contender, p.load), p.p95, 0.95))),
        ("p99", Box::new(move |p| quantile(&trials(subject, contender, p.load), p.p99, 0.99))),
        ("errors", Box::new(|p| p.errors.map(|e| fraction(e.value)))),
        ("CPU", Box::new(move |p| cpu(&trials(subject, contender, p.load)))),
        (FLAGS, Box::new(move |p| flags(subject, contender, analysis, p))),
    ]
}

fn trials<'a>(subject: &Subject<'a>, contender: usize, load: f64) -> Vec<&'a Trial> {
    let Some(study) = subject.study else { return Vec::new() };
    study
        .trials_of(contender)
        .filter(|t| study.experiment.step(t.place).is_some_and(|step| step.load == load))
        .collect()
}

fn quantile(trials: &[&Trial], figure: Option<BandedFigure>, q: f64) -> Option<String> {
    let bound = if is_lower_bound(trials, q) { "≥ " } else { "" };
    figure.map(|figure| format!("{bound}{}", seconds(figure.value)))
}

/// True if the median of the trials' quantiles is only a lower bound.
fn is_lower_bound(trials: &[&Trial], q: f64) -> bool {
    let bounded = trials.iter().filter(|t| t.run.total.response_quantile(q).at_least).count();
    // The figure is the median of the trials: it is a bound if more than half of them are.
    bounded * 2 > trials.len()
}

/// Returns the mean number of cores that the server used, over the trials.
fn cpu(trials: &[&Trial]) -> Option<String> {
    let cores: Vec<f64> = trials.iter().filter_map(|t| server_cpu(&t.run)).collect();
    (!cores.is_empty()).then(|| format!("{:.2}", cores.iter().sum::<f64>() / cores.len() as f64))
}

fn in_state(trials: &[&Trial], state: State) -> usize {
    trials.iter().filter(|trial| trial.judgement.verdict.state == state).count()
}

fn flags(
    subject: &Subject<'_>,
    contender: usize,
    analysis: &ContenderAnalysis,
    point: &CurvePoint,
) -> Option<String> {
    let trials = trials(subject, contender, point.load);
    let outliers = analysis.outliers.iter().filter(|outlier| outlier.load == point.load).count();
    let all = [
        (outliers, "outlier"),
        (in_state(&trials, State::Limited), "generator limited"),
        (in_state(&trials, State::BusyMachine), "busy machine"),
        (in_state(&trials, State::Unexplained), "unexplained lag"),
        (in_state(&trials, State::Invalid), "invalid"),
        (trials.iter().filter(|trial| trial.run.is_interrupted()).count(), "cut short"),
    ];
    let flags = all.iter().filter(|flag| flag.0 > 0).map(|(n, word)| match n {
        1 => (*word).to_owned(),
        n => format!("{n} × {word}"),
    });
    let flags = flags.collect::<Vec<_>>().join(", ");
    (!flags.is_empty()).then_some(flags)
}

//! The table of a sweep, a contender each.

use super::block::Block;
use super::{Subject, load_head};
use crate::readings::server_cpu;
use brunt_model::Trial;
use brunt_model::analysis::{BandedFigure, ContenderAnalysis, CurvePoint};
use brunt_model::finding::State;
use brunt_model::numbers::{UNKNOWN, fraction, plain, seconds, three};

/// A column: its head, and what stands in it; None where nothing is known.
type Column<'a> = (&'static str, Box<dyn Fn(&CurvePoint) -> Option<String> + 'a>);

/// The table of each contender; columns in which nothing is known are left out.
pub fn blocks(subject: &Subject<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (i, analysed) in subject.analysis.contenders.iter().enumerate().filter(|c| !c.1.curve.is_empty()) {
        blocks.push(Block::Heading(analysed.contender.clone()));
        blocks.push(table(&columns(subject, i, analysed), &analysed.curve));
    }
    blocks
}

fn table(columns: &[Column<'_>], curve: &[CurvePoint]) -> Block {
    let cells: Vec<Vec<Option<String>>> = columns.iter().map(|c| curve.iter().map(|p| c.1(p)).collect()).collect();
    let shown: Vec<usize> = (0..columns.len()).filter(|i| cells[*i].iter().any(Option::is_some)).collect();
    let head = shown.iter().map(|i| columns[*i].0.to_owned()).collect();
    let filler = |i: usize| if columns[i].0 == FLAGS { String::new() } else { UNKNOWN.to_owned() };
    let row = |n: usize| shown.iter().map(|i| cells[*i][n].clone().unwrap_or_else(|| filler(*i))).collect();
    Block::Table(head, (0..curve.len()).map(row).collect())
}

/// The column of what is out of the ordinary.
const FLAGS: &str = "flags";

fn columns<'a>(subject: &'a Subject<'a>, contender: usize, analysed: &'a ContenderAnalysis) -> Vec<Column<'a>> {
    let load = load_head(subject.unit);
    let rate = |of: BandedFigure| three(of.value);
    let time = |of: BandedFigure| seconds(of.value);
    let quantile = move |p: &CurvePoint, of: Option<BandedFigure>, q: f64| {
        let bound = if known_from_below(&trials(subject, contender, p.load), q) { "≥ " } else { "" };
        of.map(|of| format!("{bound}{}", seconds(of.value)))
    };
    vec![
        (load, Box::new(|p| Some(plain(p.load)))),
        ("offered", Box::new(move |p| p.offered.map(rate))),
        ("achieved", Box::new(move |p| Some(rate(p.achieved)))),
        ("mean", Box::new(move |p| p.mean.map(time))),
        ("p50", Box::new(move |p| quantile(p, p.p50, 0.5))),
        ("p95", Box::new(move |p| quantile(p, p.p95, 0.95))),
        ("p99", Box::new(move |p| quantile(p, p.p99, 0.99))),
        ("errors", Box::new(|p| p.errors.map(|e| fraction(e.value)))),
        ("CPU", Box::new(move |p| cpu(&trials(subject, contender, p.load)))),
        (FLAGS, Box::new(move |p| flags(subject, contender, analysed, p))),
    ]
}

fn trials<'a>(subject: &Subject<'a>, contender: usize, load: f64) -> Vec<&'a Trial> {
    let Some(study) = subject.study else { return Vec::new() };
    study.of(contender).filter(|t| study.experiment.step(t.place).is_some_and(|step| step.load == load)).collect()
}

/// Whether the median of the trials' quantiles is known from below only.
fn known_from_below(trials: &[&Trial], q: f64) -> bool {
    let bounded = trials.iter().filter(|t| t.run.total.response_quantile(q).at_least).count();
    bounded * 2 > trials.len()
}

/// Cores that the server had, on average over the trials.
fn cpu(trials: &[&Trial]) -> Option<String> {
    let read: Vec<f64> = trials.iter().filter_map(|t| server_cpu(&t.run)).collect();
    (!read.is_empty()).then(|| format!("{:.2}", read.iter().sum::<f64>() / read.len() as f64))
}

fn flags(subject: &Subject<'_>, contender: usize, analysed: &ContenderAnalysis, point: &CurvePoint) -> Option<String> {
    let trials = trials(subject, contender, point.load);
    let count = |is: fn(&Trial) -> bool| trials.iter().filter(|t| is(t)).count();
    let outliers = analysed.outliers.iter().filter(|outlier| outlier.load == point.load).count();
    let all = [
        (outliers, "outlier"),
        (count(|t| t.judgement.verdict.state == State::Limited), "generator limited"),
        (count(|t| t.judgement.verdict.state == State::BusyMachine), "busy machine"),
        (count(|t| t.judgement.verdict.state == State::Unexplained), "unexplained lag"),
        (count(|t| t.judgement.verdict.state == State::Invalid), "invalid"),
        (count(|t| t.run.interrupted()), "cut short"),
    ];
    let told = all.iter().filter(|flag| flag.0 > 0).map(|(n, word)| match n {
        1 => (*word).to_owned(),
        n => format!("{n} × {word}"),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then_some(told)
}

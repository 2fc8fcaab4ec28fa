//! The definitions of a limit side by side, and how each was found.

use super::block::{Block, Point};
use crate::view::Detail;
use brunt_model::Analysis;
use brunt_model::analysis::{Band, BandedFigure, ContenderAnalysis, CurvePoint, LimitKind, LoadLimit};
use brunt_model::numbers::{UNKNOWN, three};

/// More contenders than this have a table of their own.
const MOST_COLUMNS: usize = 4;

/// The tables, and below them the words.
pub fn blocks(analysis: &Analysis, detail: Detail) -> Vec<Block> {
    let with: Vec<&ContenderAnalysis> = analysis.contenders.iter().filter(|c| !c.limits.is_empty()).collect();
    if with.is_empty() {
        return scalability(analysis);
    }
    let mut blocks = vec![Block::Heading("Limits".into())];
    blocks.extend(with.chunks(MOST_COLUMNS).map(table));
    blocks.push(Block::Points(how(&with).into_iter().filter(|_| detail == Detail::Full).collect()));
    blocks.extend(scalability(analysis));
    blocks
}

fn names<'a>(contenders: &[&'a ContenderAnalysis]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for limit in contenders.iter().flat_map(|c| &c.limits) {
        if !names.contains(&limit.name.as_str()) {
            names.push(&limit.name);
        }
    }
    names
}

fn table(contenders: &[&ContenderAnalysis]) -> Block {
    let head = ["Definition".to_owned()].into_iter().chain(contenders.iter().map(|c| c.contender.clone())).collect();
    let cell = |contender: &ContenderAnalysis, name: &str| {
        let limit = contender.limits.iter().find(|limit| limit.name == name);
        limit.map_or(UNKNOWN.into(), |limit| value(contender, limit))
    };
    let row = |name: &&str| {
        let cells = contenders.iter().map(|contender| cell(contender, name));
        [(*name).to_owned()].into_iter().chain(cells).collect()
    };
    Block::Table(head, names(contenders).iter().map(row).collect())
}

/// What a sweep that ends too early says of a limit begins with these words.
const NOT_REACHED: &str = "Not reached";

fn value(contender: &ContenderAnalysis, limit: &LoadLimit) -> String {
    let space = if limit.unit.starts_with('/') { "" } else { " " };
    let Some(at) = limit.at else {
        let beyond = contender.curve.last().filter(|_| limit.how.starts_with(NOT_REACHED));
        // A saturation point is a throughput, whatever the load is counted in.
        let most =
            |last: &CurvePoint| if limit.kind == LimitKind::Saturation { last.achieved.value } else { last.load };
        return beyond.map_or("not seen".into(), |last| format!("> {}{space}{}", three(most(last)), limit.unit));
    };
    let robust = if limit.robust == Some(false) { " (not robust)" } else { "" };
    format!("{}{space}{}{}{robust}", three(at.value), limit.unit, ends(&at))
}

/// The band around a figure, in brackets; empty where it has none.
pub fn ends(at: &BandedFigure) -> String {
    if at.band == Band::One || at.low == at.high {
        return String::new();
    }
    format!(" [{} to {}]", three(at.low), three(at.high))
}

/// How each was found: once, where it is the same for all.
fn how(contenders: &[&ContenderAnalysis]) -> Vec<Point> {
    let of = |name: &str| {
        let found = contenders.iter().filter_map(|c| Some((&c.contender, c.limits.iter().find(|l| l.name == name)?)));
        let mut told: Vec<(Vec<&str>, &str)> = Vec::new();
        for (contender, limit) in found {
            match told.iter_mut().find(|(_, how)| *how == limit.how) {
                Some((whose, _)) => whose.push(contender),
                None => told.push((vec![contender], &limit.how)),
            }
        }
        let alone = told.len() == 1;
        let point = |(whose, how): (Vec<&str>, &str)| {
            let whose = if alone { String::new() } else { format!(" ({})", whose.join(", ")) };
            Point::plain(format!("{name}{whose}: {how}"))
        };
        told.into_iter().filter(|(_, how)| !how.is_empty()).map(point).collect::<Vec<_>>()
    };
    let points = names(contenders).into_iter().flat_map(of);
    let (beyond, mut points): (Vec<Point>, Vec<Point>) = points.partition(|point| point.sentence.contains(NOT_REACHED));
    if !beyond.is_empty() {
        points.push(Point::plain(
            "> x: not reached at the highest load of the sweep; x is that load, or its throughput; sweep further",
        ));
    }
    points
}

fn scalability(analysis: &Analysis) -> Vec<Block> {
    let fits = analysis.contenders.iter().filter_map(|c| Some((&c.contender, c.scalability.as_ref()?)));
    let shown = |at: &BandedFigure| format!("{}{}", three(at.value), ends(at));
    let rows: Vec<Vec<String>> = fits
        .map(|(name, fit)| {
            let peak = fit.peak.as_ref().map_or(UNKNOWN.into(), shown);
            vec![
                name.clone(),
                shown(&fit.lambda),
                shown(&fit.sigma),
                shown(&fit.kappa),
                peak,
                format!("{:.3}", fit.r_squared),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let head = ["Scalability", "λ, /s", "σ", "κ", "peak at", "R²"].map(str::to_owned).to_vec();
    vec![Block::Table(head, rows)]
}

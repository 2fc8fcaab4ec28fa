//! Writes the limits by all definitions in a table, and how each was found.

use super::block::{ListItem, ReportBlock};
use crate::view::Detail;
use brunt_model::Analysis;
use brunt_model::analysis::{
    Band, BandedFigure, ContenderAnalysis, HeldLoads, LimitKind, LoadLimit,
};
use brunt_model::numbers::{UNKNOWN, three_digits};

/// Maximum number of contenders in a table; more get further tables.
const MAX_COLUMNS: usize = 4;

/// Returns the tables, and the explanations below them.
pub fn blocks(analysis: &Analysis, detail: Detail) -> Vec<ReportBlock> {
    let with_limits: Vec<&ContenderAnalysis> =
        analysis.contenders.iter().filter(|c| !c.limits.is_empty()).collect();
    if with_limits.is_empty() {
        return scalability(analysis);
    }
    let mut blocks = vec![ReportBlock::Heading("Limits".into())];
    blocks.extend(with_limits.chunks(MAX_COLUMNS).map(table));
    blocks.push(ReportBlock::List(
        explanations(&with_limits).into_iter().filter(|_| detail == Detail::Full).collect(),
    ));
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

fn table(contenders: &[&ContenderAnalysis]) -> ReportBlock {
    let head = ["Definition".to_owned()]
        .into_iter()
        .chain(contenders.iter().map(|c| c.contender.clone()))
        .collect();
    let mut rows = Vec::new();
    for name in names(contenders) {
        let cells = contenders.iter().map(|contender| cell(contender, name));
        rows.push([name.to_owned()].into_iter().chain(cells).collect());
    }
    ReportBlock::Table(head, rows)
}

fn cell(contender: &ContenderAnalysis, name: &str) -> String {
    let limit = contender.limits.iter().find(|limit| limit.name == name);
    limit.map_or(UNKNOWN.into(), |limit| value(contender, limit))
}

/// Beginning of a limit's explanation if the sweep ended before the limit.
const NOT_REACHED: &str = "Not reached";

fn value(contender: &ContenderAnalysis, limit: &LoadLimit) -> String {
    let space = if limit.unit.starts_with('/') { "" } else { " " };
    let Some(at) = limit.at else {
        if limit.held == Some(HeldLoads::None) {
            return "not met".into();
        }
        let last = contender.curve.last().filter(|_| limit.how.starts_with(NOT_REACHED));
        return last.map_or("not seen".into(), |last| {
            // A saturation point is a throughput, whatever the unit of the load is.
            let highest =
                if limit.kind == LimitKind::Saturation { last.achieved.value } else { last.load };
            format!("> {}{space}{}", three_digits(highest), limit.unit)
        });
    };
    let robust = if limit.robust == Some(false) { " (not robust)" } else { "" };
    format!("{}{space}{}{}{robust}", three_digits(at.value), limit.unit, ends(&at))
}

/// Formats the band around a figure in brackets; empty if it has none.
pub fn ends(at: &BandedFigure) -> String {
    if at.band == Band::One || at.low == at.high {
        return String::new();
    }
    format!(" [{} to {}]", three_digits(at.low), three_digits(at.high))
}

/// Returns how each limit was found: once, if it is the same for all contenders.
fn explanations(contenders: &[&ContenderAnalysis]) -> Vec<ListItem> {
    let items =
        names(contenders).into_iter().flat_map(|name| explanations_of_limit(contenders, name));
    // The same explanation for each definition would be long; one legend of `>` replaces all.
    let (beyond, mut items): (Vec<ListItem>, Vec<ListItem>) =
        items.partition(|item| item.sentence.contains(NOT_REACHED));
    if !beyond.is_empty() {
        items.push(ListItem::plain(
            "> x: not reached at the highest load of the sweep; x is that load, or its throughput; sweep further",
        ));
    }
    items
}

fn explanations_of_limit(contenders: &[&ContenderAnalysis], name: &str) -> Vec<ListItem> {
    let limits = contenders
        .iter()
        .filter_map(|c| Some((&c.contender, c.limits.iter().find(|l| l.name == name)?)));
    let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
    for (contender, limit) in limits {
        match groups.iter_mut().find(|(_, how)| limit.how == *how) {
            Some((group, _)) => group.push(contender),
            None => groups.push((vec![contender], &limit.how)),
        }
    }
    // Contenders are named only if their limits were found in different ways.
    let is_common = groups.len() == 1;
    let mut items = Vec::new();
    for (group, how) in groups {
        let suffix = if is_common { String::new() } else { format!(" ({})", group.join(", ")) };
        if !how.is_empty() {
            items.push(ListItem::plain(format!("{name}{suffix}: {how}")));
        }
    }
    items
}

fn scalability(analysis: &Analysis) -> Vec<ReportBlock> {
    let fits =
        analysis.contenders.iter().filter_map(|c| Some((&c.contender, c.scalability.as_ref()?)));
    let rows: Vec<Vec<String>> = fits
        .map(|(name, fit)| {
            let peak = fit.peak.as_ref().map_or(UNKNOWN.into(), with_band);
            vec![
                name.clone(),
                with_band(&fit.lambda),
                with_band(&fit.sigma),
                with_band(&fit.kappa),
                peak,
                format!("{:.3}", fit.r_squared),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let head = ["Scalability", "λ, /s", "σ", "κ", "peak at", "R²"].map(str::to_owned).to_vec();
    vec![ReportBlock::Table(head, rows)]
}

fn with_band(figure: &BandedFigure) -> String {
    format!("{}{}", three_digits(figure.value), ends(figure))
}

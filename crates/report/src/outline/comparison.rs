//! Compares contenders: a table of figures for each pair, the differences of
//! quantiles, and other differences.

use super::block::{ListItem, ReportBlock};
use super::{load_head, load_in_words, section};
use brunt_model::answer::Estimate;
use brunt_model::comparison::{Better, Compared, ComparisonEnd, FoundCapacity, Pair};
use brunt_model::numbers::{
    UNKNOWN, fraction, plain, plural, seconds, signed_percent, three_digits,
};
use brunt_model::objective::Metric;
use brunt_model::{Comparison, LoadUnit, Measure};

/// Returns the tables of a comparison, with explanations; empty if nothing was compared.
pub fn blocks(comparison: Option<&Comparison>, unit: LoadUnit) -> Vec<ReportBlock> {
    let Some(comparison) = comparison else { return Vec::new() };
    let mut blocks = vec![
        ReportBlock::Heading("Comparison".into()),
        ReportBlock::List(vec![ListItem::plain(progress(comparison))]),
    ];
    for pair in &comparison.pairs {
        blocks.push(ReportBlock::Heading(title(pair, unit)));
        blocks.push(figures(pair, unit));
    }
    for pair in comparison.pairs.iter().filter(|pair| !pair.shift.is_empty()) {
        blocks.push(quantiles(pair, unit));
    }
    blocks
        .extend((!comparison.searched.is_empty()).then(|| capacities(&comparison.searched, unit)));
    blocks.extend(section(
        "Other differences",
        comparison.differences.iter().map(|sentence| ListItem::plain(&**sentence)).collect(),
    ));
    blocks
}

/// Describes the number of repetitions, and why the comparison ended.
fn progress(comparison: &Comparison) -> String {
    let blocks = plural(u64::from(comparison.blocks), "repetition");
    let most = comparison.most;
    match comparison.ended {
        ComparisonEnd::Decided if comparison.blocks < most => {
            format!("decided after {blocks} of {most} at most")
        }
        ComparisonEnd::Decided => format!("decided after all {blocks}"),
        // The time budget may end together with the last repetition; then nothing is missing.
        ComparisonEnd::Budget if comparison.blocks < most => {
            format!("{blocks} of {most} at most: time budget used up")
        }
        ComparisonEnd::Budget => format!("all {blocks} made"),
        ComparisonEnd::Stopped => format!("stopped after {blocks} of {most} at most"),
        ComparisonEnd::Stored => "of stored runs, not alternating".to_owned(),
    }
}

fn title(pair: &Pair, unit: LoadUnit) -> String {
    let load = pair.load.map_or(String::new(), |load| format!(" at {}", load_in_words(unit, load)));
    format!("{} against {}{load}", pair.theirs, pair.ours)
}

fn figures(pair: &Pair, unit: LoadUnit) -> ReportBlock {
    let rows = pair
        .measures
        .iter()
        .map(|compared| row(compared.measure.to_string(), compared, unit))
        .collect();
    ReportBlock::Table(head("Measure", pair), rows)
}

fn head(first: &str, pair: &Pair) -> Vec<String> {
    [first, &pair.ours, &pair.theirs, "difference", "95 % CI", "p", "verdict"]
        .map(str::to_owned)
        .to_vec()
}

fn row(first: String, compared: &Compared, unit: LoadUnit) -> Vec<String> {
    vec![
        first,
        formatted(compared.measure, compared.ours, unit),
        formatted(compared.measure, compared.theirs, unit),
        compared.shift.map_or(UNKNOWN.into(), signed_percent),
        ends(compared.low.map(signed_percent), compared.high.map(signed_percent)),
        compared.p.map_or(UNKNOWN.into(), probability),
        word(compared.verdict).to_owned(),
    ]
}

/// Compares the contenders of a sweep: a table for each pair, with a row for each load.
pub fn by_load(pairs: &[Pair], unit: LoadUnit) -> Vec<ReportBlock> {
    let mut blocks = Vec::new();
    for group in pairs.chunk_by(|a, b| a.ours == b.ours && a.theirs == b.theirs) {
        let measured =
            group.iter().filter_map(|pair| Some((pair, pair.load?, pair.measures.first()?)));
        let rows: Vec<Vec<String>> =
            measured.map(|(_, load, compared)| row(plain(load), compared, unit)).collect();
        let Some(first) = group.first().filter(|_| !rows.is_empty()) else { continue };
        let measure =
            first.measures.first().map_or(String::new(), |compared| compared.measure.to_string());
        blocks.push(ReportBlock::Heading(format!(
            "{measure}: {} against {}",
            first.theirs, first.ours
        )));
        blocks.push(ReportBlock::Table(head(load_head(unit), first), rows));
    }
    blocks
}

/// Returns a table of capacities, with a row for each repetition. Each interval is that
/// of a single search.
fn capacities(searched: &[FoundCapacity], unit: LoadUnit) -> ReportBlock {
    // In order of appearance, which a set would not keep.
    let mut contenders: Vec<&str> = Vec::new();
    for one in searched {
        if !contenders.contains(&&*one.contender) {
            contenders.push(&one.contender);
        }
    }
    let last = searched.iter().map(|capacity| capacity.repetition).max().unwrap_or(0);
    let mut rows = Vec::new();
    for repetition in 1..=last {
        let cells =
            contenders.iter().map(|contender| capacity_cell(searched, repetition, contender));
        rows.push([repetition.to_string()].into_iter().chain(cells).collect());
    }
    let head = [format!("Capacities{}, repetition", unit_suffix(unit))].into_iter();
    let head = head.chain(contenders.iter().map(|name| (*name).to_owned())).collect();
    ReportBlock::Table(head, rows)
}

fn capacity_cell(searched: &[FoundCapacity], repetition: u32, contender: &str) -> String {
    let capacity =
        searched.iter().find(|one| one.repetition == repetition && one.contender == contender);
    capacity.map_or_else(|| UNKNOWN.to_owned(), |capacity| estimate(capacity.at))
}

fn unit_suffix(unit: LoadUnit) -> &'static str {
    match unit {
        LoadUnit::PerSecond => " per second",
        LoadUnit::Users { .. } => " in users",
    }
}

/// Formats an estimate: `362 (340 to 380)`.
fn estimate(at: Estimate) -> String {
    match (at.value, at.low, at.high) {
        (Some(value), None, None) => three_digits(value),
        (Some(value), low, high) => {
            let low = low.map_or("?".into(), three_digits);
            let high = high.map_or("?".into(), three_digits);
            format!("{} ({low} to {high})", three_digits(value))
        }
        (None, Some(low), None) => format!("at least {}", three_digits(low)),
        (None, None, Some(high)) => format!("below {}", three_digits(high)),
        (None, Some(low), Some(high)) => format!("{} to {}", three_digits(low), three_digits(high)),
        (None, None, None) => UNKNOWN.to_owned(),
    }
}

fn quantiles(pair: &Pair, unit: LoadUnit) -> ReportBlock {
    let head = [
        format!("Quantiles, {}", title(pair, unit)),
        "difference".into(),
        "simultaneous band".into(),
    ];
    let mut rows = Vec::new();
    for shift in &pair.shift {
        let name = Metric::Quantile(shift.quantile).to_string();
        let band = ends(Some(signed_time(shift.low)), Some(signed_time(shift.high)));
        rows.push(vec![name, signed_time(shift.seconds), band]);
    }
    ReportBlock::Table(head.to_vec(), rows)
}

fn ends(low: Option<String>, high: Option<String>) -> String {
    match (low, high) {
        (None, None) => UNKNOWN.into(),
        (low, high) => {
            let low = low.unwrap_or_else(|| "?".into());
            let high = high.unwrap_or_else(|| "?".into());
            format!("{low} to {high}")
        }
    }
}

/// Returns the word for a verdict in a table. It describes the other contender.
pub fn word(verdict: Better) -> &'static str {
    match verdict {
        Better::Better => "better",
        Better::Worse => "worse",
        Better::Equal => "equal",
        Better::Undecided => "undecided",
    }
}

fn formatted(measure: Measure, value: f64, unit: LoadUnit) -> String {
    match measure {
        Measure::Run(Metric::Errors) => fraction(value),
        Measure::Run(Metric::Throughput | Metric::Goodput) => format!("{}/s", three_digits(value)),
        Measure::Capacity => format!("{}{}", three_digits(value), unit.suffix()),
        Measure::Run(_) | Measure::ServerCpu if value.is_finite() => seconds(value),
        Measure::Run(_) | Measure::ServerCpu => UNKNOWN.into(),
    }
}

fn signed_time(time: f64) -> String {
    if !time.is_finite() {
        return UNKNOWN.into();
    }
    let sign = if time < 0.0 { "-" } else { "+" };
    format!("{sign}{}", seconds(time.abs()))
}

fn probability(p: f64) -> String {
    // Three decimals would print 0.000, but no p is zero.
    if p < 0.001 { "<0.001".into() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use crate::story::comparison::compared;
    use crate::{markdown, outline, text};

    #[test]
    fn the_conclusion_comes_before_the_tables() {
        let (study, analysis) = compared();
        let mut out = Vec::new();
        text::write_study(&study, &analysis, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (_, rest) = text.split_once("Findings\n").unwrap();
        let (told, _) = rest.split_once("\nLimits\n").unwrap();
        insta::assert_snapshot!(told);
    }

    #[test]
    fn markdown_shows_the_same_comparison() {
        let (study, analysis) = compared();
        let markdown =
            markdown::markdown(&outline::of_study(&study, &analysis, crate::view::Detail::Full));
        assert!(
            markdown.contains(
                "| p99 | 12.0 ms | 11.5 ms | -4.1 % | -5.5 % to -2.6 % | 0.031 | better |"
            ),
            "{markdown}"
        );
    }
}

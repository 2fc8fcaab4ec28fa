//! Contenders beside each other: a table of figures for each pair, how quantiles differ, and what else does.

use super::block::{Block, Point};
use super::{load_head, load_in_words, section};
use brunt_model::answer::Estimate;
use brunt_model::comparison::{Better, Compared, ComparisonEnd, FoundCapacity, Pair, QuantileShift};
use brunt_model::numbers::{UNKNOWN, fraction, plain, plural, seconds, signed_percent, three};
use brunt_model::objective::Metric;
use brunt_model::{Comparison, LoadUnit, Measure};

/// The tables, and the words around them; nothing where nothing was compared.
pub fn blocks(comparison: Option<&Comparison>, unit: LoadUnit) -> Vec<Block> {
    let Some(comparison) = comparison else { return Vec::new() };
    let mut blocks = vec![Block::Heading("Comparison".into()), Block::Points(vec![Point::plain(made_of(comparison))])];
    for pair in &comparison.pairs {
        blocks.push(Block::Heading(title(pair, unit)));
        blocks.push(figures(pair, unit));
    }
    for pair in comparison.pairs.iter().filter(|pair| !pair.shift.is_empty()) {
        blocks.push(quantiles(pair, unit));
    }
    blocks.extend((!comparison.searched.is_empty()).then(|| capacities(&comparison.searched, unit)));
    blocks.extend(section("What else differs", comparison.differences.iter().map(Point::plain).collect()));
    blocks
}

fn made_of(comparison: &Comparison) -> String {
    let blocks = plural(u64::from(comparison.blocks), "repetition");
    let most = comparison.most;
    match comparison.ended {
        ComparisonEnd::Decided if comparison.blocks < most => format!("decided after {blocks} of {most} at most"),
        ComparisonEnd::Decided => format!("decided after all {blocks}"),
        ComparisonEnd::Budget if comparison.blocks < most => {
            format!("{blocks} of {most} at most: time budget used up")
        }
        ComparisonEnd::Budget => format!("all {blocks} made"),
        ComparisonEnd::Stopped => format!("stopped after {blocks} of {most} at most"),
        ComparisonEnd::Stored => "of stored runs, not alternating".to_owned(),
    }
}

fn title(pair: &Pair, unit: LoadUnit) -> String {
    let at = pair.load.map_or(String::new(), |load| format!(" at {}", load_in_words(unit, load)));
    format!("{} against {}{at}", pair.theirs, pair.ours)
}

fn figures(pair: &Pair, unit: LoadUnit) -> Block {
    let rows = pair.measures.iter().map(|of| row(of.measure.to_string(), of, unit)).collect();
    Block::Table(head("Measure", pair), rows)
}

fn head(first: &str, pair: &Pair) -> Vec<String> {
    [first, &pair.ours, &pair.theirs, "difference", "95 % CI", "p", "verdict"].map(str::to_owned).to_vec()
}

fn row(first: String, of: &Compared, unit: LoadUnit) -> Vec<String> {
    vec![
        first,
        written(of.measure, of.ours, unit),
        written(of.measure, of.theirs, unit),
        of.shift.map_or(UNKNOWN.into(), signed_percent),
        ends(of.low.map(signed_percent), of.high.map(signed_percent)),
        of.p.map_or(UNKNOWN.into(), probability),
        word(of.verdict).to_owned(),
    ]
}

/// The contenders of a sweep beside each other: a table for each two of them, a row for each load.
pub fn by_load(pairs: &[Pair], unit: LoadUnit) -> Vec<Block> {
    let mut blocks = Vec::new();
    for of_two in pairs.chunk_by(|a, b| a.ours == b.ours && a.theirs == b.theirs) {
        let measured = of_two.iter().filter_map(|pair| Some((pair, pair.load?, pair.measures.first()?)));
        let rows: Vec<Vec<String>> = measured.map(|(_, load, of)| row(plain(load), of, unit)).collect();
        let Some(first) = of_two.first().filter(|_| !rows.is_empty()) else { continue };
        let measure = first.measures.first().map_or(String::new(), |of| of.measure.to_string());
        blocks.push(Block::Heading(format!("{measure}: {} against {}", first.theirs, first.ours)));
        blocks.push(Block::Table(head(load_head(unit), first), rows));
    }
    blocks
}

/// A row for each repetition. The interval is that of the one search.
fn capacities(searched: &[FoundCapacity], unit: LoadUnit) -> Block {
    let mut names: Vec<&str> = Vec::new();
    for one in searched {
        if !names.contains(&&*one.contender) {
            names.push(&one.contender);
        }
    }
    let cell = |repetition: u32, name: &str| {
        let of = |one: &&FoundCapacity| one.repetition == repetition && one.contender == name;
        searched.iter().find(of).map_or_else(|| UNKNOWN.to_owned(), |one| estimate(one.at))
    };
    let last = searched.iter().map(|one| one.repetition).max().unwrap_or(0);
    let row = |n: u32| [n.to_string()].into_iter().chain(names.iter().map(|name| cell(n, name))).collect();
    let head = [format!("Capacities{}, repetition", of_unit(unit))].into_iter();
    let head = head.chain(names.iter().map(|name| (*name).to_owned())).collect();
    Block::Table(head, (1..=last).map(row).collect())
}

fn of_unit(unit: LoadUnit) -> &'static str {
    match unit {
        LoadUnit::PerSecond => " per second",
        LoadUnit::Users { .. } => " in users",
    }
}

/// `362 (340 to 380)`.
fn estimate(at: Estimate) -> String {
    match (at.value, at.low, at.high) {
        (Some(value), None, None) => three(value),
        (Some(value), low, high) => {
            let end = |end: Option<f64>| end.map_or("?".into(), three);
            format!("{} ({} to {})", three(value), end(low), end(high))
        }
        (None, Some(low), None) => format!("at least {}", three(low)),
        (None, None, Some(high)) => format!("below {}", three(high)),
        (None, Some(low), Some(high)) => format!("{} to {}", three(low), three(high)),
        (None, None, None) => UNKNOWN.to_owned(),
    }
}

fn quantiles(pair: &Pair, unit: LoadUnit) -> Block {
    let head = [format!("Quantiles, {}", title(pair, unit)), "difference".into(), "simultaneous band".into()];
    let row = |of: &QuantileShift| {
        let name = Metric::Quantile(of.quantile).to_string();
        vec![name, signed_time(of.seconds), ends(Some(signed_time(of.low)), Some(signed_time(of.high)))]
    };
    Block::Table(head.to_vec(), pair.shift.iter().map(row).collect())
}

fn ends(low: Option<String>, high: Option<String>) -> String {
    match (low, high) {
        (None, None) => UNKNOWN.into(),
        (low, high) => {
            let end = |end: Option<String>| end.unwrap_or_else(|| "?".into());
            format!("{} to {}", end(low), end(high))
        }
    }
}

/// What a verdict is called in a table: of the other contender.
pub fn word(verdict: Better) -> &'static str {
    match verdict {
        Better::Better => "better",
        Better::Worse => "worse",
        Better::Equal => "equal",
        Better::Undecided => "undecided",
    }
}

fn written(measure: Measure, value: f64, unit: LoadUnit) -> String {
    match measure {
        Measure::Run(Metric::Errors) => fraction(value),
        Measure::Run(Metric::Throughput | Metric::Goodput) => format!("{}/s", three(value)),
        Measure::Capacity => format!("{}{}", three(value), unit.behind()),
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
    if p < 0.001 { "<0.001".into() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use crate::story::comparison::compared;
    use crate::{markdown, outline, text};

    #[test]
    fn the_sentence_comes_first_and_the_tables_behind_it() {
        let (study, analysis) = compared();
        let mut out = Vec::new();
        text::write_study(&study, &analysis, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (_, rest) = text.split_once("Findings\n").unwrap();
        let (told, _) = rest.split_once("\nLimits\n").unwrap();
        insta::assert_snapshot!(told);
    }

    #[test]
    fn a_pull_request_shows_the_same() {
        let (study, analysis) = compared();
        let markdown = markdown::markdown(&outline::of_study(&study, &analysis, crate::view::Detail::Full));
        assert!(
            markdown.contains("| p99 | 12.0 ms | 11.5 ms | -4.1 % | -5.5 % to -2.6 % | 0.031 | better |"),
            "{markdown}"
        );
    }
}

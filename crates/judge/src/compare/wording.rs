//! Words the results of a comparison.
//!
//! Out of scope: the decisions.

use super::conclusion;
use super::decide::{DifferenceScale, PairDecision, TestedFigure};
use super::figures::written;
use super::sample::ContenderPair;
use crate::explain::command::{REPEAT, RunCommand};
use crate::texts::message;
use brunt_model::comparison::{Better, ComparisonEnd, Test};
use brunt_model::finding::{Finding, Severity};
use brunt_model::numbers::{exact_percent, size_number, size_percent};
use brunt_model::question::{ComparisonSettings, Measure, Regression};
use brunt_model::{Comparison, LoadUnit, Text};

/// Number of repetitions above which more of them are no useful advice.
const MOST_REPETITIONS: u32 = 100;

/// `p99: apache is better by 4.1 % (2.6 to 5.5)`.
pub fn sentence(figure: &TestedFigure, smallest: f64) -> Text {
    let result = match figure.verdict {
        _ if has_no_data(figure) => message!("compared.no-data"),
        _ if figure.all_zero => message!("compared.zero", value = written(figure.measure, 0.0)),
        Better::Undecided => message!("compared.undecided", reason = undecided_reason(figure)),
        Better::Equal if figure.scale == DifferenceScale::Plain => message!("compared.same"),
        Better::Equal => {
            message!("compared.equal", margin = margin(smallest), range = range(figure))
        }
        Better::Better => better(figure),
        Better::Worse => worse(figure),
    };
    message!("compared", figure = figure.measure.words(), result)
}

/// The reason why a figure is undecided: `B is between 1.2 % lower and 3.4 % higher`.
pub fn undecided_reason(figure: &TestedFigure) -> Text {
    match figure.test {
        _ if has_no_data(figure) => message!("compared.no-data"),
        Test::None => too_few(figure),
        Test::PermutationInBlocks | Test::MannWhitney => range(figure),
    }
}

fn has_no_data(figure: &TestedFigure) -> bool {
    figure.sizes.0 == 0 || figure.sizes.1 == 0
}

/// Size of a difference, for a sentence.
enum DifferenceSize {
    /// Plain differences: the values of the second and of the first contender.
    Values { theirs: String, ours: String },
    /// Censored values leave the interval open at the far end.
    AtLeast(String),
    /// The estimate and its interval.
    Estimate { size: String, low: String, high: String },
    /// The interval alone.
    Interval { low: String, high: String },
}

impl DifferenceSize {
    fn of(figure: &TestedFigure) -> Self {
        if figure.scale == DifferenceScale::Plain {
            let theirs = written(figure.measure, figure.typical.1);
            let ours = written(figure.measure, figure.typical.0);
            return Self::Values { theirs, ours };
        }
        let interval = figure.shift.interval;
        let is_higher = interval.low > 0.0;
        let near = if is_higher { interval.low } else { interval.high };
        let far = if is_higher { interval.high } else { interval.low };
        let near_size = relative_size(near);
        let far_size = relative_size(far);
        match figure.shift.value.exact_value() {
            _ if far.is_infinite() => Self::AtLeast(size_percent(near_size)),
            Some(value) => Self::Estimate {
                size: size_percent(relative_size(value)),
                low: size_number(near_size.min(far_size)),
                high: size_number(near_size.max(far_size)),
            },
            None => Self::Interval { low: size_number(near_size), high: size_percent(far_size) },
        }
    }
}

/// `B is better by 4.1 % (2.6 to 5.5)`.
fn better(figure: &TestedFigure) -> Text {
    let name = &*figure.theirs;
    match DifferenceSize::of(figure) {
        DifferenceSize::Values { theirs, ours } => {
            message!("compared.better-values", name, theirs, ours)
        }
        DifferenceSize::AtLeast(size) => message!("compared.better-at-least", name, size),
        DifferenceSize::Estimate { size, low, high } => {
            message!("compared.better-by", name, size, low, high)
        }
        DifferenceSize::Interval { low, high } => {
            message!("compared.better-between", name, low, high)
        }
    }
}

/// `B is worse: 0.5 % against 0 %`.
fn worse(figure: &TestedFigure) -> Text {
    let name = &*figure.theirs;
    match DifferenceSize::of(figure) {
        DifferenceSize::Values { theirs, ours } => {
            message!("compared.worse-values", name, theirs, ours)
        }
        DifferenceSize::AtLeast(size) => message!("compared.worse-at-least", name, size),
        DifferenceSize::Estimate { size, low, high } => {
            message!("compared.worse-by", name, size, low, high)
        }
        DifferenceSize::Interval { low, high } => {
            message!("compared.worse-between", name, low, high)
        }
    }
}

/// Absolute share of a difference of logarithms.
fn relative_size(difference: f64) -> f64 {
    difference.exp_m1().abs()
}

/// `B is between 1.2 % lower and 3.4 % higher`.
fn range(figure: &TestedFigure) -> Text {
    let name = &*figure.theirs;
    let low = bound_text(figure, figure.shift.interval.low);
    let high = bound_text(figure, figure.shift.interval.high);
    match (figure.shift.interval.low.is_finite(), figure.shift.interval.high.is_finite()) {
        (true, true) => message!("compared.range", name, low, high),
        (true, false) => message!("compared.range-from", name, low),
        (false, true) => message!("compared.range-to", name, high),
        (false, false) => message!("compared.range-unknown", name),
    }
}

fn bound_text(figure: &TestedFigure, difference: f64) -> Text {
    match figure.scale {
        DifferenceScale::Shares => side(difference.exp_m1(), size_percent),
        DifferenceScale::Plain => side(difference, |size| written(figure.measure, size)),
    }
}

fn side(difference: f64, format: impl Fn(f64) -> String) -> Text {
    let size = format(difference.abs());
    if difference < 0.0 {
        message!("compared.lower", size)
    } else {
        message!("compared.higher", size)
    }
}

fn too_few(figure: &TestedFigure) -> Text {
    let so_far = match (figure.shift.value.exact_value(), figure.scale) {
        (Some(value), DifferenceScale::Shares) => {
            let difference = side(value.exp_m1(), size_percent);
            message!("compared.so-far", name = &*figure.theirs, difference)
        }
        _ => Text::default(),
    };
    if figure.groups {
        let ours = figure.sizes.0.to_string();
        message!("compared.too-few-runs", ours, theirs = figure.sizes.1, so_far)
    } else {
        message!("compared.too-few-blocks", count = figure.sizes.0, so_far)
    }
}

/// Returns a sentence for each requested measure of which some pair has no data.
pub fn unknown_measures(
    decisions: &[PairDecision],
    pairs: &[ContenderPair],
    measures: &[Measure],
) -> Vec<Text> {
    let mut sentences = Vec::new();
    for measure in measures {
        let mut pairs_with_measure =
            decisions.iter().zip(pairs).filter(|(_, pair)| pair.has(*measure));
        if pairs_with_measure.all(|(decision, _)| has_data(decision, *measure)) {
            continue;
        }
        let figure = measure.words();
        sentences.push(match measure {
            Measure::ServerCpu => message!("compared.unknown-cpu", figure),
            _ => message!("compared.unknown", figure),
        });
    }
    sentences
}

fn has_data(decision: &PairDecision, measure: Measure) -> bool {
    decision
        .figures
        .iter()
        .any(|figure| figure.measure == measure && figure.sizes.0 > 0 && figure.sizes.1 > 0)
}

/// Returns a sentence for each difference that makes brunt fail.
pub fn failed(
    decisions: &[PairDecision],
    pairs: &[ContenderPair],
    spec: &ComparisonSettings,
) -> Vec<Text> {
    let mut failed = Vec::new();
    for (decision, pair) in decisions.iter().zip(pairs) {
        let loads = pair
            .load
            .map(|(unit, value)| message!("comparison-better.at", loads = unit.format(value)));
        for regression in &spec.fail_if {
            let figure =
                decision.figures.iter().find(|figure| figure.measure == regression.measure);
            if let Some(figure) = figure.filter(|figure| worse_by(figure).0 > regression.by) {
                failed.push(message!(
                    "comparison-failed.beyond",
                    sentence = sentence(figure, spec.smallest),
                    loads = loads.clone().unwrap_or_default(),
                    margin = margin(regression.by)
                ));
            }
        }
    }
    failed
}

/// True if it is decided whether a difference makes brunt fail: its interval does not contain the
/// margin, or the pair has no such figure.
pub fn is_settled(decision: &PairDecision, regression: &Regression) -> bool {
    let Some(figure) = decision.figures.iter().find(|figure| figure.measure == regression.measure)
    else {
        return true;
    };
    let (least, most) = worse_by(figure);
    least > regression.by || most <= regression.by
}

/// Returns the lowest and the highest share by which the second contender is worse; negative
/// if it is better.
fn worse_by(figure: &TestedFigure) -> (f64, f64) {
    let low = share_or_infinity(figure, figure.shift.interval.low);
    let high = share_or_infinity(figure, figure.shift.interval.high);
    if figure.measure.more_is_better() { (-high, -low) } else { (low, high) }
}

fn share_or_infinity(figure: &TestedFigure, difference: f64) -> f64 {
    if difference == 0.0 {
        return 0.0;
    }
    let share = figure.scale.share(difference, figure.typical.0);
    share.unwrap_or(f64::INFINITY.copysign(difference))
}

fn finding(rule: &str, weight: Severity, sentence: Text, remedy: Option<Text>) -> Finding {
    Finding { rule: rule.into(), severity: weight, sentence, remedy }
}

/// Returns a finding on all that is undecided, with the number of repetitions that may decide it.
pub fn undecided_finding(
    comparison: &Comparison,
    unit: LoadUnit,
    command: &str,
) -> Option<Finding> {
    let sentence = conclusion::undecided(&comparison.pairs, unit, comparison.blocks)?;
    let all = comparison.more.map(|more| comparison.blocks + more);
    let remedy = match (comparison.ended, all) {
        (ComparisonEnd::Stopped, _) => Some(message!("comparison-undecided.remedy-resume")),
        (ComparisonEnd::Stored, _) | (_, None) => None,
        (_, Some(all)) if all > MOST_REPETITIONS => {
            Some(message!("comparison-undecided.remedy-longer", all = all.to_string()))
        }
        (_, Some(all)) => {
            let all = all.to_string();
            let advice = message!("comparison-undecided.remedy-repeat", all = &*all);
            Some(RunCommand::parse(command).advise(advice, REPEAT, &all))
        }
    };
    Some(finding("comparison_undecided", Severity::Note, sentence, remedy))
}

/// Returns findings on regressions.
pub fn findings(comparison: &Comparison) -> Vec<Finding> {
    let mut findings = Vec::new();
    for failed in &comparison.failed {
        let sentence = message!("comparison-failed", reason = failed.clone());
        findings.push(finding("comparison_failed", Severity::Warning, sentence, None));
    }
    findings
}

/// A share that the user chose, as text: `2 %`.
fn margin(share: f64) -> String {
    format!("{} %", exact_percent(share))
}

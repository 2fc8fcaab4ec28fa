//! Words the results of a comparison.
//!
//! Out of scope: the decisions.

use super::decide::{DifferenceScale, PairDecision, TestedFigure};
use super::figures::written;
use super::sample::ContenderPair;
use brunt_model::comparison::{Better, ComparisonEnd, Test};
use brunt_model::finding::{Finding, Severity};
use brunt_model::numbers::{exact_percent, load, plural, size_number, size_percent};
use brunt_model::question::{ComparisonSettings, Measure, Regression};
use brunt_model::{Comparison, Text, text};

/// `p99: apache is better by 4.1 % (2.6 to 5.5)`.
pub fn sentence(figure: &TestedFigure, smallest: f64) -> String {
    let result = match figure.verdict {
        _ if figure.sizes.0 == 0 || figure.sizes.1 == 0 => "no data".into(),
        _ if figure.all_zero => format!("{} with both", written(figure.measure, 0.0)),
        Better::Undecided if figure.test == Test::None => too_few(figure),
        Better::Undecided => format!("undecided: {}", range(figure)),
        Better::Equal if figure.scale == DifferenceScale::Plain => "the same for both".into(),
        Better::Equal => format!("equal within ±{}: {}", margin(smallest), range(figure)),
        Better::Better => differs(figure, "better"),
        Better::Worse => differs(figure, "worse"),
    };
    format!("{}: {result}", figure.measure)
}

/// `B is better by 4.1 % (2.6 to 5.5)`; for plain differences: `B is worse: 0.5 % against 0 %`.
fn differs(figure: &TestedFigure, how: &str) -> String {
    let name = &figure.theirs;
    if figure.scale == DifferenceScale::Plain {
        let theirs = written(figure.measure, figure.typical.1);
        let ours = written(figure.measure, figure.typical.0);
        return format!("{name} is {how}: {theirs} against {ours}");
    }
    let interval = figure.shift.interval;
    let is_higher = interval.low > 0.0;
    let near = if is_higher { interval.low } else { interval.high };
    let far = if is_higher { interval.high } else { interval.low };
    let near_size = relative_size(near);
    let far_size = relative_size(far);
    match figure.shift.value.exact_value() {
        // Censored values leave the interval open at this end.
        _ if far.is_infinite() => {
            format!("{name} is {how} by at least {}", size_percent(near_size))
        }
        Some(value) => format!(
            "{name} is {how} by {} ({} to {})",
            size_percent(relative_size(value)),
            size_number(near_size.min(far_size)),
            size_number(near_size.max(far_size))
        ),
        None => {
            format!("{name} is {how} by {} to {}", size_number(near_size), size_percent(far_size))
        }
    }
}

/// Absolute share of a difference of logarithms.
fn relative_size(difference: f64) -> f64 {
    difference.exp_m1().abs()
}

/// `B is between 1.2 % lower and 3.4 % higher`.
fn range(figure: &TestedFigure) -> String {
    let name = &figure.theirs;
    let low = bound_text(figure, figure.shift.interval.low);
    let high = bound_text(figure, figure.shift.interval.high);
    match (figure.shift.interval.low.is_finite(), figure.shift.interval.high.is_finite()) {
        (true, true) => format!("{name} is between {low} and {high}"),
        (true, false) => format!("{name} is {low} at least; the upper bound is unknown"),
        (false, true) => format!("{name} is {high} at most; the lower bound is unknown"),
        (false, false) => format!("the difference of {name} is unknown"),
    }
}

fn bound_text(figure: &TestedFigure, difference: f64) -> String {
    match figure.scale {
        DifferenceScale::Shares => side(difference.exp_m1(), size_percent),
        DifferenceScale::Plain => side(difference, |size| written(figure.measure, size)),
    }
}

fn side(difference: f64, size: impl Fn(f64) -> String) -> String {
    format!("{} {}", size(difference.abs()), if difference < 0.0 { "lower" } else { "higher" })
}

fn too_few(figure: &TestedFigure) -> String {
    let ours = figure.sizes.0 as u64;
    let theirs = figure.sizes.1 as u64;
    let sizes = if figure.groups {
        format!("{ours} and {}", plural(theirs, "run"))
    } else {
        plural(ours, "block")
    };
    let so_far =
        figure.shift.value.exact_value().map_or(String::new(), |value| match figure.scale {
            DifferenceScale::Shares => {
                format!(" ({} is {} so far)", figure.theirs, side(value.exp_m1(), size_percent))
            }
            DifferenceScale::Plain => String::new(),
        });
    let are = if !figure.groups && ours == 1 { "is" } else { "are" };
    format!("undecided: {sizes} {are} too few{so_far}")
}

/// Returns a sentence for each requested measure of which some pair has no data.
pub fn unknown_measures(
    decisions: &[PairDecision],
    pairs: &[ContenderPair],
    measures: &[Measure],
) -> Vec<String> {
    let mut sentences = Vec::new();
    for measure in measures {
        let mut pairs_with_measure =
            decisions.iter().zip(pairs).filter(|(_, pair)| pair.has(*measure));
        if pairs_with_measure.all(|(decision, _)| has_data(decision, *measure)) {
            continue;
        }
        sentences.push(match measure {
            Measure::ServerCpu => {
                format!("{measure}: unknown, since no CPU time of the server was read.")
            }
            _ => format!("{measure}: not known for all contenders."),
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
) -> Vec<String> {
    let mut failed = Vec::new();
    for (decision, pair) in decisions.iter().zip(pairs) {
        let place =
            pair.load.map_or(String::new(), |(unit, value)| format!(" at {}", load(unit, value)));
        for regression in &spec.fail_if {
            let figure =
                decision.figures.iter().find(|figure| figure.measure == regression.measure);
            if let Some(figure) = figure.filter(|figure| worse_by(figure).0 > regression.by) {
                let sentence = sentence(figure, spec.smallest);
                failed.push(format!(
                    "{sentence}{place}, which is more than {}",
                    margin(regression.by)
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

/// Returns findings on regressions and on an undecided comparison.
pub fn findings(comparison: &Comparison) -> Vec<Finding> {
    let mut findings = Vec::new();
    for failed in &comparison.failed {
        let sentence = text!("comparison-failed", reason = &**failed);
        findings.push(finding("comparison_failed", Severity::Warning, sentence, None));
    }
    if comparison.deciding().any(|first| first.verdict == Better::Undecided)
        && comparison.ended != ComparisonEnd::Stored
    {
        let blocks = text!("blocks", count = u64::from(comparison.blocks));
        let sentence = text!("comparison-undecided", blocks);
        let more = comparison.more.map(|more| {
            let all = (comparison.blocks + more).to_string();
            let more = text!("blocks", count = u64::from(more));
            text!("comparison-undecided.remedy-repeat", all, more)
        });
        let resumed = (comparison.ended == ComparisonEnd::Stopped)
            .then(|| text!("comparison-undecided.remedy-resume"));
        let remedy = resumed.or(more);
        findings.push(finding("comparison_undecided", Severity::Note, sentence, remedy));
    }
    findings
}

/// A share that the user chose, as text: `2 %`.
fn margin(share: f64) -> String {
    format!("{} %", exact_percent(share))
}

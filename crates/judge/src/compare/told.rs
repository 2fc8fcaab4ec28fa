//! What a comparison says, in words.
//!
//! Out of scope: what it decides.

use super::decide::{Decided, Scale, TestedFigure};
use super::figures::written;
use super::sample::Paired;
use brunt_model::Comparison;
use brunt_model::comparison::{Better, ComparisonEnd, Test};
use brunt_model::finding::{Finding, Weight};
use brunt_model::numbers::{exact_percent, load, plural, size_number, size_percent};
use brunt_model::question::{Compare, Measure, Regression};

/// `p99: apache is better by 4.1 % (2.6 to 5.5)`.
pub fn sentence(found: &TestedFigure, smallest: f64) -> String {
    let said = match found.verdict {
        _ if found.sizes.0 == 0 || found.sizes.1 == 0 => "no data".into(),
        _ if found.all_zero => format!("{} with both", written(found.measure, 0.0)),
        Better::Undecided if found.test == Test::None => too_few(found),
        Better::Undecided => format!("undecided: {}", range(found)),
        Better::Equal if found.scale == Scale::Plain => "the same for both".into(),
        Better::Equal => format!("equal within ±{}: {}", margin(smallest), range(found)),
        Better::Better => differs(found, "better"),
        Better::Worse => differs(found, "worse"),
    };
    format!("{}: {said}", found.measure)
}

/// `B is better by 4.1 % (2.6 to 5.5)`; where it is not a share of anything: `B is worse: 0.5 % against 0 %`.
fn differs(found: &TestedFigure, how: &str) -> String {
    let (who, interval) = (&found.theirs, found.shift.interval);
    let (near, far) = if interval.low > 0.0 { (interval.low, interval.high) } else { (interval.high, interval.low) };
    if found.scale == Scale::Plain {
        let (theirs, ours) = (written(found.measure, found.typical.1), written(found.measure, found.typical.0));
        return format!("{who} is {how}: {theirs} against {ours}");
    }
    let size = |difference: f64| difference.exp_m1().abs();
    match found.shift.value.known() {
        _ if far.is_infinite() => format!("{who} is {how} by at least {}", size_percent(size(near))),
        Some(value) => {
            let (near, far) = (size(near).min(size(far)), size(near).max(size(far)));
            format!("{who} is {how} by {} ({} to {})", size_percent(size(value)), size_number(near), size_number(far))
        }
        None => format!("{who} is {how} by {} to {}", size_number(size(near)), size_percent(size(far))),
    }
}

/// `B is between 1.2 % lower and 3.4 % higher`.
fn range(found: &TestedFigure) -> String {
    let (who, interval) = (&found.theirs, found.shift.interval);
    let end = |difference: f64| match found.scale {
        Scale::Shares => side(difference.exp_m1(), size_percent),
        Scale::Plain => side(difference, |size| written(found.measure, size)),
    };
    match (interval.low.is_finite(), interval.high.is_finite()) {
        (true, true) => format!("{who} is between {} and {}", end(interval.low), end(interval.high)),
        (true, false) => format!("{who} is {} at least; the upper bound is unknown", end(interval.low)),
        (false, true) => format!("{who} is {} at most; the lower bound is unknown", end(interval.high)),
        (false, false) => format!("the difference of {who} is unknown"),
    }
}

fn side(difference: f64, size: impl Fn(f64) -> String) -> String {
    format!("{} {}", size(difference.abs()), if difference < 0.0 { "lower" } else { "higher" })
}

fn too_few(found: &TestedFigure) -> String {
    let (ours, theirs) = (found.sizes.0 as u64, found.sizes.1 as u64);
    let sizes = if found.groups { format!("{ours} and {}", plural(theirs, "run")) } else { plural(ours, "block") };
    let so_far = found.shift.value.known().map_or(String::new(), |value| match found.scale {
        Scale::Shares => format!(" ({} is {} so far)", found.theirs, side(value.exp_m1(), size_percent)),
        Scale::Plain => String::new(),
    });
    let are = if !found.groups && ours == 1 { "is" } else { "are" };
    format!("undecided: {sizes} {are} too few{so_far}")
}

/// Figures that were asked for, and of which some pair has nothing.
pub fn not_known(decided: &[Decided], pairs: &[Paired], measures: &[Measure]) -> Vec<String> {
    let missing = |measure: &&Measure| {
        let known = |found: &TestedFigure| found.measure == **measure && found.sizes.0 > 0 && found.sizes.1 > 0;
        let asked = decided.iter().zip(pairs).filter(|(_, pair)| pair.has(**measure));
        asked.clone().any(|(pair, _)| !pair.found.iter().any(known))
    };
    let sentence = |measure: &Measure| match measure {
        Measure::ServerCpu => format!("{measure}: unknown, since no CPU time of the server was read."),
        _ => format!("{measure}: not known for all contenders."),
    };
    measures.iter().filter(missing).map(sentence).collect()
}

/// Differences that were to make brunt fail, and did.
pub fn failed(decided: &[Decided], pairs: &[Paired], spec: &Compare) -> Vec<String> {
    let mut failed = Vec::new();
    for (pair, paired) in decided.iter().zip(pairs) {
        let at = paired.load.map_or(String::new(), |(unit, at)| format!(" at {}", load(unit, at)));
        for regression in &spec.fail_if {
            let of = pair.found.iter().find(|found| found.measure == regression.measure);
            if let Some(found) = of.filter(|found| worse_by(found).0 > regression.by) {
                let sentence = sentence(found, spec.smallest);
                failed.push(format!("{sentence}{at}, which is more than {}", margin(regression.by)));
            }
        }
    }
    failed
}

/// Whether it is known if a difference is to make brunt fail: its interval does not hold the margin, or nothing is known at all.
pub fn is_settled(pair: &Decided, regression: &Regression) -> bool {
    let Some(found) = pair.found.iter().find(|found| found.measure == regression.measure) else { return true };
    let (least, most) = worse_by(found);
    least > regression.by || most <= regression.by
}

/// By which share the other is worse at least, and at most; a better one is worse by less than nothing.
fn worse_by(found: &TestedFigure) -> (f64, f64) {
    let share = |difference: f64| {
        let open = f64::INFINITY.copysign(difference);
        if difference == 0.0 { 0.0 } else { found.scale.share(difference, found.typical.0).unwrap_or(open) }
    };
    let (low, high) = (share(found.shift.interval.low), share(found.shift.interval.high));
    if found.measure.more_is_better() { (-high, -low) } else { (low, high) }
}

/// Findings beside the conclusions: regressions, and an undecided comparison.
pub fn findings(comparison: &Comparison) -> Vec<Finding> {
    let finding = |rule: &str, weight: Weight, sentence: String, remedy: Option<String>| Finding {
        rule: rule.into(),
        weight,
        sentence,
        remedy,
    };
    let mut findings = Vec::new();
    for failed in &comparison.failed {
        findings.push(finding("comparison_failed", Weight::Warning, format!("{failed}."), None));
    }
    if comparison.deciding().any(|first| first.verdict == Better::Undecided)
        && comparison.ended != ComparisonEnd::Stored
    {
        let sentence = format!("Undecided after {}.", plural(u64::from(comparison.blocks), "block"));
        let more = comparison.more.map(|more| {
            let all = u64::from(comparison.blocks + more);
            format!("--repeat {all} (about {} more needed)", plural(u64::from(more), "block"))
        });
        let resumed = (comparison.ended == ComparisonEnd::Stopped).then(|| "continue with --resume".to_owned());
        let remedy = resumed.or(more);
        findings.push(finding("comparison_undecided", Weight::Note, sentence, remedy));
    }
    findings
}

/// A share that the user chose: `2 %`.
fn margin(share: f64) -> String {
    format!("{} %", exact_percent(share))
}

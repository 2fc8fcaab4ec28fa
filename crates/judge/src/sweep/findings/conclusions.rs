//! Conclusions of a sweep: the better contender, the capacity of each server, and its bottleneck.

use super::{Facts, Rule, limit};
use crate::compare;
use crate::explain::Remark;
use crate::levels::{Factors, pairings};
use crate::sweep::limits::{growth, peak, plateau};
use crate::sweep::trials::Trials;
use brunt_model::analysis::{ContenderAnalysis, Culprit, LimitKind};
use brunt_model::numbers::{self, enumeration, percent, rate, three_digits};
use brunt_stats::rank;

/// Significance level of a difference.
const SIGNIFICANT: f64 = 0.05;

/// The rules, in the order in which their conclusions are shown.
pub const RULES: &[Rule] = &[
    ("difference", difference),
    ("faster", faster),
    ("capacity", capacity),
    ("bottleneck", bottleneck),
];

/// Rule: knee, saturation point and highest loads that meet objectives, in one
/// sentence for each contender.
fn capacity(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (trials, contender) in facts.trials.iter().zip(facts.contenders) {
        let limits = limits_text(trials, contender);
        if limits.is_empty() {
            remarks.extend(nothing_found(trials));
        } else {
            remarks.push(Remark::note(format!(
                "{}: {}.",
                contender.contender,
                enumeration(&limits)
            )));
        }
    }
    remarks
}

fn limits_text(trials: &Trials, contender: &ContenderAnalysis) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    if let Some((_, saturation)) = limit(contender, LimitKind::Saturation) {
        let bottleneck = bottleneck_of_server(contender)
            .map_or(String::new(), |sentence| format!(" ({sentence})"));
        texts.push(format!("throughput saturates at {}{bottleneck}", rate(saturation.value)));
    }
    if let Some((_, knee)) = limit(contender, LimitKind::Knee) {
        texts
            .push(format!("the response time bends at {}", numbers::load(trials.unit, knee.value)));
    }
    let curve = trials.curve();
    // Without a usable plateau, the peak is the best known throughput.
    if let Some(peak) =
        peak(&curve).filter(|_| growth(&curve).plateau().is_some() && plateau(&curve).is_none())
    {
        texts.push(format!(
            "throughput peaks at {} at {}",
            rate(peak.achieved),
            numbers::load(trials.unit, peak.load)
        ));
    }
    for bound in &contender.limits {
        let is_bound = [LimitKind::Objective, LimitKind::Patience].contains(&bound.kind);
        if let Some(highest) = bound.at.filter(|at| is_bound && at.value > 0.0) {
            texts.push(format!(
                "{} holds up to {}",
                bound.name,
                numbers::load(trials.unit, highest.value)
            ));
        }
    }
    texts
}

/// Returns a remark on a range without a limit; None with fewer than two loads.
fn nothing_found(trials: &Trials) -> Option<Remark> {
    let [first, .., last] = &trials.steps[..] else { return None };
    let low = numbers::load(trials.unit, first.load);
    let high = numbers::load(trials.unit, last.load);
    let sentence =
        format!("{}: no knee and no saturation point from {low} to {high}.", trials.contender);
    let remedy = if trials.excluded_above > 0 {
        format!(
            "{}; the verdicts of these trials give the reason: brunt report ID",
            trials.advice_above()
        )
    } else {
        "sweep further; each limit states the direction".to_owned()
    };
    Some(Remark::note(sentence).with_remedy(remedy))
}

/// Rule: difference of the saturation points, with its significance, for each two contenders that
/// differ in one factor.
fn difference(facts: &Facts) -> Vec<Remark> {
    let factors: Vec<&Factors> = facts.trials.iter().map(|trials| trials.factors).collect();
    let mut remarks = Vec::new();
    for pairing in pairings(&factors) {
        let Some((_, our_limit)) = limit(&facts.contenders[pairing.ours], LimitKind::Saturation)
        else {
            continue;
        };
        let Some((_, their_limit)) =
            limit(&facts.contenders[pairing.theirs], LimitKind::Saturation)
        else {
            continue;
        };
        let ours = &facts.trials[pairing.ours];
        let theirs = &facts.trials[pairing.theirs];
        remarks.push(if our_limit.value >= their_limit.value {
            saturation_difference(ours, our_limit.value, theirs, their_limit.value)
        } else {
            saturation_difference(theirs, their_limit.value, ours, our_limit.value)
        });
    }
    remarks
}

/// Rule: which contender has the lower response time, at each load.
fn faster(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = facts.trials.first() else { return Vec::new() };
    compare::sentences(facts.pairs, trials.unit).into_iter().map(Remark::note).collect()
}

fn saturation_difference(best: &Trials, most: f64, other: &Trials, less: f64) -> Remark {
    let ours = plateaus(best);
    let theirs = plateaus(other);
    let ends = format!(
        "{} saturates at {}, {} at {}",
        best.contender,
        rate(most),
        other.contender,
        rate(less)
    );
    let least = rank::least_p(ours.len(), theirs.len());
    if least > SIGNIFICANT {
        let sentence = format!(
            "{ends}. No difference can be tested: {}.",
            too_few(ours.len(), theirs.len(), least)
        );
        return Remark::warning(sentence)
            .with_remedy(format!("measure each {} times or more", enough_repetitions()));
    }
    let p = rank::mann_whitney(&ours, &theirs);
    let test = format!(
        "p = {} by the ranks of {} and {} repetitions",
        three_digits(p),
        ours.len(),
        theirs.len()
    );
    if p > SIGNIFICANT {
        return Remark::note(format!("{ends}: no significant difference ({test})."));
    }
    Remark::note(format!("{ends}: they differ by {} ({test}).", percent(most / less - 1.0)))
}

fn too_few(ours: usize, theirs: usize, least: f64) -> String {
    if ours <= 1 && theirs <= 1 {
        return format!(
            "one value per step shows no variation between repetitions; at least {} of each are needed",
            enough_repetitions()
        );
    }
    format!(
        "the smallest p possible with {ours} against {theirs} repetitions is {least:.2}; at least {} of each are needed",
        enough_repetitions()
    )
}

/// Minimum number of repetitions of each contender that can reach a significant p-value.
fn enough_repetitions() -> usize {
    (1..100).find(|n| rank::least_p(*n, *n) <= SIGNIFICANT).unwrap_or(usize::MAX)
}

/// Saturation throughput of each repetition.
fn plateaus(trials: &Trials) -> Vec<f64> {
    trials
        .repetitions
        .iter()
        .filter_map(|repetition| plateau(&trials.curve_of(*repetition)))
        .collect()
}

/// Rule: the bottleneck of each server, unless it is reported with the saturation point.
fn bottleneck(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for contender in facts.contenders {
        let Some(bottleneck) = &contender.bottleneck else { continue };
        let sentence = bottleneck.sentence.trim_end_matches('.');
        let name = &contender.contender;
        remarks.push(match bottleneck.culprit {
            Culprit::NotFound => Remark::note(format!("The bottleneck of {name} was not found: {sentence}.")),
            Culprit::Generator => Remark::warning(format!("The generator was the bottleneck, not {name}: {sentence}.")),
            _ if limit(contender, LimitKind::Saturation).is_some() => continue,
            _ => Remark::note(format!(
                "{name} has no saturation point in this range; nearest to its limit at the highest loads: {sentence}."
            )),
        });
    }
    remarks
}

/// Returns the server's bottleneck, if one was found.
fn bottleneck_of_server(contender: &ContenderAnalysis) -> Option<&str> {
    let bottleneck = contender.bottleneck.as_ref()?;
    let is_servers = !matches!(bottleneck.culprit, Culprit::NotFound | Culprit::Generator);
    is_servers.then(|| bottleneck.sentence.trim_end_matches('.'))
}

//! Conclusions of a sweep: the better contender, the capacity of each server, and its bottleneck.

use super::{Facts, Rule, limit};
use crate::compare;
use crate::explain::Remark;
use crate::levels::{Factors, pairings};
use crate::sweep::limits::{growth, peak, plateau};
use crate::sweep::trials::Trials;
use brunt_model::analysis::{ContenderAnalysis, Culprit, LimitKind};
use brunt_model::numbers::{percent, rate, three_digits};
use brunt_model::text::Value;
use brunt_model::{Text, text};
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
            let contender = &*contender.contender;
            remarks.push(Remark::note(text!(
                "sweep-limits",
                contender,
                limits = Value::Clauses(limits)
            )));
        }
    }
    remarks
}

fn limits_text(trials: &Trials, contender: &ContenderAnalysis) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    if let Some((_, saturation)) = limit(contender, LimitKind::Saturation) {
        let rate = rate(saturation.value);
        texts.push(match bottleneck_of_server(contender) {
            Some(bottleneck) => {
                text!("sweep-limits.saturation-with-bottleneck", rate, bottleneck)
            }
            None => text!("sweep-limits.saturation", rate),
        });
    }
    if let Some((_, knee)) = limit(contender, LimitKind::Knee) {
        texts.push(text!("sweep-limits.knee", load = trials.unit.format(knee.value)));
    }
    let curve = trials.curve();
    // Without a usable plateau, the peak is the best known throughput.
    if let Some(peak) =
        peak(&curve).filter(|_| growth(&curve).plateau().is_some() && plateau(&curve).is_none())
    {
        let load = trials.unit.format(peak.load);
        texts.push(text!("sweep-limits.peak", rate = rate(peak.achieved), load));
    }
    for bound in &contender.limits {
        let is_bound = [LimitKind::Objective, LimitKind::Patience].contains(&bound.kind);
        if let Some(highest) = bound.at.filter(|at| is_bound && at.value > 0.0) {
            let load = trials.unit.format(highest.value);
            texts.push(text!("sweep-limits.holds", objective = bound.name.clone(), load));
        }
    }
    texts
}

/// Returns a remark on a range without a limit; None with fewer than two loads.
fn nothing_found(trials: &Trials) -> Option<Remark> {
    let [first, .., last] = &trials.steps[..] else { return None };
    let low = trials.unit.format(first.load);
    let high = trials.unit.format(last.load);
    let sentence = text!("sweep-limits.none", contender = trials.contender, low, high);
    let remedy = if trials.excluded_above > 0 {
        text!("sweep-limits.remedy-excluded", advice = trials.advice_above())
    } else {
        text!("sweep-limits.remedy")
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
    let best = best.contender;
    let other = other.contender;
    let share = percent(most / less - 1.0);
    let most = rate(most);
    let less = rate(less);
    let least = rank::least_p(ours.len(), theirs.len());
    if least > SIGNIFICANT {
        let reason = too_few(ours.len(), theirs.len(), least);
        let needed = enough_repetitions().to_string();
        return Remark::warning(text!(
            "saturation-difference.untested",
            best,
            most,
            other,
            less,
            reason
        ))
        .with_remedy(text!("saturation-difference.remedy", needed));
    }
    let p = rank::mann_whitney(&ours, &theirs);
    let test = text!(
        "saturation-difference.test",
        p = three_digits(p),
        ours = ours.len().to_string(),
        theirs = theirs.len().to_string()
    );
    Remark::note(if p > SIGNIFICANT {
        text!("saturation-difference.none", best, most, other, less, test)
    } else {
        text!("saturation-difference", best, most, other, less, share, test)
    })
}

fn too_few(ours: usize, theirs: usize, least: f64) -> Text {
    let needed = enough_repetitions().to_string();
    if ours <= 1 && theirs <= 1 {
        return text!("saturation-difference.one-value", needed);
    }
    text!(
        "saturation-difference.too-few",
        ours = ours.to_string(),
        theirs = theirs.to_string(),
        least = format!("{least:.2}"),
        needed
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
        let sentence = bottleneck.sentence.clone();
        let contender_name = &*contender.contender;
        remarks.push(match bottleneck.culprit {
            Culprit::NotFound => Remark::note(text!(
                "sweep-bottleneck.not-found",
                contender = contender_name,
                bottleneck = sentence
            )),
            Culprit::Generator => Remark::warning(text!(
                "sweep-bottleneck.generator",
                contender = contender_name,
                bottleneck = sentence
            )),
            _ if limit(contender, LimitKind::Saturation).is_some() => continue,
            _ => Remark::note(text!(
                "sweep-bottleneck.nearest",
                contender = contender_name,
                bottleneck = sentence
            )),
        });
    }
    remarks
}

/// Returns the server's bottleneck, if one was found.
fn bottleneck_of_server(contender: &ContenderAnalysis) -> Option<Text> {
    let bottleneck = contender.bottleneck.as_ref()?;
    let is_servers = !matches!(bottleneck.culprit, Culprit::NotFound | Culprit::Generator);
    is_servers.then(|| bottleneck.sentence.clone())
}

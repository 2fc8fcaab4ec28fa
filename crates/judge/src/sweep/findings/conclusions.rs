//! Conclusions of a sweep: the better contender, the limit of each server and its bottleneck, loads
//! without a limit, and one sentence on all that is undecided.

use super::{Facts, Rule, limit};
use crate::compare;
use crate::explain::Remark;
use crate::explain::command::REPEAT;
use crate::levels::{Factors, Pairing, pairings};
use crate::sweep::limits::{
    ThroughputGrowth, growth, has_few_errors, kept_throughout, peak, plateau,
};
use crate::sweep::trials::{LoadFigures, Trials};
use crate::texts::message;
use brunt_model::Text;
use brunt_model::analysis::{ContenderAnalysis, Culprit, HeldLoads, LimitKind};
use brunt_model::numbers::{percent, rate, three_digits};
use brunt_model::text::Value;
use brunt_stats::rank;

/// Significance level of a difference.
const SIGNIFICANT: f64 = 0.05;
/// Minimum number of loads for a knee.
const FEWEST_LOADS: usize = 5;

/// The rules, in the order in which their conclusions are shown: findings, then their absence, then
/// open questions.
pub const RULES: &[Rule] = &[
    ("faster", faster),
    ("difference", difference),
    ("capacity", capacity),
    ("bottleneck", bottleneck),
    ("no_limit", no_limit),
    ("undecided", undecided),
    ("bottleneck_not_found", bottleneck_not_found),
];

/// Rule: saturation point, knee, errors and highest loads that meet objectives, in one
/// sentence for each contender.
fn capacity(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (trials, contender) in facts.trials.iter().zip(facts.contenders) {
        let limits = limits_text(trials, contender);
        if !limits.is_empty() {
            let contender = &*contender.contender;
            remarks.push(Remark::note(message!(
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
    let all_loads = trials.curve();
    let errors = all_loads.iter().rev().find(|point| has_few_errors(point) == Some(false));
    if let Some((_, saturation)) = limit(contender, LimitKind::Saturation) {
        let rate = rate(saturation.value);
        texts.push(match (bottleneck_of_server(contender), errors) {
            (Some(bottleneck), _) => {
                message!("sweep-limits.saturation-with-bottleneck", rate, bottleneck)
            }
            (None, Some(_)) => message!("sweep-limits.saturation-of-good", rate),
            (None, None) => message!("sweep-limits.saturation", rate),
        });
    }
    if let Some((_, knee)) = limit(contender, LimitKind::Knee) {
        texts.push(message!("sweep-limits.knee", load = trials.unit.format(knee.value)));
    }
    texts.extend(peak_text(trials));
    for bound in &contender.limits {
        let is_bound = [LimitKind::Objective, LimitKind::Patience].contains(&bound.kind);
        if let Some(highest) = bound.at.filter(|at| is_bound && at.value > 0.0) {
            let load = trials.unit.format(highest.value);
            texts.push(message!("sweep-limits.holds", objective = bound.name.clone(), load));
        }
        if is_bound && let Some(held) = bound.held {
            texts.extend(result_of_objective(trials, bound.name.clone(), held));
        }
    }
    if let Some(LoadFigures { load, errors: Some(share), .. }) = errors {
        let load = trials.unit.format(*load);
        texts.push(message!("sweep-limits.errors", share = percent(*share), load));
    }
    texts
}

/// Returns the result of an objective that the lowest load misses, or that the only load meets.
fn result_of_objective(trials: &Trials, objective: Text, held: HeldLoads) -> Option<Text> {
    let load = trials.unit.format(trials.steps.first()?.load);
    let is_only = trials.steps.len() == 1;
    match held {
        HeldLoads::None if is_only => Some(message!("sweep-limits.missed", objective, load)),
        HeldLoads::None => Some(message!("sweep-limits.missed-at-lowest", objective, load)),
        HeldLoads::All => is_only.then(|| message!("sweep-limits.met", objective, load)),
    }
}

/// Without a usable plateau, the peak is the best known throughput.
fn peak_text(trials: &Trials) -> Option<Text> {
    let curve = trials.undisturbed().curve();
    growth(&curve).plateau()?;
    let peak = peak(&curve).filter(|_| plateau(&curve).is_none())?;
    let load = trials.unit.format(peak.load);
    Some(message!("sweep-limits.peak", rate = rate(peak.achieved), load))
}

/// Rule: a contender without any limit in the range.
fn no_limit(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (trials, contender) in facts.trials.iter().zip(facts.contenders) {
        if limits_text(trials, contender).is_empty() {
            remarks.extend(nothing_found(trials));
        }
    }
    remarks
}

/// Returns None with fewer than two loads, and if the absence of a limit is not known.
fn nothing_found(trials: &Trials) -> Option<Remark> {
    let [_, .., _] = &trials.steps[..] else { return None };
    let contender = trials.contender;
    let undisturbed = trials.undisturbed();
    let grows = growth(&undisturbed.curve()) == ThroughputGrowth::Continues;
    let undisturbed_load = undisturbed.steps.last().map(|step| step.load).filter(|_| grows);
    // What disturbed trials achieve, the server achieves without the disturbance, too.
    let load = kept_throughout(trials).or(undisturbed_load)?;
    let is_last = trials.steps.last().is_some_and(|last| last.load <= load);
    let remedy = if trials.excluded_above > 0 {
        message!("sweep-limits.remedy-excluded", advice = trials.advice_above())
    } else if is_last {
        message!("sweep-limits.remedy")
    } else {
        message!("undecided.remedy-disturbed")
    };
    let load = trials.unit.format(load);
    Some(Remark::note(message!("sweep-limits.none", contender, load)).with_remedy(remedy))
}

/// Rule: difference of the saturation points, with its significance, for each two contenders that
/// differ in one factor.
fn difference(facts: &Facts) -> Vec<Remark> {
    let saturations = saturations(facts);
    saturations.iter().filter_map(Saturations::difference).collect()
}

/// Saturation points of two contenders, the higher one first.
struct Saturations<'a> {
    pairing: Pairing,
    best: &'a Trials<'a>,
    most: f64,
    other: &'a Trials<'a>,
    less: f64,
}

/// Saturation points of all contenders that are compared with each other.
fn saturations<'a>(facts: &'a Facts) -> Vec<Saturations<'a>> {
    let factors: Vec<&Factors> = facts.trials.iter().map(|trials| trials.factors).collect();
    let mut all = Vec::new();
    for pairing in pairings(&factors, None) {
        let [ours, theirs] = [pairing.ours, pairing.theirs]
            .map(|index| limit(&facts.contenders[index], LimitKind::Saturation));
        let Some(((_, ours), (_, theirs))) = ours.zip(theirs) else { continue };
        let ours = ours.value;
        let theirs = theirs.value;
        let our_trials = &facts.trials[pairing.ours];
        let their_trials = &facts.trials[pairing.theirs];
        all.push(if ours >= theirs {
            Saturations { pairing, best: our_trials, most: ours, other: their_trials, less: theirs }
        } else {
            Saturations { pairing, best: their_trials, most: theirs, other: our_trials, less: ours }
        });
    }
    all
}

impl Saturations<'_> {
    /// Returns None if no outcome of the test is significant: too few repetitions.
    fn difference(&self) -> Option<Remark> {
        let ours = plateaus(self.best);
        let theirs = plateaus(self.other);
        if rank::least_p(ours.len(), theirs.len()) > SIGNIFICANT {
            return None;
        }
        let p = rank::mann_whitney(&ours, &theirs);
        let test = message!(
            "saturation-difference.test",
            p = three_digits(p),
            ours = ours.len().to_string(),
            theirs = theirs.len().to_string()
        );
        let best = self.best.contender;
        let other = self.other.contender;
        let most = rate(self.most);
        let less = rate(self.less);
        let share = percent(self.most / self.less - 1.0);
        Some(Remark::note(if p > SIGNIFICANT {
            message!("saturation-difference.none", best, most, other, less, test)
        } else {
            message!("saturation-difference", best, most, other, less, share, test)
        }))
    }
}

/// Rule: which contender has the lower response time or the higher throughput, at each load.
fn faster(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = facts.trials.first() else { return Vec::new() };
    compare::sentences(facts.pairs, trials.unit).into_iter().map(Remark::note).collect()
}

/// Rule: all that is undecided, in one sentence.
fn undecided(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = facts.trials.first() else { return Vec::new() };
    let repetitions = facts.trials.iter().map(|trials| trials.repetitions.len()).max().unwrap_or(0);
    let mut needed = compare::fewest_repetitions(contender_pairs(facts), SIGNIFICANT);
    let mut clauses = compare::undecided_clauses(facts.pairs, trials.unit, repetitions as u32);
    // A table of another tool has no runs that could be compared by load.
    if facts.pairs.is_empty() {
        needed = enough_repetitions() as u32;
        clauses.extend(untested_saturations(facts, repetitions));
    }
    let is_compared = !clauses.is_empty();
    clauses.extend(unknown_limits(facts));
    if clauses.is_empty() {
        return Vec::new();
    }
    let remark = Remark::note(message!("undecided", clauses = Value::Series(clauses)));
    let remedy = if !is_compared {
        message!("undecided.remedy-disturbed")
    } else if repetitions >= needed as usize {
        message!("few-repetitions.remedy")
    } else {
        let needed = needed.to_string();
        facts.command.advise(message!("undecided.remedy", needed = &*needed), REPEAT, &needed)
    };
    vec![remark.with_remedy(remedy)]
}

/// Returns a clause on contenders whose saturation points cannot be compared.
fn untested_saturations(facts: &Facts, repetitions: usize) -> Option<Text> {
    let saturations = saturations(facts);
    let untested = saturations.iter().filter(|pair| pair.difference().is_none());
    let pairs: Vec<Text> = untested
        .map(|Saturations { pairing, .. }| {
            let [ours, theirs] =
                [pairing.ours, pairing.theirs].map(|index| facts.trials[index].contender);
            message!("undecided.pair", ours, theirs)
        })
        .collect();
    let is_any = !pairs.is_empty();
    is_any.then(|| {
        let pairs = Value::Series(pairs);
        message!("undecided.saturation", count = repetitions, pairs)
    })
}

/// Returns a clause on contenders whose limits are unknown because of disturbed trials.
fn unknown_limits(facts: &Facts) -> Option<Text> {
    let mut names: Vec<Text> = Vec::new();
    let mut disturbed = 0;
    let mut all = 0;
    for (trials, contender) in facts.trials.iter().zip(facts.contenders) {
        let undisturbed = trials.undisturbed();
        let is_disturbed =
            trials.steps.len() >= FEWEST_LOADS && undisturbed.steps.len() < FEWEST_LOADS;
        if is_disturbed
            && limits_text(trials, contender).is_empty()
            && nothing_found(trials).is_none()
        {
            names.push(trials.contender.into());
            disturbed += trials.count() - undisturbed.count();
            all += trials.count();
        }
    }
    (!names.is_empty()).then(|| {
        let disturbed = disturbed.to_string();
        message!("undecided.limits", names, disturbed, all = message!("trials", count = all))
    })
}

/// Number of contenders that are compared with another one.
fn contender_pairs(facts: &Facts) -> usize {
    let factors: Vec<&Factors> = facts.trials.iter().map(|trials| trials.factors).collect();
    pairings(&factors, None).len()
}

/// Minimum number of repetitions of each contender that can reach a significant p-value by ranks.
fn enough_repetitions() -> usize {
    (1..100).find(|n| rank::least_p(*n, *n) <= SIGNIFICANT).unwrap_or(usize::MAX)
}

/// Saturation throughput of each repetition.
fn plateaus(trials: &Trials) -> Vec<f64> {
    let trials = trials.undisturbed();
    let repetitions = trials.repetitions.iter();
    repetitions.filter_map(|repetition| plateau(&trials.curve_of(*repetition))).collect()
}

/// Rule: the bottleneck of each server, unless it is reported with the saturation point.
fn bottleneck(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for contender in facts.contenders {
        let Some(bottleneck) = &contender.bottleneck else { continue };
        let sentence = bottleneck.sentence.clone();
        let contender_name = &*contender.contender;
        remarks.push(match bottleneck.culprit {
            Culprit::NotFound => continue,
            Culprit::Generator => Remark::warning(message!(
                "sweep-bottleneck.generator",
                contender = contender_name,
                bottleneck = sentence
            )),
            _ if limit(contender, LimitKind::Saturation).is_some() => continue,
            _ => Remark::note(message!(
                "sweep-bottleneck.nearest",
                contender = contender_name,
                bottleneck = sentence
            )),
        });
    }
    remarks
}

/// Rule: nothing near its limit was read.
fn bottleneck_not_found(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for contender in facts.contenders {
        let bottleneck = contender.bottleneck.as_ref();
        let not_found = bottleneck.filter(|found| found.culprit == Culprit::NotFound);
        remarks.extend(not_found.map(|bottleneck| {
            Remark::note(message!(
                "sweep-bottleneck.not-found",
                contender = &*contender.contender,
                bottleneck = bottleneck.sentence.clone()
            ))
        }));
    }
    remarks
}

/// Returns the server's bottleneck, if one was found.
fn bottleneck_of_server(contender: &ContenderAnalysis) -> Option<Text> {
    let bottleneck = contender.bottleneck.as_ref()?;
    let is_servers = !matches!(bottleneck.culprit, Culprit::NotFound | Culprit::Generator);
    is_servers.then(|| bottleneck.sentence.clone())
}

//! What the sweep was made for: who is better, how much each server carries, what it lacked.

use super::{Facts, Rule, limit};
use crate::compare;
use crate::explain::Remark;
use crate::levels::{Factors, Pairing, pairings};
use crate::sweep::limits::{growth, peak, plateau};
use crate::sweep::trials::Trials;
use brunt_model::analysis::{ContenderAnalysis, Culprit, LimitKind};
use brunt_model::numbers::{self, listed, percent, rate, three};
use brunt_stats::rank;

/// A test finds a difference below this p.
const SIGNIFICANT: f64 = 0.05;

/// A row a rule, in the order in which they are read.
pub const RULES: &[Rule] =
    &[("difference", difference), ("faster", faster), ("capacity", capacity), ("bottleneck", bottleneck)];

/// Knee, saturation point and what holds up to which load, in one sentence a contender.
fn capacity(facts: &Facts) -> Vec<Remark> {
    let of = |(trials, found): (&Trials, &ContenderAnalysis)| {
        let said = limits_in_words(trials, found);
        if said.is_empty() {
            return nothing_found(trials);
        }
        Some(Remark::note(format!("{}: {}.", found.contender, listed(&said))))
    };
    facts.trials.iter().zip(facts.contenders).filter_map(of).collect()
}

fn limits_in_words(trials: &Trials, found: &ContenderAnalysis) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let at = |kind| limit(found, kind).map(|(_, at)| at.value);
    if let Some(most) = at(LimitKind::Saturation) {
        let bottleneck = of_server(found).map_or(String::new(), |sentence| format!(" ({sentence})"));
        said.push(format!("throughput saturates at {}{bottleneck}", rate(most)));
    }
    if let Some(knee) = at(LimitKind::Knee) {
        said.push(format!("the response time bends at {}", numbers::load(trials.unit, knee)));
    }
    let curve = trials.curve();
    if let Some(peak) = peak(&curve).filter(|_| growth(&curve).plateau().is_some() && plateau(&curve).is_none()) {
        said.push(format!("throughput peaks at {} at {}", rate(peak.achieved), numbers::load(trials.unit, peak.load)));
    }
    let bounds = found.limits.iter().filter(|limit| [LimitKind::Objective, LimitKind::Patience].contains(&limit.kind));
    let held = bounds.filter_map(|limit| Some((limit, limit.at.filter(|at| at.value > 0.0)?)));
    said.extend(held.map(|(limit, at)| format!("{} holds up to {}", limit.name, numbers::load(trials.unit, at.value))));
    said
}

/// A range without a limit; fewer than two loads are none.
fn nothing_found(trials: &Trials) -> Option<Remark> {
    let [first, .., last] = &trials.steps[..] else { return None };
    let low = numbers::load(trials.unit, first.load);
    let high = numbers::load(trials.unit, last.load);
    let sentence = format!("{}: no knee and no saturation point from {low} to {high}.", trials.contender);
    let remedy = if trials.left_out_above > 0 {
        format!("{}; the verdicts of these trials say why: brunt report ID", trials.advice_above())
    } else {
        "sweep further; each limit states the direction".to_owned()
    };
    Some(Remark::note(sentence).remedy(remedy))
}

/// Who saturates higher, and whether that can be told from chance: each two contenders that differ in one factor.
fn difference(facts: &Facts) -> Vec<Remark> {
    let factors: Vec<&Factors> = facts.trials.iter().map(|trials| trials.factors).collect();
    let at =
        |index: usize| Some((&facts.trials[index], limit(&facts.contenders[index], LimitKind::Saturation)?.1.value));
    let of = |pairing: &Pairing| {
        let (ours, theirs) = (at(pairing.ours)?, at(pairing.theirs)?);
        let (better, worse) = if ours.1 >= theirs.1 { (ours, theirs) } else { (theirs, ours) };
        Some(beside(better.0, better.1, worse.0, worse.1))
    };
    pairings(&factors).iter().filter_map(of).collect()
}

/// Whose response time is lower, at each load.
fn faster(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = facts.trials.first() else { return Vec::new() };
    compare::sentences(facts.pairs, trials.unit).into_iter().map(Remark::note).collect()
}

fn beside(best: &Trials, most: f64, other: &Trials, less: f64) -> Remark {
    let (ours, theirs) = (plateaus(best), plateaus(other));
    let ends = format!("{} saturates at {}, {} at {}", best.contender, rate(most), other.contender, rate(less));
    let least = rank::least_p(ours.len(), theirs.len());
    if least > SIGNIFICANT {
        let said = format!("{ends}. No difference can be tested: {}.", too_few(ours.len(), theirs.len(), least));
        return Remark::warning(said).remedy(format!("measure each {} times or more", enough()));
    }
    let p = rank::mann_whitney(&ours, &theirs);
    let of = format!("p = {} by the ranks of {} and {} repetitions", three(p), ours.len(), theirs.len());
    if p > SIGNIFICANT {
        return Remark::note(format!("{ends}: no significant difference ({of})."));
    }
    Remark::note(format!("{ends}: they differ by {} ({of}).", percent(most / less - 1.0)))
}

fn too_few(ours: usize, theirs: usize, least: f64) -> String {
    if ours <= 1 && theirs <= 1 {
        return format!(
            "one value per step shows no variation between repetitions; at least {} of each are needed",
            enough()
        );
    }
    format!(
        "the smallest p possible with {ours} against {theirs} repetitions is {least:.2}; at least {} of each are needed",
        enough()
    )
}

/// The fewest repetitions of each that can reach a significant p.
fn enough() -> usize {
    (1..100).find(|n| rank::least_p(*n, *n) <= SIGNIFICANT).unwrap_or(usize::MAX)
}

/// The saturation throughput of each repetition alone.
fn plateaus(trials: &Trials) -> Vec<f64> {
    trials.repetitions.iter().filter_map(|repetition| plateau(&trials.curve_of(*repetition))).collect()
}

/// What limited each server, unless it is said with its saturation point.
fn bottleneck(facts: &Facts) -> Vec<Remark> {
    let of = |found: &ContenderAnalysis| {
        let bottleneck = found.bottleneck.as_ref()?;
        let sentence = bottleneck.sentence.trim_end_matches('.');
        let name = &found.contender;
        Some(match bottleneck.culprit {
            Culprit::NotFound => Remark::note(format!("The bottleneck of {name} was not found: {sentence}.")),
            Culprit::Generator => Remark::warning(format!("The generator was the bottleneck, not {name}: {sentence}.")),
            _ if limit(found, LimitKind::Saturation).is_some() => return None,
            _ => Remark::note(format!(
                "{name} has no saturation point in this range; nearest to its limit at the highest loads: {sentence}."
            )),
        })
    };
    facts.contenders.iter().filter_map(of).collect()
}

/// The server's bottleneck, if one was found.
fn of_server(found: &ContenderAnalysis) -> Option<&str> {
    let bottleneck = found.bottleneck.as_ref()?;
    let is_servers = !matches!(bottleneck.culprit, Culprit::NotFound | Culprit::Generator);
    is_servers.then(|| bottleneck.sentence.trim_end_matches('.'))
}

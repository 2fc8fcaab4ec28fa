//! What the sweep was made for: capacity, differences, what the server lacked.

use super::{Facts, limit, listed};
use crate::explain::Remark;
use crate::explain::words::{percent, rate, three};
use crate::sweep::limits::{self, growth, peak, plateau};
use crate::sweep::trials::Trials;
use brunt_model::analysis::{ContenderAnalysis, Culprit, LimitKind};
use brunt_stats::rank;

/// A test finds a difference below this p.
const SIGNIFICANT: f64 = 0.05;
/// Throughput that ends so far below its greatest has fallen.
const FALLEN: f64 = 0.8;

/// Knee, saturation point and what holds up to which load, in one sentence a contender.
pub fn capacity(facts: &Facts) -> Vec<Remark> {
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
    if let Some(knee) = at(LimitKind::Knee) {
        said.push(format!("the response time bends at {}", limits::load(trials.unit, knee)));
    }
    if let Some(most) = at(LimitKind::Saturation) {
        said.push(format!("throughput saturates at {}", rate(most)));
    }
    let curve = trials.curve();
    if let Some(peak) = peak(&curve).filter(|_| growth(&curve).plateau().is_some() && plateau(&curve).is_none()) {
        said.push(format!("throughput peaks at {} at {}", rate(peak.achieved), limits::load(trials.unit, peak.load)));
    }
    let bounds = found.limits.iter().filter(|limit| [LimitKind::Objective, LimitKind::Patience].contains(&limit.kind));
    let held = bounds.filter_map(|limit| Some((limit, limit.at.filter(|at| at.value > 0.0)?)));
    said.extend(held.map(|(limit, at)| format!("{} holds up to {}", limit.name, limits::load(trials.unit, at.value))));
    said
}

/// A range without a limit; fewer than two loads are none.
fn nothing_found(trials: &Trials) -> Option<Remark> {
    let [first, .., last] = &trials.steps[..] else { return None };
    let (low, high) = (limits::load(trials.unit, first.load), limits::load(trials.unit, last.load));
    let sentence = format!("{}: no knee and no saturation point from {low} to {high}.", trials.contender);
    let remedy = if trials.left_out_above > 0 {
        format!("{}; the verdicts of these trials say why: brunt report ID", trials.advice_above())
    } else {
        "sweep further; each limit states the direction".to_owned()
    };
    Some(Remark::note(sentence).remedy(remedy))
}

/// Who saturates higher, and whether that can be told from chance: the highest beside each of the others.
pub fn difference(facts: &Facts) -> Vec<Remark> {
    let with_plateau = facts.trials.iter().zip(facts.contenders);
    let mut plateaus: Vec<(&Trials, f64)> =
        with_plateau.filter_map(|(t, found)| Some((t, limit(found, LimitKind::Saturation)?.1.value))).collect();
    plateaus.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(((best, most), others)) = plateaus.split_first() else { return Vec::new() };
    others.iter().map(|(other, less)| beside(best, *most, other, *less)).collect()
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

/// What limited each server.
pub fn bottleneck(facts: &Facts) -> Vec<Remark> {
    let of = |found: &ContenderAnalysis| {
        let bottleneck = found.bottleneck.as_ref()?;
        let sentence = bottleneck.sentence.trim_end_matches('.');
        Some(match bottleneck.culprit {
            Culprit::NotFound => {
                Remark::note(format!("The bottleneck of {} was not found: {sentence}.", found.contender))
            }
            Culprit::Generator => {
                Remark::warning(format!("The generator was the bottleneck, not {}: {sentence}.", found.contender))
            }
            _ if limit(found, LimitKind::Saturation).is_none() => Remark::note(format!(
                "{} has no saturation point in this range; nearest to its limit at the highest loads: {sentence}.",
                found.contender
            )),
            _ => Remark::note(format!("Bottleneck of {}: {sentence}.", found.contender)),
        })
    };
    facts.contenders.iter().filter_map(of).collect()
}

/// Throughput that falls behind its peak: a server that does less the more it is asked.
pub fn falls(facts: &Facts) -> Vec<Remark> {
    let of = |trials: &Trials| {
        let curve = trials.curve();
        let peak = curve.iter().max_by(|a, b| a.achieved.total_cmp(&b.achieved))?;
        // One low step is an outlier, not a fall.
        let [.., before, last] = &curve[..] else { return None };
        let left = before.achieved.max(last.achieved);
        (left < FALLEN * peak.achieved && last.load > peak.load).then(|| {
            Remark::warning(format!(
                "{}: the throughput falls under overload, from {} at {} to {} at {}.",
                trials.contender,
                rate(peak.achieved),
                limits::load(trials.unit, peak.load),
                rate(last.achieved),
                limits::load(trials.unit, last.load),
            ))
            .remedy("keep the load below the peak; bound the server's queues")
        })
    };
    facts.trials.iter().filter_map(of).collect()
}

//! Which runs stand beside which, and which are left out.
//!
//! Out of scope: any figure of them.

use super::figures::{capacity, figure};
use crate::levels::{Factors, Pairing, pairings};
use brunt_model::answer::SearchEnd;
use brunt_model::comparison::FoundCapacity;
use brunt_model::finding::State;
use brunt_model::numbers::load;
use brunt_model::question::{Compare, Measure};
use brunt_model::{Contender, Judgement, LoadUnit, Run, Study, Trial, TrialIndex};
use brunt_stats::shift::Between;
use std::ops::Range;

/// All pairs of contenders.
pub struct Sample<'a> {
    /// Each at each load.
    pub pairs: Vec<Paired<'a>>,
    /// Repetitions in which each contender was measured.
    pub blocks: u32,
    /// What was left out, and what is not to be forgotten; each a sentence.
    pub notes: Vec<String>,
    /// A run of each contender that has one.
    pub first_runs: Vec<(String, &'a Run)>,
}

/// Two contenders at one load.
pub struct Paired<'a> {
    /// The first.
    pub ours: String,
    /// The other.
    pub theirs: String,
    /// The load that both had, with what it is counted in; None where each had its own.
    pub load: Option<(LoadUnit, f64)>,
    /// Their runs.
    pub runs: Runs<'a>,
}

/// The runs of two contenders.
pub enum Runs<'a> {
    /// Side by side, in the order of their blocks, of which there may be so many.
    Blocks(Vec<(&'a Run, &'a Run)>, u32),
    /// No runs of the same load: the capacities that were found in each block, of which there may be so many.
    Capacities(Vec<(Between, Between)>, u32),
    /// Two groups.
    Groups(Vec<&'a Run>, Vec<&'a Run>),
}

/// All figures of a pair.
pub struct PairFigures {
    /// The name of the other.
    pub theirs: String,
    /// Each.
    pub figures: Vec<(Measure, Figures)>,
}

/// One figure of both.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Of the first.
    pub ours: Vec<Between>,
    /// Of the other.
    pub theirs: Vec<Between>,
    /// Paired in blocks, of which there may be so many; None: they are two groups.
    pub most: Option<u32>,
}

impl<'a> Sample<'a> {
    /// The trials of a study: one repetition is one block.
    pub fn of_study(study: &'a Study, spec: &Compare, searched: &[FoundCapacity]) -> Self {
        let contenders = &study.experiment.contenders;
        let mut pairs = Vec::new();
        let factors: Vec<&Factors> = contenders.iter().map(|contender| contender.factors.as_slice()).collect();
        let pairings = pairings(&factors);
        for pairing in &pairings {
            pairs.extend(known_steps(study, *pairing).map(|step| paired(study, *pairing, step)));
        }
        if spec.at_capacity.is_some() {
            let capacities = pairings.iter().map(|pairing| of_capacities(study, *pairing, searched));
            // What decides comes first.
            let first = if spec.metrics.first() == Some(&Measure::Capacity) { 0 } else { pairs.len() };
            pairs.splice(first..first, capacities);
        }
        let whole = |repetition: &u32| {
            let of = |contender: usize| match &spec.at_capacity {
                Some(_) => found(study, contender, *repetition, searched).is_some(),
                None => study.of(contender).any(|t| t.place.repetition == *repetition && objection(t).is_none()),
            };
            (0..contenders.len()).all(of)
        };
        let first = |(index, contender): (usize, &'a Contender)| {
            let trial = study.of(index).find(|trial| objection(trial).is_none())?;
            Some((contender.name.clone(), &trial.run))
        };
        Self {
            pairs,
            blocks: (0..study.experiment.repetitions).filter(whole).count() as u32,
            notes: notes(study, searched),
            first_runs: contenders.iter().enumerate().filter_map(first).collect(),
        }
    }

    /// Runs that were kept, by contender; `judge` tells which are usable.
    pub fn of_groups(groups: &[(String, Vec<&'a Run>)], judge: impl Fn(&Run) -> Judgement) -> Sample<'a> {
        let mut notes = vec![
            "The runs were not alternating: other changes between them are unknown, and no test can separate them from the contenders."
                .to_owned(),
        ];
        let mut usable = Vec::new();
        for (name, runs) in groups {
            let mut kept = Vec::new();
            for run in runs {
                match reason(&judge(run)) {
                    Some(reason) => notes.push(format!("A run of {name} is excluded: {reason}.")),
                    None => kept.push(*run),
                }
            }
            usable.push(kept);
        }
        let Some((ours, others)) = groups.split_first() else {
            return Sample { pairs: Vec::new(), blocks: 0, notes, first_runs: Vec::new() };
        };
        let pair = |(theirs, runs): (&(String, Vec<&'a Run>), &Vec<&'a Run>)| Paired {
            ours: ours.0.clone(),
            theirs: theirs.0.clone(),
            load: load_of(usable[0].iter().chain(runs)),
            runs: Runs::Groups(usable[0].clone(), runs.clone()),
        };
        let first = |((name, _), kept): (&(String, Vec<&'a Run>), &Vec<&'a Run>)| Some((name.clone(), *kept.first()?));
        let first_runs = groups.iter().zip(&usable).filter_map(first).collect();
        Sample { pairs: others.iter().zip(&usable[1..]).map(pair).collect(), blocks: 0, notes, first_runs }
    }
}

impl Paired<'_> {
    /// All of these figures that a pair of this kind has.
    pub fn all(&self, measures: &[Measure]) -> PairFigures {
        let own = measures.iter().filter(|measure| self.has(**measure));
        let figures = own.map(|measure| (*measure, self.figures(*measure))).collect();
        PairFigures { theirs: self.theirs.clone(), figures }
    }

    /// Whether it is a figure of this kind of pair: capacities are no runs'.
    pub fn has(&self, measure: Measure) -> bool {
        matches!(self.runs, Runs::Capacities(..)) == (measure == Measure::Capacity)
    }

    /// A figure of both, of the blocks in which both have it; of two groups, of the runs that have it.
    pub fn figures(&self, measure: Measure) -> Figures {
        match &self.runs {
            Runs::Blocks(blocks, most) => {
                let both = |(ours, theirs): &(&Run, &Run)| Some((figure(ours, measure)?, figure(theirs, measure)?));
                let (ours, theirs) = blocks.iter().filter_map(both).unzip();
                Figures { ours, theirs, most: Some(*most) }
            }
            Runs::Capacities(blocks, most) => {
                let own = blocks.iter().filter(|_| self.has(measure)).copied();
                let (ours, theirs) = own.unzip();
                Figures { ours, theirs, most: Some(*most) }
            }
            Runs::Groups(ours, theirs) => {
                let of = |runs: &[&Run]| runs.iter().filter_map(|run| figure(run, measure)).collect();
                Figures { ours: of(ours), theirs: of(theirs), most: None }
            }
        }
    }
}

/// Returns a sentence for each reason why searches did not find the capacity of a contender.
fn unknown_capacities(contender: &str, searched: &[FoundCapacity]) -> Vec<String> {
    let own: Vec<&FoundCapacity> = searched.iter().filter(|one| one.contender == contender).collect();
    let unknown: Vec<SearchEnd> = own.iter().filter(|one| one.at.value.is_none()).map(|one| one.ended).collect();
    let mut reasons = unknown.clone();
    reasons.sort_unstable();
    reasons.dedup();
    let sentence = |reason: SearchEnd| {
        let count = unknown.iter().filter(|end| **end == reason).count();
        let remedy = match reason {
            SearchEnd::Most => "; raise it (--max-load, in a plan find.max_load)",
            SearchEnd::Budget | SearchEnd::Precise => "; raise it (--time-budget, in a plan find.time_budget)",
            SearchEnd::Generator | SearchEnd::Least | SearchEnd::Damaged | SearchEnd::Stopped => "",
        };
        format!("The capacity of {contender} is not known in {count} of {} searches: {reason}{remedy}.", own.len())
    };
    reasons.into_iter().map(sentence).collect()
}

/// The steps that both have and whose loads were known before.
fn known_steps(study: &Study, pairing: Pairing) -> Range<usize> {
    let experiment = &study.experiment;
    if experiment.grows() {
        return 1..experiment.given() + 1;
    }
    let [ours, theirs] = [pairing.ours, pairing.theirs].map(|index| experiment.contenders[index].steps.len());
    0..ours.min(theirs)
}

fn of_capacities<'a>(study: &'a Study, pairing: Pairing, searched: &[FoundCapacity]) -> Paired<'a> {
    let Pairing { ours, theirs } = pairing;
    let experiment = &study.experiment;
    let found = |contender, repetition| found(study, contender, repetition, searched);
    let block = |repetition| Some((found(ours, repetition)?, found(theirs, repetition)?));
    let blocks = (0..experiment.repetitions).filter_map(block).collect();
    Paired {
        ours: experiment.contenders[ours].name.clone(),
        theirs: experiment.contenders[theirs].name.clone(),
        load: None,
        runs: Runs::Capacities(blocks, experiment.repetitions),
    }
}

/// The capacity of a contender in a repetition.
fn found(study: &Study, contender: usize, repetition: u32, searched: &[FoundCapacity]) -> Option<Between> {
    let name = &study.experiment.contenders.get(contender)?.name;
    let of = searched.iter().find(|one| one.contender == *name && one.repetition == repetition + 1)?;
    capacity(of.at)
}

fn paired(study: &Study, pairing: Pairing, step: usize) -> Paired<'_> {
    let experiment = &study.experiment;
    let [first, other] = [pairing.ours, pairing.theirs].map(|index| &experiment.contenders[index]);
    let run = |contender, repetition| {
        let place = TrialIndex { repetition, contender, step };
        study.trials.iter().find(|trial| trial.place == place && objection(trial).is_none()).map(|trial| &trial.run)
    };
    let block = |repetition| Some((run(pairing.ours, repetition)?, run(pairing.theirs, repetition)?));
    let same = first.unit() == other.unit() && first.steps[step].load == other.steps[step].load;
    Paired {
        ours: first.name.clone(),
        theirs: other.name.clone(),
        load: same.then(|| (first.unit(), first.steps[step].load)),
        runs: Runs::Blocks((0..experiment.repetitions).filter_map(block).collect(), experiment.repetitions),
    }
}

/// The load that all of them had.
fn load_of<'a>(mut runs: impl Iterator<Item = &'a &'a Run>) -> Option<(LoadUnit, f64)> {
    let load = |run: &Run| {
        let load = &run.plan.as_ref()?.main().load;
        Some((LoadUnit::from(load), load.peak()))
    };
    let first = load(runs.next()?)?;
    runs.all(|run| load(run) == Some(first)).then_some(first)
}

/// Why a trial cannot stand beside others.
fn objection(trial: &Trial) -> Option<&'static str> {
    reason(&trial.judgement)
}

fn reason(judgement: &Judgement) -> Option<&'static str> {
    if judgement.verdict.state == State::Invalid {
        return Some("a consistency check failed in it");
    }
    judgement.findings.iter().any(|finding| finding.rule == "cut_short").then_some("it was cut short")
}

fn notes(study: &Study, searched: &[FoundCapacity]) -> Vec<String> {
    let experiment = &study.experiment;
    // What a search makes of its trials is in what it found.
    let known_before = |trial: &&Trial| !experiment.was_chosen(trial.place);
    let name = |trial: &Trial| {
        let contender = experiment.contenders.get(trial.place.contender);
        let at = experiment.step(trial.place).map(|step| load(LoadUnit::from(&step.plan.main().load), step.load));
        format!(
            "{} at {} in repetition {}",
            contender.map_or("a contender", |contender| &contender.name),
            at.unwrap_or_default(),
            trial.place.repetition + 1
        )
    };
    let mut notes: Vec<String> = (study.trials.iter())
        .filter(known_before)
        .filter_map(|trial| Some(format!("{} is excluded with its block: {}.", name(trial), objection(trial)?)))
        .collect();
    for (index, contender) in experiment.contenders.iter().enumerate() {
        let all = || study.of(index).filter(known_before);
        for state in State::ALL.into_iter().filter(|state| state.is_disturbed()) {
            let trials: Vec<&Trial> = all().filter(|trial| trial.judgement.verdict.state == state).collect();
            notes.extend(trials.first().map(|first| {
                format!(
                    "In {} of {} trials of {}, {}{}.",
                    trials.len(),
                    all().count(),
                    contender.name,
                    state.words(),
                    first
                        .judgement
                        .verdict
                        .causes
                        .first()
                        .map_or(String::new(), |cause| format!(": {}", cause.sentence))
                )
            }));
        }
        let begun = |repetition: &u32| study.searched(index, *repetition).next().is_some();
        let unknown = |repetition: &u32| found(study, index, *repetition, searched).is_none();
        let left_out = (0..experiment.repetitions).filter(begun).filter(unknown);
        notes.extend(unknown_capacities(&contender.name, searched));
        notes.extend(left_out.map(|repetition| {
            format!(
                "The capacity of {} in repetition {} is unknown: its block is excluded.",
                contender.name,
                repetition + 1
            )
        }));
    }
    notes
}

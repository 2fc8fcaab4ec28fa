//! Which runs stand beside which, and which are left out.
//!
//! What it is not: any figure of them.

use super::figures::figure;
use crate::sweep::load;
use brunt_model::finding::State;
use brunt_model::question::Measure;
use brunt_model::{Contender, Judgement, LoadUnit, Place, Run, Study, Trial};
use brunt_stats::shift::Between;

/// All pairs of contenders.
pub struct Sample<'a> {
    /// Each contender against the first, at each load.
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
    pub fn of_study(study: &'a Study) -> Self {
        let contenders = &study.experiment.contenders;
        let mut pairs = Vec::new();
        for theirs in 1..contenders.len() {
            let steps = contenders[0].steps.len().min(contenders[theirs].steps.len());
            pairs.extend((0..steps).map(|step| paired(study, theirs, step)));
        }
        let whole = |repetition: &u32| {
            let of =
                |contender| study.of(contender).any(|t| t.place.repetition == *repetition && objection(t).is_none());
            (0..contenders.len()).all(of)
        };
        let first = |(index, contender): (usize, &'a Contender)| {
            let trial = study.of(index).find(|trial| objection(trial).is_none())?;
            Some((contender.name.clone(), &trial.run))
        };
        Self {
            pairs,
            blocks: (0..study.experiment.repetitions).filter(whole).count() as u32,
            notes: notes(study),
            first_runs: contenders.iter().enumerate().filter_map(first).collect(),
        }
    }

    /// Runs that were kept, by contender; `judge` tells which are usable.
    pub fn of_groups(groups: &[(String, Vec<&'a Run>)], judge: impl Fn(&Run) -> Judgement) -> Sample<'a> {
        let mut notes = vec![
            "The runs were not made side by side: what changed between them besides the contenders is not known, and \
             no test can tell it apart."
                .to_owned(),
        ];
        let mut usable = Vec::new();
        for (name, runs) in groups {
            let mut kept = Vec::new();
            for run in runs {
                match reason(&judge(run)) {
                    Some(reason) => notes.push(format!("A run of {name} is left out: {reason}.")),
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
    /// All of these figures.
    pub fn all(&self, measures: &[Measure]) -> PairFigures {
        let figures = measures.iter().map(|measure| (*measure, self.figures(*measure))).collect();
        PairFigures { theirs: self.theirs.clone(), figures }
    }

    /// A figure of both, of the blocks in which both have it; of two groups, of the runs that have it.
    pub fn figures(&self, measure: Measure) -> Figures {
        match &self.runs {
            Runs::Blocks(blocks, most) => {
                let both = |(ours, theirs): &(&Run, &Run)| Some((figure(ours, measure)?, figure(theirs, measure)?));
                let (ours, theirs) = blocks.iter().filter_map(both).unzip();
                Figures { ours, theirs, most: Some(*most) }
            }
            Runs::Groups(ours, theirs) => {
                let of = |runs: &[&Run]| runs.iter().filter_map(|run| figure(run, measure)).collect();
                Figures { ours: of(ours), theirs: of(theirs), most: None }
            }
        }
    }
}

fn paired(study: &Study, theirs: usize, step: usize) -> Paired<'_> {
    let experiment = &study.experiment;
    let (first, other) = (&experiment.contenders[0], &experiment.contenders[theirs]);
    let run = |contender, repetition| {
        let place = Place { repetition, contender, step };
        study.trials.iter().find(|trial| trial.place == place && objection(trial).is_none()).map(|trial| &trial.run)
    };
    let block = |repetition| Some((run(0, repetition)?, run(theirs, repetition)?));
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
        let load = &run.plan.as_ref()?.load;
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
        return Some("a sum in it does not come out even");
    }
    judgement.findings.iter().any(|finding| finding.rule == "cut_short").then_some("it was cut short")
}

fn notes(study: &Study) -> Vec<String> {
    let experiment = &study.experiment;
    let name = |trial: &Trial| {
        let contender = experiment.contenders.get(trial.place.contender);
        let at = experiment.step(trial.place).map(|step| load(LoadUnit::from(&step.plan.load), step.load));
        format!(
            "{} at {} in repetition {}",
            contender.map_or("a contender", |contender| &contender.name),
            at.unwrap_or_default(),
            trial.place.repetition + 1
        )
    };
    let mut notes: Vec<String> = (study.trials.iter())
        .filter_map(|trial| Some(format!("{} is left out, and its block with it: {}.", name(trial), objection(trial)?)))
        .collect();
    for (index, contender) in experiment.contenders.iter().enumerate() {
        let limited = study.of(index).filter(|trial| trial.judgement.verdict.state == State::Limited).count();
        if limited > 0 {
            notes.push(format!(
                "The generator was the limit in {limited} of {} trials of {}: their figures are not the server's alone.",
                study.of(index).count(),
                contender.name
            ));
        }
    }
    notes
}

//! Pairs the runs of contenders, and excludes unusable ones.
//!
//! Out of scope: any figure of the runs.

use super::figures::{capacity, figure};
use crate::levels::{Factors, Pairing, pairings};
use crate::texts::message;
use brunt_model::answer::SearchEnd;
use brunt_model::comparison::FoundCapacity;
use brunt_model::finding::State;
use brunt_model::objective::Metric;
use brunt_model::question::{ComparisonSettings, Measure};
use brunt_model::{Judgement, LoadUnit, Run, Study, Text, Trial, TrialIndex, text};
use brunt_stats::shift::ValueRange;
use std::ops::Range;

/// All pairs of contenders.
pub struct ContenderPairs<'a> {
    /// Each pair at each load.
    pub pairs: Vec<ContenderPair<'a>>,
    /// Number of repetitions in which each contender was measured.
    pub blocks: u32,
    /// Sentences on excluded runs, and on doubts about the rest.
    pub notes: Vec<Text>,
    /// A usable run of each contender that has one.
    pub first_runs: Vec<(String, &'a Run)>,
}

/// Two contenders at one load.
pub struct ContenderPair<'a> {
    /// Name of the first contender.
    pub ours: String,
    /// Name of the second contender.
    pub theirs: String,
    /// Load of both, with its unit; None if each had its own load.
    pub load: Option<(LoadUnit, f64)>,
    pub runs: Runs<'a>,
}

/// Runs of two contenders.
pub enum Runs<'a> {
    /// Pairs of runs in the order of their blocks, and the maximum number of blocks.
    Blocks(Vec<(&'a Run, &'a Run)>, u32),
    /// Capacities that were found in each block, and the maximum number of blocks.
    Capacities(Vec<(ValueRange, ValueRange)>, u32),
    /// Two groups of runs.
    Groups(Vec<StoredRun<'a>>, Vec<StoredRun<'a>>),
}

/// A usable stored run.
#[derive(Clone, Copy)]
pub struct StoredRun<'a> {
    run: &'a Run,
    /// True if something other than the server may have made its figures worse.
    is_disturbed: bool,
}

/// All figures of a pair.
pub struct PairFigures {
    /// Name of the second contender.
    pub theirs: String,
    pub figures: Vec<(Measure, FigurePair)>,
}

/// One figure of both contenders.
#[derive(Debug, Clone, PartialEq)]
pub struct FigurePair {
    /// Values of the first contender.
    pub ours: Vec<ValueRange>,
    /// Values of the second contender.
    pub theirs: Vec<ValueRange>,
    pub design: SampleDesign,
}

/// How the values of two contenders belong together.
#[derive(Debug, Clone, PartialEq)]
pub enum SampleDesign {
    /// They are paired in blocks; the maximum number of these.
    Blocks { most: u32 },
    /// They are two groups. Bounds of the figures that the servers have without a disturbance:
    /// unlike the runs of a block, only one group may have been disturbed.
    Groups { ours: Vec<ValueRange>, theirs: Vec<ValueRange> },
}

impl<'a> ContenderPairs<'a> {
    /// Samples the trials of a study: one repetition is one block.
    pub fn of_study(
        study: &'a Study,
        spec: &ComparisonSettings,
        searched: &[FoundCapacity],
    ) -> Self {
        let contenders = &study.experiment.contenders;
        let mut pairs = Vec::new();
        let factors: Vec<&Factors> =
            contenders.iter().map(|contender| contender.factors.as_slice()).collect();
        let pairings = pairings(&factors, spec.factor.as_deref());
        for pairing in &pairings {
            pairs.extend(
                known_steps(study, *pairing).map(|step| pair_at_step(study, *pairing, step)),
            );
        }
        if spec.at_capacity.is_some() {
            let capacities =
                pairings.iter().map(|pairing| pair_of_capacities(study, *pairing, searched));
            // The deciding figure comes first.
            let first =
                if spec.metrics.first() == Some(&Measure::Capacity) { 0 } else { pairs.len() };
            pairs.splice(first..first, capacities);
        }
        let mut blocks = 0;
        for repetition in 0..study.experiment.repetitions {
            let is_whole = (0..contenders.len())
                .all(|contender| has_result(study, spec, searched, contender, repetition));
            blocks += u32::from(is_whole);
        }
        let mut first_runs = Vec::new();
        for (index, contender) in contenders.iter().enumerate() {
            let trial = study.trials_of(index).find(|trial| objection(trial).is_none());
            first_runs.extend(trial.map(|trial| (contender.name.clone(), &trial.run)));
        }
        Self { pairs, blocks, notes: notes(study, searched), first_runs }
    }

    /// Samples stored runs, by contender; `judge` decides which are usable.
    pub fn of_groups(
        groups: &[(String, Vec<&'a Run>)],
        judge: impl Fn(&Run) -> Judgement,
    ) -> ContenderPairs<'a> {
        let mut notes = vec![text!("not-alternating")];
        let mut usable = Vec::new();
        for (name, runs) in groups {
            let mut usable_runs = Vec::new();
            let mut judgements = Vec::new();
            for run in runs {
                let judgement = judge(run);
                if let Some(reason) = reason(&judgement) {
                    notes.push(message!("excluded-run", contender = &**name, reason));
                } else {
                    let is_disturbed = judgement.verdict.state.is_disturbed();
                    usable_runs.push(StoredRun { run, is_disturbed });
                    judgements.push(judgement);
                }
            }
            notes.extend(disturbances(name, &judgements.iter().collect::<Vec<_>>()));
            usable.push(usable_runs);
        }
        let Some((ours, others)) = groups.split_first() else {
            return ContenderPairs { pairs: Vec::new(), blocks: 0, notes, first_runs: Vec::new() };
        };
        let mut pairs = Vec::new();
        for ((theirs, _), runs) in others.iter().zip(&usable[1..]) {
            pairs.push(ContenderPair {
                ours: ours.0.clone(),
                theirs: theirs.clone(),
                load: load_of(usable[0].iter().chain(runs).map(|stored| stored.run)),
                runs: Runs::Groups(usable[0].clone(), runs.clone()),
            });
        }
        let mut first_runs = Vec::new();
        for ((name, _), runs) in groups.iter().zip(&usable) {
            first_runs.extend(runs.first().map(|stored| (name.clone(), stored.run)));
        }
        ContenderPairs { pairs, blocks: 0, notes, first_runs }
    }
}

impl ContenderPair<'_> {
    /// True if another pair has the same contenders.
    pub fn has_contenders_of(&self, other: &Self) -> bool {
        self.ours == other.ours && self.theirs == other.theirs
    }

    /// Returns those of these figures that a pair of this kind has.
    pub fn all(&self, measures: &[Measure]) -> PairFigures {
        let available = measures.iter().filter(|measure| self.has(**measure));
        let figures = available.map(|measure| (*measure, self.figures(*measure))).collect();
        PairFigures { theirs: self.theirs.clone(), figures }
    }

    /// True if a pair of this kind has this figure: runs have no capacities, and
    /// capacities no other figures.
    pub fn has(&self, measure: Measure) -> bool {
        matches!(self.runs, Runs::Capacities(..)) == (measure == Measure::Capacity)
    }

    /// Returns a figure of both contenders: of the blocks in which both have it, or of the runs of
    /// two groups that have it.
    pub fn figures(&self, measure: Measure) -> FigurePair {
        match &self.runs {
            Runs::Blocks(blocks, most) => {
                let both = blocks.iter().filter_map(|(ours, theirs)| {
                    Some((figure(ours, measure)?, figure(theirs, measure)?))
                });
                let (ours, theirs) = both.unzip();
                FigurePair { ours, theirs, design: SampleDesign::Blocks { most: *most } }
            }
            Runs::Capacities(blocks, most) => {
                let (ours, theirs) = blocks.iter().filter(|_| self.has(measure)).copied().unzip();
                FigurePair { ours, theirs, design: SampleDesign::Blocks { most: *most } }
            }
            Runs::Groups(ours, theirs) => FigurePair {
                ours: known_figures(ours, measure),
                theirs: known_figures(theirs, measure),
                design: SampleDesign::Groups {
                    ours: undisturbed_figures(ours, measure),
                    theirs: undisturbed_figures(theirs, measure),
                },
            },
        }
    }
}

fn known_figures(runs: &[StoredRun], measure: Measure) -> Vec<ValueRange> {
    runs.iter().filter_map(|stored| figure(stored.run, measure)).collect()
}

/// Bounds of a figure without disturbances, by run.
fn undisturbed_figures(runs: &[StoredRun], measure: Measure) -> Vec<ValueRange> {
    runs.iter().filter_map(|stored| stored.undisturbed_figure(measure)).collect()
}

impl StoredRun<'_> {
    /// Returns bounds of a figure without disturbances: these make figures worse, never better.
    fn undisturbed_figure(self, measure: Measure) -> Option<ValueRange> {
        let measured = figure(self.run, measure)?;
        if !self.is_disturbed {
            return Some(measured);
        }
        Some(match measure {
            _ if measure.more_is_better() => ValueRange { high: f64::INFINITY, ..measured },
            // The server itself sent error replies.
            Measure::Run(Metric::Errors) => {
                let replies = self.run.throughput();
                let share = if replies > 0.0 { 1.0 - self.run.goodput() / replies } else { 0.0 };
                ValueRange { low: share.clamp(0.0, measured.low), ..measured }
            }
            _ => ValueRange { low: 0.0, ..measured },
        })
    }
}

/// Returns a sentence for each reason why searches did not find the capacity of a contender.
fn unknown_capacities(contender: &str, searched: &[FoundCapacity]) -> Vec<Text> {
    let searches: Vec<&FoundCapacity> =
        searched.iter().filter(|found| found.contender == contender).collect();
    let unknown: Vec<SearchEnd> =
        searches.iter().filter(|found| found.at.value.is_none()).map(|found| found.ended).collect();
    let mut reasons = unknown.clone();
    reasons.sort_unstable();
    reasons.dedup();
    let mut sentences = Vec::new();
    for reason in reasons {
        let count = unknown.iter().filter(|end| **end == reason).count().to_string();
        let all = searches.len().to_string();
        let end = reason.words();
        sentences.push(match reason {
            SearchEnd::Most => {
                message!("excluded-run.capacities-raise-load", contender, count, all, reason = end)
            }
            SearchEnd::Budget | SearchEnd::Precise => {
                message!("excluded-run.capacities-raise-time", contender, count, all, reason = end)
            }
            SearchEnd::Generator | SearchEnd::Least | SearchEnd::Damaged | SearchEnd::Stopped => {
                message!("excluded-run.capacities", contender, count, all, reason = end)
            }
        });
    }
    sentences
}

/// Steps of both contenders with loads that were known before the experiment.
fn known_steps(study: &Study, pairing: Pairing) -> Range<usize> {
    let experiment = &study.experiment;
    if experiment.has_search() {
        // Step 0 is the pattern for the trials of the search, and no trial itself.
        return 1..experiment.given_loads() + 1;
    }
    let [ours, theirs] =
        [pairing.ours, pairing.theirs].map(|index| experiment.contenders[index].steps.len());
    0..ours.min(theirs)
}

fn pair_of_capacities<'a>(
    study: &'a Study,
    pairing: Pairing,
    searched: &[FoundCapacity],
) -> ContenderPair<'a> {
    let Pairing { ours, theirs } = pairing;
    let experiment = &study.experiment;
    let mut blocks = Vec::new();
    for repetition in 0..experiment.repetitions {
        let our_capacity = found_capacity(study, ours, repetition, searched);
        let their_capacity = found_capacity(study, theirs, repetition, searched);
        blocks.extend(our_capacity.zip(their_capacity));
    }
    ContenderPair {
        ours: experiment.contenders[ours].name.clone(),
        theirs: experiment.contenders[theirs].name.clone(),
        load: None,
        runs: Runs::Capacities(blocks, experiment.repetitions),
    }
}

/// Capacity that was found for a contender in a repetition.
fn found_capacity(
    study: &Study,
    contender: usize,
    repetition: u32,
    searched: &[FoundCapacity],
) -> Option<ValueRange> {
    let name = &study.experiment.contenders.get(contender)?.name;
    let is_searched =
        |found: &&FoundCapacity| found.contender == *name && found.repetition == repetition + 1;
    capacity(searched.iter().find(is_searched)?.at)
}

/// True if a contender has a usable result in a repetition: its capacity, if capacities are
/// compared, otherwise a trial of any step.
fn has_result(
    study: &Study,
    spec: &ComparisonSettings,
    searched: &[FoundCapacity],
    contender: usize,
    repetition: u32,
) -> bool {
    if spec.at_capacity.is_some() {
        return found_capacity(study, contender, repetition, searched).is_some();
    }
    study
        .trials_of(contender)
        .any(|trial| trial.place.repetition == repetition && objection(trial).is_none())
}

fn pair_at_step(study: &Study, pairing: Pairing, step: usize) -> ContenderPair<'_> {
    let experiment = &study.experiment;
    let first = &experiment.contenders[pairing.ours];
    let other = &experiment.contenders[pairing.theirs];
    let mut blocks = Vec::new();
    for repetition in 0..experiment.repetitions {
        let ours = usable_run(study, TrialIndex { repetition, contender: pairing.ours, step });
        let theirs = usable_run(study, TrialIndex { repetition, contender: pairing.theirs, step });
        blocks.extend(ours.zip(theirs));
    }
    let same = first.unit() == other.unit() && first.steps[step].load == other.steps[step].load;
    ContenderPair {
        ours: first.name.clone(),
        theirs: other.name.clone(),
        load: same.then(|| (first.unit(), first.steps[step].load)),
        runs: Runs::Blocks(blocks, experiment.repetitions),
    }
}

fn usable_run(study: &Study, place: TrialIndex) -> Option<&Run> {
    study
        .trials
        .iter()
        .find(|trial| trial.place == place && objection(trial).is_none())
        .map(|trial| &trial.run)
}

/// Load that all of these runs had.
fn load_of<'a>(mut runs: impl Iterator<Item = &'a Run>) -> Option<(LoadUnit, f64)> {
    let first = peak_load(runs.next()?)?;
    runs.all(|run| peak_load(run) == Some(first)).then_some(first)
}

fn peak_load(run: &Run) -> Option<(LoadUnit, f64)> {
    let load = &run.plan.as_ref()?.main().load;
    Some((LoadUnit::from(load), load.peak()))
}

/// Returns the reason why a trial cannot be compared with others.
fn objection(trial: &Trial) -> Option<Text> {
    reason(&trial.judgement)
}

fn reason(judgement: &Judgement) -> Option<Text> {
    if judgement.is_load_missing() {
        return Some(message!("excluded-run.load-missing"));
    }
    if judgement.verdict.state == State::Invalid {
        return Some(message!("excluded-run.invalid"));
    }
    judgement
        .findings
        .iter()
        .any(|finding| finding.rule == "cut_short")
        .then(|| message!("excluded-run.cut-short"))
}

fn notes(study: &Study, searched: &[FoundCapacity]) -> Vec<Text> {
    let experiment = &study.experiment;
    let mut notes = Vec::new();
    // The trials of a search count through the capacity that the search found.
    for trial in study.trials.iter().filter(|trial| !experiment.is_search_trial(trial.place)) {
        if let Some(objection) = objection(trial) {
            notes.push(excluded_trial(study, trial, objection));
        }
    }
    for (index, contender) in experiment.contenders.iter().enumerate() {
        let trials: Vec<&Trial> = study
            .trials_of(index)
            .filter(|trial| !experiment.is_search_trial(trial.place))
            .collect();
        let judgements: Vec<&Judgement> = trials.iter().map(|trial| &trial.judgement).collect();
        notes.extend(disturbances(&contender.name, &judgements));
        notes.extend(unknown_capacities(&contender.name, searched));
        for repetition in 0..experiment.repetitions {
            let is_begun = study.search_trials(index, repetition).next().is_some();
            if is_begun && found_capacity(study, index, repetition, searched).is_none() {
                notes.push(message!(
                    "excluded-run.capacity",
                    contender = &*contender.name,
                    repetition = (repetition + 1).to_string()
                ));
            }
        }
    }
    notes
}

fn excluded_trial(study: &Study, trial: &Trial, reason: Text) -> Text {
    let experiment = &study.experiment;
    let contender = experiment.contenders.get(trial.place.contender);
    let load = experiment
        .step(trial.place)
        .map(|step| LoadUnit::from(&step.plan.main().load).format(step.load));
    message!(
        "excluded-run.trial",
        contender = contender.map_or_else(
            || message!("excluded-run.unknown-contender"),
            |contender| Text::from(&*contender.name)
        ),
        loads = message!("comparison-better.at", loads = load.unwrap_or_default()),
        repetition = (trial.place.repetition + 1).to_string(),
        reason
    )
}

/// Returns a sentence for each state in which runs of a contender were disturbed.
fn disturbances(contender: &str, judgements: &[&Judgement]) -> Vec<Text> {
    let mut sentences = Vec::new();
    for state in State::ALL.into_iter().filter(|state| state.is_disturbed()) {
        let disturbed: Vec<&Judgement> = judgements
            .iter()
            .copied()
            .filter(|judgement| judgement.verdict.state == state)
            .collect();
        let Some(first) = disturbed.first() else { continue };
        let count = disturbed.len().to_string();
        let all = judgements.len().to_string();
        let state = state.words();
        sentences.push(match first.verdict.causes.first() {
            Some(cause) => message!(
                "excluded-run.disturbed-with-cause",
                count,
                all,
                contender,
                state,
                cause = cause.sentence.clone()
            ),
            None => message!("excluded-run.disturbed", count, all, contender, state),
        });
    }
    sentences
}

//! Trials of one contender, and the curves that they give.
//!
//! A curve consists of numbers (medians over trials): of all repetitions, of one repetition, or of
//! resampled repetitions and blocks. A figure of a curve gets a band and a share of the samples
//! that have it. Out of scope: the figures themselves.

use super::response::{Response, is_disturbed, is_usable};
use crate::levels::Factors;
use crate::texts::message;
use brunt_model::analysis::{Band, BandedFigure, SecondOfTrial};
use brunt_model::{LoadUnit, Objective, Observation, Observations, Text};
use brunt_stats::{bootstrap, robust};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;

/// Minimum number of repetitions for a 95 % interval of their median.
pub const ENOUGH_REPETITIONS: usize = 6;
/// Minimum number of blocks of a run for a 95 % interval of that run.
pub const ENOUGH_BLOCKS: usize = 10;
/// Number of bootstrap samples.
const DRAWS: u32 = 400;
/// A fixed seed: the same observations give the same intervals.
const SEED: u64 = 0x6272_756e_7400;

/// The trials of one contender.
pub struct Trials<'a> {
    /// Name of the contender.
    pub contender: &'a str,
    /// Its level of each factor; empty without factors.
    pub factors: &'a Factors,
    pub unit: LoadUnit,
    pub objectives: &'a [Objective],
    /// Response time that represents a trial; None if no trial has any.
    pub response: Option<Response>,
    /// Loads in ascending order; each has at least one trial.
    pub steps: Vec<LoadTrials<'a>>,
    /// Repetitions in ascending order.
    pub repetitions: Vec<u32>,
    /// Number of trials at loads above the last of `steps`; all of them were excluded.
    pub excluded_above: u64,
}

/// All trials at one load that were neither cut short nor invalid.
pub struct LoadTrials<'a> {
    pub load: f64,
    pub trials: Vec<&'a Observation>,
}

/// Figures at one load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadFigures {
    pub load: f64,
    /// Offered load per second; None in a closed loop.
    pub offered: Option<f64>,
    /// Good replies per second: a server that refuses requests does no more work for them.
    pub achieved: f64,
    /// Share of errors.
    pub errors: Option<f64>,
    /// Share of the complete replies that are errors: the server itself sent them.
    pub error_replies: f64,
    /// Share of the trials in which something else than the server changed the figures.
    pub disturbed: f64,
    /// Mean response time in seconds.
    pub mean: Option<f64>,
    /// Response time that represents the trials, in seconds.
    pub response: Option<f64>,
    /// Measured time in seconds; 0 if unknown.
    pub seconds: f64,
    /// For each objective: the share of the trials that met it.
    pub met: Vec<Option<f64>>,
}

impl LoadFigures {
    /// True if most trials at this load were disturbed, so that a server alone may do better.
    pub fn is_disturbed(&self) -> bool {
        self.disturbed > 0.5
    }

    /// Offered load per second, or the planned load.
    pub fn offered_or_load(&self) -> f64 {
        self.offered.unwrap_or(self.load)
    }
}

/// A figure of a curve, with its certainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveFigure {
    /// The figure, with its band.
    pub figure: BandedFigure,
    /// Share of the repetitions, or of the bootstrap samples, that have such a figure.
    pub share: f64,
}

impl CurveFigure {
    /// Returns a sentence if some repetitions or samples have no such figure,
    /// otherwise an empty text.
    pub fn doubt(&self) -> Text {
        if self.share > 0.95 {
            return Text::default();
        }
        let share = format!("{:.0} %", 100.0 * (1.0 - self.share));
        if self.figure.band == Band::Range {
            message!("load-limit.doubt-repetitions", share)
        } else {
            message!("load-limit.doubt-draws", share)
        }
    }
}

impl<'a> Trials<'a> {
    /// Groups the usable observations by contender.
    pub fn by_contender(observations: &'a Observations) -> Vec<Self> {
        let response = Response::choose(observations);
        (0..observations.contenders.len())
            .map(|index| Self::of_contender(observations, response, index))
            .collect()
    }

    fn of_contender(
        observations: &'a Observations,
        response: Option<Response>,
        index: usize,
    ) -> Self {
        let observed =
            observations.observations.iter().filter(|observation| observation.contender == index);
        let mut trials: Vec<&Observation> =
            observed.clone().filter(|observation| is_usable(observation)).collect();
        trials.sort_by(|a, b| a.load.total_cmp(&b.load).then(a.repetition.cmp(&b.repetition)));
        let mut repetitions: Vec<u32> = trials.iter().map(|trial| trial.repetition).collect();
        repetitions.sort_unstable();
        repetitions.dedup();
        let steps = trials.chunk_by(|a, b| a.load == b.load);
        let steps =
            steps.map(|step| LoadTrials { load: step[0].load, trials: step.to_vec() }).collect();
        let highest = trials.last().map_or(f64::NEG_INFINITY, |trial| trial.load);
        Self {
            contender: &observations.contenders[index],
            factors: observations.factors.get(index).map_or(&[][..], Vec::as_slice),
            unit: observations.unit,
            objectives: &observations.objectives,
            response,
            steps,
            repetitions,
            excluded_above: observed.filter(|observation| observation.load > highest).count()
                as u64,
        }
    }

    /// Returns these trials without disturbed ones. Only these show a limit of the server.
    pub fn undisturbed(&self) -> Self {
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let trials: Vec<&Observation> =
                step.trials.iter().copied().filter(|trial| !is_disturbed(trial)).collect();
            steps.extend((!trials.is_empty()).then_some(LoadTrials { load: step.load, trials }));
        }
        let highest = steps.last().map_or(f64::NEG_INFINITY, |step| step.load);
        let above = self.steps.iter().filter(|step| step.load > highest);
        let trials = steps.iter().flat_map(|step| &step.trials);
        let mut repetitions: Vec<u32> = trials.map(|trial| trial.repetition).collect();
        repetitions.sort_unstable();
        repetitions.dedup();
        Self {
            repetitions,
            excluded_above: self.excluded_above
                + above.map(|step| step.trials.len() as u64).sum::<u64>(),
            steps,
            ..*self
        }
    }

    /// Number of trials.
    pub fn count(&self) -> usize {
        self.steps.iter().map(|step| step.trials.len()).sum()
    }

    /// Returns the advice for a limit above the highest load of `steps`.
    pub fn advice_above(&self) -> Text {
        match self.excluded_above {
            0 => message!("sweep-further"),
            1 => message!("sweep-further.one-excluded"),
            trials => message!("sweep-further.excluded", trials = trials.to_string()),
        }
    }

    /// Returns the curve of all repetitions: medians.
    pub fn curve(&self) -> Vec<LoadFigures> {
        let mut curve = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let points: Vec<LoadFigures> =
                step.trials.iter().map(|trial| self.figures(trial)).collect();
            curve.push(self.median_point(step.load, &points));
        }
        curve
    }

    /// Returns the curve of one repetition, with the loads at which it was measured.
    pub fn curve_of(&self, repetition: u32) -> Vec<LoadFigures> {
        let mut curve = Vec::new();
        for step in &self.steps {
            let trial = step.trials.iter().find(|trial| trial.repetition == repetition);
            curve.extend(trial.map(|trial| self.median_point(step.load, &[self.figures(trial)])));
        }
        curve
    }

    /// Returns a curve of resampled repetitions, with resampled blocks of each trial.
    fn resampled_curve(&self, random: &mut Pcg64Mcg) -> Vec<LoadFigures> {
        // One start of the server is one sample, so repetitions are drawn before blocks.
        let chosen = bootstrap::draw(self.repetitions.len(), random);
        let mut curve = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let drawn = chosen.iter().map(|index| self.repetitions[*index]);
            let trials: Vec<&Observation> = drawn
                .filter_map(|repetition| {
                    step.trials.iter().find(|trial| trial.repetition == repetition).copied()
                })
                .collect();
            if !trials.is_empty() {
                let points: Vec<LoadFigures> =
                    trials.into_iter().map(|trial| self.resampled(trial, random)).collect();
                curve.push(self.median_point(step.load, &points));
            }
        }
        curve
    }

    /// Returns a figure of the curve, with its band.
    pub fn banded(&self, figure: impl Fn(&[LoadFigures]) -> Option<f64>) -> Option<BandedFigure> {
        self.estimate(figure).map(|estimate| estimate.figure)
    }

    /// Returns a figure of the curve, with its certainty. The band comes from the repetitions if
    /// there are enough, otherwise it is their range; for one repetition, it comes from its blocks.
    pub fn estimate(&self, figure: impl Fn(&[LoadFigures]) -> Option<f64>) -> Option<CurveFigure> {
        let value = figure(&self.curve())?;
        let unbanded = BandedFigure { value, low: value, high: value, band: Band::One };
        match self.repetitions.len() {
            0 | 1 if !self.has_blocks() => Some(CurveFigure { figure: unbanded, share: 1.0 }),
            0 | 1 => Some(self.bootstrapped(unbanded, Band::WithinRun, figure)),
            // Even the range of five repetitions contains the median with a probability
            // of 94 % only.
            n if n < ENOUGH_REPETITIONS => {
                let figures = self
                    .repetitions
                    .iter()
                    .filter_map(|repetition| figure(&self.curve_of(*repetition)));
                let figures: Vec<f64> = figures.collect();
                let (low, high) = figures
                    .iter()
                    .fold((value, value), |(low, high), v| (low.min(*v), high.max(*v)));
                let banded = BandedFigure { low, high, band: Band::Range, ..unbanded };
                Some(CurveFigure { figure: banded, share: figures.len() as f64 / n as f64 })
            }
            _ => Some(self.bootstrapped(unbanded, Band::Repetitions, figure)),
        }
    }

    fn bootstrapped(
        &self,
        unbanded: BandedFigure,
        band: Band,
        figure: impl Fn(&[LoadFigures]) -> Option<f64>,
    ) -> CurveFigure {
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let interval =
            bootstrap::interval(DRAWS, &mut random, |random| figure(&self.resampled_curve(random)));
        let Some(interval) = interval else { return CurveFigure { figure: unbanded, share: 0.0 } };
        let low = interval.low.min(unbanded.value);
        let high = interval.high.max(unbanded.value);
        CurveFigure {
            figure: BandedFigure { low, high, band, ..unbanded },
            share: interval.figure_share,
        }
    }

    fn has_blocks(&self) -> bool {
        let mut trials = self.steps.iter().flat_map(|step| &step.trials);
        trials.all(|trial| trial.blocks.len() >= ENOUGH_BLOCKS)
    }

    fn figures(&self, trial: &Observation) -> LoadFigures {
        LoadFigures {
            load: trial.load,
            offered: trial.offered.filter(|offered| offered.is_finite()),
            achieved: good_rate(trial),
            errors: trial.errors.filter(|errors| errors.is_finite()),
            error_replies: error_replies(trial),
            disturbed: if is_disturbed(trial) { 1.0 } else { 0.0 },
            mean: trial.mean.filter(|mean| mean.is_finite()),
            response: self.response.and_then(|response| response.seconds(trial)),
            seconds: trial.blocks.iter().map(|block| block.seconds).sum(),
            met: trial.objectives.iter().map(|met| met_share(*met, trial)).collect(),
        }
    }

    /// Returns a trial with resampled blocks: each figure changes by the same ratio as
    /// that of its blocks.
    fn resampled(&self, trial: &Observation, random: &mut Pcg64Mcg) -> LoadFigures {
        let mut figures = self.figures(trial);
        if trial.blocks.len() < 2 {
            return figures;
        }
        let all: Vec<&SecondOfTrial> = trial.blocks.iter().collect();
        let drawn: Vec<&SecondOfTrial> =
            bootstrap::draw(all.len(), random).into_iter().map(|index| all[index]).collect();
        // Blocks do not keep all samples, so the ratio of drawn to measured
        // blocks changes the figure.
        figures.achieved *= rate_ratio(&drawn, &all, |block| block.completed as f64);
        let planned_ratio = rate_ratio(&drawn, &all, |block| block.planned as f64);
        figures.offered = figures.offered.map(|offered| offered * planned_ratio);
        figures.mean =
            figures.mean.map(|mean| mean * mean_ratio(&drawn, &all, &|block| block.mean));
        if let Some(response) = self.response {
            figures.response = figures.response.map(|seconds| {
                seconds * mean_ratio(&drawn, &all, &|block| response.of_block(block))
            });
        }
        figures
    }

    /// Returns the medians of trials at one load.
    fn median_point(&self, load: f64, trials: &[LoadFigures]) -> LoadFigures {
        LoadFigures {
            load,
            offered: median(trials, |t| t.offered),
            achieved: median(trials, |t| Some(t.achieved)).unwrap_or(0.0),
            errors: median(trials, |t| t.errors),
            error_replies: median(trials, |t| Some(t.error_replies)).unwrap_or(0.0),
            disturbed: trials.iter().map(|t| t.disturbed).sum::<f64>() / trials.len().max(1) as f64,
            mean: median(trials, |t| t.mean),
            response: median(trials, |t| t.response),
            seconds: median(trials, |t| Some(t.seconds)).unwrap_or(0.0),
            met: (0..self.objectives.len()).map(|objective| share_met(trials, objective)).collect(),
        }
    }
}

/// Good replies per second; all replies if the good ones are not counted.
fn good_rate(trial: &Observation) -> f64 {
    trial.good.filter(|good| good.is_finite()).unwrap_or(trial.achieved)
}

fn error_replies(trial: &Observation) -> f64 {
    if trial.achieved > 0.0 { (1.0 - good_rate(trial) / trial.achieved).max(0.0) } else { 0.0 }
}

/// 1 if a trial met an objective, 0 if it missed it. A disturbance makes figures worse and never
/// better, so an objective that a disturbed trial missed may be met by the server alone.
fn met_share(met: Option<bool>, trial: &Observation) -> Option<f64> {
    if met? { Some(1.0) } else { (!is_disturbed(trial)).then_some(0.0) }
}

fn median(trials: &[LoadFigures], figure: fn(&LoadFigures) -> Option<f64>) -> Option<f64> {
    robust::median(&trials.iter().filter_map(figure).collect::<Vec<_>>())
}

/// Share of the trials that met an objective; None if that is not known of any.
fn share_met(trials: &[LoadFigures], objective: usize) -> Option<f64> {
    let shares: Vec<f64> =
        trials.iter().filter_map(|t| t.met.get(objective).copied().flatten()).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// Quotient of two figures; 1 if one of them is not positive.
fn ratio(one: f64, other: f64) -> f64 {
    if one > 0.0 && other > 0.0 { one / other } else { 1.0 }
}

/// Ratio of the rates of drawn blocks and of all blocks.
fn rate_ratio(
    drawn: &[&SecondOfTrial],
    all: &[&SecondOfTrial],
    count: fn(&SecondOfTrial) -> f64,
) -> f64 {
    ratio(rate(drawn, count), rate(all, count))
}

fn rate(blocks: &[&SecondOfTrial], count: fn(&SecondOfTrial) -> f64) -> f64 {
    ratio(
        blocks.iter().map(|block| count(block)).sum(),
        blocks.iter().map(|block| block.seconds).sum(),
    )
}

/// Ratio of the means of drawn blocks and of all blocks.
fn mean_ratio(
    drawn: &[&SecondOfTrial],
    all: &[&SecondOfTrial],
    figure: &dyn Fn(&SecondOfTrial) -> Option<f64>,
) -> f64 {
    ratio(weighted_mean(drawn, figure), weighted_mean(all, figure))
}

/// Mean of a block's figure, weighted by the number of replies.
fn weighted_mean(blocks: &[&SecondOfTrial], figure: &dyn Fn(&SecondOfTrial) -> Option<f64>) -> f64 {
    let weighted = blocks.iter().filter_map(|block| Some((figure(block)?, block.completed as f64)));
    let (sum, weight) =
        weighted.fold((0.0, 0.0), |(sum, weight), (v, w)| (sum + v * w, weight + w));
    if weight > 0.0 { sum / weight } else { 0.0 }
}

//! The trials of one contender, and the curves that can be drawn of them.
//!
//! What it is: a curve as numbers (medians over trials), of all repetitions, of one, or of repetitions and blocks drawn
//! again; and how far a figure of such a curve is known. Out of scope: any such figure.

use super::response::{Response, is_usable};
use crate::levels::Factors;
use brunt_model::analysis::{Band, BandedFigure, Block};
use brunt_model::{LoadUnit, Objective, Observation, Observations};
use brunt_stats::{bootstrap, robust};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;

/// So many repetitions carry a 95 % interval of their median.
pub const ENOUGH_REPETITIONS: usize = 6;
/// So many blocks of a run carry one of that run.
pub const ENOUGH_BLOCKS: usize = 10;
/// How often is drawn.
const DRAWS: u32 = 400;
/// The same observations give the same intervals.
const SEED: u64 = 0x6272_756e_7400;

/// The trials of one contender.
pub struct Trials<'a> {
    /// Its name.
    pub contender: &'a str,
    /// Its level of each factor; empty without factors.
    pub factors: &'a Factors,
    /// The unit of loads.
    pub unit: LoadUnit,
    /// Bounds that it is held against.
    pub objectives: &'a [Objective],
    /// Which response time is looked at; None where no trial has any.
    pub response: Option<Response>,
    /// Its loads, ascending; each has a trial at least.
    pub steps: Vec<Step<'a>>,
    /// The repetitions that there are, ascending.
    pub repetitions: Vec<u32>,
    /// Number of trials at loads above the last of `steps`; all of them were left out.
    pub left_out_above: u64,
}

/// All trials of one load that were neither cut short nor invalid.
pub struct Step<'a> {
    /// The load.
    pub load: f64,
    /// The trials.
    pub trials: Vec<&'a Observation>,
}

/// A load, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct At {
    /// The load.
    pub load: f64,
    /// Offered per second; None in a closed loop.
    pub offered: Option<f64>,
    /// Achieved per second.
    pub achieved: f64,
    /// The mean response time, in seconds.
    pub mean: Option<f64>,
    /// The response time that is looked at, in seconds.
    pub response: Option<f64>,
    /// How long it was measured, in seconds; 0 where that is not known.
    pub seconds: f64,
    /// Of each objective, the share of the trials that met it.
    pub met: Vec<Option<f64>>,
}

/// A figure of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveFigure {
    /// It, with its band.
    pub at: BandedFigure,
    /// In which share of the repetitions, or of the draws, there was such a figure.
    pub found: f64,
}

impl CurveFigure {
    /// A sentence more where it was not always there.
    pub fn doubt(&self) -> String {
        let of = if self.at.band == Band::Range { "repetitions taken alone" } else { "draws" };
        if self.found > 0.95 {
            String::new()
        } else {
            format!(" In {:.0} % of the {of} there was none.", 100.0 * (1.0 - self.found))
        }
    }
}

impl<'a> Trials<'a> {
    /// Those of each contender.
    pub fn of(seen: &'a Observations) -> Vec<Self> {
        let response = Response::of(seen);
        let one = |(index, contender): (usize, &'a String)| {
            let usable = seen.observations.iter().filter(|o| o.contender == index && is_usable(o));
            let mut trials: Vec<&Observation> = usable.collect();
            trials.sort_by(|a, b| a.load.total_cmp(&b.load).then(a.repetition.cmp(&b.repetition)));
            let mut repetitions: Vec<u32> = trials.iter().map(|trial| trial.repetition).collect();
            repetitions.sort_unstable();
            repetitions.dedup();
            let steps = trials.chunk_by(|a, b| a.load == b.load);
            let steps = steps.map(|step| Step { load: step[0].load, trials: step.to_vec() }).collect();
            let highest = trials.last().map_or(f64::NEG_INFINITY, |trial| trial.load);
            let above = seen.observations.iter().filter(|o| o.contender == index && o.load > highest);
            let left_out_above = above.count() as u64;
            let (unit, objectives) = (seen.unit, &seen.objectives[..]);
            let factors = seen.factors.get(index).map_or(&[][..], Vec::as_slice);
            Self { contender, factors, unit, objectives, response, steps, repetitions, left_out_above }
        };
        seen.contenders.iter().enumerate().map(one).collect()
    }

    /// What to do if a limit lies above the highest load of `steps`.
    pub fn advice_above(&self) -> String {
        match self.left_out_above {
            0 => "sweep further".to_owned(),
            1 => "above it, 1 trial was left out: measure this load again".to_owned(),
            trials => format!("above it, {trials} trials were left out: measure these loads again"),
        }
    }

    /// The curve of all repetitions: medians.
    pub fn curve(&self) -> Vec<At> {
        let step =
            |step: &Step| self.at(step.load, &step.trials.iter().map(|trial| self.figures(trial)).collect::<Vec<_>>());
        self.steps.iter().map(step).collect()
    }

    /// The curve of one repetition, as far as it was measured.
    pub fn curve_of(&self, repetition: u32) -> Vec<At> {
        let own = |step: &Step| {
            let trial = step.trials.iter().find(|trial| trial.repetition == repetition)?;
            Some(self.at(step.load, &[self.figures(trial)]))
        };
        self.steps.iter().filter_map(own).collect()
    }

    /// A curve of repetitions drawn again, and of each trial's blocks drawn again.
    fn drawn(&self, random: &mut Pcg64Mcg) -> Vec<At> {
        let chosen = bootstrap::draw(self.repetitions.len(), random);
        let mut curve = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let drawn = chosen.iter().map(|at| self.repetitions[*at]);
            let trials: Vec<&Observation> = drawn
                .filter_map(|repetition| step.trials.iter().find(|trial| trial.repetition == repetition).copied())
                .collect();
            if !trials.is_empty() {
                let drawn: Vec<At> = trials.into_iter().map(|trial| self.redrawn(trial, random)).collect();
                curve.push(self.at(step.load, &drawn));
            }
        }
        curve
    }

    /// A figure of the curve, with its band.
    pub fn banded(&self, figure: impl Fn(&[At]) -> Option<f64>) -> Option<BandedFigure> {
        self.known(figure).map(|known| known.at)
    }

    /// A figure of the curve, and how far it is known: from repetitions where there are enough, else their range; of one
    /// repetition, from its blocks.
    pub fn known(&self, figure: impl Fn(&[At]) -> Option<f64>) -> Option<CurveFigure> {
        let value = figure(&self.curve())?;
        let one = BandedFigure { value, low: value, high: value, band: Band::One };
        match self.repetitions.len() {
            0 | 1 if !self.has_blocks() => Some(CurveFigure { at: one, found: 1.0 }),
            0 | 1 => Some(self.bootstrapped(one, Band::WithinRun, figure)),
            n if n < ENOUGH_REPETITIONS => {
                let each = self.repetitions.iter().filter_map(|repetition| figure(&self.curve_of(*repetition)));
                let each: Vec<f64> = each.collect();
                let (low, high) = each.iter().fold((value, value), |(low, high), v| (low.min(*v), high.max(*v)));
                let at = BandedFigure { low, high, band: Band::Range, ..one };
                Some(CurveFigure { at, found: each.len() as f64 / n as f64 })
            }
            _ => Some(self.bootstrapped(one, Band::Repetitions, figure)),
        }
    }

    fn bootstrapped(&self, one: BandedFigure, band: Band, figure: impl Fn(&[At]) -> Option<f64>) -> CurveFigure {
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let found = bootstrap::interval(DRAWS, &mut random, |random| figure(&self.drawn(random)));
        let Some(found) = found else { return CurveFigure { at: one, found: 0.0 } };
        let at = BandedFigure { low: found.low.min(one.value), high: found.high.max(one.value), band, ..one };
        CurveFigure { at, found: found.found }
    }

    fn has_blocks(&self) -> bool {
        let mut trials = self.steps.iter().flat_map(|step| &step.trials);
        trials.all(|trial| trial.blocks.len() >= ENOUGH_BLOCKS)
    }

    fn figures(&self, trial: &Observation) -> At {
        At {
            load: trial.load,
            offered: trial.offered.filter(|offered| offered.is_finite()),
            achieved: trial.achieved,
            mean: trial.mean.filter(|mean| mean.is_finite()),
            response: self.response.and_then(|response| response.seconds(trial)),
            seconds: trial.blocks.iter().map(|block| block.seconds).sum(),
            met: trial.objectives.iter().map(|met| met.map(|met| if met { 1.0 } else { 0.0 })).collect(),
        }
    }

    /// A trial whose blocks were drawn again: each figure is moved as the same figure of its blocks is.
    fn redrawn(&self, trial: &Observation, random: &mut Pcg64Mcg) -> At {
        let mut figures = self.figures(trial);
        if trial.blocks.len() < 2 {
            return figures;
        }
        let all: Vec<&Block> = trial.blocks.iter().collect();
        let drawn: Vec<&Block> = bootstrap::draw(all.len(), random).into_iter().map(|at| all[at]).collect();
        let moved = |of: fn(&Block) -> f64| ratio(rate(&drawn, of), rate(&all, of));
        figures.achieved *= moved(|block| block.completed as f64);
        figures.offered = figures.offered.map(|offered| offered * moved(|block| block.planned as f64));
        let by = |of: &dyn Fn(&Block) -> Option<f64>| ratio(weighted(&drawn, of), weighted(&all, of));
        figures.mean = figures.mean.map(|mean| mean * by(&|block| block.mean));
        if let Some(response) = self.response {
            figures.response = figures.response.map(|seconds| seconds * by(&|block| response.of_block(block)));
        }
        figures
    }

    /// The medians of trials.
    fn at(&self, load: f64, trials: &[At]) -> At {
        let of = |figure: fn(&At) -> Option<f64>| robust::median(&trials.iter().filter_map(figure).collect::<Vec<_>>());
        let met = |objective: usize| {
            let known: Vec<f64> = trials.iter().filter_map(|t| t.met.get(objective).copied().flatten()).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        At {
            load,
            offered: of(|t| t.offered),
            achieved: of(|t| Some(t.achieved)).unwrap_or(0.0),
            mean: of(|t| t.mean),
            response: of(|t| t.response),
            seconds: of(|t| Some(t.seconds)).unwrap_or(0.0),
            met: (0..self.objectives.len()).map(met).collect(),
        }
    }
}

/// How many times the one is the other; once where there is nothing to compare.
fn ratio(one: f64, other: f64) -> f64 {
    if one > 0.0 && other > 0.0 { one / other } else { 1.0 }
}

fn rate(blocks: &[&Block], of: fn(&Block) -> f64) -> f64 {
    ratio(blocks.iter().map(|block| of(block)).sum(), blocks.iter().map(|block| block.seconds).sum())
}

/// The mean of a block's figure, each block weighing as much as its replies.
fn weighted(blocks: &[&Block], of: &dyn Fn(&Block) -> Option<f64>) -> f64 {
    let known = blocks.iter().filter_map(|block| Some((of(block)?, block.completed as f64)));
    let (sum, weight) = known.fold((0.0, 0.0), |(sum, weight), (v, w)| (sum + v * w, weight + w));
    if weight > 0.0 { sum / weight } else { 0.0 }
}

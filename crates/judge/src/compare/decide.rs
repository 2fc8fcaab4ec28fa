//! Tests all figures of all pairs together.
//!
//! Each figure of each pair gets a test with its significance level, an interval and a verdict. Out
//! of scope: the mathematics (`stats`) and the wording (`wording`).

use super::sample::{FigurePair, PairFigures, SampleDesign};
use super::wording;
use brunt_model::comparison::{Better, Compared, Test};
use brunt_model::objective::Metric;
use brunt_model::question::{ComparisonSettings, Measure};
use brunt_stats::holm::{HolmResult, Hypothesis, holm};
use brunt_stats::shift::{self, Shift, ValueRange};
use brunt_stats::{foresight, permutation, rank, robust, spending};

/// Share of the error probability that belongs to the first figure. The other figures have the rest
/// until some of it is decided.
const FIRST: f64 = 0.5;
/// Difference of the error rates from which on these decide: replies of a server that refuses
/// requests are no faster ones.
const RELEVANT_ERRORS: f64 = 0.01;
/// Largest p-value: that of a figure without evidence.
const NO_EVIDENCE: f64 = 1.0;

/// Decision about a pair of contenders.
pub struct PairDecision {
    /// Its figures, the deciding one first. Other figures without data are left out.
    pub compared: Vec<Compared>,
    /// The tested figures, in the same order.
    pub figures: Vec<TestedFigure>,
}

/// A tested figure of a pair.
pub struct TestedFigure {
    pub measure: Measure,
    /// Name of the second contender.
    pub theirs: String,
    /// Typical values of the first and of the second contender, with the estimated shift between
    /// them; 0 without data.
    pub typical: (f64, f64),
    /// True if every value of both contenders is known and 0.
    pub all_zero: bool,
    pub scale: DifferenceScale,
    /// Difference of the second contender from the first, in that scale.
    pub shift: Shift,
    pub test: Test,
    /// Number of values of each contender.
    pub sizes: (usize, usize),
    /// True if the values are two groups and not blocks.
    pub groups: bool,
    pub verdict: Better,
}

/// Scale of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceScale {
    /// Shares of the first contender's value: differences of logarithms.
    Shares,
    /// Plain differences, because some values are zero.
    Plain,
}

/// A figure of a pair, before its significance level is known.
struct UntestedFigure {
    /// Index of the pair.
    pair: usize,
    /// True if it decides which contender of its pair is better.
    is_first: bool,
    measure: Measure,
    theirs: String,
    figures: FigurePair,
    scale: DifferenceScale,
    tests: Tests,
}

/// Test of a figure, prepared for any significance level.
enum Tests {
    Blocks(shift::Paired),
    Groups(Vec<ValueRange>, Vec<ValueRange>, f64),
}

/// Decides all pairs, in their order. Also returns about how many more blocks are needed to decide
/// the first figure of each.
pub fn decide(
    pairs: &[PairFigures],
    measures: &[Measure],
    spec: &ComparisonSettings,
) -> (Vec<PairDecision>, Option<u32>) {
    let mut untested: Vec<UntestedFigure> = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        untested.extend(untested_figures(pair, index, measures));
    }
    let results = holm(&hypotheses(&untested), spec.alpha);
    let mut decisions: Vec<PairDecision> =
        pairs.iter().map(|_| PairDecision { compared: Vec::new(), figures: Vec::new() }).collect();
    let mut more = Some(0);
    for (figure, result) in untested.iter().zip(&results) {
        let tested = figure.test(result.level, spec.smallest);
        if figure.is_first && tested.verdict == Better::Undecided {
            more = more
                .zip(figure.more_blocks(result.level, spec.smallest))
                .map(|(most, more)| most.max(more));
        }
        let decision = &mut decisions[figure.pair];
        decision.compared.push(compared(&tested, result, spec.smallest));
        decision.figures.push(tested);
    }
    (decisions, more.filter(|more| *more > 0))
}

/// Decides pairs that were measured at several loads. A group has the indices of the pairs of the
/// same contenders, and an equal share of α.
///
/// Within a group, the loads are tested in the order of the size of their differences, each at the
/// whole share, until one is not significant. The sizes are known without the directions, so that
/// the order is no evidence for either contender. A division among the loads would need more
/// repetitions with each further load.
pub fn decide_by_load(
    pairs: &[PairFigures],
    groups: &[Vec<usize>],
    spec: &ComparisonSettings,
) -> Vec<PairDecision> {
    let mut decisions: Vec<PairDecision> =
        pairs.iter().map(|_| PairDecision { compared: Vec::new(), figures: Vec::new() }).collect();
    let share = spec.alpha / groups.len() as f64;
    for group in groups {
        let mut by_size: Vec<(f64, Vec<UntestedFigure>)> = Vec::new();
        for index in group {
            let figures = untested_figures(&pairs[*index], *index, &spec.metrics);
            let size = figures.first().map_or(0.0, UntestedFigure::size);
            by_size.push((size, figures));
        }
        by_size.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut highest = 0.0_f64;
        for figure in by_size.into_iter().flat_map(|(_, figures)| figures) {
            let mut tested = figure.test(share, spec.smallest);
            if figure.is_first {
                highest = highest.max(figure.p());
            }
            let is_tested = figure.is_first && highest <= share;
            // Only the deciding figure is tested.
            if !is_tested && tested.verdict != Better::Equal {
                tested.verdict = Better::Undecided;
            }
            let p = (highest * groups.len() as f64).min(NO_EVIDENCE);
            let result = HolmResult { p, level: share, rejected: is_tested };
            let decision = &mut decisions[figure.pair];
            decision.compared.push(compared(&tested, &result, spec.smallest));
            decision.figures.push(tested);
        }
    }
    decisions
}

/// The figures of a pair, the deciding one first. Other figures without data are left out.
fn untested_figures(pair: &PairFigures, index: usize, measures: &[Measure]) -> Vec<UntestedFigure> {
    let first = deciding_measure(pair, measures);
    let mut figures: Vec<UntestedFigure> = pair
        .figures
        .iter()
        .filter(|(measure, figures)| Some(*measure) == first || !figures.is_empty())
        .map(|(measure, figures)| UntestedFigure {
            is_first: Some(*measure) == first,
            ..UntestedFigure::new(pair, *measure, index, figures)
        })
        .collect();
    figures.sort_by_key(|figure| !figure.is_first);
    figures
}

/// The first measure, or the errors if the contenders differ in them. Only the sizes of the
/// differences within blocks are used, so that the choice is no evidence for either contender.
fn deciding_measure(pair: &PairFigures, measures: &[Measure]) -> Option<Measure> {
    let errors = Measure::Run(Metric::Errors);
    let figures = pair.figures.iter().find(|(measure, _)| *measure == errors);
    let figures = figures.map(|(_, figures)| figures).filter(|figures| figures.is_paired());
    let sizes = figures.map(|figures| {
        let both = figures.ours.iter().zip(&figures.theirs);
        both.map(|(ours, theirs)| (theirs.low - ours.low).abs()).collect::<Vec<f64>>()
    });
    let differ = sizes.and_then(|sizes| robust::median(&sizes)) >= Some(RELEVANT_ERRORS);
    if differ { Some(errors) } else { measures.first().copied() }
}

/// Each figure with its share of α. The first figures share half of it among the pairs, or all of
/// it if there are no others. The others share the rest.
fn hypotheses(figures: &[UntestedFigure]) -> Vec<Hypothesis> {
    let firsts = figures.iter().filter(|figure| figure.is_first).count();
    let shares = AlphaShares::new(firsts, figures.len() - firsts);
    let mut hypotheses = Vec::new();
    for figure in figures {
        hypotheses.push(Hypothesis {
            p: figure.p(),
            weight: if figure.is_first { shares.first } else { shares.other },
        });
    }
    hypotheses
}

/// Shares of α that figures have before anything is decided.
pub struct AlphaShares {
    /// Share of the first figure of a pair.
    pub first: f64,
    /// Share of each other figure.
    pub other: f64,
}

impl AlphaShares {
    /// Divides α among first figures (one for each pair) and others, of all pairs together.
    pub fn new(firsts: usize, others: usize) -> Self {
        let all = if others == 0 { 1.0 } else { FIRST };
        Self { first: all / firsts as f64, other: (1.0 - all) / others as f64 }
    }
}

impl FigurePair {
    fn is_empty(&self) -> bool {
        self.ours.is_empty() || self.theirs.is_empty()
    }

    pub fn is_paired(&self) -> bool {
        matches!(self.design, SampleDesign::Blocks { .. })
    }

    fn all(&self) -> impl Iterator<Item = &ValueRange> {
        self.ours.iter().chain(&self.theirs)
    }

    /// Logarithms, unless a known value is zero: error rates may be.
    fn scale(&self) -> DifferenceScale {
        if self.all().any(|value| value.high <= 0.0) {
            DifferenceScale::Plain
        } else {
            DifferenceScale::Shares
        }
    }
}

impl DifferenceScale {
    fn scaled(self, values: &[ValueRange]) -> Vec<ValueRange> {
        match self {
            Self::Shares => values
                .iter()
                .map(|value| ValueRange { low: value.low.ln(), high: value.high.ln() })
                .collect(),
            Self::Plain => values.to_vec(),
        }
    }

    /// A difference in this scale as a share of `reference`; None if that is not a finite number.
    pub fn share(self, difference: f64, reference: f64) -> Option<f64> {
        let share = match self {
            Self::Shares => difference.exp_m1(),
            Self::Plain if reference > 0.0 => difference / reference,
            // A difference from 0 is no finite share.
            Self::Plain => f64::INFINITY.copysign(difference),
        };
        (difference.is_finite() && share.is_finite()).then_some(share)
    }
}

impl UntestedFigure {
    fn new(contenders: &PairFigures, measure: Measure, pair: usize, figures: &FigurePair) -> Self {
        let scale = figures.scale();
        let tests = match &figures.design {
            SampleDesign::Blocks { most } => {
                let ours = scale.scaled(&figures.ours);
                let theirs = scale.scaled(&figures.theirs);
                let differences: Vec<ValueRange> =
                    theirs.iter().zip(&ours).map(|(b, a)| b.minus(*a)).collect();
                Tests::Blocks(shift::Paired::new(&differences, *most as usize))
            }
            SampleDesign::Groups { ours, theirs } => {
                let ours = scale.scaled(ours);
                let theirs = scale.scaled(theirs);
                let p = unpaired_p(&ours, &theirs);
                Tests::Groups(ours, theirs, p)
            }
        };
        Self {
            pair,
            is_first: false,
            measure,
            theirs: contenders.theirs.clone(),
            figures: figures.clone(),
            scale,
            tests,
        }
    }

    /// Size of the difference, without its direction.
    fn size(&self) -> f64 {
        let ours = self.scale.scaled(&self.figures.ours);
        let theirs = self.scale.scaled(&self.figures.theirs);
        let sizes: Vec<f64> =
            theirs.iter().zip(&ours).map(|(b, a)| (b.low - a.low).abs()).collect();
        robust::median(&sizes).filter(|size| size.is_finite()).unwrap_or(0.0)
    }

    fn p(&self) -> f64 {
        match &self.tests {
            Tests::Blocks(paired) => paired.p(),
            Tests::Groups(_, _, p) => *p,
        }
    }

    fn test(&self, level: f64, smallest: f64) -> TestedFigure {
        let sizes = (self.figures.ours.len(), self.figures.theirs.len());
        let (shift, test, least) = match &self.tests {
            Tests::Blocks(paired) => (
                paired.shift(level),
                Test::PermutationInBlocks,
                permutation::least_p(sizes.0 as u32),
            ),
            Tests::Groups(ours, theirs, _) => (
                shift::unpaired(ours, theirs, level),
                Test::MannWhitney,
                rank::least_p(sizes.0, sizes.1),
            ),
        };
        // With so few values, no outcome is significant at this level.
        let test = if self.figures.is_empty() || least > level { Test::None } else { test };
        let all_zero = !self.figures.is_empty()
            && self.figures.all().all(|value| value.low == 0.0 && value.high == 0.0);
        let verdict = if all_zero {
            Better::Equal
        } else {
            verdict(self.measure, self.scale, shift.interval, smallest)
        };
        TestedFigure {
            measure: self.measure,
            theirs: self.theirs.clone(),
            typical: self.typical(shift),
            all_zero,
            scale: self.scale,
            shift,
            test,
            sizes,
            groups: !self.figures.is_paired(),
            verdict,
        }
    }

    /// Medians of both, moved symmetrically until their ratio is the estimated shift. The
    /// median of differences within blocks is not the difference of the medians, and may even
    /// have the opposite sign.
    fn typical(&self, shift: Shift) -> (f64, f64) {
        let ours = median(&self.figures.ours);
        let theirs = median(&self.figures.theirs);
        match shift.value.exact_value() {
            // The difference is one of logarithms, so each median moves by half of it.
            Some(value)
                if self.scale == DifferenceScale::Shares
                    && value.is_finite()
                    && ours > 0.0
                    && theirs > 0.0 =>
            {
                let center = (ours * theirs).sqrt();
                (center * (-value / 2.0).exp(), center * (value / 2.0).exp())
            }
            _ => (ours, theirs),
        }
    }

    /// Approximate number of additional blocks until the figure is decided; None for groups.
    fn more_blocks(&self, level: f64, smallest: f64) -> Option<u32> {
        // Groups of stored runs have no blocks, so none can be added.
        if !self.figures.is_paired() {
            return None;
        }
        let ours = self.scale.scaled(&self.figures.ours);
        let theirs = self.scale.scaled(&self.figures.theirs);
        let differences: Option<Vec<f64>> =
            theirs.iter().zip(&ours).map(|(b, a)| b.minus(*a).exact_value()).collect();
        let smallest = if self.scale == DifferenceScale::Shares { smallest.ln_1p() } else { 0.0 };
        let needed =
            foresight::blocks(&differences?, level, smallest)?.max(spending::fewest(level));
        Some(needed.saturating_sub(self.figures.ours.len() as u32).max(1))
    }
}

/// Two-sided p-value by ranks. A censored value counts only as far as it is known.
fn unpaired_p(ours: &[ValueRange], theirs: &[ValueRange]) -> f64 {
    let greater = rank::greater(&lower_ends(theirs), &upper_ends(ours));
    let less = rank::greater(&lower_ends(ours), &upper_ends(theirs));
    (2.0 * greater.min(less)).min(NO_EVIDENCE)
}

fn lower_ends(values: &[ValueRange]) -> Vec<f64> {
    values.iter().map(|value| value.low).collect()
}

fn upper_ends(values: &[ValueRange]) -> Vec<f64> {
    values.iter().map(|value| value.high).collect()
}

/// Median of the lower ends: of the values, if all are known.
fn median(values: &[ValueRange]) -> f64 {
    robust::median(&lower_ends(values)).unwrap_or(0.0)
}

fn verdict(
    measure: Measure,
    scale: DifferenceScale,
    interval: ValueRange,
    smallest: f64,
) -> Better {
    let within = match scale {
        DifferenceScale::Shares => {
            interval.low.exp_m1() >= -smallest && interval.high.exp_m1() <= smallest
        }
        DifferenceScale::Plain => interval.low == 0.0 && interval.high == 0.0,
    };
    if within {
        return Better::Equal;
    }
    match (interval.low > 0.0, interval.high < 0.0) {
        (false, false) => Better::Undecided,
        (more, _) if more == measure.more_is_better() => Better::Better,
        _ => Better::Worse,
    }
}

fn compared(figure: &TestedFigure, result: &HolmResult, smallest: f64) -> Compared {
    let value = figure.shift.value.exact_value();
    Compared {
        measure: figure.measure,
        ours: figure.typical.0,
        theirs: figure.typical.1,
        shift: value.and_then(|difference| share(figure, difference)),
        low: share(figure, figure.shift.interval.low),
        high: share(figure, figure.shift.interval.high),
        p: (figure.test != Test::None).then_some(result.p),
        test: figure.test,
        verdict: figure.verdict,
        sentence: wording::sentence(figure, smallest),
        undecided: (figure.verdict == Better::Undecided).then(|| wording::undecided_reason(figure)),
    }
}

/// A difference as a share of the first contender's value; None for plain differences.
fn share(figure: &TestedFigure, difference: f64) -> Option<f64> {
    figure
        .scale
        .share(difference, figure.typical.0)
        .filter(|_| figure.scale == DifferenceScale::Shares)
}

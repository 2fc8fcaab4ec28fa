//! All figures of all pairs, tested together.
//!
//! For each figure of each pair the test, its level and its interval; what that decides. Out of scope: the
//! mathematics (`stats`), nor the words (`told`).

use super::sample::{Figures, PairFigures};
use super::told;
use brunt_model::comparison::{Better, Compared, Test};
use brunt_model::question::{Compare, Measure};
use brunt_stats::holm::{Hypothesis, Tested, holm};
use brunt_stats::shift::{self, Between, Shift};
use brunt_stats::{foresight, permutation, rank, robust};

/// Of the chance to be wrong, the share that the first figure has; the others have the rest until some of it is decided.
const FIRST: f64 = 0.5;
/// What has never been tested speaks for nothing.
const SILENT: f64 = 1.0;

/// What was decided about a pair.
pub struct Decided {
    /// Its figures, the first first; others of which nothing is known are left out.
    pub compared: Vec<Compared>,
    /// The same as the test has them, with what they are held against.
    pub found: Vec<TestedFigure>,
}

/// One figure of a pair, tested.
pub struct TestedFigure {
    /// Which.
    pub measure: Measure,
    /// Who is better or worse.
    pub theirs: String,
    /// Its typical value, of the first and of the other, with the shift between them; 0 where nothing is known.
    pub typical: (f64, f64),
    /// True if every value of both is known and 0.
    pub all_zero: bool,
    /// How it is counted.
    pub scale: Scale,
    /// By how much the other's is higher, in that scale.
    pub shift: Shift,
    /// How it was tested.
    pub test: Test,
    /// How many values of each there are.
    pub sizes: (usize, usize),
    /// They are two groups, not blocks.
    pub groups: bool,
    /// What was decided.
    pub verdict: Better,
}

/// How differences are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As shares of the first's: differences of logarithms.
    Shares,
    /// As they are: some values are zero.
    Plain,
}

/// A figure of a pair, before all are seen together.
struct PairedFigure {
    pair: usize,
    measure: Measure,
    theirs: String,
    figures: Figures,
    scale: Scale,
    tests: Tests,
}

/// The tests of a figure.
enum Tests {
    Blocks(shift::Paired),
    Groups(Vec<Between>, Vec<Between>, f64),
}

/// All pairs, in their order; and about how many blocks more it would take to decide the first figure of each.
pub fn decide(pairs: &[PairFigures], measures: &[Measure], spec: &Compare) -> (Vec<Decided>, Option<u32>) {
    let of_pair = |(pair, of): (usize, &'_ PairFigures)| -> Vec<PairedFigure> {
        let known = of.figures.iter().filter(|(measure, all)| measures.first() == Some(measure) || !all.is_empty());
        known.map(|(measure, all)| PairedFigure::of(of, *measure, pair, all)).collect()
    };
    let asked: Vec<PairedFigure> = pairs.iter().enumerate().flat_map(of_pair).collect();
    let tested = holm(&weighted(&asked, measures), spec.alpha);
    let mut decided: Vec<Decided> = pairs.iter().map(|_| Decided { compared: Vec::new(), found: Vec::new() }).collect();
    let mut more = Some(0);
    for (asked, tested) in asked.iter().zip(&tested) {
        let found = asked.found(tested.level, spec.smallest);
        if measures.first() == Some(&asked.measure) && found.verdict == Better::Undecided {
            more = more.zip(asked.more(tested.level, spec.smallest)).map(|(most, more)| most.max(more));
        }
        let pair = &mut decided[asked.pair];
        pair.compared.push(compared(&found, tested, spec.smallest));
        pair.found.push(found);
    }
    (decided, more.filter(|more| *more > 0))
}

/// Each figure with its share of α: the first has half of it (all, where it is the only one), shared among the pairs; the others the rest.
fn weighted(asked: &[PairedFigure], measures: &[Measure]) -> Vec<Hypothesis> {
    let is_first = |one: &PairedFigure| measures.first() == Some(&one.measure);
    let firsts = asked.iter().filter(|one| is_first(one)).count();
    let shares = Shares::of(firsts, asked.len() - firsts);
    let weight = |one: &PairedFigure| if is_first(one) { shares.first } else { shares.other };
    asked.iter().map(|one| Hypothesis { p: one.p(), weight: weight(one) }).collect()
}

/// The shares of α that figures have before anything is decided.
pub struct Shares {
    /// The first figure of a pair.
    pub first: f64,
    /// Each other.
    pub other: f64,
}

impl Shares {
    /// Of so many first figures (one a pair) and others, of all pairs together.
    pub fn of(firsts: usize, others: usize) -> Self {
        let all = if others == 0 { 1.0 } else { FIRST };
        Self { first: all / firsts as f64, other: (1.0 - all) / others as f64 }
    }
}

impl Figures {
    fn is_empty(&self) -> bool {
        self.ours.is_empty() || self.theirs.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Between> {
        self.ours.iter().chain(&self.theirs)
    }

    /// Logarithms, unless a value that is known is zero: errors may be.
    fn scale(&self) -> Scale {
        if self.all().any(|value| value.high <= 0.0) { Scale::Plain } else { Scale::Shares }
    }
}

impl Scale {
    fn counted(self, values: &[Between]) -> Vec<Between> {
        let ln = |value: &Between| Between { low: value.low.ln(), high: value.high.ln() };
        match self {
            Self::Shares => values.iter().map(ln).collect(),
            Self::Plain => values.to_vec(),
        }
    }

    /// A difference in this scale as a share of the first's value; None where it is no number.
    pub fn share(self, difference: f64, of: f64) -> Option<f64> {
        let share = match self {
            Self::Shares => difference.exp_m1(),
            Self::Plain if of > 0.0 => difference / of,
            Self::Plain => f64::INFINITY.copysign(difference),
        };
        (difference.is_finite() && share.is_finite()).then_some(share)
    }
}

impl PairedFigure {
    fn of(of: &PairFigures, measure: Measure, pair: usize, figures: &Figures) -> Self {
        let scale = figures.scale();
        let (ours, other) = (scale.counted(&figures.ours), scale.counted(&figures.theirs));
        let tests = if let Some(most) = figures.most {
            let differences: Vec<Between> = other.iter().zip(&ours).map(|(b, a)| b.less(*a)).collect();
            Tests::Blocks(shift::Paired::of(&differences, most as usize))
        } else {
            let p = unpaired_p(&ours, &other);
            Tests::Groups(ours, other, p)
        };
        Self { pair, measure, theirs: of.theirs.clone(), figures: figures.clone(), scale, tests }
    }

    fn p(&self) -> f64 {
        match &self.tests {
            Tests::Blocks(paired) => paired.p(),
            Tests::Groups(_, _, p) => *p,
        }
    }

    fn found(&self, level: f64, smallest: f64) -> TestedFigure {
        let sizes = (self.figures.ours.len(), self.figures.theirs.len());
        let (shift, test, least) = match &self.tests {
            Tests::Blocks(paired) => {
                (paired.shift(level), Test::PermutationInBlocks, permutation::least_p(sizes.0 as u32))
            }
            Tests::Groups(ours, theirs, _) => {
                (shift::unpaired(ours, theirs, level), Test::MannWhitney, rank::least_p(sizes.0, sizes.1))
            }
        };
        let test = if self.figures.is_empty() || least > level { Test::None } else { test };
        let all_zero =
            !self.figures.is_empty() && self.figures.all().all(|value| value.low == 0.0 && value.high == 0.0);
        let tested = verdict(self.measure, self.scale, shift.interval, smallest);
        let verdict = if all_zero { Better::Equal } else { tested };
        TestedFigure {
            measure: self.measure,
            theirs: self.theirs.clone(),
            typical: self.typical(shift),
            all_zero,
            scale: self.scale,
            shift,
            test,
            sizes,
            groups: self.figures.most.is_none(),
            verdict,
        }
    }

    /// The medians of both, moved symmetrically until their ratio is the estimated shift: the median of differences within
    /// blocks is not the difference of the medians, and may have the other sign.
    fn typical(&self, shift: Shift) -> (f64, f64) {
        let ours = median(&self.figures.ours);
        let theirs = median(&self.figures.theirs);
        match shift.value.known() {
            Some(value) if self.scale == Scale::Shares && value.is_finite() && ours > 0.0 && theirs > 0.0 => {
                let center = (ours * theirs).sqrt();
                (center * (-value / 2.0).exp(), center * (value / 2.0).exp())
            }
            _ => (ours, theirs),
        }
    }

    /// About so many blocks more until it would be decided.
    fn more(&self, level: f64, smallest: f64) -> Option<u32> {
        let _ = self.figures.most?;
        let (ours, theirs) = (self.scale.counted(&self.figures.ours), self.scale.counted(&self.figures.theirs));
        let differences: Option<Vec<f64>> = theirs.iter().zip(&ours).map(|(b, a)| b.less(*a).known()).collect();
        let smallest = if self.scale == Scale::Shares { smallest.ln_1p() } else { 0.0 };
        let needed = foresight::blocks(&differences?, level, smallest)?;
        Some(needed.saturating_sub(self.figures.ours.len() as u32).max(1))
    }
}

/// Ranks, where what is known from one side only counts as far as it goes.
fn unpaired_p(ours: &[Between], theirs: &[Between]) -> f64 {
    let ends = |of: &[Between], end: fn(&Between) -> f64| -> Vec<f64> { of.iter().map(end).collect() };
    let (low, high) = (|b: &Between| b.low, |b: &Between| b.high);
    let greater = rank::greater(&ends(theirs, low), &ends(ours, high));
    let less = rank::greater(&ends(ours, low), &ends(theirs, high));
    (2.0 * greater.min(less)).min(SILENT)
}

/// The median of what is known, from below where that is all.
fn median(values: &[Between]) -> f64 {
    let low: Vec<f64> = values.iter().map(|value| value.low).collect();
    robust::median(&low).unwrap_or(0.0)
}

fn verdict(measure: Measure, scale: Scale, interval: Between, smallest: f64) -> Better {
    let within = match scale {
        Scale::Shares => interval.low.exp_m1() >= -smallest && interval.high.exp_m1() <= smallest,
        Scale::Plain => interval.low == 0.0 && interval.high == 0.0,
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

fn compared(found: &TestedFigure, tested: &Tested, smallest: f64) -> Compared {
    let share =
        |difference: f64| found.scale.share(difference, found.typical.0).filter(|_| found.scale == Scale::Shares);
    Compared {
        measure: found.measure,
        ours: found.typical.0,
        theirs: found.typical.1,
        shift: found.shift.value.known().and_then(share),
        low: share(found.shift.interval.low),
        high: share(found.shift.interval.high),
        p: (found.test != Test::None).then_some(tested.p),
        test: found.test,
        verdict: found.verdict,
        sentence: told::sentence(found, smallest),
    }
}

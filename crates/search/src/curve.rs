//! The one model that all trials feed: how a figure grows with the load, and where it crosses what is allowed.
//!
//! What it is: near the capacity, the figure y on its scale (log for sums over counts, complementary log-log for shares) is
//! a straight line in the load; what is seen of it varies as sums of a random number of random clumps do (Tweedie's
//! compound Poisson with power 3/2: Jørgensen, "Exponential dispersion models", J. R. Statist. Soc. B 49, 1987). The load at
//! which it crosses is found by least deviance, its interval by profile likelihood. Out of scope: a model of what happens
//! far from the capacity: there a trial only says that its load is far, not how far. docs/method.md has the formulas.

use brunt_stats::order;

/// A trial, at the load that it had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// The load.
    pub load: f64,
    /// The figure.
    pub figure: f64,
    /// Seconds that it was measured.
    pub seconds: f64,
    /// The variance of the figure, from the trial's own blocks.
    pub variance: f64,
    /// The degrees of freedom of that variance.
    pub freedom: f64,
}

/// On which scale the figure is straight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Of a share: log(−log(1 − y)).
    Share,
    /// Of what has no upper end: log y.
    Amount,
}

/// What is to be crossed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// The scale of the figure.
    pub scale: Scale,
    /// Its value that is just allowed.
    pub allowed: f64,
    /// The most that it achieved when overloaded, where the figure comes of waiting: there it has no end.
    pub saturation: Option<Saturation>,
    /// The highest throughput of any trial, if waiting determines the figure: a lower bound of the saturation.
    pub served: Option<f64>,
    /// What counts against it is taken to come in clumps of so many seconds, before anything is known.
    pub clump: f64,
}

/// What an overloaded server achieved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// In units of the load.
    pub load: f64,
    /// Its standard error, as a share.
    pub error: f64,
}

impl Saturation {
    /// The upper end of its 95 % interval.
    pub fn at_most(&self) -> f64 {
        self.load * (1.0 + 2.0 * self.error)
    }
}

/// Where the figure crosses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The load.
    pub load: f64,
    /// The lower end of its 95 % interval; None where there is none.
    pub low: Option<f64>,
    /// The upper end; None where there is none.
    pub high: Option<f64>,
    /// By how much the figure grows on its scale while the load grows from nothing to `load`.
    pub slope: f64,
}

/// Further than this from what is allowed, on its scale, a trial only says that it is far (a factor of six).
const FAR: f64 = 1.8;
/// A dispersion that nothing is known of counts as known by so many degrees of freedom.
const FEWEST_FREEDOM: f64 = 6.0;
/// By which factors the slope may be less or more than it usually is (one standard deviation), where nothing is known of the
/// saturation: a limit on the rate is nearly a step.
const ANY_SLOPE: (f64, f64) = (3.0, 10.0);
/// The same, where the saturation was seen.
const KNOWN_SLOPE: (f64, f64) = (1.7, 1.7);
/// The loads were picked, and the search ended, by what had been seen; intervals are wider by the root of this (found by
/// simulation, docs/method.md).
const PICKED: f64 = 1.06;
/// The least and the greatest slope that is looked at.
const SLOPES: (f64, f64) = (1.0, 5000.0);

impl Scale {
    fn of(self, figure: f64) -> f64 {
        match self {
            Self::Share => (-(-figure.clamp(1e-12, 1.0 - 1e-12)).ln_1p()).ln(),
            Self::Amount => figure.max(1e-12).ln(),
        }
    }

    fn back(self, value: f64) -> f64 {
        match self {
            Self::Share => -(-value.min(3.6).exp()).exp_m1(),
            Self::Amount => value.min(700.0).exp(),
        }
    }
}

impl Target {
    /// How far a figure lies above what is allowed, on its scale.
    fn above(&self, figure: f64) -> f64 {
        self.scale.of(figure) - self.scale.of(self.allowed)
    }

    /// The figure that lies so far above what is allowed.
    fn figure(&self, above: f64) -> f64 {
        self.scale.back(self.scale.of(self.allowed) + above)
    }

    /// How steep the figure usually is where the crossing is at `load`, and by which factors it may be less or more.
    fn usual_slope(&self, load: f64) -> (f64, (f64, f64)) {
        if let Some(Saturation { load: most, error }) = self.saturation {
            return (self.climb() / (most / load - 1.0).max(2.0 * error), KNOWN_SLOPE);
        }
        let steepest = if self.scale == Scale::Share { 30.0 } else { 5.0 };
        let room = self.served.map_or(0.0, |served| served / load - 1.0).max(0.0);
        ((self.climb() / room).min(steepest), ANY_SLOPE)
    }

    /// How far the figure would climb on the way to saturation if it went on as at the crossing: of a wait that is exponential,
    /// all that is left of its scale, and somewhat less as it becomes steeper; of a mean of s/(1 − load), once itself.
    fn climb(&self) -> f64 {
        const LESS: f64 = 0.75;
        match self.scale {
            Scale::Share => (-LESS * self.scale.of(self.allowed)).max(1.0),
            Scale::Amount => 1.0,
        }
    }

    /// What is taken for the dispersion before anything is known of it.
    fn usual_dispersion(&self) -> f64 {
        2.0 * self.clump / self.allowed.sqrt()
    }

    /// Whether a figure is near enough to what is allowed to say how it grows.
    fn is_near(&self, figure: f64) -> bool {
        self.above(figure).abs() < FAR
    }
}

/// Where the figure crosses what is allowed, with its interval; None unless it lies below at one load and above at another.
pub fn crossing(glimpses: &[LoadPoint], target: Target) -> Option<Crossing> {
    let (fit, best, freedom) = Fit::of(glimpses, target)?;
    let wide = fit.allowance(&best, freedom);
    let CurveFit { load, slope, .. } = best;
    Some(Crossing { load, low: fit.end(&best, -1.0, wide), high: fit.end(&best, 1.0, wide), slope })
}

/// Between the highest load below and the least above what is allowed; None unless there are both.
fn middle(glimpses: &[LoadPoint], allowed: f64) -> Option<f64> {
    let below = glimpses.iter().filter(|glimpse| glimpse.figure <= allowed).map(|glimpse| glimpse.load);
    let above = glimpses.iter().filter(|glimpse| glimpse.figure > allowed).map(|glimpse| glimpse.load);
    Some((below.reduce(f64::max)? * above.reduce(f64::min)?).sqrt())
}

struct Fit<'a> {
    glimpses: &'a [LoadPoint],
    target: Target,
    edges: (f64, f64),
    dispersion: f64,
    /// The slope as it usually is, and by which factors it may be less or more.
    usual: (f64, (f64, f64)),
}

#[derive(Clone, Copy)]
struct CurveFit {
    load: f64,
    slope: f64,
    deviance: f64,
}

impl<'a> Fit<'a> {
    /// The curve that fits best, and the degrees of freedom of its dispersion.
    fn of(glimpses: &'a [LoadPoint], target: Target) -> Option<(Self, CurveFit, f64)> {
        let edges = (target.figure(-FAR), target.figure(FAR));
        let middle = middle(glimpses, target.allowed)?;
        let usual = target.usual_slope(middle);
        let mut fit = Fit { glimpses, target, edges, dispersion: target.usual_dispersion(), usual };
        let (mut best, mut freedom) = (fit.best()?, FEWEST_FREEDOM);
        for _ in 0..2 {
            (fit.dispersion, freedom) = fit.dispersion(&best);
            fit.usual = target.usual_slope(best.load);
            best = fit.best()?;
        }
        Some((fit, best, freedom))
    }

    /// The crossing that fits best: looked for between each two loads, since it may be narrow, and then around the best.
    fn best(&self) -> Option<CurveFit> {
        let mut loads: Vec<f64> = self.glimpses.iter().map(|glimpse| glimpse.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        let between = loads.windows(2).map(|pair| (self.best_of(pair[0], pair[1], 4), pair[1] / pair[0]));
        let (mut best, wide) = between.min_by(|a, b| a.0.deviance.total_cmp(&b.0.deviance))?;
        for steps in [4.0, 24.0, 144.0] {
            let step = wide.ln() / steps;
            best = self.best_of(best.load * (-step).exp(), best.load * step.exp(), 12);
        }
        Some(best)
    }

    fn best_of(&self, from: f64, to: f64, steps: u32) -> CurveFit {
        let at = |i: u32| self.at(from * (to / from).powf(f64::from(i) / f64::from(steps)));
        let mut best = at(0);
        // Of several that fit equally well, the middle one: behind steps there is a plain.
        let mut same = (0, 0);
        for i in 1..=steps {
            let next = at(i);
            if next.deviance < best.deviance - 1e-9 {
                (best, same) = (next, (i, i));
            } else if next.deviance <= best.deviance + 1e-9 && same.1 + 1 == i {
                same.1 = i;
            }
        }
        at(same.0.midpoint(same.1))
    }

    /// The slope that fits best where the crossing is at `load`: by golden section on its logarithm, around the best of some
    /// slopes. There may be several minima, as all slopes fit trials far away alike.
    fn at(&self, load: f64) -> CurveFit {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        const STEPS: u32 = 12;
        let of = |log: f64| self.deviance(load, log.exp());
        let least = SLOPES.0.ln();
        let most = SLOPES.1.ln();
        let step = (most - least) / f64::from(STEPS);
        let tried = (0..=STEPS).map(|i| least + step * f64::from(i));
        let start = tried.min_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap_or(least);
        let mut a = (start - step).max(least);
        let mut b = (start + step).min(most);
        let (mut c, mut d) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
        let (mut at_c, mut at_d) = (of(c), of(d));
        for _ in 0..10 {
            if at_c <= at_d {
                (b, d, at_d) = (d, c, at_c);
                c = b - GOLDEN * (b - a);
                at_c = of(c);
            } else {
                (a, c, at_c) = (c, d, at_d);
                d = a + GOLDEN * (b - a);
                at_d = of(d);
            }
        }
        CurveFit { load, slope: c.exp(), deviance: at_c.min(at_d) }
    }

    fn deviance(&self, load: f64, slope: f64) -> f64 {
        let away = |glimpse: &LoadPoint| self.away(glimpse, slope * (glimpse.load / load - 1.0));
        self.glimpses.iter().map(away).sum::<f64>() + self.surprise(slope)
    }

    /// How much a slope speaks against itself: its logarithm is taken to be normal.
    fn surprise(&self, slope: f64) -> f64 {
        let (usual, wide) = self.usual;
        let wide = if slope < usual { wide.0 } else { wide.1 };
        ((slope / usual).ln() / f64::ln(wide)).powi(2)
    }

    /// The deviance of a trial from the curve, which lies so far `above` what is allowed there. Far from it, less than all
    /// of a far figure is enough.
    fn away(&self, glimpse: &LoadPoint, above: f64) -> f64 {
        let (low, high) = self.edges;
        if above <= -FAR && glimpse.figure <= low || above >= FAR && glimpse.figure >= high {
            return 0.0;
        }
        // A trial that is not far above speaks against a curve that would have it there, the more the further.
        let most = if glimpse.figure < high { 2.0 * FAR } else { FAR };
        let curve = self.target.figure(above.clamp(-FAR, most));
        let nearest = glimpse.figure.clamp(low, high);
        (deviance(glimpse.figure, curve) - deviance(glimpse.figure, nearest)).max(0.0) * glimpse.seconds
            / self.dispersion
    }

    /// How much figures vary, and how sure that is: the variances of the trials' blocks, over those that the curve would have
    /// (a ratio of sums: a trial that saw few slow requests thinks itself surer than it is). The degrees of freedom are
    /// those of a sum of variances (Satterthwaite 1946).
    fn dispersion(&self, best: &CurveFit) -> (f64, f64) {
        let (mut seen, mut square, mut expected) = (0.0, 0.0, 0.0);
        for glimpse in self.glimpses {
            let above = best.slope * (glimpse.load / best.load - 1.0);
            // What is far above is not steady: its queue grows as long as the trial lasts.
            if above.abs() < FAR && glimpse.figure < self.edges.1 {
                let sum = glimpse.variance * glimpse.seconds * glimpse.seconds;
                seen += sum;
                square += sum * sum / glimpse.freedom.max(1.0);
                expected += glimpse.seconds * self.target.figure(above).powf(1.5);
            }
        }
        let freedom = seen * seen / square;
        let all = FEWEST_FREEDOM + freedom;
        let usual = self.target.usual_dispersion();
        if seen > 0.0 {
            ((FEWEST_FREEDOM * usual + freedom * seen / expected) / all, all)
        } else {
            (usual, FEWEST_FREEDOM)
        }
    }

    /// How much more deviance the interval's ends may have: the profile likelihood ratio against F(1, ν), with the scatter of
    /// trials around the curve where that is more than their own blocks explain.
    fn allowance(&self, best: &CurveFit, freedom: f64) -> f64 {
        let near = self.glimpses.iter().filter(|glimpse| self.target.is_near(glimpse.figure)).count() as f64;
        let left = (near - 2.0).max(0.0);
        let scatter = ((best.deviance + freedom) / (left + freedom)).max(1.0);
        order::student(freedom + left).powi(2) * scatter * PICKED
    }

    fn end(&self, best: &CurveFit, direction: f64, wide: f64) -> Option<f64> {
        let outside = |load: f64| self.at(load).deviance - best.deviance > wide;
        let (mut inside, mut step) = (best.load, 0.002);
        let mut beyond = loop {
            let next = best.load * (direction * step).exp();
            if outside(next) {
                break next;
            }
            inside = next;
            step *= 1.6;
            if step > 4.0 {
                return None;
            }
        };
        for _ in 0..10 {
            let middle = (inside * beyond).sqrt();
            if outside(middle) { beyond = middle } else { inside = middle }
        }
        Some(beyond)
    }
}

/// The unit deviance of Tweedie's power 3/2: 4(√y − √μ)²/√μ (Dunn & Smyth, "Series evaluation of Tweedie exponential
/// dispersion model densities", Statistics and Computing 15, 2005).
fn deviance(figure: f64, curve: f64) -> f64 {
    let root = curve.max(1e-300).sqrt();
    4.0 * (figure.sqrt() - root).powi(2) / root
}

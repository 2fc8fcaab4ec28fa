//! The one model that all trials feed: how a figure grows with the load, and where it crosses what is allowed.
//!
//! What it is: near the capacity, the figure y on its scale (log for sums over counts, complementary log-log for shares) is
//! a straight line in the load; what is seen of it varies as sums of a random number of random clumps do (Tweedie's
//! compound Poisson with power 3/2: Jørgensen, "Exponential dispersion models", J. R. Statist. Soc. B 49, 1987). The load at
//! which it crosses is found by least deviance, its interval by profile likelihood. What it is not: a model of what happens
//! far from the capacity: there a trial only says that its load is far, not how far. docs/method.md has the formulas.

use brunt_stats::order;

/// A trial, at the load that it had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glimpse {
    /// The load.
    pub load: f64,
    /// The figure.
    pub figure: f64,
    /// The variance of the figure divided by its power 3/2.
    pub spread: f64,
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
    /// The degrees of freedom of the trials' spreads.
    pub freedom: f64,
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
    /// How far the trials are from the curve: the deviance.
    pub deviance: f64,
    /// How many of them were near enough to say how the figure grows.
    pub near: usize,
}

/// Further than this from what is allowed, on its scale, a trial only says that it is far (a factor of six).
const FAR: f64 = 1.8;
/// The least and the greatest slope that is looked at.
const SLOPES: (f64, f64) = (1.0, 1500.0);

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
    pub fn above(&self, figure: f64) -> f64 {
        self.scale.of(figure) - self.scale.of(self.allowed)
    }

    /// The figure that lies so far above what is allowed.
    pub fn figure(&self, above: f64) -> f64 {
        self.scale.back(self.scale.of(self.allowed) + above)
    }

    /// Whether a figure is near enough to what is allowed to say how it grows.
    pub fn is_near(&self, figure: f64) -> bool {
        self.above(figure).abs() < FAR
    }
}

/// Where the figure crosses what is allowed; None unless it lies below at one load and above at another.
pub fn crossing(glimpses: &[Glimpse], target: Target) -> Option<Crossing> {
    let fit = Fit { glimpses, target, edges: (target.figure(-FAR), target.figure(FAR)) };
    let (least, most) = fit.range()?;
    let mut best = fit.best_of(least / 2.0, most * 1.5, 60);
    let step = (most * 3.0 / least).ln() / 60.0;
    best = fit.best_of(best.load * (-step).exp(), best.load * step.exp(), 40);
    let wide = fit.allowance(&best);
    let end = |direction: f64| fit.end(&best, direction, wide);
    let near = glimpses.iter().filter(|glimpse| target.is_near(glimpse.figure)).count();
    Some(Crossing { load: best.load, low: end(-1.0), high: end(1.0), slope: best.slope, deviance: best.deviance, near })
}

struct Fit<'a> {
    glimpses: &'a [Glimpse],
    target: Target,
    edges: (f64, f64),
}

#[derive(Clone, Copy)]
struct Tried {
    load: f64,
    slope: f64,
    deviance: f64,
}

impl Fit<'_> {
    /// The least and the greatest load, where figures are seen on both sides.
    fn range(&self) -> Option<(f64, f64)> {
        let loads = || self.glimpses.iter().map(|glimpse| glimpse.load);
        let below = self.glimpses.iter().any(|glimpse| glimpse.figure <= self.target.allowed);
        let above = self.glimpses.iter().any(|glimpse| glimpse.figure > self.target.allowed);
        (below && above).then(|| (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max)))
    }

    fn best_of(&self, from: f64, to: f64, steps: u32) -> Tried {
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

    /// The slope that fits best where the crossing is at `load`: by golden section on its logarithm.
    fn at(&self, load: f64) -> Tried {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let of = |log: f64| self.deviance(load, log.exp());
        let (mut a, mut b) = (SLOPES.0.ln(), SLOPES.1.ln());
        let (mut c, mut d) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
        let (mut at_c, mut at_d) = (of(c), of(d));
        for _ in 0..22 {
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
        Tried { load, slope: c.exp(), deviance: at_c.min(at_d) }
    }

    fn deviance(&self, load: f64, slope: f64) -> f64 {
        self.glimpses.iter().map(|glimpse| self.away(glimpse, slope * (glimpse.load / load - 1.0))).sum()
    }

    /// The deviance of a trial from the curve, which lies so far `above` what is allowed there. Far from it, less than all
    /// of a far figure is enough.
    fn away(&self, glimpse: &Glimpse, above: f64) -> f64 {
        let (low, high) = self.edges;
        let curve = self.target.figure(above.clamp(-FAR, FAR));
        let nearest = glimpse.figure.clamp(low, high);
        (deviance(glimpse.figure, curve) - deviance(glimpse.figure, nearest)).max(0.0) / glimpse.spread
    }

    /// How much more deviance the interval's ends may have: the profile likelihood ratio against F(1, ν), with the scatter of
    /// trials around the curve where that is more than their own blocks explain.
    fn allowance(&self, best: &Tried) -> f64 {
        let near = self.glimpses.iter().filter(|glimpse| self.target.is_near(glimpse.figure)).count() as f64;
        let left = (near - 2.0).max(0.0);
        let freedom = self.target.freedom;
        let scatter = ((best.deviance + freedom) / (left + freedom)).max(1.0);
        order::student(freedom + left).powi(2) * scatter
    }

    fn end(&self, best: &Tried, direction: f64, wide: f64) -> Option<f64> {
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
        for _ in 0..18 {
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

//! Fits one model to all trials: how a figure grows with the load, and where it
//! crosses the allowed value.
//!
//! Near the capacity, the figure y on its scale is a straight line in the load. The scale is log
//! for ratios of sums and counts, and complementary log-log for shares. Observed values vary like
//! sums of a random number of random clusters (Tweedie's compound Poisson with power 3/2:
//! Jørgensen, "Exponential dispersion models", J. R. Statist. Soc. B 49, 1987). The crossing is
//! found by least deviance, its interval by profile likelihood. docs/method.md has the formulas.
//!
//! Far from the capacity the model does not hold: such a trial only shows that its load is
//! far, not how far.

use brunt_stats::order;

/// The observed figure at one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedPoint {
    /// Load of the trial.
    pub load: f64,
    /// Ratio of the counted to all requests, see [`crate::bound::ObjectiveFigure`].
    pub figure: f64,
    /// Length of the measured time, in seconds.
    pub seconds: f64,
    /// Variance of the figure, from the trial's own blocks.
    pub variance: f64,
    /// Degrees of freedom of that variance.
    pub freedom: f64,
}

/// Scale on which the figure is a straight line in the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveScale {
    /// Scale of a share: log(−log(1 − y)).
    Share,
    /// Scale of a figure without upper limit: log y.
    Amount,
}

/// The value that the figure must cross, and prior knowledge of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveTarget {
    /// Scale of the figure.
    pub scale: CurveScale,
    /// Maximum allowed value of the figure.
    pub allowed: f64,
    /// Throughput of the overloaded server, if the figure depends on waiting: there
    /// it grows without limit.
    pub saturation: Option<Saturation>,
    /// Highest throughput of any trial, if the figure depends on waiting: a lower
    /// bound of the saturation.
    pub served: Option<f64>,
    /// Assumed length, in seconds, of a cluster of slow or failed requests, before any trial.
    pub clump: f64,
}

/// Throughput of an overloaded server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Throughput, in units of the load.
    pub load: f64,
    /// Standard error, as a share.
    pub error: f64,
}

impl Saturation {
    /// Upper end of the 95 % interval.
    pub fn at_most(&self) -> f64 {
        self.load * (1.0 + 2.0 * self.error)
    }
}

/// The load at which the figure crosses the allowed value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Estimate of the load.
    pub load: f64,
    /// Lower end of its 95 % interval; None if it is open.
    pub low: Option<f64>,
    /// Upper end of that interval; None if it is open.
    pub high: Option<f64>,
    /// Growth of the figure, on its scale, while the load grows from 0 to `load`.
    pub slope: f64,
    /// Variance of the figure in a trial of one second, divided by the figure to the power 3/2.
    pub dispersion: f64,
    /// The value that is crossed.
    pub target: CurveTarget,
}

/// Distance from the allowed value, on the scale, beyond which a trial only shows that it is far
/// (a factor of six).
const FAR: f64 = 1.8;
/// Degrees of freedom of the prior dispersion.
const PRIOR_FREEDOM: f64 = 6.0;
/// The prior of the slope: log-normal, with a standard deviation on each side.
#[derive(Debug, Clone, Copy)]
struct SlopePrior {
    /// Most likely value of the slope.
    slope: f64,
    spread: SlopeSpread,
}

/// Factors of one standard deviation of the slope.
#[derive(Debug, Clone, Copy)]
struct SlopeSpread {
    /// Factor below the most likely slope.
    below: f64,
    /// Factor above the most likely slope.
    above: f64,
}

/// Spread of the slope if the saturation is unknown: a rate limit makes the curve nearly a step.
const UNKNOWN_SATURATION: SlopeSpread = SlopeSpread { below: 3.0, above: 10.0 };
/// Spread of the slope if the saturation was observed.
const KNOWN_SATURATION: SlopeSpread = SlopeSpread { below: 1.7, above: 1.7 };
/// Factor on the allowed deviance, since the choice of the loads and the end of the
/// search depend on earlier results. Intervals become wider by its square root.
/// Found by simulation, docs/method.md.
const SELECTION: f64 = 1.06;
/// Smallest slope that is tried.
const MIN_SLOPE: f64 = 1.0;
/// Largest slope that is tried.
const MAX_SLOPE: f64 = 5000.0;

impl CurveScale {
    /// Converts a figure to the scale.
    fn transform(self, figure: f64) -> f64 {
        match self {
            Self::Share => (-(-figure.clamp(1e-12, 1.0 - 1e-12)).ln_1p()).ln(),
            Self::Amount => figure.max(1e-12).ln(),
        }
    }

    /// Converts a value on the scale back to a figure.
    fn inverse(self, value: f64) -> f64 {
        match self {
            Self::Share => -(-value.min(3.6).exp()).exp_m1(),
            Self::Amount => value.min(700.0).exp(),
        }
    }
}

impl CurveTarget {
    /// Distance of a figure above the allowed value, on the scale.
    fn above(&self, figure: f64) -> f64 {
        self.scale.transform(figure) - self.scale.transform(self.allowed)
    }

    /// Returns the figure at the distance `above` from the allowed value.
    pub(crate) fn figure(&self, above: f64) -> f64 {
        self.scale.inverse(self.scale.transform(self.allowed) + above)
    }

    /// Prior of the slope if the crossing is at `load`.
    fn slope_prior(&self, load: f64) -> SlopePrior {
        if let Some(Saturation { load: most, error }) = self.saturation {
            // The saturation is at least two standard errors away from the crossing.
            let slope = self.climb() / (most / load - 1.0).max(2.0 * error);
            return SlopePrior { slope, spread: KNOWN_SATURATION };
        }
        let steepest = if self.scale == CurveScale::Share { 30.0 } else { 5.0 };
        let room = self.served.map_or(0.0, |served| served / load - 1.0).max(0.0);
        SlopePrior { slope: (self.climb() / room).min(steepest), spread: UNKNOWN_SATURATION }
    }

    /// Growth of the figure, on the scale, between the crossing and saturation if its slope stayed
    /// the same. For exponential waiting times this is the rest of the scale, reduced since the
    /// curve becomes steeper. For a mean of s/(1 − load) it is 1.
    fn climb(&self) -> f64 {
        const REDUCTION: f64 = 0.75;
        match self.scale {
            CurveScale::Share => (-REDUCTION * self.scale.transform(self.allowed)).max(1.0),
            CurveScale::Amount => 1.0,
        }
    }

    /// Prior of the dispersion.
    fn prior_dispersion(&self) -> f64 {
        2.0 * self.clump / self.allowed.sqrt()
    }

    /// True if a figure is close enough to the allowed value to determine the slope.
    fn is_near(&self, figure: f64) -> bool {
        self.above(figure).abs() < FAR
    }
}

/// Returns the crossing with its interval. None unless the figure is below the allowed value at one
/// load and above it at another.
pub fn crossing(points: &[ObservedPoint], target: CurveTarget) -> Option<Crossing> {
    let (model, best, freedom) = Model::fit(points, target)?;
    let allowance = model.allowance(&best, freedom);
    let CurveFit { load, slope, .. } = best;
    Some(Crossing {
        load,
        low: model.end(&best, -1.0, allowance),
        high: model.end(&best, 1.0, allowance),
        slope,
        dispersion: model.dispersion,
        target,
    })
}

/// Geometric mean of the highest load below and the lowest load above the allowed value;
/// None unless both exist.
fn middle(points: &[ObservedPoint], allowed: f64) -> Option<f64> {
    let below = points.iter().filter(|point| point.figure <= allowed).map(|point| point.load);
    let above = points.iter().filter(|point| point.figure > allowed).map(|point| point.load);
    Some((below.reduce(f64::max)? * above.reduce(f64::min)?).sqrt())
}

/// The model with its data and parameters.
struct Model<'a> {
    points: &'a [ObservedPoint],
    target: CurveTarget,
    /// Figure at the distance `FAR` below the allowed value.
    low_edge: f64,
    /// Figure at the distance `FAR` above the allowed value.
    high_edge: f64,
    dispersion: f64,
    slope_prior: SlopePrior,
}

/// A curve, with its deviance from the points.
#[derive(Clone, Copy)]
struct CurveFit {
    load: f64,
    slope: f64,
    deviance: f64,
}

impl<'a> Model<'a> {
    /// Fits the model. Returns it with the best curve and the degrees of freedom of its dispersion.
    fn fit(points: &'a [ObservedPoint], target: CurveTarget) -> Option<(Self, CurveFit, f64)> {
        let middle = middle(points, target.allowed)?;
        let mut model = Model {
            points,
            target,
            low_edge: target.figure(-FAR),
            high_edge: target.figure(FAR),
            dispersion: target.prior_dispersion(),
            slope_prior: target.slope_prior(middle),
        };
        let mut best = model.best()?;
        let mut freedom = PRIOR_FREEDOM;
        // Dispersion and slope prior depend on the best curve, which depends
        // on them: two iterations.
        for _ in 0..2 {
            (model.dispersion, freedom) = model.dispersion(&best);
            model.slope_prior = target.slope_prior(best.load);
            best = model.best()?;
        }
        Some((model, best, freedom))
    }

    /// Returns the best curve. First searches between all neighboring loads, since the minimum may
    /// be narrow, then around the best result.
    fn best(&self) -> Option<CurveFit> {
        let mut loads: Vec<f64> = self.points.iter().map(|point| point.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        let intervals = loads
            .windows(2)
            .map(|pair| (self.best_between(pair[0], pair[1], 4), pair[1] / pair[0]));
        let (mut best, ratio) = intervals.min_by(|a, b| a.0.deviance.total_cmp(&b.0.deviance))?;
        for steps in [4.0, 24.0, 144.0] {
            let step = ratio.ln() / steps;
            best = self.best_between(best.load * (-step).exp(), best.load * step.exp(), 12);
        }
        Some(best)
    }

    /// Returns the best of `steps` + 1 curves with crossings between two loads, at equal ratios.
    fn best_between(&self, from: f64, to: f64, steps: u32) -> CurveFit {
        let ratio = to / from;
        let mut best = self.best_slope(from);
        // A step in the data gives many equally good curves. The middle one of them is used.
        let mut first_best = 0;
        let mut last_best = 0;
        for i in 1..=steps {
            let next = self.best_slope(from * ratio.powf(f64::from(i) / f64::from(steps)));
            if next.deviance < best.deviance - 1e-9 {
                best = next;
                first_best = i;
                last_best = i;
            } else if next.deviance <= best.deviance + 1e-9 && last_best + 1 == i {
                last_best = i;
            }
        }
        let middle = first_best.midpoint(last_best);
        self.best_slope(from * ratio.powf(f64::from(middle) / f64::from(steps)))
    }

    /// Returns the curve with the best slope for a crossing at `load`: by golden section on the
    /// logarithm of the slope, around the best of some slopes. There may be several minima, since
    /// all slopes fit distant trials equally well.
    fn best_slope(&self, load: f64) -> CurveFit {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        const STEPS: u32 = 12;
        let least = MIN_SLOPE.ln();
        let most = MAX_SLOPE.ln();
        let step = (most - least) / f64::from(STEPS);
        let logs = (0..=STEPS).map(|i| least + step * f64::from(i));
        let start = logs
            .min_by(|a, b| self.deviance(load, a.exp()).total_cmp(&self.deviance(load, b.exp())))
            .unwrap_or(least);
        let mut a = (start - step).max(least);
        let mut b = (start + step).min(most);
        let mut c = b - GOLDEN * (b - a);
        let mut d = a + GOLDEN * (b - a);
        let mut at_c = self.deviance(load, c.exp());
        let mut at_d = self.deviance(load, d.exp());
        for _ in 0..10 {
            if at_c <= at_d {
                (b, d, at_d) = (d, c, at_c);
                c = b - GOLDEN * (b - a);
                at_c = self.deviance(load, c.exp());
            } else {
                (a, c, at_c) = (c, d, at_d);
                d = a + GOLDEN * (b - a);
                at_d = self.deviance(load, d.exp());
            }
        }
        CurveFit { load, slope: c.exp(), deviance: at_c.min(at_d) }
    }

    fn deviance(&self, load: f64, slope: f64) -> f64 {
        self.points
            .iter()
            .map(|point| self.distance(point, slope * (point.load / load - 1.0)))
            .sum::<f64>()
            + self.slope_penalty(slope)
    }

    /// Deviance of the slope from its prior, which is normal in the logarithm.
    fn slope_penalty(&self, slope: f64) -> f64 {
        let SlopePrior { slope: expected, spread } = self.slope_prior;
        let factor = if slope < expected { spread.below } else { spread.above };
        ((slope / expected).ln() / f64::ln(factor)).powi(2)
    }

    /// Deviance of a trial from the curve, which lies at the distance `above` from the allowed
    /// value. If both are far on the same side, the deviance is 0.
    fn distance(&self, point: &ObservedPoint, above: f64) -> f64 {
        let is_low = above <= -FAR && point.figure <= self.low_edge;
        let is_high = above >= FAR && point.figure >= self.high_edge;
        if is_low || is_high {
            return 0.0;
        }
        // A trial that is not far above contradicts a curve that is far above there;
        // the more, the further.
        let most = if point.figure < self.high_edge { 2.0 * FAR } else { FAR };
        let curve = self.target.figure(above.clamp(-FAR, most));
        let nearest = point.figure.clamp(self.low_edge, self.high_edge);
        (unit_deviance(point.figure, curve) - unit_deviance(point.figure, nearest)).max(0.0)
            * point.seconds
            / self.dispersion
    }

    /// Returns the dispersion and its degrees of freedom. The dispersion is the ratio of the
    /// observed variances to those of the curve. It is a ratio of sums, because a trial with few
    /// slow requests underestimates its own variance. The degrees of freedom are those of a sum
    /// of variances (Satterthwaite 1946).
    fn dispersion(&self, best: &CurveFit) -> (f64, f64) {
        let mut observed = 0.0;
        let mut square = 0.0;
        let mut expected = 0.0;
        for point in self.points {
            let above = best.slope * (point.load / best.load - 1.0);
            // A trial far above is not steady: its queue grows during the whole trial.
            if above.abs() < FAR && point.figure < self.high_edge {
                let sum = point.variance * point.seconds * point.seconds;
                observed += sum;
                square += sum * sum / point.freedom.max(1.0);
                expected += point.seconds * self.target.figure(above).powf(1.5);
            }
        }
        let freedom = observed * observed / square;
        let all = PRIOR_FREEDOM + freedom;
        let prior = self.target.prior_dispersion();
        if observed > 0.0 {
            ((PRIOR_FREEDOM * prior + freedom * observed / expected) / all, all)
        } else {
            (prior, PRIOR_FREEDOM)
        }
    }

    /// Maximum increase of the deviance within the interval: the profile likelihood ratio
    /// against F(1, ν). It is larger if the trials scatter more around the curve than
    /// their own blocks explain.
    fn allowance(&self, best: &CurveFit, freedom: f64) -> f64 {
        let near =
            self.points.iter().filter(|point| self.target.is_near(point.figure)).count() as f64;
        let residual_freedom = (near - 2.0).max(0.0);
        let scatter = ((best.deviance + freedom) / (residual_freedom + freedom)).max(1.0);
        order::student(freedom + residual_freedom).powi(2) * scatter * SELECTION
    }

    /// Returns the end of the interval in one direction (−1 or 1); None if it is open.
    fn end(&self, best: &CurveFit, direction: f64, allowance: f64) -> Option<f64> {
        let mut inside = best.load;
        let mut step = 0.002;
        let mut outside = loop {
            let next = best.load * (direction * step).exp();
            if self.best_slope(next).deviance - best.deviance > allowance {
                break next;
            }
            inside = next;
            step *= 1.6;
            if step > 4.0 {
                return None;
            }
        };
        for _ in 0..10 {
            let middle = (inside * outside).sqrt();
            let is_outside = self.best_slope(middle).deviance - best.deviance > allowance;
            if is_outside { outside = middle } else { inside = middle }
        }
        Some(outside)
    }
}

/// Unit deviance of Tweedie's power 3/2: 4(√y − √μ)²/√μ (Dunn & Smyth, "Series evaluation of
/// Tweedie exponential dispersion model densities", Statistics and Computing 15, 2005).
fn unit_deviance(figure: f64, curve: f64) -> f64 {
    let root = curve.max(1e-300).sqrt();
    4.0 * (figure.sqrt() - root).powi(2) / root
}

//! Fits the Universal Scalability Law to a sweep of users without think time.

use super::trials::{LoadFigures, Trials};
use crate::texts::message;
use brunt_model::analysis::{Band, BandedFigure, Scalability};
use brunt_model::{LoadUnit, Text};
use brunt_stats::usl::{self, Fit};

/// Minimum number of loads that distinguish contention from coherency.
const FEWEST_LEVELS: usize = 6;

/// Returns the fit. None for an open loop, for users that think or may do so, or for
/// fewer than six loads.
pub fn fit(trials: &Trials) -> Option<Scalability> {
    let has_no_think_time =
        trials.unit == LoadUnit::Users { think: Some(std::time::Duration::ZERO) };
    if !has_no_think_time || trials.steps.len() < FEWEST_LEVELS {
        return None;
    }
    let curve = trials.curve();
    let whole = law(&curve)?;
    let kappa = banded(trials, |fit| Some(fit.law.kappa))?;
    // The peak √((1−σ)/κ) exists only if κ is not 0.
    let is_certain = kappa.low > 0.0 && kappa.band != Band::One;
    let peak = if is_certain { banded(trials, |fit| fit.law.peak()) } else { None };
    Some(Scalability {
        lambda: banded(trials, |fit| Some(fit.law.lambda))?,
        sigma: banded(trials, |fit| Some(fit.law.sigma))?,
        kappa,
        peak,
        r_squared: whole.r_squared,
        caution: caution(&curve, kappa, peak),
    })
}

fn banded(trials: &Trials, figure: fn(&Fit) -> Option<f64>) -> Option<BandedFigure> {
    trials.banded(|curve| figure(&law(curve)?))
}

fn law(curve: &[LoadFigures]) -> Option<Fit> {
    let (n, x): (Vec<f64>, Vec<f64>) =
        curve.iter().map(|point| (point.load, point.achieved)).unzip();
    // The law is defined from one user on.
    if n.first().is_none_or(|least| *least < 1.0) {
        return None;
    }
    usl::fit(&n, &x)
}

fn caution(curve: &[LoadFigures], kappa: BandedFigure, peak: Option<BandedFigure>) -> Text {
    let highest = curve.last().map_or(0.0, |point| point.load);
    let low = format!("{:.0}", curve.first().map_or(0.0, |point| point.load));
    let high = LoadUnit::Users { think: None }.format(highest);
    match (kappa.band, peak) {
        (Band::One, _) => message!("scalability-caution.one-value", low, high),
        (_, None) => message!("scalability-caution.no-peak", low, high),
        (_, Some(peak)) if peak.high > highest => {
            message!("scalability-caution.peak-beyond", low, high)
        }
        _ => message!("scalability-caution.peak-within", low, high),
    }
}

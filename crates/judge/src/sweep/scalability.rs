//! The Universal Scalability Law over a sweep of users who do not think.

use super::trials::{At, Trials};
use brunt_model::LoadUnit;
use brunt_model::analysis::{Band, BandedFigure, Scalability};
use brunt_model::numbers::load;
use brunt_stats::usl::{self, Fit};

/// Fewer levels do not tell contention from coherency.
const FEWEST_LEVELS: usize = 6;

/// The fit; None for an open loop, users who think or may do so, or fewer than six loads.
pub fn fit(trials: &Trials) -> Option<Scalability> {
    let alone = trials.unit == LoadUnit::Users { think: Some(std::time::Duration::ZERO) };
    if !alone || trials.steps.len() < FEWEST_LEVELS {
        return None;
    }
    let curve = trials.curve();
    let whole = law(&curve)?;
    let of = |figure: fn(&Fit) -> Option<f64>| trials.banded(|curve| figure(&law(curve)?));
    let kappa = of(|fit| Some(fit.law.kappa))?;
    let certain = kappa.low > 0.0 && kappa.band != Band::One;
    let peak = if certain { of(|fit| fit.law.peak()) } else { None };
    Some(Scalability {
        lambda: of(|fit| Some(fit.law.lambda))?,
        sigma: of(|fit| Some(fit.law.sigma))?,
        kappa,
        peak,
        r_squared: whole.r_squared,
        caution: caution(&curve, kappa, peak),
    })
}

fn law(curve: &[At]) -> Option<Fit> {
    let (n, x): (Vec<f64>, Vec<f64>) = curve.iter().map(|at| (at.load, at.achieved)).unzip();
    if n.first().is_none_or(|least| *least < 1.0) {
        return None;
    }
    usl::fit(&n, &x)
}

fn caution(curve: &[At], kappa: BandedFigure, peak: Option<BandedFigure>) -> String {
    let highest = curve.last().map_or(0.0, |at| at.load);
    let (low, high) = (curve.first().map_or(0.0, |at| at.load), load(LoadUnit::Users { think: None }, highest));
    let range = format!("It is fitted to {low:.0} to {high}");
    match (kappa.band, peak) {
        (Band::One, _) => format!("{range}, with one value each: no interval of κ is known. Do not extrapolate."),
        (_, None) => format!("{range}; κ may be 0, so no peak is known. Do not extrapolate."),
        (_, Some(peak)) if peak.high > highest => format!("{range}; the peak may lie beyond. Do not extrapolate."),
        _ => format!("{range}, and its peak lies within. Beyond them it is only a formula."),
    }
}

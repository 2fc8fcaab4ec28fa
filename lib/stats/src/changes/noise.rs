//! Estimates the autocorrelation of a series that may have changes, and draws orders with it.

use rand::seq::SliceRandom as _;
use rand::{Rng, RngExt as _};
use std::f64::consts::TAU;

/// Share of the largest differences that is ignored: changes and outliers are among them.
const TRIMMED_SHARE: f64 = 0.2;

/// Maximum autocorrelation: above it, a series of a few hundred values shows no level.
const MAX_AUTOCORRELATION: f64 = 0.9;

/// Minimum number of values for an estimate; that of fewer values is mostly chance.
pub const MIN_ESTIMATED: usize = 20;

/// The noise of a series between its changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    pub autocorrelation: f64,
}

impl Noise {
    /// Estimates the noise of a series.
    ///
    /// In a first-order process with autocorrelation ρ, differences of adjacent values have the mean
    /// square 2σ²(1 − ρ), and those of values two apart 2σ²(1 − ρ²). Their ratio is 1 + ρ. A change of
    /// the level is in only three of these differences, and the trimming removes them.
    pub fn of(values: &[f64]) -> Self {
        if values.len() < MIN_ESTIMATED {
            return Self { autocorrelation: 0.0 };
        }
        let adjacent = trimmed_square(values, 1);
        let ratio = trimmed_square(values, 2) / adjacent;
        let estimate = if adjacent > 0.0 { ratio - 1.0 } else { 0.0 };
        Self { autocorrelation: estimate.clamp(0.0, MAX_AUTOCORRELATION) }
    }
}

/// Random orders of values, with the autocorrelation of a noise.
pub(super) struct Orders {
    /// The values, sorted.
    sorted: Vec<f64>,
    autocorrelation: f64,
    /// The latest order.
    order: Vec<f64>,
    /// The process that decides the order, with the index of each value.
    process: Vec<(f64, usize)>,
}

impl Orders {
    pub fn new(values: &[f64], noise: Noise) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let Noise { autocorrelation } = noise;
        let process = vec![(0.0, 0); sorted.len()];
        Self { order: sorted.clone(), sorted, autocorrelation, process }
    }

    /// Draws the next order: that of a normal first-order process. Without autocorrelation, all
    /// orders are equally probable.
    pub fn draw(&mut self, random: &mut impl Rng) -> &[f64] {
        let rho = self.autocorrelation;
        if rho == 0.0 {
            self.order.shuffle(random);
            return &self.order;
        }
        let innovation = (1.0 - rho * rho).sqrt();
        let mut state = normal(random);
        for (index, place) in self.process.iter_mut().enumerate() {
            *place = (state, index);
            state = rho * state + innovation * normal(random);
        }
        // The order of the states decides which place gets which rank.
        self.process.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for ((_, index), value) in self.process.iter().zip(&self.sorted) {
            self.order[*index] = *value;
        }
        &self.order
    }
}

/// Mean square of the differences of values this far apart, without the largest.
fn trimmed_square(values: &[f64], distance: usize) -> f64 {
    let mut squares: Vec<f64> =
        values.iter().zip(values.iter().skip(distance)).map(|(a, b)| (b - a).powi(2)).collect();
    squares.sort_unstable_by(f64::total_cmp);
    let ignored = (squares.len() as f64 * TRIMMED_SHARE).ceil() as usize;
    let retained = squares.len().saturating_sub(ignored);
    squares.iter().take(retained).sum::<f64>() / retained.max(1) as f64
}

/// Draws from the standard normal distribution (Box & Muller 1958).
pub(super) fn normal(random: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (TAU * random.random::<f64>()).cos()
}

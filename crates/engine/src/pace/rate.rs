//! Computes how many arrivals are due by an instant, for a rate that changes in straight lines.
//!
//! Λ(t) is the integral of the rate. Arrival number n is due at Λ⁻¹(Sₙ). Sₙ = n for even arrivals.
//! For a Poisson process it is a sum of n standard exponentials: a time-changed unit-rate process
//! (Çinlar, "Introduction to Stochastic Processes", 1975). Each stage is a trapezium, so the
//! inverse is the root of a quadratic.

use brunt_model::LoadShape;

/// The integral of a rate over time, and its inverse.
#[derive(Debug, Clone)]
pub struct Cumulative {
    stages: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Seconds from the begin of the load.
    begins: f64,
    /// Number of arrivals due before this piece.
    before: f64,
    from: f64,
    /// Change of the rate per second.
    slope: f64,
    /// Length in seconds; infinite for a last stage without end.
    length: f64,
}

impl Piece {
    fn arrivals(&self) -> f64 {
        if self.length.is_infinite() {
            return if self.from > 0.0 { f64::INFINITY } else { 0.0 };
        }
        self.from * self.length + self.slope * self.length * self.length / 2.0
    }

    /// Returns the seconds into the piece at which `x` of its arrivals are due. This is the smaller
    /// root of slope/2·t² + from·t = x, in the form without cancellation.
    fn inverse(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        let root = (self.from * self.from + 2.0 * self.slope * x).max(0.0).sqrt();
        (2.0 * x / (self.from + root)).min(self.length)
    }
}

impl Cumulative {
    /// Integrates `shape`.
    pub fn new(shape: &LoadShape) -> Self {
        let mut begins = 0.0;
        let mut before = 0.0;
        let mut stages = Vec::with_capacity(shape.stages.len());
        for stage in &shape.stages {
            let length = stage.duration.map_or(f64::INFINITY, |d| d.as_secs_f64());
            let slope = if length.is_finite() && length > 0.0 {
                (stage.to - stage.from) / length
            } else {
                0.0
            };
            let piece = Piece { begins, before, from: stage.from, slope, length };
            begins += length;
            before += piece.arrivals();
            stages.push(piece);
        }
        Self { stages }
    }

    /// Number of arrivals due in the first `seconds`.
    pub fn until(&self, seconds: f64) -> f64 {
        let Some(piece) = self.stages.iter().rev().find(|p| p.begins <= seconds) else {
            return 0.0;
        };
        let offset = (seconds - piece.begins).min(piece.length);
        piece.before + piece.from * offset + piece.slope * offset * offset / 2.0
    }

    /// Returns the seconds after which `x` arrivals are due. None if the shape ends before.
    pub fn inverse(&self, x: f64) -> Option<f64> {
        // Stages of length 0 have no arrivals.
        let piece = self.stages.iter().rev().find(|p| p.before <= x && p.length > 0.0)?;
        let offset = x - piece.before;
        // A stage without arrivals is skipped: the arrival belongs to the next stage.
        (offset < piece.arrivals()).then(|| piece.begins + piece.inverse(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::LoadStage;
    use std::time::Duration;

    fn shape(stages: &[(f64, f64, Option<u64>)]) -> Cumulative {
        let stages = stages.iter().map(|&(from, to, s)| LoadStage {
            from,
            to,
            duration: s.map(Duration::from_secs),
        });
        Cumulative::new(&brunt_model::LoadShape { stages: stages.collect() })
    }

    #[test]
    fn a_constant_rate_is_a_straight_line() {
        let c = shape(&[(200.0, 200.0, None)]);
        assert_eq!(c.inverse(0.0), Some(0.0));
        assert_eq!(c.inverse(100.0), Some(0.5));
    }

    #[test]
    fn a_ramp_is_a_parabola() {
        // 0 to 100/s in 10 s: Λ(t) = 5t², 500 arrivals in all; then 100/s.
        let c = shape(&[(0.0, 100.0, Some(10)), (100.0, 100.0, Some(10))]);
        assert!((c.inverse(5.0).unwrap() - 1.0).abs() < 1e-12);
        assert!((c.inverse(125.0).unwrap() - 5.0).abs() < 1e-12);
        assert!((c.inverse(500.0).unwrap() - 10.0).abs() < 1e-12);
        assert!((c.inverse(600.0).unwrap() - 11.0).abs() < 1e-9);
        assert_eq!(c.inverse(1500.0), None);
        assert_eq!(
            [0.0, 1.0, 10.0, 11.0, 99.0].map(|t| c.until(t)),
            [0.0, 5.0, 500.0, 600.0, 1500.0]
        );
    }

    #[test]
    fn a_falling_rate_and_a_pause() {
        let c = shape(&[(100.0, 0.0, Some(2)), (0.0, 0.0, Some(3)), (10.0, 10.0, Some(1))]);
        assert!((c.inverse(75.0).unwrap() - 1.0).abs() < 1e-9);
        assert!((c.inverse(100.0).unwrap() - 5.0).abs() < 1e-9);
        assert!((c.inverse(105.0).unwrap() - 5.5).abs() < 1e-9);
        assert_eq!(c.inverse(110.0), None);
    }
}

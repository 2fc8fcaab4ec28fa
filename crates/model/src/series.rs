//! How a run went over time, in bounded memory.

use crate::{Flow, Phase, Snapshot, Tick};
use brunt_stats::Sketch;
use serde::{Deserialize, Serialize};

/// More points than this are joined two by two.
const MOST_POINTS: usize = 4096;

/// How a run went over time: one point an interval. A run too long for 4096 points has wider ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// In order of time.
    pub points: Vec<Point>,
    /// How many snapshots are joined in a point (a power of two).
    joined: u32,
    /// How many of them the last point holds.
    in_last: u32,
}

/// What happened in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// When it began.
    pub from: Tick,
    /// When it ended.
    pub to: Tick,
    /// The part of the run that it lies in.
    pub phase: Phase,
    /// What flowed, and how things stood at its end.
    pub flow: Flow,
    /// Response times, in nanoseconds, of requests completed or timed out in it.
    pub response: Sketch,
    /// Lags, in nanoseconds, of requests that ended in it.
    pub lag: Sketch,
}

impl From<&Snapshot> for Point {
    fn from(s: &Snapshot) -> Self {
        let mut response = Sketch::from(&s.measured.response);
        let mut lag = Sketch::from(&s.measured.lag);
        response.merge(&Sketch::from(&s.warmup.response));
        lag.merge(&Sketch::from(&s.warmup.lag));
        Self { from: s.from, to: s.to, phase: s.phase, flow: s.flow, response, lag }
    }
}

impl Point {
    fn follow(&mut self, later: &Self) {
        self.to = later.to;
        self.flow.follow(&later.flow);
        self.response.merge(&later.response);
        self.lag.merge(&later.lag);
    }

    /// Seconds that it covers.
    pub fn seconds(&self) -> f64 {
        self.to.nanos_since(self.from) as f64 / 1e9
    }
}

impl Series {
    /// Adds the next interval.
    pub fn push(&mut self, snapshot: &Snapshot) {
        let joined = self.joined.max(1);
        let point = Point::from(snapshot);
        match self.points.last_mut() {
            Some(last) if self.in_last < joined && last.phase == point.phase => {
                last.follow(&point);
                self.in_last += 1;
            }
            _ => {
                self.points.push(point);
                self.in_last = 1;
            }
        }
        if self.points.len() > MOST_POINTS {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut joined: Vec<Point> = Vec::with_capacity(MOST_POINTS / 2 + 8);
        let mut open = false;
        for point in self.points.drain(..) {
            match joined.last_mut() {
                Some(last) if open && last.phase == point.phase => {
                    last.follow(&point);
                    open = false;
                }
                _ => {
                    joined.push(point);
                    open = true;
                }
            }
        }
        self.points = joined;
        self.joined = self.joined.max(1) * 2;
        self.in_last = if open { self.joined / 2 } else { self.joined };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_its_sums_in_bounded_memory() {
        let mut series = Series::default();
        let n = 50_000;
        for i in 0..n {
            let mut s = Snapshot { from: Tick(i), to: Tick(i + 1), phase: Phase::Measure, ..Snapshot::default() };
            s.flow.completed = 3;
            s.measured.response.record(i + 1);
            series.push(&s);
        }
        assert!(series.points.len() <= MOST_POINTS);
        assert_eq!(series.points.iter().map(|p| p.flow.completed).sum::<u64>(), 3 * n);
        assert_eq!(series.points.iter().map(|p| p.response.count()).sum::<u64>(), n);
        assert!(series.points.windows(2).all(|w| w[0].to == w[1].from));
    }
}

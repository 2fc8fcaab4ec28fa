//! One line of live state while a run goes on. Out of scope: a terminal; it makes the line, others show it.

use crate::figures::{count, plural, span, three, time};
use brunt_model::{Phase, Plan, Snapshot, Tick};
use brunt_stats::Sketch;
use std::collections::VecDeque;
use std::time::Duration;

/// Rates and percentiles are those of the last second.
const WINDOW: Duration = Duration::from_secs(1);

/// What a line needs of the intervals before.
pub struct Progress {
    plan: Ends,
    phase: Phase,
    /// When the phase began.
    began: Tick,
    /// Errors and completed requests, since the warm-up or the measured time began.
    errors: u64,
    completed: u64,
    recent: VecDeque<Recent>,
}

/// When the parts of the run are over.
struct Ends {
    warmup: Duration,
    duration: Option<Duration>,
    requests: Option<u64>,
    grace: Duration,
}

struct Recent {
    from: Tick,
    to: Tick,
    completed: u64,
    response: Sketch,
}

impl Progress {
    /// Before the first interval.
    pub fn new(plan: &Plan) -> Self {
        let stop = &plan.stop();
        let (warmup, duration, requests, grace) = (stop.warmup, stop.duration, stop.requests, stop.grace);
        Self {
            plan: Ends { warmup, duration, requests, grace },
            phase: Phase::Setup,
            began: Tick::ZERO,
            errors: 0,
            completed: 0,
            recent: VecDeque::new(),
        }
    }

    /// Takes in the next interval, of all workers together; the line, without an end of line.
    pub fn line(&mut self, snapshot: &Snapshot) -> String {
        self.take(snapshot);
        let so_far = self.so_far(snapshot);
        if self.phase == Phase::Setup {
            return format!("{so_far}  {} open", plural(snapshot.flow.connections, "connection"));
        }
        format!(
            "{so_far}  {:>9}/s  {:>6} in flight  p99 {:>7}  {}",
            three(self.rate()),
            count(snapshot.flow.in_flight),
            self.p99(),
            plural(self.errors, "error")
        )
    }

    fn take(&mut self, s: &Snapshot) {
        if s.phase != self.phase {
            self.enter(s);
        }
        self.errors += s.flow.errors;
        self.completed += s.flow.completed;
        let mut response = Sketch::from(&s.measured.response);
        response.merge(&Sketch::from(&s.warmup.response));
        self.recent.push_back(Recent { from: s.from, to: s.to, completed: s.flow.completed, response });
        while self.recent.len() > 1 && self.recent.front().is_some_and(|r| r.from + WINDOW < s.to) {
            self.recent.pop_front();
        }
    }

    fn enter(&mut self, s: &Snapshot) {
        (self.phase, self.began) = (s.phase, s.from);
        if s.phase == Phase::Measure {
            (self.errors, self.completed) = (0, 0);
            self.recent.clear();
        }
    }

    fn so_far(&self, s: &Snapshot) -> String {
        let elapsed = (s.to - self.began).as_secs_f64();
        let of = |total: Option<Duration>| total.map_or(String::new(), |d| format!(" of {}", span(d.as_secs_f64())));
        match self.phase {
            Phase::Setup => format!("setup {elapsed:.1} s"),
            Phase::Warmup => format!("warm-up {elapsed:.1} s{}", of(Some(self.plan.warmup))),
            Phase::Measure => format!("{elapsed:.1} s{}{}", of(self.plan.duration), self.requests()),
            Phase::Grace => format!("grace {elapsed:.1} s{}", of(Some(self.plan.grace))),
        }
    }

    fn requests(&self) -> String {
        self.plan.requests.map_or(String::new(), |n| format!("  {} of {}", count(self.completed), plural(n, "request")))
    }

    fn rate(&self) -> f64 {
        let completed: u64 = self.recent.iter().map(|r| r.completed).sum();
        let nanos: u64 = self.recent.iter().map(|r| r.to.nanos_since(r.from)).sum();
        if nanos == 0 { 0.0 } else { completed as f64 / (nanos as f64 / 1e9) }
    }

    fn p99(&self) -> String {
        let mut all = Sketch::default();
        self.recent.iter().for_each(|r| all.merge(&r.response));
        if all.count() == 0 { crate::figures::UNKNOWN.into() } else { time(all.quantile(0.99)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::Story;

    const STEP: u64 = 100_000_000;

    fn snapshot(step: u64, phase: Phase) -> Snapshot {
        let mut s = Snapshot { from: Tick(step * STEP), to: Tick((step + 1) * STEP), phase, ..Snapshot::default() };
        (s.flow.completed, s.flow.errors, s.flow.in_flight, s.flow.connections) = (1234, 1, 64, 64);
        s.measured.response.record_n(602_000, 1234);
        s
    }

    #[test]
    fn every_part_of_a_run_has_its_line() {
        let mut plan = Story::closed(64.0).plan;
        plan.main_mut().stop.warmup = Duration::from_millis(200);
        let mut progress = Progress::new(&plan);
        let phases = [Phase::Setup, Phase::Warmup, Phase::Measure, Phase::Grace];
        let lines: Vec<String> = (0..).zip(phases).map(|(i, phase)| progress.line(&snapshot(i, phase))).collect();
        assert_eq!(
            lines,
            [
                "setup 0.1 s  64 connections open",
                "warm-up 0.1 s of 200 ms     12,340/s      64 in flight  p99  602 µs  2 errors",
                "0.1 s of 10 s     12,340/s      64 in flight  p99  602 µs  1 error",
                "grace 0.1 s of 1 s     12,340/s      64 in flight  p99  602 µs  2 errors",
            ]
        );
    }

    #[test]
    fn rates_are_those_of_the_last_second() {
        let mut progress = Progress::new(&Story::closed(64.0).plan);
        for step in 0..10 {
            progress.line(&snapshot(step, Phase::Measure));
        }
        let mut quiet = |step| {
            let (from, to) = (Tick(step * STEP), Tick((step + 1) * STEP));
            progress.line(&Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() })
        };
        assert!(quiet(10).contains(" 11,106/s"));
        let last = (11..20).map(&mut quiet).last().unwrap();
        assert_eq!(last, "2.0 s of 10 s          0/s       0 in flight  p99       –  10 errors");
    }

    #[test]
    fn a_number_of_requests_is_counted_down() {
        let mut plan = Story::closed(64.0).plan;
        (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(100_000));
        let line = Progress::new(&plan).line(&snapshot(0, Phase::Measure));
        assert!(line.starts_with("0.1 s  1,234 of 100,000 requests "), "{line}");
    }
}

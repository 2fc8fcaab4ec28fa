//! Formats the progress of an active run: a block of lines for a terminal, one line for a log.
//!
//! Out of scope: the terminal. This module makes the lines; the caller shows them.

use brunt_model::numbers::{UNKNOWN, count, plural, span, three_digits, time};
use brunt_model::time::seconds_of;
use brunt_model::{Phase, Plan, Snapshot, Tick};
use brunt_stats::Sketch;
use std::collections::VecDeque;
use std::time::Duration;

/// Period of the current rates and percentiles: the last second.
const WINDOW: Duration = Duration::from_secs(1);
/// Maximum number of seconds in the sparkline.
const MAX_BARS: usize = 120;
/// Minimum and maximum width of a block.
const WIDTHS: (usize, usize) = (40, 160);
/// Heights of the sparkline's bars.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// State of a run so far.
pub struct RunProgress {
    limits: RunLimits,
    phase: Phase,
    /// Start of the phase, and its latest instant.
    phase_start: Tick,
    now: Tick,
    /// Errors and completed requests, since the start of the warm-up or of the measured time.
    errors: u64,
    completed: u64,
    in_flight: u64,
    connections: u64,
    recent: VecDeque<Recent>,
    /// Rates of complete seconds, latest last.
    rates: VecDeque<f64>,
    /// The incomplete second: its start, and the number of completed requests.
    second: (Tick, u64),
}

/// Planned end of the phases of a run.
struct RunLimits {
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

impl RunProgress {
    /// Creates the state before the first interval.
    pub fn new(plan: &Plan) -> Self {
        let stop = &plan.stop();
        Self {
            limits: RunLimits {
                warmup: stop.warmup,
                duration: stop.duration,
                requests: stop.requests,
                grace: stop.grace,
            },
            phase: Phase::Setup,
            phase_start: Tick::ZERO,
            now: Tick::ZERO,
            errors: 0,
            completed: 0,
            in_flight: 0,
            connections: 0,
            recent: VecDeque::new(),
            rates: VecDeque::new(),
            second: (Tick::ZERO, 0),
        }
    }

    /// Adds the next interval, merged over all workers.
    pub fn take(&mut self, s: &Snapshot) {
        if s.phase != self.phase {
            self.enter(s);
        }
        self.now = s.to;
        self.in_flight = s.flow.in_flight;
        self.connections = s.flow.connections;
        self.errors += s.flow.errors;
        self.completed += s.flow.completed;
        self.count_second(s);
        // A request that is planned in the warm-up may complete in the measured time.
        let mut response = Sketch::from(&s.measured.response);
        response.merge(&Sketch::from(&s.warmup.response));
        self.recent.push_back(Recent {
            from: s.from,
            to: s.to,
            completed: s.flow.completed,
            response,
        });
        // The latest interval stays even if it is longer than the window.
        while self.recent.len() > 1 && self.recent.front().is_some_and(|r| r.from + WINDOW < s.to) {
            self.recent.pop_front();
        }
    }

    /// Returns the progress as one line, without an end of line.
    pub fn line(&self) -> String {
        if self.phase == Phase::Setup {
            return format!("{}  {} open", self.so_far(), plural(self.connections, "connection"));
        }
        let (p50, p99) = self.percentiles();
        let share =
            self.share().map_or_else(String::new, |share| format!(" ({:.0} %)", share * 100.0));
        format!(
            "{}{share}  {}/s, average {}/s  p50 {p50}, p99 {p99}  {} in flight  {}",
            self.so_far(),
            three_digits(self.rate()),
            three_digits(self.average()),
            count(self.in_flight),
            plural(self.errors, "error")
        )
    }

    /// Returns the progress as lines of at most `width` columns.
    pub fn block(&self, width: usize) -> Vec<String> {
        let width = width.clamp(WIDTHS.0, WIDTHS.1);
        if self.phase == Phase::Setup {
            return vec![cut(&self.line(), width)];
        }
        let rate = format!(
            "{}/s now, {}/s average",
            three_digits(self.rate()),
            three_digits(self.average())
        );
        let (p50, p99) = self.percentiles();
        let flight = count(self.in_flight);
        let errors = plural(self.errors, "error");
        let latency = format!("Last second  p50 {p50}, p99 {p99}; {flight} in flight; {errors}");
        let rate = format!("Throughput   {rate}  ");
        let room = width.saturating_sub(rate.chars().count());
        let spark = format!("{rate}{}", self.sparkline(room));
        [self.bar(width), spark, latency].map(|line| cut(line.trim_end(), width)).to_vec()
    }

    /// Returns the progress bar: ` 42 % ██████░░░░░░░░  4.2 s of 10 s, 5.8 s left`.
    fn bar(&self, width: usize) -> String {
        let remaining = self
            .remaining()
            .map_or_else(String::new, |left| format!(", {} left", span(left.ceil())));
        let suffix = format!("  {}{remaining}", self.so_far());
        let Some(share) = self.share() else { return suffix.trim_start().to_owned() };
        let prefix = format!("{:3.0} % ", share * 100.0);
        let room = width.saturating_sub(prefix.chars().count() + suffix.chars().count());
        let full = (share * room as f64) as usize;
        format!("{prefix}{}{}{suffix}", "█".repeat(full), "░".repeat(room - full))
    }

    fn sparkline(&self, room: usize) -> String {
        let shown = self.rates.len().min(room);
        let highest = self.rates.iter().copied().fold(0.0, f64::max);
        self.rates.iter().skip(self.rates.len() - shown).map(|rate| spark(*rate, highest)).collect()
    }

    fn enter(&mut self, s: &Snapshot) {
        self.phase = s.phase;
        self.phase_start = s.from;
        // The grace period completes requests of the measured time, so the counts continue.
        if s.phase == Phase::Measure || s.phase == Phase::Warmup {
            self.errors = 0;
            self.completed = 0;
            self.recent.clear();
            self.second = (s.from, 0);
        }
    }

    fn count_second(&mut self, s: &Snapshot) {
        self.second.1 += s.flow.completed;
        let nanos = s.to.nanos_since(self.second.0);
        // The sparkline shows the load; without load, its bars would end in zeros.
        if Duration::from_nanos(nanos) < WINDOW || matches!(self.phase, Phase::Setup | Phase::Grace)
        {
            return;
        }
        self.rates.push_back(self.second.1 as f64 / seconds_of(nanos));
        self.second = (s.to, 0);
        if self.rates.len() > MAX_BARS {
            self.rates.pop_front();
        }
    }

    /// Seconds since the start of the phase.
    fn elapsed(&self) -> f64 {
        self.now.seconds_since(self.phase_start)
    }

    /// Completed share of warm-up and measured time; None if the end is unknown.
    fn share(&self) -> Option<f64> {
        let warmup = self.limits.warmup.as_secs_f64();
        let elapsed = self.elapsed();
        let by_time = self.limits.duration.as_ref().map(Duration::as_secs_f64).map(|duration| {
            match self.phase {
                Phase::Setup => 0.0,
                // A warm-up may last longer than planned.
                Phase::Warmup => elapsed.min(warmup) / (warmup + duration),
                Phase::Measure => (warmup + elapsed) / (warmup + duration),
                Phase::Grace => 1.0,
            }
        });
        let is_measured = self.phase == Phase::Measure;
        let by_requests = self
            .limits
            .requests
            .map(|all| if is_measured { self.completed as f64 / all as f64 } else { 0.0 });
        // The run ends at the earlier of the two ends.
        [by_time, by_requests]
            .into_iter()
            .flatten()
            .reduce(f64::max)
            .map(|share| share.clamp(0.0, 1.0))
    }

    /// Seconds until the end of the measured time; None if the end is unknown.
    fn remaining(&self) -> Option<f64> {
        let warmup = self.limits.warmup.as_secs_f64();
        let elapsed = self.elapsed();
        let by_time = self.limits.duration.as_ref().map(Duration::as_secs_f64).map(|duration| {
            match self.phase {
                Phase::Warmup => (warmup - elapsed).max(0.0) + duration,
                _ => (duration - elapsed).max(0.0),
            }
        });
        let rest = self
            .limits
            .requests
            .map(|all| all.saturating_sub(self.completed) as f64 / self.average());
        let by_requests =
            rest.filter(|seconds| self.phase == Phase::Measure && seconds.is_finite());
        let remaining = [by_time, by_requests].into_iter().flatten().reduce(f64::min);
        remaining.filter(|_| matches!(self.phase, Phase::Warmup | Phase::Measure))
    }

    fn so_far(&self) -> String {
        let elapsed = self.elapsed();
        match self.phase {
            Phase::Setup => format!("setup {elapsed:.1} s"),
            Phase::Warmup => {
                format!("warm-up {elapsed:.1} s{}", of_total(Some(self.limits.warmup)))
            }
            Phase::Measure => {
                format!("{elapsed:.1} s{}{}", of_total(self.limits.duration), self.requests())
            }
            Phase::Grace => format!("grace {elapsed:.1} s{}", of_total(Some(self.limits.grace))),
        }
    }

    fn requests(&self) -> String {
        self.limits.requests.map_or(String::new(), |n| {
            format!("  {} of {}", count(self.completed), plural(n, "request"))
        })
    }

    fn rate(&self) -> f64 {
        let completed: u64 = self.recent.iter().map(|r| r.completed).sum();
        let nanos: u64 = self.recent.iter().map(|r| r.to.nanos_since(r.from)).sum();
        if nanos == 0 { 0.0 } else { completed as f64 / seconds_of(nanos) }
    }

    /// Mean rate since the start of the warm-up or of the measured time.
    fn average(&self) -> f64 {
        let seconds = self.elapsed();
        if seconds == 0.0 { 0.0 } else { self.completed as f64 / seconds }
    }

    /// Returns p50 and p99 of the last second.
    fn percentiles(&self) -> (String, String) {
        let all: Sketch = self.recent.iter().map(|recent| &recent.response).collect();
        if all.count() == 0 {
            return (UNKNOWN.into(), UNKNOWN.into());
        }
        (time(all.quantile(0.5)), time(all.quantile(0.99)))
    }
}

fn spark(rate: f64, highest: f64) -> char {
    match highest {
        0.0 => BARS[0],
        _ => BARS[((rate / highest * BARS.len() as f64) as usize).min(BARS.len() - 1)],
    }
}

fn of_total(total: Option<Duration>) -> String {
    total.map_or(String::new(), |duration| format!(" of {}", span(duration.as_secs_f64())))
}

/// Cuts a line at this width.
fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}

#[cfg(test)]
mod tests;

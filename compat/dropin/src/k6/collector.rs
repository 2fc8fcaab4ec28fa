//! Listens to a run: prints console lines, adds figures, and ends the run if a threshold says so.

use super::{K6Test, exit, plan};
use crate::caller::Caller;
use brunt_engine::RunControl;
use brunt_k6::kinds::MetricKind;
use brunt_k6::registry::{ABORTED, EXCEPTION, FAILED};
use brunt_model::metric::Metric;
use brunt_model::metric::Metrics;
use brunt_model::{Event, Failure, Phase, Run, Tick};
use brunt_runner::{EventListener, Interrupt};
use std::sync::Arc;
use std::time::Duration;

/// The listener of the runs of a script.
pub struct K6Collector<'a> {
    /// All figures so far.
    pub metrics: Metrics,
    test: &'a K6Test,
    caller: Arc<Caller>,
    control: Option<RunControl>,
    begun: Tick,
    now: Tick,
    /// Length of the load.
    length: Duration,
    /// The threshold that has ended the run.
    ended_by: Option<String>,
}

/// Distance of two evaluations of thresholds during the run.
const BETWEEN: Duration = Duration::from_secs(2);

impl<'a> K6Collector<'a> {
    /// Creates a collector without figures.
    pub fn new(test: &'a K6Test, caller: &Arc<Caller>) -> Self {
        Self {
            metrics: Metrics::default(),
            test,
            caller: Arc::clone(caller),
            control: None,
            begun: Tick::ZERO,
            now: Tick::ZERO,
            length: Duration::ZERO,
            ended_by: None,
        }
    }

    /// Begins the load.
    pub fn begin_load(&mut self, control: RunControl) {
        self.control = Some(control);
        self.now = Tick::ZERO;
    }

    /// Ends the load: adds the figures of the engine.
    pub fn end_load(&mut self, run: &Run) {
        self.control = None;
        self.length = Duration::from_nanos(self.now.nanos_since(self.begun));
        let count = run.total.failed_by(Failure::Dropped);
        if count > 0 {
            // k6 counts them where it drops them, brunt in the engine.
            let dropped = Metric::Counter { sum: count as f64, count };
            self.metrics.figures.insert("dropped_iterations".into(), dropped);
        }
        let most = self.test.scenarios.iter().map(plan::users).sum();
        self.add_level("vus_max", most);
    }

    /// Adds a value to a level.
    fn add_level(&mut self, name: &str, value: f64) {
        let level = Metric::Gauge { last: value, least: value, most: value };
        self.metrics
            .figures
            .entry(name.to_owned())
            .and_modify(|own| own.merge(&level))
            .or_insert(level);
    }

    /// Length of the load.
    pub fn elapsed(&self) -> Duration {
        self.length
    }

    /// True if an exception has ended an iteration.
    pub fn has_thrown(&self) -> bool {
        self.has_mark(EXCEPTION)
    }

    fn has_mark(&self, kind: &str) -> bool {
        self.metrics.figures.keys().any(|name| name.starts_with(kind))
    }

    /// Returns the exit code, and says why it is not 0.
    pub fn exit_code(&self, interrupt: &Interrupt, elapsed: Duration) -> u8 {
        let crossed = self.crossed(elapsed);
        // A crossed threshold has priority over Ctrl-C, as in k6.
        if !crossed.is_empty() {
            let names = crossed.join(", ");
            self.error(&format!("thresholds on metrics '{names}' have been crossed"));
            return exit::THRESHOLDS;
        }
        for (kind, code) in [(ABORTED, exit::ABORTED), (FAILED, exit::FAILED)] {
            let mark = self.metrics.figures.keys().find_map(|name| name.strip_prefix(kind));
            if let Some(message) = mark {
                self.error(&format!("{}{message}", kind.replace(':', "()")));
                return code;
            }
        }
        if interrupt.is_stopped() { exit::INTERRUPTED } else { 0 }
    }

    fn error(&self, text: &str) {
        let text = serde_json::Value::from(text);
        self.caller.err_redacted(&format!("level=error msg={text}"));
    }

    /// Names of the metrics with a crossed threshold.
    fn crossed(&self, elapsed: Duration) -> Vec<String> {
        let crossed = self.test.thresholds.iter().filter(|one| {
            one.results(self.kind(&one.selector.metric), &self.metrics, elapsed).contains(&false)
        });
        crossed.map(|one| one.selector.to_string()).collect()
    }

    fn kind(&self, metric: &str) -> MetricKind {
        let own = self.test.declarations.iter().find(|own| own.name == metric);
        own.map_or(MetricKind::Counter, |own| own.kind)
    }

    /// Ends the run if a threshold that asks for it is crossed.
    fn check_thresholds(&mut self) {
        let Some(control) = self.control.as_ref().filter(|_| self.ended_by.is_none()) else {
            return;
        };
        let elapsed = Duration::from_nanos(self.now.nanos_since(self.begun));
        for one in &self.test.thresholds {
            let results = one.results(self.kind(&one.selector.metric), &self.metrics, elapsed);
            let crossed = one.thresholds.iter().zip(results).find(|(threshold, holds)| {
                threshold.aborts && !holds && elapsed >= threshold.delay
            });
            if let Some((threshold, _)) = crossed {
                self.ended_by = Some(threshold.text.clone());
                // The run ends as after its time, so that its report is whole.
                control.end();
                return;
            }
        }
    }
}

impl EventListener for K6Collector<'_> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Stage { at, phase: Phase::Measure } => self.begun = *at,
            Event::Metrics(metrics) => {
                for line in &metrics.lines {
                    self.caller.err_redacted(line);
                }
                self.metrics.merge(metrics);
            }
            Event::Snapshot(snapshot) => {
                let before = self.now.nanos_since(self.begun) / BETWEEN.as_nanos() as u64;
                self.now = snapshot.to;
                // The users of an open loop are not counted, and at the end there are none.
                if self.control.is_some() && snapshot.flow.users > 0 {
                    self.add_level("vus", snapshot.flow.users as f64);
                }
                if self.now.nanos_since(self.begun) / BETWEEN.as_nanos() as u64 > before {
                    self.check_thresholds();
                }
            }
            _ => {}
        }
    }
}

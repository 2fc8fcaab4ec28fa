//! Converts readings to values over time, and to means over the measured time.
//!
//! The suffix of a name decides whether a reading is a counter (see
//! [`brunt_model::reading_names`]); other parts of names have no meaning here. [`crate::panels`]
//! assigns readings to charts.

use brunt_model::history::History;
use brunt_model::reading_names::{
    CPU_SYSTEM, CPU_USER, GENERATOR, HOST_SOFTIRQ, HOST_SYSTEM, HOST_USER, server,
};
use brunt_model::{Phase, Run};
use std::collections::BTreeMap;

/// A value and its time span, in seconds since the start of the measured time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueSpan {
    /// Start; for a state, the instant of the reading.
    pub from: f64,
    /// End; for a state, the instant of the reading.
    pub to: f64,
    /// The state, or the growth of the counter per second.
    pub value: f64,
}

impl ValueSpan {
    /// Middle of the span.
    pub fn at(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }
}

/// True for the name of a counter: `…_total`, and accumulated times (`…_seconds`).
pub fn is_counter(name: &str) -> bool {
    // Labels in braces follow the suffix.
    let name = name.split('{').next().unwrap_or(name);
    name.ends_with("_total") || name.ends_with("_seconds")
}

/// Returns the name of a counter's rate: `requests_total` becomes `requests_per_second`.
pub fn rate_name(name: &str) -> String {
    let (name, labels) = name.find('{').map_or((name, ""), |start| name.split_at(start));
    format!("{}_per_second{labels}", name.strip_suffix("_total").unwrap_or(name))
}

/// Returns a reading over time: a state as it was read, a counter as its growth per second.
pub fn over_time(run: &Run, history: &History, name: &str) -> Vec<ValueSpan> {
    let zero = run.phase_start(Phase::Measure).unwrap_or_default();
    if is_counter(name) {
        // A counter that decreased was reset, because its process restarted.
        let rates = history.rates(name).into_iter().filter(|rate| rate.2 >= 0.0);
        return rates
            .map(|(from, to, value)| ValueSpan {
                from: from.seconds_from(zero),
                to: to.seconds_from(zero),
                value,
            })
            .collect();
    }
    history
        .values(name)
        .into_iter()
        .map(|(at, value)| ValueSpan {
            from: at.seconds_from(zero),
            to: at.seconds_from(zero),
            value,
        })
        .collect()
}

/// Returns the mean over the measured time. States have equal weights, rates are weighted by their
/// spans. None if there is no value in the measured time.
pub fn mean(run: &Run, spans: &[ValueSpan]) -> Option<f64> {
    let end = run.measured_seconds();
    let within = spans.iter().filter(|span| (0.0..=end).contains(&span.at()));
    let (sum, total_weight) = within.fold((0.0, 0.0), |(sum, total_weight), span| {
        let weight = if span.to > span.from { span.to - span.from } else { 1.0 };
        (sum + span.value * weight, total_weight + weight)
    });
    (total_weight > 0.0).then(|| sum / total_weight)
}

/// Returns the means of all readings over the measured time, by source and name. Counters
/// become rates per second.
pub fn means(run: &Run) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut means = BTreeMap::new();
    for (source, history) in &run.history {
        let mut of_source = BTreeMap::new();
        for name in history.names() {
            let shown = if is_counter(name) { rate_name(name) } else { name.clone() };
            if let Some(mean) = mean(run, &over_time(run, history, name)) {
                of_source.insert(shown, mean);
            }
        }
        if !of_source.is_empty() {
            means.insert(source.clone(), of_source);
        }
    }
    means
}

/// Returns the mean number of cores that the server's processes used in the measured time; without
/// such readings, that of its machine.
pub fn server_cpu(run: &Run) -> Option<f64> {
    sum_of_means(run, "process:", &server::CPU)
        .or_else(|| sum_of_means(run, "host:", &[HOST_USER, HOST_SYSTEM, HOST_SOFTIRQ]))
}

/// Returns the mean number of cores that the generator's process used in the measured time.
pub fn generator_cores(run: &Run) -> Option<f64> {
    sum_of_means(run, GENERATOR, &[CPU_USER, CPU_SYSTEM])
}

/// Returns the sum of the means of these readings, over all sources with this prefix. None if none
/// was read.
fn sum_of_means(run: &Run, prefix: &str, names: &[&str]) -> Option<f64> {
    let sources = run.history.iter().filter(|(source, _)| source.starts_with(prefix));
    let means = sources.flat_map(|(_, history)| {
        names.iter().map(|name| mean(run, &over_time(run, history, name)))
    });
    means.flatten().reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::{Event, Reading, Tick};

    fn run() -> Run {
        let second = |n: u64| Tick(n * 1_000_000_000);
        let mut events = vec![Event::Stage { at: second(2), phase: Phase::Measure }];
        // 10 a second in the warm-up, 30 a second in the measured time of four seconds.
        for (at, total, open) in
            [(0, 0.0, 1.0), (2, 20.0, 5.0), (4, 80.0, 7.0), (6, 140.0, 9.0), (9, 140.0, 99.0)]
        {
            let values = vec![("requests_total".into(), total), ("connections.open".into(), open)];
            events.push(Event::Reading(Reading {
                at: second(at),
                source: "nginx:front".into(),
                values,
            }));
        }
        events.push(Event::Stage { at: second(6), phase: Phase::Grace });
        Run::of(&events)
    }

    #[test]
    fn means_are_of_the_measured_time_only() {
        let means = means(&run());
        assert_eq!(means["nginx:front"]["requests_per_second"], 30.0);
        assert_eq!(means["nginx:front"]["connections.open"], 7.0);
    }

    #[test]
    fn a_counter_is_recognized_by_its_suffix() {
        assert!(
            is_counter("x_total{code=\"200\"}")
                && is_counter("cpu_user_seconds")
                && !is_counter("workers.busy")
        );
        assert_eq!(rate_name("x_total{code=\"200\"}"), "x_per_second{code=\"200\"}");
        assert_eq!(rate_name("cpu_user_seconds"), "cpu_user_seconds_per_second");
    }
}

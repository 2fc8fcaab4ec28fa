//! What was read beside the requests: over time, and as means over the measured time.
//!
//! It knows no name but by its ending, which says whether it is a counter (see
//! [`brunt_model::reading_names`]). Which readings share a chart is said in [`crate::panels`].

use brunt_model::history::History;
use brunt_model::reading_names::{HOST_SOFTIRQ, HOST_SYSTEM, HOST_USER, server};
use brunt_model::{Phase, Run};
use std::collections::BTreeMap;

/// A value and the time for which it stands: seconds since the measured time began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// From when; of a state, when it was read.
    pub from: f64,
    /// To when; of a state, when it was read.
    pub to: f64,
    /// The state, or the growth of the counter per second.
    pub value: f64,
}

impl Span {
    /// Its middle.
    pub fn at(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }
}

/// Whether a reading of that name only grows: `…_total`, and times spent (`…_seconds`).
pub fn is_counter(name: &str) -> bool {
    let name = name.split('{').next().unwrap_or(name);
    name.ends_with("_total") || name.ends_with("_seconds")
}

/// What a counter is called when it is shown per second: `requests_total` is `requests_per_second`.
pub fn rate_name(name: &str) -> String {
    let (name, labels) = name.find('{').map_or((name, ""), |at| name.split_at(at));
    format!("{}_per_second{labels}", name.strip_suffix("_total").unwrap_or(name))
}

/// A reading over time: a state as it was read, a counter as its growth per second.
pub fn over_time(run: &Run, history: &History, name: &str) -> Vec<Span> {
    let zero = run.began(Phase::Measure).unwrap_or_default();
    if is_counter(name) {
        // A counter that fell was begun anew, with the process that keeps it.
        let rates = history.rates(name).into_iter().filter(|rate| rate.2 >= 0.0);
        return rates
            .map(|(from, to, value)| Span { from: from.seconds_from(zero), to: to.seconds_from(zero), value })
            .collect();
    }
    history
        .of(name)
        .into_iter()
        .map(|(at, value)| Span { from: at.seconds_from(zero), to: at.seconds_from(zero), value })
        .collect()
}

/// The mean over the measured time: states count alike, rates by the time for which they stand. None where nothing was
/// read in it.
pub fn mean(run: &Run, spans: &[Span]) -> Option<f64> {
    let end = run.measured_seconds();
    let within = spans.iter().filter(|span| (0.0..=end).contains(&span.at()));
    let (sum, weight) = within.fold((0.0, 0.0), |(sum, weight), span| {
        let lasted = if span.to > span.from { span.to - span.from } else { 1.0 };
        (sum + span.value * lasted, weight + lasted)
    });
    (weight > 0.0).then(|| sum / weight)
}

/// The means over the measured time of all that was read, by source and name; counters as rates per second.
pub fn means(run: &Run) -> BTreeMap<String, BTreeMap<String, f64>> {
    let of = |history: &History| {
        let mean_of = |name: &String| {
            let shown = if is_counter(name) { rate_name(name) } else { name.clone() };
            Some((shown, mean(run, &over_time(run, history, name))?))
        };
        history.names().iter().filter_map(mean_of).collect::<BTreeMap<_, _>>()
    };
    let all = run.history.iter().map(|(source, history)| (source.clone(), of(history)));
    all.filter(|source| !source.1.is_empty()).collect()
}

/// The cores that the server's processes had, on average over the measured time; where none were read, those of its
/// machine.
pub fn server_cpu(run: &Run) -> Option<f64> {
    let of = |kind: &str, names: &[&str]| {
        let sources = run.history.iter().filter(|(source, _)| source.starts_with(kind));
        let rates = sources.flat_map(|(_, history)| names.iter().map(|name| mean(run, &over_time(run, history, name))));
        rates.flatten().reduce(|a, b| a + b)
    };
    of("process:", &server::CPU).or_else(|| of("host:", &[HOST_USER, HOST_SYSTEM, HOST_SOFTIRQ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::{Event, Reading, Tick};

    fn run() -> Run {
        let second = |n: u64| Tick(n * 1_000_000_000);
        let mut events = vec![Event::Stage { at: second(2), phase: Phase::Measure }];
        // 10 a second in the warm-up, 30 a second in the measured time of four seconds.
        for (at, total, open) in [(0, 0.0, 1.0), (2, 20.0, 5.0), (4, 80.0, 7.0), (6, 140.0, 9.0), (9, 140.0, 99.0)] {
            let values = vec![("requests_total".into(), total), ("connections.open".into(), open)];
            events.push(Event::Reading(Reading { at: second(at), source: "nginx:front".into(), values }));
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
    fn a_counter_is_known_by_its_ending_whatever_its_labels() {
        assert!(is_counter("x_total{code=\"200\"}") && is_counter("cpu_user_seconds") && !is_counter("workers.busy"));
        assert_eq!(rate_name("x_total{code=\"200\"}"), "x_per_second{code=\"200\"}");
        assert_eq!(rate_name("cpu_user_seconds"), "cpu_user_seconds_per_second");
    }
}

//! Converts loads of populations to the keys of `load`.

use super::Writer;
use super::requests::is_default;
use brunt_har::write::{Keys, plan_time};
use brunt_model::load::{Arrivals, LoadShape};
use brunt_model::{Load, Population};
use brunt_spec::plan::Yaml;

/// Duration in the plan of a load that JMeter runs until it is stopped.
const DEFAULT_DURATION: &str = "1m";

impl Writer<'_> {
    /// Writes the keys of `load`.
    pub(super) fn load(&mut self, population: &Population) -> Yaml {
        let mut keys = Keys::new();
        let is_finite = match &population.load {
            Load::Closed { users, .. } => {
                push_text(&mut keys, "users", shape(users, &f64::round));
                users.duration().is_some()
            }
            Load::Open { rate, arrivals, max_in_flight, .. } => {
                let mut rate = rate.clone();
                // A pause at the end is grace for requests in flight.
                if let Some(last) = rate.stages.pop_if(|last| last.from == 0.0 && last.to == 0.0) {
                    let grace = last.duration.unwrap_or_default();
                    if !is_default(grace, brunt_spec::defaults::GRACE) {
                        push_text(&mut keys, "grace", plan_time(grace));
                    }
                }
                // Rounding hides the errors of binary fractions.
                push_text(&mut keys, "rate", shape(&rate, &|rate| (rate * 1e6).round() / 1e6));
                push_text(
                    &mut keys,
                    "arrivals",
                    if *arrivals == Arrivals::Even { "even" } else { "poisson" }.to_owned(),
                );
                if *max_in_flight < 100_000 {
                    push_text(&mut keys, "max_in_flight", max_in_flight.to_string());
                }
                rate.duration().is_some()
            }
        };
        let stop = &population.stop;
        let users = population.load.peak().ceil().max(1.0) as u64;
        if let Some(iterations) = stop.iterations_per_user {
            push_text(&mut keys, "iterations", iterations.to_string());
        }
        match (stop.duration.filter(|_| !is_finite), stop.iterations_per_user) {
            (Some(duration), _) => push_text(&mut keys, "duration", plan_time(duration)),
            (None, Some(iterations)) if !is_finite => {
                push_text(&mut keys, "requests", (iterations * users).to_string());
            }
            (None, None) if !is_finite => {
                push_text(&mut keys, "duration", DEFAULT_DURATION.to_owned());
                let place = self.group_place(&population.name);
                self.notice(format!(
                    "{place}: JMeter runs it until it is stopped; the plan runs it for {DEFAULT_DURATION} (load.duration)"
                ));
            }
            _ => {}
        }
        Yaml::Map(keys)
    }
}

fn push_text(keys: &mut Keys, name: &str, value: String) {
    keys.push((name.to_owned(), Yaml::Text(value)));
}

fn shape(shape: &LoadShape, round: &dyn Fn(f64) -> f64) -> String {
    let stages = shape.stages.iter().map(|stage| {
        let start = round(stage.from);
        let end = round(stage.to);
        let value = if start == end { end.to_string() } else { format!("{start}..{end}") };
        match stage.duration {
            Some(duration) => format!("{value}/{}", plan_time(duration)),
            None => end.to_string(),
        }
    });
    stages.collect::<Vec<_>>().join(",")
}

//! What a run says of what it was made for, in a sentence: the first one of its report.

use crate::compare::written;
use crate::explain::words::{count, percent, plural, rate, time};
use brunt_model::finding::State;
use brunt_model::objective::ObjectiveResult;
use brunt_model::question::Measure;
use brunt_model::{Judgement, Load, Plan, Run};

/// Percentiles that a sentence may name, the highest first.
const TAILS: [(f64, &str); 3] = [(0.99, "p99"), (0.95, "p95"), (0.9, "p90")];
/// A percentile is named if so many replies lie beyond it.
const FEWEST_BEYOND: f64 = 10.0;
/// An open loop that completed less than this share of what was offered did not keep up.
const KEPT_UP: f64 = 0.99;

/// Returns the sentence; None if no reply came.
pub fn of_run(run: &Run, judgement: &Judgement) -> Option<String> {
    if run.total.completed == 0 {
        return None;
    }
    if judgement.verdict.state == State::Invalid {
        return Some("A consistency check failed: discard these figures.".into());
    }
    let plan = run.plan.as_ref()?;
    let results: Vec<ObjectiveResult> = plan.objectives.iter().map(|objective| objective.judge(run)).collect();
    let answer = if results.is_empty() { figures(run, plan) } else { objectives(&results, &load_of(plan)) };
    let share = run.total.error_share();
    let errors = if share > 0.0 { format!("; {} errors", percent(share)) } else { String::new() };
    Some(format!("{answer}{errors}{}.", doubt(judgement.verdict.state)))
}

/// `p99 is 46.0 ms at 600/s: objective p99 < 50ms met`.
fn objectives(results: &[ObjectiveResult], load: &str) -> String {
    let missed: Vec<&ObjectiveResult> = results.iter().filter(|result| !result.met).collect();
    let shown = missed.first().copied().unwrap_or(&results[0]);
    let word = if shown.met { "met" } else { "missed" };
    let others = results.len() - 1;
    let more = match (missed.len(), others as u64) {
        (_, 0) => String::new(),
        (0, others) => format!(", and {} more", count(others)),
        (missed, _) => format!(" ({missed} of {} missed)", plural(results.len() as u64, "objective")),
    };
    let metric = shown.objective.metric;
    let least = if shown.at_least { "at least " } else { "" };
    let value = written(Measure::Run(metric), shown.value);
    format!("{metric} is {least}{value}{load}: objective {} {word}{more}", shown.objective)
}

/// `13,228 requests/s with 64 connections: p50 is 4.80 ms, p99 12.0 ms`.
fn figures(run: &Run, plan: &Plan) -> String {
    let achieved = run.throughput();
    let times = times(run);
    let offered = run.per_second(run.flow.arrivals);
    match plan.only().map(|only| &only.load) {
        Some(Load::Open { .. }) if achieved < KEPT_UP * offered => {
            format!("{} of {} were answered in time: {times}", rate(achieved), rate(offered))
        }
        Some(Load::Open { .. }) => format!("{times}{}", load_of(plan)),
        _ => format!("{} requests/s{}: {times}", crate::explain::words::three(achieved), load_of(plan)),
    }
}

/// `p50 is 4.80 ms, p99 12.0 ms`, with the highest percentile of which enough is known.
fn times(run: &Run) -> String {
    let replies = run.total.response.count() as f64;
    let at = |quantile: f64| run.total.response_quantile(quantile);
    let words = |quantile: f64| {
        let found = at(quantile);
        format!("{}{}", if found.at_least { "at least " } else { "" }, time(found.value as f64 / 1e9))
    };
    let tail = TAILS.iter().find(|(quantile, _)| replies * (1.0 - quantile) >= FEWEST_BEYOND);
    let tail = tail.map_or(String::new(), |(quantile, name)| format!(", {name} {}", words(*quantile)));
    format!("p50 is {}{tail}", words(0.5))
}

/// ` at 600/s`, ` with 64 connections`; empty for several populations.
fn load_of(plan: &Plan) -> String {
    let Some(only) = plan.only() else { return String::new() };
    let up_to = |is_constant: bool| if is_constant { "" } else { "up to " };
    match &only.load {
        Load::Open { rate: shape, .. } => {
            format!(" at {}{}", up_to(shape.as_constant().is_some()), rate(only.load.peak()))
        }
        Load::Closed { users, .. } => {
            let word = if plan.connection.connections_per_origin > 1 { "user" } else { "connection" };
            let number = plural(only.load.peak() as u64, word);
            format!(" with {}{number}", up_to(users.as_constant().is_some()))
        }
    }
}

/// What keeps the figures from being the server's.
fn doubt(state: State) -> &'static str {
    match state {
        State::Ok | State::Unjudged | State::Invalid => "",
        State::Limited => "; the generator was the limit, so the server may do better",
        State::BusyMachine => "; other processes slowed it, so the server may do better",
        State::Unexplained => "; it is unknown what delayed requests, so the server may do better",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::world::{World, reply};
    use brunt_model::Objective;
    use brunt_model::finding::Verdict;
    use brunt_model::objective::{Metric, Relation};

    fn said(bounds: &[f64], state: State) -> String {
        let mut run = World::open(100.0).lasting(20.0).answering(|_| reply(0.005)).run();
        let below =
            |bound: &f64| Objective { metric: Metric::Quantile(0.99), relation: Relation::Below, bound: *bound };
        run.plan.as_mut().expect("a plan").objectives = bounds.iter().map(below).collect();
        let judgement = Judgement { verdict: Verdict { state, ..Verdict::default() }, ..Judgement::default() };
        of_run(&run, &judgement).expect("a sentence")
    }

    #[test]
    fn a_run_answers_what_it_was_made_for() {
        let met = said(&[0.05], State::Ok);
        assert!(met.starts_with("p99 is 5.0") && met.ends_with(" ms at 100/s: objective p99 < 50ms met."), "{met}");
        let missed = said(&[0.05, 0.001], State::Ok);
        assert!(missed.ends_with(" at 100/s: objective p99 < 1ms missed (1 of 2 objectives missed)."), "{missed}");
        let plain = said(&[], State::Limited);
        assert!(
            plain.starts_with("p50 is 5.0") && plain.contains(", p99 5.0") && plain.contains(" at 100/s; "),
            "{plain}"
        );
        assert!(plain.ends_with("; the generator was the limit, so the server may do better."), "{plain}");
        assert!(said(&[], State::Invalid).contains("discard these figures"));
    }
}

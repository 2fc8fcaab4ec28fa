//! Concludes a run in one sentence: whether its objectives are met, or its main figures.

use crate::compare::written;
use crate::explain::highest_reliable_percentile;
use brunt_model::finding::State;
use brunt_model::numbers::{count, percent, percentile, plural, rate, three_digits, time};
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::question::Measure;
use brunt_model::{Judgement, Load, Plan, Run};

/// Minimum ratio of completed requests to arrivals at which an open loop kept up.
const MIN_ACHIEVED: f64 = 0.99;

/// Returns the sentence; None if no reply came.
pub fn of_run(run: &Run, judgement: &Judgement) -> Option<String> {
    if run.total.completed == 0 {
        return None;
    }
    if judgement.is_load_missing() {
        return Some("Most of the load is missing: discard these figures.".into());
    }
    if judgement.verdict.state == State::Invalid {
        return Some("A consistency check failed: discard these figures.".into());
    }
    let plan = run.plan.as_ref()?;
    let results: Vec<ObjectiveResult> =
        plan.objectives.iter().map(|objective| objective.judge(run)).collect();
    // A missed objective is more important than the first one.
    let shown = results.iter().find(|result| !result.met).or(results.first());
    let answer = match shown {
        None => figures(run, judgement, plan),
        Some(shown) => objectives(&results, shown, &load_of(plan)),
    };
    let share = run.total.error_share();
    let is_in_answer = shown.is_some_and(|shown| {
        shown.objective.metric == Metric::Errors && shown.objective.step.is_none()
    });
    let errors = if share > 0.0 && !is_in_answer {
        format!("; {} errors", percent(share))
    } else {
        String::new()
    };
    Some(format!("{answer}{errors}{}.", doubt(judgement.verdict.state)))
}

/// `p99 is 46.0 ms at 600/s: objective p99 < 50ms met`.
fn objectives(results: &[ObjectiveResult], shown: &ObjectiveResult, load: &str) -> String {
    let missed = results.iter().filter(|result| !result.met).count();
    let word = if shown.met { "met" } else { "missed" };
    let others = results.len() - 1;
    let more = match (missed, others as u64) {
        (_, 0) => String::new(),
        (0, others) => format!(", and {} more", count(others)),
        (missed, _) => {
            format!(" ({missed} of {} missed)", plural(results.len() as u64, "objective"))
        }
    };
    let metric = shown.objective.metric;
    let least = if shown.at_least { "at least " } else { "" };
    let value = written(Measure::Run(metric), shown.value);
    let verb = if metric == Metric::Errors { "are" } else { "is" };
    format!(
        "{} {verb} {least}{value}{load}: objective {} {word}{more}",
        shown.objective.figure(),
        shown.objective
    )
}

/// `13,228 requests/s with 64 connections: p50 is 4.80 ms, p99 12.0 ms`.
fn figures(run: &Run, judgement: &Judgement, plan: &Plan) -> String {
    let achieved = run.throughput();
    let times = times(run, judgement);
    let offered = run.per_second(run.flow.arrivals);
    match plan.only().map(|only| &only.load) {
        Some(Load::Open { .. }) if achieved < MIN_ACHIEVED * offered => {
            format!("{} of {} were answered in time: {times}", rate(achieved), rate(offered))
        }
        Some(Load::Open { .. }) => format!("{times}{}", load_of(plan)),
        _ => format!("{} requests/s{}: {times}", three_digits(achieved), load_of(plan)),
    }
}

/// `p50 is 4.80 ms, p99 12.0 ms`, with the highest reliable percentile.
fn times(run: &Run, judgement: &Judgement) -> String {
    // The median is in the sentence already.
    let tail = highest_reliable_percentile(run, judgement).filter(|quantile| *quantile > 0.5);
    let tail = tail.map_or(String::new(), |quantile| {
        format!(", {} {}", percentile(quantile), response(run, quantile))
    });
    format!("p50 is {}{tail}", response(run, 0.5))
}

fn response(run: &Run, quantile: f64) -> String {
    let response = run.total.response_quantile(quantile);
    let least = if response.at_least { "at least " } else { "" };
    format!("{least}{}", time(response.value))
}

/// ` at 600/s`, ` with 64 connections`; empty for several populations.
fn load_of(plan: &Plan) -> String {
    let Some(only) = plan.only() else { return String::new() };
    let (Load::Open { rate: shape, .. } | Load::Closed { users: shape, .. }) = &only.load;
    let up_to = if shape.as_constant().is_some() { "" } else { "up to " };
    let peak = only.load.peak();
    match &only.load {
        Load::Open { .. } => format!(" at {up_to}{}", rate(peak)),
        Load::Closed { .. } => {
            format!(
                " with {up_to}{}",
                plural(peak as u64, only.word_for_user(plan.connection_of(0)))
            )
        }
    }
}

/// Reason why the server may do better than the figures show.
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
    use crate::explain::tests::world::{Reply, SimulatedRequest, World, reply};
    use brunt_model::Objective;
    use brunt_model::finding::Verdict;
    use brunt_model::objective::Relation;

    fn conclusion(seconds: f64, bounds: &[f64], state: State) -> String {
        let mut run = World::open(100.0).lasting(seconds).answering(|_| reply(0.005)).run();
        let below = |bound: &f64| Objective {
            metric: Metric::Quantile(0.99),
            step: None,
            relation: Relation::Below,
            bound: *bound,
        };
        run.plan.as_mut().expect("a plan").objectives = bounds.iter().map(below).collect();
        let judgement =
            Judgement { verdict: Verdict { state, ..Verdict::default() }, ..Judgement::default() };
        of_run(&run, &judgement).expect("a sentence")
    }

    #[test]
    fn errors_are_reported_once() {
        let answer = |request: SimulatedRequest| Reply {
            status: if request.number.is_multiple_of(2) { 503 } else { 200 },
            ..reply(0.005)
        };
        let mut run = World::open(100.0).lasting(20.0).answering(answer).run();
        let bound = Objective {
            metric: Metric::Errors,
            step: None,
            relation: Relation::Below,
            bound: 0.05,
        };
        run.plan.as_mut().expect("a plan").objectives = vec![bound];
        let sentence = of_run(&run, &Judgement::default()).expect("a sentence");
        assert_eq!(sentence, "errors are 50.0 % at 100/s: objective errors < 5% missed.");
    }

    #[test]
    fn the_conclusion_depends_on_objectives_and_load() {
        let met = conclusion(20.0, &[0.05], State::Ok);
        assert!(
            met.starts_with("p99 is 5.0")
                && met.ends_with(" ms at 100/s: objective p99 < 50ms met."),
            "{met}"
        );
        let missed = conclusion(20.0, &[0.05, 0.001], State::Ok);
        assert!(
            missed.ends_with(" at 100/s: objective p99 < 1ms missed (1 of 2 objectives missed)."),
            "{missed}"
        );
        let plain = conclusion(20.0, &[], State::Limited);
        assert!(
            plain.starts_with("p50 is 5.0")
                && plain.contains(", p99 5.0")
                && plain.contains(" at 100/s; "),
            "{plain}"
        );
        assert!(
            plain.ends_with("; the generator was the limit, so the server may do better."),
            "{plain}"
        );
        // 200 requests are too few for a p99.
        assert!(conclusion(2.0, &[], State::Ok).contains(", p95 5.0"));
        assert!(conclusion(20.0, &[], State::Invalid).contains("discard these figures"));
    }
}

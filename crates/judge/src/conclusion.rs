//! Concludes a run in one sentence: whether its objectives are met, or its main figures.

use crate::compare::written;
use crate::explain::highest_reliable_percentile;
use crate::limits::missing_load;
use crate::texts::message;
use brunt_model::finding::State;
use brunt_model::numbers::{percent, percentile, rate, short_percent, three_digits, time};
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::question::Measure;
use brunt_model::text::Value;
use brunt_model::{Judgement, Load, Plan, Run, Text, text};

/// Minimum ratio of completed requests to arrivals at which an open loop kept up.
const MIN_ACHIEVED: f64 = 0.99;

/// Returns the sentence; None if no reply came.
pub fn of_run(run: &Run, judgement: &Judgement) -> Option<Text> {
    if run.total.completed == 0 {
        return None;
    }
    if judgement.is_load_missing() {
        return Some(message!("conclusion.load-missing"));
    }
    if judgement.verdict.state == State::Invalid {
        return Some(message!("conclusion.invalid"));
    }
    let plan = run.plan.as_ref()?;
    let results: Vec<ObjectiveResult> =
        plan.objectives.iter().map(|objective| objective.judge(run)).collect();
    // A missed objective is more important than the first one.
    let shown = results.iter().find(|result| !result.met).or(results.first());
    let answer = match shown {
        None => figures(run, judgement, plan),
        Some(shown) => objectives(&results, shown, load_of(plan)),
    };
    let share = run.total.error_share();
    let is_in_answer = shown.is_some_and(|shown| {
        shown.objective.metric == Metric::Errors && shown.objective.step.is_none()
    });
    let errors = (share > 0.0 && !is_in_answer)
        .then(|| message!("conclusion.errors", share = percent(share)));
    let clauses: Vec<Text> =
        [answer].into_iter().chain(errors).chain(doubt(run, judgement.verdict.state)).collect();
    Some(message!("conclusion", clauses = Value::Series(clauses)))
}

/// `p99 is 46.0 ms at 600/s: objective p99 < 50ms met`.
fn objectives(results: &[ObjectiveResult], shown: &ObjectiveResult, load: Text) -> Text {
    let missed = results.iter().filter(|result| !result.met).count();
    let others = results.len() - 1;
    let more = match (missed, others) {
        (_, 0) => Text::default(),
        (0, others) => message!("conclusion.more-objectives", others),
        (missed, _) => message!("conclusion.of-objectives", missed, all = results.len()),
    };
    let metric = shown.objective.metric;
    let value = at_least(written(Measure::Run(metric), shown.value), shown.at_least);
    let figure = shown.objective.figure();
    let objective = shown.objective.to_string();
    match (metric == Metric::Errors, shown.met) {
        (false, true) => message!("conclusion.met", figure, value, load, objective, more),
        (false, false) => message!("conclusion.missed", figure, value, load, objective, more),
        (true, true) => message!("conclusion.errors-met", figure, value, load, objective, more),
        (true, false) => message!("conclusion.errors-missed", figure, value, load, objective, more),
    }
}

/// `13,228 requests/s with 64 connections: p50 is 4.80 ms, p99 12.0 ms`.
fn figures(run: &Run, judgement: &Judgement, plan: &Plan) -> Text {
    let achieved = run.throughput();
    let times = times(run, judgement);
    let offered = run.per_second(run.flow.arrivals);
    let load = load_of(plan);
    match plan.only().map(|only| &only.load) {
        Some(Load::Open { .. }) if achieved < MIN_ACHIEVED * offered => {
            message!("conclusion.behind", achieved = rate(achieved), offered = rate(offered), times)
        }
        Some(Load::Open { .. }) => message!("conclusion.open", times, load),
        _ => message!("conclusion.closed", throughput = three_digits(achieved), load, times),
    }
}

/// `p50 is 4.80 ms, p99 12.0 ms`, with the highest reliable percentile.
fn times(run: &Run, judgement: &Judgement) -> Text {
    let median = response(run, 0.5);
    // The median is in the sentence already.
    match highest_reliable_percentile(run, judgement).filter(|quantile| *quantile > 0.5) {
        Some(quantile) => message!(
            "conclusion.median-and-tail",
            median,
            percentile = percentile(quantile),
            tail = response(run, quantile)
        ),
        None => message!("conclusion.median", median),
    }
}

fn response(run: &Run, quantile: f64) -> Text {
    let response = run.total.response_quantile(quantile);
    at_least(time(response.value), response.at_least)
}

/// A figure, or the lower bound of a figure.
fn at_least(value: String, is_bound: bool) -> Text {
    if is_bound { message!("conclusion.at-least", value) } else { value.into() }
}

/// ` at 600/s`, ` with 64 connections`; empty for several populations.
fn load_of(plan: &Plan) -> Text {
    let Some(only) = plan.only() else { return Text::default() };
    let (Load::Open { rate: shape, .. } | Load::Closed { users: shape, .. }) = &only.load;
    let is_constant = shape.as_constant().is_some();
    let peak = only.load.peak();
    match (&only.load, is_constant) {
        (Load::Open { .. }, true) => message!("conclusion.at-rate", rate = rate(peak)),
        (Load::Open { .. }, false) => message!("conclusion.up-to-rate", rate = rate(peak)),
        (Load::Closed { .. }, is_constant) => {
            let count = peak as u64;
            let users = match only.word_for_user(plan.connection_of(0)) {
                "connection" => message!("connections", count),
                _ => text!("users", count),
            };
            if is_constant {
                message!("conclusion.with-users", users)
            } else {
                message!("conclusion.up-to-users", users)
            }
        }
    }
}

/// Reason why the figures may differ from those of the server under the planned load.
fn doubt(run: &Run, state: State) -> Option<Text> {
    let missing = missing_load(run);
    match state {
        State::Ok | State::Unjudged | State::Invalid => None,
        State::Limited if missing > 0.0 => {
            Some(message!("conclusion.load-lost", share = short_percent(missing)))
        }
        State::Limited => Some(message!("conclusion.limited")),
        State::BusyMachine => Some(message!("conclusion.busy-machine")),
        State::Unexplained => Some(message!("conclusion.unexplained")),
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
        of_run(&run, &judgement).expect("a sentence").into()
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

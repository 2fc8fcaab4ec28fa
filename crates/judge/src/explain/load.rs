//! Rules on the load: whether the server, the users' pauses or the schedule set the rate.

use super::command::RATE;
use super::{ExplainFacts, Remark};
use crate::texts::message;
use brunt_model::numbers::{count, percent, rate, round3, seconds, three_digits, time};
use brunt_model::scenario::TextRules;
use brunt_model::{Failure, Load, Text, text};

/// Maximum ratio of response time to think time at which a faster server would not raise the rate
/// noticeably. An infinitely fast server would raise it by less than this. Repetitions of a run
/// differ by tenths, which would hide even a server that halves its time.
const NEGLIGIBLE: f64 = 0.1;
/// Minimum ratio of the throughput to the rate that think time explains. Below it, something
/// else limits the rate.
const EXPLAINED: f64 = 0.8;
/// Minimum ratio of the throughput to the explained rate for a remark on the first requests. They
/// start together and raise the rate of a short run.
const NOTICEABLY: f64 = 1.02;
/// Minimum share of waiting users. Below it, most users are idle.
const MIN_WAITING: f64 = 0.1;
/// The same without think time, when all users should be waiting.
const MIN_WAITING_WITHOUT_THINKING: f64 = 0.5;
/// Minimum number of users for the rule on idle users.
const FEW_USERS: f64 = 10.0;
/// Share of the arrivals that an overloaded server leaves unanswered.
const BEHIND: f64 = 0.05;
/// Share of the throughput that an overloaded server achieves without a growing queue: below the
/// saturation, above the knee.
const SAFELY: f64 = 0.9;
/// Minimum growth of the queue over the second half of the run if it has no end.
const GROWTH: f64 = 1.25;

/// Rule: the think time sets the rate, not the server.
pub fn think_time(facts: &ExplainFacts) -> Option<Remark> {
    let users = facts.users.as_ref().filter(|users| users.think_seconds > 0.0)?;
    let think = users.think_seconds;
    let response = facts.response_seconds;
    let throughput = facts.run.throughput();
    let explained = users.count / (think + response);
    // Each user sends its first request without a pause.
    let all_have_thought = facts.run.flow.begun as f64 >= 2.0 * users.count;
    if response > NEGLIGIBLE * think || throughput < EXPLAINED * explained || !all_have_thought {
        return None;
    }
    let start = if throughput > explained * NOTICEABLY {
        message!("think-time.early")
    } else {
        Text::default()
    };
    let sentence = message!(
        "think-time",
        throughput = rate(throughput),
        users = text!("users", count = users.count.round() as u64),
        think = seconds(think),
        response = seconds(response),
        explained = rate(explained),
        start,
        gain = percent(response / think)
    );
    Some(Remark::warning(sentence).with_remedy(message!("think-time.remedy")))
}

/// Rule: most virtual users were not waiting for the server.
pub fn idle_users(facts: &ExplainFacts) -> Option<Remark> {
    let users = facts.users.as_ref().filter(|users| users.count >= FEW_USERS)?;
    let thinks = users.think_seconds > 0.0;
    let min_waiting = if thinks { MIN_WAITING } else { MIN_WAITING_WITHOUT_THINKING };
    if facts.run.flow.begun == 0 || users.waiting >= min_waiting * users.count {
        return None;
    }
    let activity = match (thinks, facts.total().failed()) {
        (true, _) => message!("idle-users.thinking"),
        (false, 0) => message!("idle-users.not-asking"),
        (false, _) => message!("idle-users.pausing"),
    };
    let all = count(users.count.round() as u64);
    let waiting = three_digits(users.waiting);
    let sentence = message!("idle-users", all, waiting, activity);
    Some(match (thinks, facts.total().failed()) {
        // The pauses that the user asked for.
        (true, _) => Remark::note(sentence).with_remedy(message!("idle-users.remedy-thinking")),
        (false, 0) => Remark::note(sentence),
        (false, _) => Remark::warning(sentence).with_remedy(message!("idle-users.remedy-pausing")),
    })
}

/// Rule: requests were due faster than the server answers. The queue grows without end, and the
/// times depend on the length of the run.
pub fn overload(facts: &ExplainFacts) -> Option<Remark> {
    let Load::Open { rate: offered, .. } = &facts.plan.only()?.load else { return None };
    let offered = offered.as_constant()?;
    let flow = &facts.run.flow;
    let unanswered = flow.planned.saturating_sub(flow.completed + facts.total().failed()) as f64;
    if facts.seconds < 1.0 || unanswered < BEHIND * flow.planned as f64 || !grows(facts) {
        return None;
    }
    // If the generator was the limit and did not begin the due requests, that is the cause, and
    // the verdict reports it.
    let has_begun_most = flow.begun as f64 > (1.0 - BEHIND) * flow.planned as f64;
    if facts.so_far.verdict.state.is_disturbed() && !has_begun_most {
        return None;
    }
    let completed = rate(facts.run.throughput());
    let advice = message!("overload.remedy", completed = completed.clone());
    let sentence = message!("overload", offered = rate(offered), completed);
    let lower = facts.run.throughput() * SAFELY;
    Some(Remark::warning(sentence).with_remedy(facts.command().advise(
        advice,
        RATE,
        &round3(lower).to_string(),
    )))
}

/// Rule: a closed loop sends no requests while the server stalls, so its report hides queueing.
pub fn closed_loop(facts: &ExplainFacts) -> Option<Remark> {
    let population = facts.plan.only().filter(|only| matches!(only.load, Load::Closed { .. }))?;
    // A plan of JMeter, or of another tool, defines its own load.
    let is_jmeter = population.scenario.texts == TextRules::Jmeter;
    if is_jmeter || facts.run.flow.completed == 0 {
        return None;
    }
    let remark = Remark::note(message!("closed-loop"));
    // The arrivals of an open loop are iterations. Only if each is one request is
    // their rate the throughput.
    let is_one_request =
        population.scenario.order().is_some() || population.scenario.requests.len() == 1;
    let command =
        facts.command().open_loop(round3(facts.run.throughput())).filter(|_| is_one_request);
    Some(match command {
        Some(command) => remark.with_remedy(message!("closed-loop.remedy", command)),
        None => remark,
    })
}

/// True if the queue grew. Long replies alone leave many requests in flight at the end, but no more
/// than in the middle.
fn grows(facts: &ExplainFacts) -> bool {
    let dropped = facts.total().failed_by(Failure::Dropped) as f64;
    queue_length(facts, 1.0) > GROWTH * queue_length(facts, 0.5)
        || dropped > BEHIND * facts.run.flow.planned as f64
}

/// Requests in flight and waiting at a share of the measured time.
fn queue_length(facts: &ExplainFacts, share: f64) -> f64 {
    let flow = facts.flow_at(share);
    (flow.in_flight + flow.waiting) as f64
}

/// Minimum ratio of a stalled request's time to the median.
const STALL: u64 = 10;
/// Minimum time of a stalled request. Shorter delays are a scheduler's, on either side.
const SHORTEST_STALL_NANOS: u64 = 10_000_000;
/// Share of stalled requests from which on p99 shows them.
const SHOWN_BY_P99: f64 = 0.01;
/// Share of the users' time in stalls from which on a p99 by arrivals would clearly be a stall's.
const STALLED: f64 = 0.05;

/// Rule: rare slow requests took much of the users' time. A client that arrives at a random time
/// meets them more often than this run counts them (coordinated omission).
pub fn unseen_stalls(facts: &ExplainFacts) -> Option<Remark> {
    let users = facts.users.as_ref()?;
    let response = &facts.total().response;
    // Fewer than ten of fewer requests lie beyond p99.
    if response.count() < 1000 || users.waiting < users.count / 2.0 {
        return None;
    }
    let slow = response.quantile(0.5).saturating_mul(STALL).max(SHORTEST_STALL_NANOS);
    let stalls = response.buckets().filter(|bucket| bucket.low > slow);
    let mut stalled_requests = 0;
    let mut stalled_nanos = 0.0;
    for bucket in stalls {
        stalled_requests += bucket.count;
        stalled_nanos += bucket.count as f64 * bucket.low as f64;
    }
    let of_requests = stalled_requests as f64 / response.count() as f64;
    let of_time = stalled_nanos / response.sum() as f64;
    if of_requests >= SHOWN_BY_P99 || of_time < STALLED {
        return None;
    }
    let sentence = message!(
        "unseen-stalls",
        share = percent(of_requests),
        time = time(slow),
        factor = STALL,
        time_share = percent(of_time)
    );
    Some(Remark::note(sentence).with_remedy(message!("unseen-stalls.remedy")))
}

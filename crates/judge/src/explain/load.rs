//! Who set the rate: the server, the users' pauses, or the schedule.

use super::command::RATE;
use super::{Facts, Remark};
use brunt_model::numbers::{count, percent, plural, rate, round3, seconds, three, time};
use brunt_model::scenario::TextRules;
use brunt_model::{Failure, Load};

/// A response time below this share of the think time: a server without any would raise the rate by less than this.
/// Tenths are what repetitions of a run differ by; a server that halves its time would be lost in them.
const NEGLIGIBLE: f64 = 0.1;
/// The rate that think time explains must have been reached by this share; else something else holds it down.
const EXPLAINED: f64 = 0.8;
/// What the first requests, which come at once, add to the rate of a short run is told from here on.
const NOTICEABLY: f64 = 1.02;
/// Fewer waiting users than this share: the rest are users in name.
const AWAKE: f64 = 0.1;
/// The same where nobody thinks, so that all should be waiting.
const AWAKE_WITHOUT_THINKING: f64 = 0.5;
/// Fewer users are counted by nobody.
const FEW_USERS: f64 = 10.0;
/// What an overloaded server is behind by, as a share of the arrivals.
const BEHIND: f64 = 0.05;
/// Share of the throughput that an overloaded server carries without a growing queue: below the saturation, above the knee.
const SAFELY: f64 = 0.9;
/// What stands waiting grows by so much over the second half where the queue has no end.
const GROWTH: f64 = 1.25;

/// The rate is set by the think time, not by the server.
pub fn think_time(facts: &Facts) -> Option<Remark> {
    let users = facts.users.as_ref().filter(|users| users.think_seconds > 0.0)?;
    let (think, response) = (users.think_seconds, facts.response_seconds);
    let throughput = facts.run.throughput();
    let explained = users.count / (think + response);
    // Every user's first request comes without a pause before it.
    let all_have_thought = facts.run.flow.begun as f64 >= 2.0 * users.count;
    if response > NEGLIGIBLE * think || throughput < EXPLAINED * explained || !all_have_thought {
        return None;
    }
    let start = if throughput > explained * NOTICEABLY { ", and the first requests came without a pause" } else { "" };
    let said = format!(
        "The think time sets the rate ({}), not the server: {} / ({} of thinking + {} of response time) = {}{start}. \
         An infinitely fast server would raise it by {}.",
        rate(throughput),
        plural(users.count.round() as u64, "user"),
        seconds(think),
        seconds(response),
        rate(explained),
        percent(response / think)
    );
    let remedy = "to find the capacity of the server, use -r RATE or a shorter --think; with these users, compare servers by response time";
    Some(Remark::warning(said).remedy(remedy))
}

/// Most virtual users were not waiting for the server.
pub fn idle_users(facts: &Facts) -> Option<Remark> {
    let users = facts.users.as_ref().filter(|users| users.count >= FEW_USERS)?;
    let thinks = users.think_seconds > 0.0;
    let awake = if thinks { AWAKE } else { AWAKE_WITHOUT_THINKING };
    if facts.run.flow.begun == 0 || users.waiting >= awake * users.count {
        return None;
    }
    let doing = match (thinks, facts.total().failed()) {
        (true, _) => "thinking",
        (false, 0) => "not asking",
        (false, _) => "pausing because their connections had failed",
    };
    let (all, waiting) = (count(users.count.round() as u64), three(users.waiting));
    let said = format!(
        "Most virtual users were idle: of {all}, {waiting} at a time waited for the server, and the others were {doing}. \
         This is a load of {waiting} concurrent requests, not of {all}."
    );
    let remark = Remark::warning(said);
    Some(match (thinks, facts.total().failed()) {
        (true, _) => remark.remedy("for this number of concurrent requests, leave out the think time"),
        (false, 0) => remark,
        (false, _) => remark.remedy("see the failures: users pause for up to 1 s after a failed connection"),
    })
}

/// Requests were due faster than the server answers: the queue has no end, and the times are those of the run's length.
pub fn overload(facts: &Facts) -> Option<Remark> {
    let Load::Open { rate: offered, .. } = &facts.plan.only()?.load else { return None };
    let offered = offered.as_constant()?;
    let flow = &facts.run.flow;
    let unanswered = flow.planned.saturating_sub(flow.completed + facts.total().failed()) as f64;
    if facts.seconds < 1.0 || unanswered < BEHIND * flow.planned as f64 || !grows(facts) {
        return None;
    }
    // Where the generator was the limit and did not begin what was due, that is the cause, and it has been said.
    let begun = flow.begun as f64 > (1.0 - BEHIND) * flow.planned as f64;
    if facts.so_far.verdict.state.is_disturbed() && !begun {
        return None;
    }
    let said = format!(
        "The server fell behind: {} were offered and {} completed, so the queue grew until the end of the run. Response times depend on the length of the run.",
        rate(offered),
        rate(facts.run.throughput())
    );
    let lower = facts.run.throughput() * SAFELY;
    let advice = format!("measure below {}", rate(facts.run.throughput()));
    Some(Remark::warning(said).remedy(facts.command().advise(&advice, RATE, &round3(lower).to_string())))
}

/// A closed loop sends no requests while the server stalls, so its report hides queueing.
pub fn closed_loop(facts: &Facts) -> Option<Remark> {
    let population = facts.plan.only().filter(|only| matches!(only.load, Load::Closed { .. }))?;
    // A plan of JMeter, or of another tool, sets its load itself.
    let is_jmeter = population.scenario.texts == TextRules::Jmeter;
    if is_jmeter || facts.run.flow.completed == 0 {
        return None;
    }
    let remark = Remark::note("A closed loop hides queueing (coordinated omission).".into());
    // The arrivals of an open loop are iterations. Only where each is one request is their rate the throughput.
    let is_one_request = population.scenario.order().is_some() || population.scenario.requests.len() == 1;
    let command = facts.command().open_loop(round3(facts.run.throughput())).filter(|_| is_one_request);
    Some(match command {
        Some(command) => remark.remedy(format!("open loop at the same throughput: {command}")),
        None => remark,
    })
}

/// Long replies alone leave many under way at the end, but no more than in the middle.
fn grows(facts: &Facts) -> bool {
    let standing = |share| {
        let flow = facts.standing(share);
        (flow.in_flight + flow.waiting) as f64
    };
    let dropped = facts.total().failed_by(Failure::Dropped) as f64;
    standing(1.0) > GROWTH * standing(0.5) || dropped > BEHIND * facts.run.flow.planned as f64
}

/// How many times the median a request takes that belongs to a stall.
const STALL: u64 = 10;
/// Shorter ones are a scheduler's, on either side.
const SHORTEST_STALL_NANOS: u64 = 10_000_000;
/// More of these than this share and p99 shows them.
const SHOWN_BY_P99: f64 = 0.01;
/// The users' time in stalls from which on a p99 by arrivals would clearly be a stall's.
const STALLED: f64 = 0.05;

/// Rare slow requests took much of the users' time: who comes at a time of its own meets them more often than they are
/// counted here (coordinated omission).
pub fn unseen_stalls(facts: &Facts) -> Option<Remark> {
    let users = facts.users.as_ref()?;
    let response = &facts.total().response;
    if response.count() < 1000 || users.waiting < users.count / 2.0 {
        return None;
    }
    let slow = response.quantile(0.5).saturating_mul(STALL).max(SHORTEST_STALL_NANOS);
    let stalls = response.buckets().filter(|bucket| bucket.low > slow);
    let (many, nanos) = stalls.fold((0, 0.0), |sum, b| (sum.0 + b.count, sum.1 + b.count as f64 * b.low as f64));
    let (of_requests, of_time) = (many as f64 / response.count() as f64, nanos / response.sum() as f64);
    if of_requests >= SHOWN_BY_P99 || of_time < STALLED {
        return None;
    }
    let said = format!(
        "Percentiles hide stalls: {} of the requests took more than {}, {STALL} times the median or more, but {} of the users' time was spent in them. A request at a random time meets a stall that often.",
        percent(of_requests),
        time(slow),
        percent(of_time)
    );
    Some(Remark::note(said).remedy("use -r RATE: an open loop sends requests during a stall, too"))
}

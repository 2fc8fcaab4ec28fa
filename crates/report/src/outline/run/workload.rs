//! Describes the workload: requests, load model, duration and server.

use super::{ReportSection, RunReport};
use crate::agents;
use crate::layout::{clean, shorten};
use crate::outline::block::{Fact, ReportBlock};
use brunt_model::numbers::{bytes, count, plain, plural, span};
use brunt_model::plan::{ConnectionSettings, HttpVersion};
use brunt_model::request::PieceInterval;
use brunt_model::scenario::{ListOrder, Scenario, ScenarioStep};
use brunt_model::{
    Arrivals, Body, Load, LoadShape, LoadStage, Plan, Population, Request, Run, ThinkTime,
};

/// Maximum length of a population's name before it is shortened.
const MAX_NAME: usize = 14;

/// Returns a line on the requests, and the answer of the run.
pub fn title(report: &RunReport) -> ReportSection {
    let Some(plan) = &report.run.plan else { return ReportSection::new() };
    let title = match plan.only() {
        Some(only) => requests(plan, only),
        None => format!("{} at the same time", plural(plan.populations.len() as u64, "population")),
    };
    let conclusion = report
        .judgement
        .conclusion
        .iter()
        .map(|sentence| ReportBlock::Paragraph(sentence.to_string()));
    [ReportBlock::Title(title, String::new())].into_iter().chain(conclusion).collect()
}

/// Returns the load, the duration and the server.
pub fn section(report: &RunReport) -> ReportSection {
    let Some(plan) = &report.run.plan else { return ReportSection::new() };
    let load = plan.only().map(|only| ("Load", load(only, &plan.connection)));
    let others = [("Duration", duration(plan, report.run)), ("Server", server(report.run))];
    let stages = agents::stages_text(report.run).map(|text| ("Stages", text));
    let facts = load.into_iter().chain(others).chain(stages).filter(|(_, text)| !text.is_empty());
    let facts = facts.map(|(name, text)| Fact { may_be_cut: true, ..Fact::new(name, text) });
    let several = plan.only().is_none();
    let each = several.then(|| {
        ReportBlock::FactOfEach((0..plan.populations.len()).map(|n| population(plan, n)).collect())
    });
    [ReportBlock::Facts(facts.collect())].into_iter().chain(each).collect()
}

/// Describes one of several populations.
fn population(plan: &Plan, number: usize) -> Fact {
    let population = &plan.populations[number];
    let placement = population.group.as_ref();
    let placement =
        placement.map_or(String::new(), |group| format!(", by agents of {}", clean(group)));
    let load = load(population, plan.connection_of(number));
    let text = format!("{}: {load}{placement}", requests(plan, population));
    Fact { may_be_cut: true, ..Fact::new(shorten(&clean(&population.name), MAX_NAME), text) }
}

fn requests(plan: &Plan, population: &Population) -> String {
    let scenario = &population.scenario;
    let requested = match scenario.requests.as_slice() {
        [only] => request(only),
        several => {
            let is_plain = several.iter().all(|r| r.method == "GET" && r.body == Body::None);
            let noun = if is_plain { "URL" } else { "request" };
            format!(
                "{}{}",
                plural(several.len() as u64, noun),
                scenario.order().map_or("", in_order)
            )
        }
    };
    let policy = scenario.requests.first().map_or(0, |request| request.reply_policy as usize);
    let follow =
        if plan.reply_policies[policy].redirects.most > 0 { ", redirects followed" } else { "" };
    format!("{requested}{follow}")
}

fn in_order(order: ListOrder) -> &'static str {
    match order {
        ListOrder::Sequence => ", in sequence",
        ListOrder::Random => ", drawn at random",
        ListOrder::Walk => ", by each user in sequence, each from a different position",
        ListOrder::WalkTogether => ", by each user in sequence",
        ListOrder::User => ", one for each user",
        ListOrder::Slow(_) => ", each for a while",
    }
}

fn request(r: &Request) -> String {
    let body = r.body.bytes().map_or(0, <[u8]>::len);
    let body =
        if body > 0 { format!(" with a body of {}", bytes(body as f64)) } else { String::new() };
    format!("{} {}{body}{}", clean(&r.method), clean(&r.url), pieces(&r.body))
}

/// Describes how a body is sent in pieces; empty if it is sent at once.
fn pieces(body: &Body) -> String {
    let Body::Pieces(pieces) = body else { return String::new() };
    let count = pieces.count.map(|count| plural(count, "piece"));
    let duration = pieces.duration.map(|time| format!("for {}", span(time.as_secs_f64())));
    let interval = match pieces.interval {
        // A single piece has no interval.
        PieceInterval::Time(_) if pieces.count == Some(1) => None,
        PieceInterval::Time(interval) => {
            Some(format!("one every {}", span(interval.as_secs_f64())))
        }
        PieceInterval::Reply => Some("each after a reply".to_owned()),
    };
    let count = count.map(|count| format!("in {count}"));
    let parts: Vec<String> = [count, interval, duration].into_iter().flatten().collect();
    format!(" {}", parts.join(", "))
}

fn load(population: &Population, connection: &ConnectionSettings) -> String {
    let model = match &population.load {
        Load::Closed { users, think } => {
            let users = users_in_words(users, population.word_for_user(connection));
            format!("closed loop, {users}{}", thinking(think, &population.scenario))
        }
        Load::Open { rate, arrivals, connections, .. } => {
            let cap = match connections {
                None => ", as many connections as it takes".into(),
                Some(n) => format!(" over at most {}", plural(u64::from(*n), "connection")),
            };
            format!("open loop, {}, {}{cap}", spacing(*arrivals), over_time(rate, "/s"))
        }
    };
    format!("{model}{}", connection_use(connection))
}

fn users_in_words(users: &LoadShape, word: &str) -> String {
    match users.as_constant() {
        Some(n) => plural(n as u64, word),
        None => format!("users {}", over_time(users, "")),
    }
}

/// Describes the think time between iterations. Pauses within a scenario are separate, but make
/// "no think time" untrue.
fn thinking(think: &ThinkTime, scenario: &Scenario) -> String {
    let least = span(think.least.as_secs_f64());
    let most = span(think.most.as_secs_f64());
    let has_pauses = ScenarioStep::any(&scenario.steps, &|step| {
        matches!(
            step,
            ScenarioStep::Think(_) | ScenarioStep::Pause(_) | ScenarioStep::PauseByScript(_)
        )
    });
    match think {
        t if t.is_none() && has_pauses => ", with the pauses of the scenario".into(),
        t if t.is_none() => ", no think time".into(),
        t if t.least == t.most => format!(", think time {most}"),
        _ => format!(", think time {least} to {most}"),
    }
}

fn spacing(arrivals: Arrivals) -> String {
    match arrivals {
        Arrivals::Poisson => "Poisson arrivals".into(),
        Arrivals::Even => "even arrivals".into(),
        Arrivals::Burst(n) => format!("arrivals in bursts of {}", count(u64::from(n))),
        Arrivals::Uniform(_) => "arrivals at uniformly random distances".into(),
    }
}

/// Describes a load over time: `2,000/s`, or `0 to 500 over 30 s, then 500 for 2 min`.
fn over_time(shape: &LoadShape, unit: &str) -> String {
    if let Some(value) = shape.as_constant() {
        return format!("{}{unit}", plain(value));
    }
    let stages = shape.stages.iter().map(|s| stage(s, unit));
    stages.collect::<Vec<_>>().join(", then ")
}

fn stage(stage: &LoadStage, unit: &str) -> String {
    let seconds = stage.duration.map(|d| span(d.as_secs_f64()));
    let to = format!("{}{unit}", plain(stage.to));
    match (stage.from == stage.to, seconds) {
        (true, Some(seconds)) => format!("{to} for {seconds}"),
        (true, None) => format!("{to} to the end"),
        (false, Some(seconds)) => format!("{} to {to} over {seconds}", plain(stage.from)),
        (false, None) => format!("{} to {to}", plain(stage.from)),
    }
}

/// Describes how connections are used, as far as it differs from the default.
fn connection_use(connection: &ConnectionSettings) -> String {
    let mut out = String::new();
    match connection.requests_per_connection {
        Some(1) => out += ", a new connection for each request",
        Some(n) => out += &format!(", {} on each connection", plural(n, "request")),
        None => {}
    }
    if connection.http != HttpVersion::V1_1 {
        out += &format!(", {}", connection.http);
    }
    if connection.connections_per_origin > 1 {
        out += &format!(
            ", {} of each user",
            plural(connection.connections_per_origin.into(), "connection")
        );
    }
    if connection.streams > 1 {
        out += &format!(
            ", {} on each connection at once",
            plural(connection.streams.into(), "request")
        );
    }
    out
}

fn duration(plan: &Plan, run: &Run) -> String {
    let stop = &plan.stop();
    // A run ends after a number of iterations; an iteration of a plain list of
    // requests is one request.
    let is_list = plan.populations.iter().all(|population| population.scenario.order().is_some());
    let unit = if is_list { "request" } else { "iteration" };
    let measured = span(run.measured_seconds());
    // The last interval may end some milliseconds late; then both durations would be the same
    // number.
    let as_planned = stop
        .duration
        .is_some_and(|d| (run.measured_seconds() / d.as_secs_f64() - 1.0).abs() < 0.01);
    let length = match (stop.duration.map(|d| span(d.as_secs_f64())), stop.requests) {
        // A note of an interrupted run already has the measured time.
        (Some(d), None) if as_planned || run.is_interrupted() => d,
        (Some(d), None) => format!("{d} (measured {measured})"),
        (None, Some(n)) => format!("{} in {measured}", plural(n, unit)),
        (Some(d), Some(n)) => {
            format!("{d} or {}, whichever comes first ({measured})", plural(n, unit))
        }
        (None, None) => measured,
    };
    match stop.warmup.as_secs_f64() {
        0.0 => length,
        warmup => format!("{length}, after {} of warm-up", span(warmup)),
    }
}

fn server(run: &Run) -> String {
    let name = run.environment.server.as_deref().map(clean);
    let addresses =
        run.environment.addresses.iter().map(|a| clean(a)).collect::<Vec<_>>().join(", ");
    match (name, addresses.as_str()) {
        (Some(name), "") => name,
        (Some(name), addresses) => format!("{name} at {addresses}"),
        (None, addresses) => addresses.into(),
    }
}

use super::world::{SimulatedRequest, World, failure, reply};
use brunt_model::Failure;
use brunt_model::event::Finish;
use brunt_model::finding::{State, Steady};
use brunt_model::scenario::ScenarioStep;
use std::time::Duration;

#[test]
fn think_time_sets_the_rate() {
    // Siege's 500 users of 2014: each sends a request per second, independent of the server.
    let said = World::closed(500, 1.0).answering(|_| reply(0.003)).says("think_time");
    assert!(
        said.contains("500 users / (1.00 s of thinking + 3.00 ms of response time) = 499/s"),
        "{said}"
    );
    assert!(said.contains("by 0.300 %"), "{said}");
}

#[test]
fn think_time_is_not_the_limit_if_replies_take_as_long() {
    World::closed(50, 0.1).answering(|_| reply(0.05)).is_silent("think_time");
    World::closed(50, 0.0).answering(|_| reply(0.005)).is_silent("think_time");
    // Each user sends one request, so none has thought yet.
    let once = World::closed(500, 1.0).with(|w| w.plan.main_mut().stop.requests = Some(500));
    once.ending_at(0.5).answering(|_| reply(0.003)).is_silent("think_time");
}

#[test]
fn sleeping_users_are_not_counted_as_concurrency() {
    let said = World::closed(2000, 1.0).answering(|_| reply(0.0017)).says("idle_users");
    assert!(said.contains("of 2,000, 4.") || said.contains("of 2,000, 3."), "{said}");
    assert!(said.contains("thinking"), "{said}");
    World::closed(50, 0.1).answering(|_| reply(0.05)).is_silent("idle_users");
    World::closed(50, 0.0).answering(|_| reply(0.005)).is_silent("idle_users");
    // All wait for their first reply until the end.
    World::closed(50, 0.0).lasting(2.0).answering(|_| reply(60.0)).is_silent("idle_users");
}

#[test]
fn users_with_failed_connections_are_idle() {
    // Refused immediately, and a pause of a second before the next attempt,
    // which think time represents here.
    let refused = World::closed(50, 1.0).answering(|_| failure(Failure::Refused, 0.001));
    let run = refused.run();
    let mut plan = run.plan.clone().unwrap();
    let brunt_model::Load::Closed { think, .. } = &mut plan.main_mut().load else { unreachable!() };
    *think = brunt_model::ThinkTime::NONE;
    let run = brunt_model::Run { plan: Some(plan), ..run };
    let findings = crate::explain::findings(&run, &brunt_model::Judgement::default());
    let said = findings.iter().find(|f| f.rule == "idle_users").expect("idle users");
    assert!(
        said.sentence.contains("pausing because their connections had failed"),
        "{}",
        said.sentence
    );
}

#[test]
fn users_that_idle_without_failures_get_no_advice_on_failures() {
    // Ten users, one of which may send: none thinks, and no connection fails.
    let world = World::closed(50, 1.0).with(|w| w.plan.main_mut().stop.requests = Some(60));
    let run = world.answering(|_| reply(0.001)).run();
    let mut plan = run.plan.clone().unwrap();
    let brunt_model::Load::Closed { think, .. } = &mut plan.main_mut().load else { unreachable!() };
    *think = brunt_model::ThinkTime::NONE;
    let run = brunt_model::Run { plan: Some(plan), ..run };
    let findings = crate::explain::findings(&run, &brunt_model::Judgement::default());
    let idle = findings.iter().find(|finding| finding.rule == "idle_users").expect("idle users");
    assert_eq!(idle.remedy, None, "{}", idle.sentence);
}

#[test]
fn a_closed_loop_names_the_open_loop_at_its_throughput() {
    let remedy =
        |world: World| world.answering(|_| reply(0.01)).finds("closed_loop").unwrap().remedy;
    let open = remedy(World::closed(10, 0.0)).unwrap();
    assert!(
        open.starts_with("open loop at the same throughput: `brunt http://h/ -r 1000`"),
        "{open}"
    );
    let planned =
        World::closed(10, 0.0).with(|w| w.environment.command = "brunt run plan.yaml".into());
    assert!(
        remedy(planned)
            .unwrap()
            .ends_with("`brunt run plan.yaml --set load.users=null --set load.rate=1000`")
    );
    // The arrivals of an open loop would be iterations of two requests.
    let two = World::closed(10, 0.0).with(|w| {
        let scenario = &mut w.plan.main_mut().scenario;
        let again = scenario.requests[0].clone();
        scenario.requests.push(again);
        scenario.steps = vec![ScenarioStep::Request(0), ScenarioStep::Request(1)];
    });
    assert_eq!(remedy(two), None);
    World::open(100.0).is_silent("closed_loop");
}

#[test]
fn an_endless_queue_is_overload() {
    let growing = World::open(1000.0).answering(|asked| reply(0.5 * asked.at));
    let said = growing.says("overload");
    assert!(said.contains("1,000/s were offered"), "{said}");
    // A generator that was limited, but began all due requests, does not change that.
    growing.with(|w| w.judgement.verdict.state = State::Limited).says("overload");
    World::open(1000.0).answering(|_| reply(1.0)).is_silent("overload");
    World::closed(50, 0.0).is_silent("overload");
}

#[test]
fn dropped_arrivals_are_overload() {
    let dropping = |asked: super::world::SimulatedRequest| match asked.number % 3 {
        0 => failure(Failure::Dropped, 0.0),
        _ => reply(0.1),
    };
    let dropped = World::open(300.0).answering(dropping);
    dropped.says("overload");
    dropped.with(|w| w.judgement.verdict.state = State::Limited).is_silent("overload");
}

#[test]
fn stalls_are_detected_by_their_share_of_time() {
    // One request in 500 takes a second, against 1 ms: 0.2 % of the requests, two thirds of the time.
    let stalling = |asked: super::world::SimulatedRequest| {
        reply(if asked.number % 500 == 499 { 1.0 } else { 0.001 })
    };
    let said = World::closed(4, 0.0).answering(stalling).says("unseen_stalls");
    assert!(said.contains("of the users' time"), "{said}");
    World::closed(4, 0.0).answering(|_| reply(0.002)).is_silent("unseen_stalls");
    World::open(500.0).answering(stalling).is_silent("unseen_stalls");
}

fn ended(interrupted: bool, error: Option<&str>) -> Finish {
    Finish { at: brunt_model::Tick(0), interrupted, error: error.map(Into::into) }
}

#[test]
fn an_incomplete_run_reports_the_reason() {
    let cut = || World::closed(10, 0.0).ending_at(2.0).answering(|_| reply(0.01));
    let said = cut().with(|w| w.finish = Some(ended(true, None))).says("cut_short");
    assert!(said.ends_with("it was interrupted after 2.00 s of 5.00 s."), "{said}");
    let said = cut().with(|w| w.finish = Some(ended(false, Some("no thread")))).says("cut_short");
    assert!(said.contains("(no thread)"), "{said}");
    assert!(cut().with(|w| w.finish = None).says("cut_short").contains("has no end"));
    assert!(cut().says("cut_short").contains("ended after 2.00 s of 5.00 s"));
    World::closed(10, 0.0).answering(|_| reply(0.01)).is_silent("cut_short");
    cut().with(|w| w.plan.main_mut().stop.iterations_per_user = Some(5)).is_silent("cut_short");
}

#[test]
fn requests_that_were_not_sent_are_reported() {
    let asked = |n| {
        World::closed(10, 0.0).answering(|_| reply(0.01)).with(|w| {
            w.plan.main_mut().stop.requests = Some(n);
            w.plan.main_mut().stop.duration = None;
        })
    };
    let said = asked(10_000).with(|w| w.finish = Some(ended(true, None))).says("cut_short");
    assert!(said.contains("5,000 of 10,000 requests in 5.00 s"), "{said}");
    asked(3000).is_silent("cut_short");
    // The first limit that is reached ended the run as requested.
    asked(10_000).lasting(5.0).is_silent("cut_short");
    asked(3000).lasting(60.0).ending_at(5.0).is_silent("cut_short");
}

#[test]
fn a_very_short_run_is_reported() {
    let moment = World::closed(10, 0.0).lasting(0.3).answering(|_| reply(0.01));
    assert!(moment.says("too_short").contains("300 ms"));
    moment.with(|w| w.finish = Some(ended(true, None))).is_silent("too_short");
    World::closed(10, 0.0).answering(|_| reply(0.01)).is_silent("too_short");
}

#[test]
fn a_run_without_steady_state_is_reported() {
    let steady = |reached| Steady { cut: Duration::ZERO, reached, method: "MSER-5".into() };
    let world =
        |reached| World::closed(10, 0.0).with(|w| w.judgement.steady = Some(steady(reached)));
    assert!(world(false).says("not_steady").contains("MSER-5"));
    world(true).is_silent("not_steady");
    World::closed(10, 0.0).is_silent("not_steady");
}

#[test]
fn rising_response_times_are_reported() {
    let found = |growth: f64, rate: f64| {
        // The golden ratio gives evenly spread values over 10 ms.
        let spread = |number: u64| (0.618_033_988_75 * number as f64).fract() * 0.01;
        let answer = move |request: SimulatedRequest| {
            reply(0.01 + growth * request.at + spread(request.number))
        };
        let run = World::open(rate).lasting(60.0).answering(answer).run();
        crate::judge(&run).findings.into_iter().find(|finding| finding.rule == "not_steady")
    };
    let said = found(0.0001, 500.0).unwrap().sentence;
    assert!(
        said.contains("p50 rose from 15.7 ms to 20.4 ms and p99 rose from 20.7 ms to 25.6 ms"),
        "{said}"
    );
    assert_eq!(found(0.0, 500.0), None);
}

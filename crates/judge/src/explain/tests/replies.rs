use super::world::{Reply, SimulatedRequest, World, failure, reply};
use brunt_model::Failure;
use brunt_model::finding::Severity;
use brunt_model::plan::StatusRange;
use brunt_model::tally::Statuses;

fn with_status(status: u16, one_in: u64) -> impl Fn(SimulatedRequest) -> Reply {
    move |asked| Reply {
        status: if asked.number.is_multiple_of(one_in) { status } else { 200 },
        ..reply(0.004)
    }
}

#[test]
fn errors_instead_of_pages_are_reported() {
    let world = World::closed(10, 0.0).answering(with_status(503, 4));
    let said = world.says("error_replies");
    assert!(
        said.contains("× 503") && said.contains("25.0 %") && said.contains("mean 4.00 ms"),
        "{said}"
    );
    assert!(world.finds("error_replies").unwrap().remedy.unwrap().contains("error log"));
    World::closed(10, 0.0).answering(with_status(503, 200)).is_silent("error_replies");
    let expected = |w: &mut World| {
        w.plan.reply_policies[0].checks.status = vec![StatusRange { least: 200, most: 599 }];
    };
    World::closed(10, 0.0).answering(with_status(503, 4)).with(expected).is_silent("error_replies");
}

#[test]
fn replies_that_their_own_request_expects_are_no_errors() {
    // Some other request than the first expects 401.
    let mut run = World::closed(10, 0.0).answering(with_status(401, 2)).run();
    run.total.unexpected = Statuses::default();
    let findings = crate::explain::findings(&run, &brunt_model::Judgement::default());
    assert!(findings.iter().all(|finding| finding.rule != "error_replies"), "{findings:?}");
}

#[test]
fn redirects_instead_of_pages_are_reported() {
    let all = World::closed(10, 0.0).answering(with_status(302, 1));
    assert!(all.says("redirects").contains("× 302"));
    assert_eq!(all.finds("redirects").unwrap().severity, Severity::Warning);
    let some = World::closed(10, 0.0).answering(with_status(301, 50));
    assert_eq!(some.finds("redirects").unwrap().severity, Severity::Note);
    World::closed(10, 0.0).answering(with_status(304, 1)).is_silent("redirects");
    let asked_for = |w: &mut World| {
        w.plan.reply_policies[0].checks.status = vec![StatusRange { least: 302, most: 302 }];
    };
    all.with(asked_for).is_silent("redirects");
}

#[test]
fn followed_redirects_are_no_finding() {
    let mut run = World::closed(10, 0.0).answering(with_status(302, 2)).run();
    run.total.redirects = run.total.statuses.sorted().iter().find(|s| s.0 == 302).unwrap().1;
    let findings = crate::explain::findings(&run, &brunt_model::Judgement::default());
    assert!(findings.iter().all(|f| f.rule != "redirects"), "{findings:?}");
}

#[test]
fn missing_replies_are_reported() {
    let resets = |one_in| {
        move |asked: SimulatedRequest| match asked.number % one_in {
            0 => failure(Failure::Reset, 0.001),
            _ => reply(0.004),
        }
    };
    let world = World::closed(10, 0.0).answering(resets(3));
    assert!(world.says("no_reply").contains("connection reset"));
    World::closed(10, 0.0).answering(resets(50)).is_silent("no_reply");
}

#[test]
fn messages_that_no_request_awaited_are_reported() {
    let world = |pushes| {
        World::closed(10, 0.0).answering(|_| reply(0.004)).with(|world| world.pushes = pushes)
    };
    for pushes in [500, 1_000_000] {
        let said = world(pushes).says("websocket_pushes");
        assert!(said.contains("WebSocket messages that no request awaited"), "{said}");
    }
    world(0).is_silent("websocket_pushes");
    world(3).is_silent("websocket_pushes");
    let selects = |world: &mut World| {
        world.plan.reply_policies[0].checks.body = Some("^answer".to_owned());
    };
    world(1_000_000).with(selects).is_silent("websocket_pushes");
}

fn lengths(first: u64, last: u64, noise: u64) -> impl Fn(SimulatedRequest) -> Reply {
    move |asked| {
        let length = if asked.at < 2.5 { first } else { last };
        Reply { bytes: length + asked.number * 7919 % 1000 * noise, ..reply(0.004) }
    }
}

#[test]
fn a_drift_of_page_lengths_is_reported() {
    let said = World::closed(10, 0.0).answering(lengths(20_000, 4_000, 0)).says("length_drift");
    assert!(said.contains("20.0 kB") && said.contains("4.00 kB"), "{said}");
    World::closed(10, 0.0).answering(lengths(20_000, 19_000, 0)).is_silent("length_drift");
}

#[test]
fn varying_lengths_are_not_a_drift() {
    // With few replies of random lengths from 1 kB to 1 MB, the means differ by chance.
    World::closed(1, 0.0)
        .answering(|a| Reply { seconds: 0.2, ..lengths(1000, 1000, 1000)(a) })
        .is_silent("length_drift");
    let counting =
        |w: &mut World| w.plan.main_mut().scenario.requests[0].url = "http://h/{n}".into();
    World::closed(10, 0.0)
        .answering(lengths(20_000, 4_000, 0))
        .with(counting)
        .is_silent("length_drift");
}

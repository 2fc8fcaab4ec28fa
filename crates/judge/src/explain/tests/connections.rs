use super::world::{Reply, SimulatedRequest, World, failure, reply};
use brunt_model::finding::Severity;
use brunt_model::plan::ConnectionLifetime;
use brunt_model::reply_policy::{EventFormat, Events};
use brunt_model::{Failure, Route};
use std::time::Duration;

/// 10 users, 5,000 requests, and this many additional connections.
fn replacing(n: u64) -> World {
    World::closed(10, 0.0).answering(|_| reply(0.01)).with(|w| w.replaced = n)
}

#[test]
fn connections_that_the_server_closes_are_counted() {
    // 5,000 requests at 100 each: 50 connections, 10 of which are open at the end.
    let said = replacing(40).says("reuse");
    assert!(said.contains("5,000 requests needed 50 connections, 100 each"), "{said}");
    let remedy = replacing(40).finds("reuse").unwrap().remedy.unwrap();
    assert!(remedy.contains("MaxKeepAliveRequests"), "{remedy}");
    let each = replacing(4990).finds("reuse").unwrap();
    assert_eq!(each.severity, Severity::Warning);
    assert!(each.remedy.unwrap().contains("keepalive_timeout 0"));
    replacing(0).is_silent("reuse");
}

#[test]
fn a_plan_that_closes_connections_itself_is_not_the_server() {
    let header = |name: &str| {
        let field = (name.to_owned(), "keep-alive, Close".to_owned());
        move |w: &mut World| w.plan.main_mut().scenario.requests[0].headers.push(field)
    };
    replacing(4990).with(header("connection")).is_silent("reuse");
    assert!(replacing(4990).with(header("x-connection")).finds("reuse").is_some());
    let close = |url: &'static str| {
        move |w: &mut World| {
            let request = &mut w.plan.main_mut().scenario.requests[0];
            request.method = "CLOSE".to_owned();
            request.url = url.to_owned();
        }
    };
    replacing(4990).with(close("wss://h/chat")).is_silent("reuse");
    assert!(replacing(4990).with(close("https://h/chat")).finds("reuse").is_some());
    let further = |w: &mut World| {
        let mut other = w.plan.populations[0].clone();
        other.scenario.requests[0].headers.push(("Connection".into(), "close".into()));
        w.plan.populations.push(other);
    };
    replacing(4990).with(further).is_silent("reuse");
    for (most, longest) in [(Some(3), None), (None, Some(Duration::from_secs(1))), (None, None)] {
        let limited = |w: &mut World| {
            let events = Events { format: EventFormat::ServerSent, most, longest };
            w.plan.reply_policies[0].events = Some(events);
        };
        let is_found = replacing(4990).with(limited).finds("reuse").is_some();
        assert_eq!(is_found, most.is_none() && longest.is_none());
    }
}

#[test]
fn connections_replaced_after_1000_requests_suggest_keepalive_requests() {
    let world =
        World::closed(4, 0.0).lasting(20.0).answering(|_| reply(0.002)).with(|w| w.replaced = 36);
    let found = world.finds("reuse").unwrap();
    assert_eq!(found.severity, Severity::Note);
    assert!(found.remedy.unwrap().contains("keepalive_requests is 1000"));
}

#[test]
fn idle_connections_are_closed_by_a_timeout() {
    let found = replacing(40).with(|w| w.closed_idle = 40).finds("reuse").unwrap();
    assert!(
        found.sentence.contains("while they were idle")
            && found.remedy.unwrap().contains("keepalive_timeout")
    );
}

#[test]
fn connections_closed_on_request_are_no_finding() {
    replacing(4990)
        .with(|w| w.plan.connection.requests_per_connection = Some(1))
        .is_silent("reuse");
    // One call per connection, as httperf without --num-calls.
    replacing(4990)
        .with(|w| w.plan.connection.keep = ConnectionLifetime::Iteration)
        .is_silent("reuse");
    let close = |w: &mut World| {
        w.plan.main_mut().scenario.requests[0].headers =
            vec![("Connection".into(), "close".into())];
    };
    replacing(4990).with(close).is_silent("reuse");
    // Each reset costs a connection; the server did not close it regularly.
    let resets = |asked: SimulatedRequest| {
        if asked.number.is_multiple_of(100) { failure(Failure::Reset, 0.01) } else { reply(0.01) }
    };
    replacing(50).answering(resets).is_silent("reuse");
}

#[test]
fn an_overflowing_accept_queue_is_reported() {
    let slow = || connecting(|n| if n.is_multiple_of(50) { 1.012 } else { 0.0003 });
    let world = || slow().counting("tcp.listen_overflows_total", 7.0);
    assert!(world().loopback().says("accept_queue").contains("overflowed 35 times"));
    let route = Route { same_host: Some(true), listener_backlog: Some(128), ..Route::default() };
    assert!(world().route(route).says("accept_queue").contains("(backlog 128)"));
    world().route(Route { same_host: Some(false), ..Route::default() }).is_silent("accept_queue");
    world().is_silent("accept_queue");
    slow().counting("tcp.listen_overflows_total", 0.0).loopback().is_silent("accept_queue");
    // More overflows than SYNs of this run: another server's queue overflowed, too.
    slow().counting("tcp.listen_overflows_total", 600.0).loopback().is_silent("accept_queue");
    // The queue has room for all connections of this run.
    let large = Route { same_host: Some(true), listener_backlog: Some(2_000), ..Route::default() };
    world().route(large).is_silent("accept_queue");
    // Requests that are cut may still be connecting.
    World::open(200.0)
        .answering(|_| failure(Failure::Cut, 0.9))
        .counting("tcp.listen_overflows_total", 150.0)
        .loopback()
        .says("accept_queue");
    // The queue of another server on the same machine overflowed.
    World::closed(10, 0.0)
        .counting("tcp.listen_overflows_total", 7.0)
        .loopback()
        .is_silent("accept_queue");
}

fn connecting(seconds: impl Fn(u64) -> f64 + 'static) -> World {
    World::open(200.0).answering(move |a| {
        let connecting = seconds(a.number);
        Reply { connecting: Some(connecting), ..reply(connecting + 0.004) }
    })
}

#[test]
fn handshakes_of_whole_seconds_are_lost_syns() {
    let said =
        connecting(|n| if n.is_multiple_of(50) { 1.012 } else { 0.0003 }).says("slow_connects");
    assert!(said.contains("of 1,000 connections, 20 took 1 s"), "{said}");
    connecting(|n| if n.is_multiple_of(50) { 3.02 } else { 0.0003 }).says("slow_connects");
    connecting(|_| 0.0003).is_silent("slow_connects");
    // Slow handshakes at any time.
    connecting(|n| 1.0 + (n % 97) as f64 / 97.0).is_silent("slow_connects");
    let timeouts = World::open(200.0).answering(|_| failure(Failure::ConnectTimeout, 0.5));
    assert!(timeouts.says("slow_connects").contains("of 1,000 connections, 1,000 gave up"));
}

#[test]
fn the_open_file_limit_of_a_local_server_is_read() {
    let route = |limit| Route {
        listener_descriptors: Some(limit),
        listener: Some("nginx".into()),
        ..Route::default()
    };
    let said = World::closed(100, 0.0).lasting(1.0).route(route(100)).says("file_limit");
    assert!(said.contains("100 connections") && said.contains("nginx"), "{said}");
    World::closed(100, 0.0).lasting(1.0).route(route(1024)).is_silent("file_limit");
    World::closed(100, 0.0).lasting(1.0).is_silent("file_limit");
}

#[test]
fn a_server_with_fewer_connections_than_users_is_reported() {
    let broken = |asked: SimulatedRequest| {
        if asked.number.is_multiple_of(4) { failure(Failure::Reset, 0.01) } else { reply(0.01) }
    };
    let world = |held| World::closed(100, 0.0).answering(broken).with(|w| w.held = Some(held));
    assert!(
        world(60).says("connection_limit").contains("held 60.0 connections at most, 100 users")
    );
    world(100).is_silent("connection_limit");
    World::closed(100, 0.0)
        .answering(|_| reply(0.01))
        .with(|w| w.held = Some(60))
        .is_silent("connection_limit");
}

#[test]
fn retransmissions_are_reported_for_the_machine() {
    let world = |again, seconds| {
        let world = World::open(200.0).answering(move |_| reply(seconds));
        world.counting("tcp.retransmitted_total", again).counting("tcp.sent_segments_total", 500.0)
    };
    let said = world(10.0, 0.25).says("retransmissions");
    assert!(
        said.contains("All programs of this machine together sent 50 TCP segments again, 2.00 %"),
        "{said}"
    );
    world(10.0, 0.01).is_silent("retransmissions");
    world(1.0, 0.25).is_silent("retransmissions");
}

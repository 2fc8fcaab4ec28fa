use super::world::{Reply, World, reply};
use crate::explain;
use brunt_model::finding::{GroupComparison, LimitingResource, OtherCause, Severity, UseOrigin};
use brunt_model::fleet::{LOADED, QUIET};
use brunt_model::reading_names as name;
use brunt_model::{Finding, FleetSettings, Judgement, Placement, Route, Run, Text};
use std::time::Duration;

#[test]
fn a_shared_machine_is_detected_by_address_and_by_owner() {
    assert!(
        World::closed(1, 0.0)
            .loopback()
            .says("same_machine")
            .starts_with("Client and server share")
    );
    let route =
        Route { same_host: Some(true), listener: Some("nginx (pid 7)".into()), ..Route::default() };
    assert!(
        World::closed(1, 0.0)
            .route(route)
            .says("same_machine")
            .contains("server, nginx (pid 7), share")
    );
    World::closed(1, 0.0)
        .route(Route { same_host: Some(false), ..Route::default() })
        .is_silent("same_machine");
    World::closed(1, 0.0).is_silent("same_machine");
}

/// A machine of two cores that brunt, the server (nginx) and a busy loop share, with the
/// cores that each used.
fn shared(own: f64, server: f64, others: f64) -> World {
    let listener = Some("nginx (pid 7)".to_owned());
    let route = Route { same_host: Some(true), listener, ..Route::default() };
    let busy = own + server + others;
    let parts =
        name::HOST_PARTS.map(|part| (part, if part == name::HOST_USER { busy } else { 0.0 }));
    let parts =
        parts.map(|(part, rate)| (part, if part == name::HOST_IDLE { 2.0 - busy } else { rate }));
    let rates = parts.into_iter().chain([(name::CPU_USER, own), (name::CPU_SYSTEM, 0.0)]);
    let world = World::closed(4, 0.0).route(route).answering(|_| reply(0.005));
    rates
        .fold(world, |world, (name, rate)| world.counting(name, rate))
        .counting(name::PROCESSES, server + others)
        .counting(name::SERVER_PROCESSES, server)
        .counting(&name::processes("sh"), others)
        .holding(&name::busiest_pid("sh"), 8.0)
}

#[test]
fn the_cpu_use_of_a_shared_machine_is_reported() {
    let full = shared(0.14, 1.85, 0.0);
    let said = full.says("shared_cpu");
    assert!(
        said.contains("it used 1.85 of 2 cores, brunt 0.14")
            && said.contains("2.00 ÷ 1.85 = 1.08 × as much"),
        "{said}"
    );
    full.is_silent("busy_machine");
    let busy = shared(0.07, 0.08, 1.8);
    let said = busy.says("busy_machine");
    assert!(said.contains("other processes used 1.80 of 2 cores: sh (pid 8) 1.80"), "{said}");
    busy.is_silent("shared_cpu");
    shared(0.1, 0.5, 0.0).is_silent("shared_cpu");
}

fn ethernet() -> Route {
    let interface = Some("eth0".to_owned());
    Route {
        same_host: Some(false),
        interface,
        link_bits_per_second: Some(100_000_000),
        ..Route::default()
    }
}

/// Ten users with replies of 100 kB that share this many bytes per second.
fn sharing(bytes_per_second: f64) -> World {
    let seconds = 10.0 * 1e5 / bytes_per_second;
    World::closed(10, 0.0).answering(move |_| Reply {
        bytes: 100_000,
        receiving: seconds * 0.9,
        ..reply(seconds)
    })
}

#[test]
fn a_saturated_link_of_known_speed_is_reported() {
    let full = sharing(1e6)
        .route(ethernet())
        .counting("nic.eth0.received_bytes_total", 12.0e6)
        .counting("nic.eth0.sent_bytes_total", 1e5);
    assert!(
        full.says("link")
            .contains("The link of eth0 is the bottleneck, not the server: 96.0 Mb/s went over it, 96.0 % of 100 Mb/s")
    );
    let half = sharing(1e6).route(ethernet()).counting("nic.eth0.received_bytes_total", 6.0e6);
    half.is_silent("link");
    let cause = OtherCause {
        limit: LimitingResource::Nic,
        origin: UseOrigin::Generator,
        lasted: Duration::ZERO,
        sentence: Text::default(),
        remedy: Text::default(),
    };
    full.with(|w| w.judgement.verdict.causes = vec![cause]).is_silent("link");
}

#[test]
fn a_known_link_without_counters_is_judged_by_the_replies() {
    // 100 Mb/s of Ethernet carry 11.8 MB of payload per second.
    assert!(sharing(11.7e6).route(ethernet()).says("link").contains("of 100 Mb/s"));
    sharing(8e6).route(ethernet()).is_silent("link");
}

#[test]
fn a_constant_data_rate_suggests_a_saturated_link() {
    let shaped = || sharing(12.4e6).loopback();
    let maybe = shaped().finds("link").unwrap();
    assert_eq!(maybe.severity, Severity::Note);
    assert!(maybe.sentence.contains("may be the bottleneck"));
    let idle = shaped().counting("host.cpu_idle_seconds", 3.0).finds("link").unwrap();
    assert_eq!(idle.severity, Severity::Warning);
    shaped().counting("host.cpu_idle_seconds", 0.1).is_silent("link");
}

#[test]
fn only_constant_data_rates_suggest_a_link() {
    sharing(9e6).loopback().is_silent("link");
    // The rate of a schedule that is kept is constant by itself.
    let page = |_| Reply { bytes: 124_000, receiving: 0.009, ..reply(0.01) };
    World::open(100.0).loopback().answering(page).is_silent("link");
    let paced = |w: &mut World| w.plan.connection.receive_rate = Some(1_240_000);
    sharing(12.4e6).loopback().with(paced).is_silent("link");
    // Variations come from a scheduler.
    let uneven = |asked: super::world::SimulatedRequest| {
        let seconds = if asked.at % 1.0 < 0.5 { 0.05 } else { 0.12 };
        Reply { bytes: 100_000, receiving: seconds * 0.9, ..reply(seconds) }
    };
    World::closed(10, 0.0).loopback().answering(uneven).is_silent("link");
}

fn comparison(quantile: f64, slower: &str, p: f64) -> GroupComparison {
    let faster = if slower == LOADED { QUIET } else { LOADED };
    GroupComparison {
        quantile,
        threshold_seconds: 0.01,
        slower: slower.to_owned(),
        faster: faster.to_owned(),
        slower_share: 0.03,
        faster_share: 0.01,
        p,
        is_significant: p < 0.05,
        method: String::new().into(),
    }
}

#[test]
fn slower_loaded_agents_are_a_warning_whatever_else_differs() {
    let mut run = World::open(800.0).answering(|_| reply(0.003)).run();
    let findings = |run: &Run, comparisons: &[GroupComparison]| -> Vec<Finding> {
        let group_comparisons = comparisons.to_vec();
        let so_far = Judgement { group_comparisons, ..Judgement::default() };
        let all = explain::findings(run, &so_far).into_iter();
        all.filter(|finding| ["quiet_agents", "groups_differ"].contains(&&*finding.rule)).collect()
    };
    assert_eq!(findings(&run, &[]), [], "no agents");
    let fleet = |quiet: u32| FleetSettings {
        on: Placement::Local(3),
        lease: Duration::from_secs(1),
        bytes_per_second: 0,
        consent: None,
        quiet,
        by_zone: false,
        groups: Vec::new(),
        cluster: None,
    };
    run.plan.as_mut().expect("a plan").fleet = Some(fleet(1));
    let quiet_is_slower = comparison(0.5, QUIET, 0.0001);
    for (comparisons, severity, text) in [
        (vec![], Severity::Note, "too few requests"),
        (vec![comparison(0.5, LOADED, 0.3)], Severity::Note, "No difference was found"),
        (vec![quiet_is_slower.clone()], Severity::Note, "of group quiet measure longer"),
        (
            vec![quiet_is_slower.clone(), comparison(0.99, LOADED, 0.01)],
            Severity::Warning,
            "of group loaded measure longer",
        ),
    ] {
        let found = findings(&run, &comparisons);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&*found[0].rule, found[0].severity), ("quiet_agents", severity));
        assert!(found[0].sentence.contains(text), "{found:?}");
    }
    run.plan.as_mut().expect("a plan").fleet = Some(fleet(0));
    let found = findings(&run, &[quiet_is_slower, comparison(0.99, LOADED, 0.3)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].sentence.contains("3.0 % of their requests took longer than 10.0 ms, and 1.0 %")
    );
    assert_eq!(findings(&run, &[comparison(0.5, LOADED, 0.3)]), []);
}

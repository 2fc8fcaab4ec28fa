//! Tests each rule on readings made by hand: ten seconds of measured time, a reading each second.

use super::*;
use crate::texts::message;
use brunt_model::event::{Event, Phase, Reading};
use brunt_model::finding::{OtherCause, UseOrigin};
use brunt_model::reading_names::{self as name, GENERATOR, Nic, server};
use brunt_model::{Environment, Route, Tick};
use std::time::Duration;

const SECONDS: u64 = 10;

/// A run with readings that grow or stay constant second by second.
#[derive(Default)]
struct World {
    run: Run,
    verdict: Verdict,
}

impl World {
    fn new() -> Self {
        let mut world = Self::default();
        world.run.fold(&Event::Stage { at: Tick::ZERO, phase: Phase::Measure });
        world.run.fold(&Event::Stage {
            at: Tick::ZERO + Duration::from_secs(SECONDS),
            phase: Phase::Grace,
        });
        world.run.flow_all.opened = 400;
        world
    }

    /// Readings of a source: by name, the first value and the growth per second.
    fn told(mut self, source: &str, values: &[(&str, f64, f64)]) -> Self {
        for second in 0..=SECONDS {
            let at = Tick::ZERO + Duration::from_secs(second);
            let value = |(name, value, grows): &(&str, f64, f64)| {
                ((*name).to_owned(), value + grows * second as f64)
            };
            let values = values.iter().map(value).collect();
            self.run.fold(&Event::Reading(Reading { at, source: source.into(), values }));
        }
        self
    }

    /// A machine of four cores with this many busy ones.
    fn cores(self, busy: f64) -> Self {
        self.told(
            "host:web",
            &[
                (name::HOST_USER, 50.0, busy * 0.75),
                (name::HOST_SYSTEM, 50.0, busy * 0.25),
                (name::HOST_IDLE, 900.0, 4.0 - busy),
                (server::CORES, 4.0, 0.0),
            ],
        )
    }

    fn process(self, source: &str, cores: f64) -> Self {
        self.told(
            source,
            &[(name::CPU_USER, 5.0, cores * 0.5), (name::CPU_SYSTEM, 5.0, cores * 0.5)],
        )
    }

    fn children(self, busy: f64, queued: f64) -> Self {
        let idle = 20.0 - busy;
        self.told(
            "php-fpm:www",
            &[
                (server::WORKERS_BUSY, busy, 0.0),
                (server::WORKERS_IDLE, idle, 0.0),
                (server::WORKERS, 20.0, 0.0),
                (server::WORKERS_LIMIT, 20.0, 0.0),
                (server::QUEUE, queued, 0.0),
            ],
        )
    }

    fn on_one_machine(mut self) -> Self {
        let route = Route { same_host: Some(true), ..Route::default() };
        self.run.environment = Environment { route: Some(route), ..Environment::default() };
        self
    }

    fn limited(mut self, limit: LimitingResource) -> Self {
        let cause = OtherCause {
            limit,
            origin: UseOrigin::Generator,
            lasted: Duration::from_secs(5),
            sentence: Text::default(),
            remedy: Text::default(),
        };
        self.verdict = Verdict { state: State::Limited, causes: vec![cause], ..Verdict::default() };
        self
    }

    fn found(&self) -> Bottleneck {
        bottleneck(&self.run, &self.verdict).expect("something was read")
    }
}

fn is(found: &Bottleneck, culprit: Culprit, sentence: &str) {
    assert_eq!((found.culprit, &*found.sentence), (culprit, sentence), "{found:?}");
}

#[test]
fn without_readings_of_a_server_no_bottleneck_is_reported() {
    let world = World::new().process(GENERATOR, 0.5);
    assert_eq!(bottleneck(&world.run, &world.verdict), None);
    assert_eq!(bottleneck(&Run::default(), &Verdict::default()), None);
}

#[test]
fn the_cores_of_the_server_are_those_of_its_processes() {
    let cores = server_cores(
        &World::new().cores(3.0).process("process:nginx", 0.5).process("process:php", 1.25).run,
    );
    assert!(cores.is_some_and(|cores| (cores - 1.75).abs() < 1e-9), "{cores:?}");
    assert_eq!(server_cores(&World::new().process(GENERATOR, 2.0).cores(3.0).run), None);
}

/// A shared machine with two full cores by our own readings, and the usage by
/// the listener's process tree.
fn shared_machine(server: Option<f64>) -> World {
    let rates = [
        (name::CPU_USER, 1.0, 0.08),
        (name::CPU_SYSTEM, 1.0, 0.02),
        (name::HOST_USER, 9.0, 2.0),
        (name::HOST_SYSTEM, 9.0, 0.0),
        (name::HOST_SOFTIRQ, 9.0, 0.0),
        (name::HOST_IDLE, 9.0, 0.0),
        (name::HOST_IOWAIT, 9.0, 0.0),
        (name::HOST_STEAL, 9.0, 0.0),
        (name::PROCESSES, 0.0, 1.9),
    ];
    let tree = server.map(|server| (name::SERVER_PROCESSES, 0.0, server));
    let all: Vec<_> = rates.into_iter().chain(tree).collect();
    // With a reading of the server, its bottleneck is determined.
    World::new()
        .on_one_machine()
        .told(GENERATOR, &all)
        .told("http:status", &[("requests", 1.0, 100.0)])
}

#[test]
fn a_saturated_machine_counts_only_if_the_server_used_it() {
    let found = shared_machine(Some(1.7)).found();
    assert_eq!(found.culprit, Culprit::Cpu, "{found:?}");
    for not_the_servers in [Some(0.05), None] {
        let found = shared_machine(not_the_servers).found();
        assert_eq!(found.culprit, Culprit::NotFound, "{found:?}");
        assert!(
            found.sentence.contains("the server is not known to have used most of it"),
            "{found:?}"
        );
    }
    assert!(
        server_cores(&shared_machine(Some(0.05)).run)
            .is_some_and(|cores| (cores - 0.05).abs() < 1e-9)
    );
}

#[test]
fn busy_workers_on_an_idle_machine_are_the_bottleneck() {
    let found = World::new().cores(0.8).children(20.0, 35.0).found();
    is(&found, Culprit::Workers, "all 20 php-fpm children busy, 35 requests queued");
    assert_eq!(found.others, Vec::<String>::new());
}

#[test]
fn workers_that_wait_for_cores_are_reported_after_the_cores() {
    let found = World::new()
        .cores(3.9)
        .process("process:php", 3.1)
        .process("process:nginx", 0.4)
        .children(20.0, 9.0)
        .found();
    is(&found, Culprit::Cpu, "CPU: 97.5 % of 4.00 cores busy; php 3.10 cores, nginx 0.400 cores");
    assert_eq!(found.others, ["all 20 php-fpm children busy, 9 requests queued"]);
}

#[test]
fn a_busy_pool_that_may_grow_is_not_the_bottleneck() {
    let pool = |present: f64, grows: f64| {
        World::new()
            .told(
                "apache:web",
                &[
                    (server::WORKERS_BUSY, present, grows),
                    (server::WORKERS_IDLE, 0.0, 0.0),
                    (server::WORKERS, present, grows),
                    (server::WORKERS_LIMIT, 256.0, 0.0),
                ],
            )
            .found()
    };
    assert_eq!(pool(5.0, 8.0).culprit, Culprit::NotFound);
    is(&pool(20.0, 0.0), Culprit::Workers, "all 20 Apache workers busy");
}

#[test]
fn a_healthy_server_has_no_bottleneck() {
    let found = World::new().cores(2.0).children(12.0, 0.0).process("process:php", 1.5).found();
    let expected = "no examined resource was at its limit (CPU, workers); not examined: open files, memory, single \
                    threads, disks, network, connections, accept queues";
    is(&found, Culprit::NotFound, expected);
    assert_eq!(found.evidence.len(), 2, "{:?}", found.evidence);
}

#[test]
fn a_shared_machine_is_the_bottleneck_if_the_server_uses_most_of_it() {
    let shared = |generator: f64| {
        World::new()
            .on_one_machine()
            .cores(4.0)
            .process("process:php", 4.0 - generator)
            .process(GENERATOR, generator)
    };
    let found = shared(0.8).limited(LimitingResource::Cores).found();
    is(
        &found,
        Culprit::Cpu,
        "CPU: 100 % of 4.00 cores busy; php 3.20 cores, brunt itself 0.800 cores",
    );
    assert_eq!(
        found.others,
        ["the generator was limited by the machine's cores, shared with the server"]
    );
    let beside = World::new().cores(4.0).process("process:php", 0.5).found();
    let others = "CPU: 100 % of 4.00 cores busy; php 0.500 cores, others 3.50 cores; the server is not known to have used most \
                  of it";
    assert!(
        beside.culprit == Culprit::NotFound && beside.sentence.starts_with(others),
        "{beside:?}"
    );
    let sentence =
        "the generator took 62.5 % of the CPU time of the machine that it shares with the server";
    is(&shared(2.5).found(), Culprit::Generator, sentence);
    assert_eq!(shared(0.8).limited(LimitingResource::Worker).found().culprit, Culprit::Generator);
}

#[test]
fn own_readings_are_used_for_a_shared_machine_without_a_probe() {
    let world = World::new().on_one_machine().process("process:php", 3.5);
    let parts = [
        (name::CPU_USER, 1.0, 0.2),
        (name::CPU_SYSTEM, 1.0, 0.1),
        (name::HOST_USER, 9.0, 3.9),
        (name::HOST_IDLE, 9.0, 0.1),
    ];
    is(
        &world.told(GENERATOR, &parts).found(),
        Culprit::Cpu,
        "CPU: 97.5 % of 4.00 cores busy; php 3.50 cores, brunt itself 0.300 cores",
    );
}

#[test]
fn a_limited_generator_is_the_bottleneck_unless_requests_queue_at_the_server() {
    let limited = || World::new().cores(1.0).limited(LimitingResource::Worker);
    is(
        &limited().found(),
        Culprit::Generator,
        "the generator was limited by a worker thread at 100 % CPU",
    );
    let disk = limited().told("host:web", &[(&server::disk_busy("sda"), 0.0, 0.97)]).found();
    assert_eq!((disk.culprit, disk.others.len()), (Culprit::Generator, 1), "{disk:?}");
    let queued = limited().children(20.0, 35.0).found();
    assert_eq!((queued.culprit, queued.others.len()), (Culprit::Workers, 1), "{queued:?}");
}

#[test]
fn every_other_limit_has_its_rule() {
    let one = |source: &str, values: &[(&str, f64, f64)]| World::new().told(source, values).found();
    let sent = Nic::SentBytes.reading_name("eth0");
    let speed = Nic::BitsPerSecond.reading_name("eth0");
    let cases = [
        (
            one("process:node", &[(server::BUSIEST_THREAD, 0.99, 0.0)]),
            Culprit::Core,
            "one thread of node used 99.0 % of a core",
        ),
        (
            one("host:web", &[(name::MEMORY_TOTAL, 1e9, 0.0), (name::MEMORY_AVAILABLE, 3e7, 0.0)]),
            Culprit::Memory,
            "memory: 3.00 % of host:web available",
        ),
        (
            one("host:web", &[(name::MEMORY_TOTAL, 1e9, 0.0), (name::SWAPPED_IN, 0.0, 5e6)]),
            Culprit::Memory,
            "memory: host:web read 5.00 MB/s back from swap",
        ),
        (
            one(
                "nginx:front",
                &[(server::CONNECTIONS, 1020.0, 0.0), (server::CONNECTIONS_LIMIT, 1024.0, 0.0)],
            ),
            Culprit::Connections,
            "nginx:front: 99.6 % of 1,024 connections open",
        ),
        (
            one(
                "process:app",
                &[(server::ACCEPT_QUEUE, 129.0, 0.0), (server::ACCEPT_QUEUE_LIMIT, 128.0, 0.0)],
            ),
            Culprit::AcceptQueue,
            "process:app: accept queue full (128 entries)",
        ),
        (
            one("host:web", &[(name::LISTEN_OVERFLOWS, 7.0, 30.0)]),
            Culprit::AcceptQueue,
            "host:web: 300 connections found the accept queue full",
        ),
        (
            one("host:web", &[(&server::disk_busy("sda"), 4.0, 0.95)]),
            Culprit::Disk,
            "disk sda of host:web busy 95.0 % of the time",
        ),
        (
            one("host:web", &[(&sent, 0.0, 1.2e8), (&speed, 1e9, 0.0)]),
            Culprit::Network,
            "network: eth0 of host:web sent 96.0 % of its 1.00 Gb/s",
        ),
        (
            one("process:nginx", &[(server::DESCRIPTORS_SHARE, 0.97, 0.0)]),
            Culprit::Files,
            "process:nginx: 97.0 % of the limit on open files used",
        ),
    ];
    for (found, culprit, sentence) in &cases {
        is(found, *culprit, sentence);
    }
}

#[test]
fn overflows_of_other_listeners_are_not_those_of_the_server() {
    let overflows = |count: f64| {
        World::new()
            .told("host:web", &[(name::LISTEN_OVERFLOWS, 7.0, count / SECONDS as f64)])
            .found()
    };
    assert_eq!(overflows(300.0).culprit, Culprit::AcceptQueue);
    assert_ne!(overflows(500.0).culprit, Culprit::AcceptQueue, "400 connections were opened");
}

#[test]
fn every_rule_is_in_the_docs() {
    let docs = include_str!("../../../../docs/bottleneck.md");
    for rule in RULES {
        let name = message!(rule.name);
        assert!(docs.contains(&format!("| {name} |")), "docs/bottleneck.md does not list {name}");
    }
}

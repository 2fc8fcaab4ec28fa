//! Tests that watch this machine and this process.

use super::*;
use brunt_model::Tick;
use brunt_model::probe_spec::Select;
use brunt_model::reading_names::{self as name, server};
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Instant;

/// The system's clock, counted from its creation.
struct Since(Instant);

impl Since {
    #[allow(clippy::disallowed_methods, reason = "the run's clock is a room further on")]
    fn now() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Since {
    fn now(&self) -> Tick {
        Tick::ZERO + self.0.elapsed()
    }
}

fn spec(name: &str, what: Probed) -> ProbeSpec {
    ProbeSpec { name: name.into(), what, interval: Duration::from_millis(50) }
}

/// Returns the events until `is_enough` is true, for ten seconds at most.
fn watched(specs: &[ProbeSpec], is_enough: impl Fn(&[WatchEvent]) -> bool) -> Vec<WatchEvent> {
    let mut watch = ReadingTask::start(specs, Since::now());
    let mut events = Vec::new();
    for _ in 0..1000 {
        events.extend(watch.drain());
        if is_enough(&events) {
            return events;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("not enough: {events:?}");
}

fn readings<'a>(events: &'a [WatchEvent], source: &str) -> Vec<&'a Reading> {
    let reading =
        |event: &'a WatchEvent| if let WatchEvent::Reading(r) = event { Some(r) } else { None };
    events.iter().filter_map(reading).filter(|r| r.source == source).collect()
}

fn warnings(events: &[WatchEvent]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|s| if let WatchEvent::Warning(text) = s { Some(text.as_str()) } else { None })
        .collect()
}

fn values(reading: &Reading) -> BTreeMap<&str, f64> {
    reading.values.iter().map(|(name, value)| (name.as_str(), *value)).collect()
}

#[test]
fn a_host_and_a_process_of_this_machine_are_read_in_order() {
    let pid = std::process::id();
    let specs = [
        spec("here", Probed::Host { via: ProbeAccess::Local }),
        spec("me", Probed::Processes { select: Select::Pid(pid), via: ProbeAccess::Local }),
    ];
    let events = watched(&specs, |events| readings(events, "process:me").len() >= 3);
    assert_eq!(warnings(&events), Vec::<&str>::new());
    let host = values(readings(&events, "host:here")[0]);
    for wanted in
        [name::HOST_IDLE, server::CORES, server::LOAD, name::MEMORY_TOTAL, &server::core_busy(0)]
    {
        assert!(host.contains_key(wanted), "{wanted} is missing: {host:?}");
    }
    let mine = readings(&events, "process:me");
    assert!(mine.windows(2).all(|w| w[0].at < w[1].at));
    let last = values(mine[2]);
    for wanted in [
        name::CPU_USER,
        name::RESIDENT,
        name::DESCRIPTORS,
        server::BUSIEST_THREAD,
        server::SWITCHES_VOLUNTARY,
    ] {
        assert!(last.contains_key(wanted), "{wanted} is missing: {last:?}");
    }
    assert!(last[server::PROCESSES] >= 1.0 && last[server::THREADS] >= 2.0);
    assert!((0.0..=1.0).contains(&last[server::DESCRIPTORS_SHARE]));
    assert!(
        values(mine[0]).contains_key(server::PROPORTIONAL)
            && !last.contains_key(server::PROPORTIONAL)
    );
}

#[test]
fn a_port_of_this_process_gives_its_readings_and_queue() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let _waiting = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let specs = [
        spec("port", Probed::Processes { select: Select::Port(port), via: ProbeAccess::Local }),
        spec(
            "pid",
            Probed::Processes { select: Select::Pid(std::process::id()), via: ProbeAccess::Local },
        ),
    ];
    let events = watched(&specs, |events| readings(events, "process:pid").len() >= 2);
    for source in ["process:port", "process:pid"] {
        let read = values(readings(&events, source)[0]);
        assert!(read[server::ACCEPT_QUEUE_LIMIT] >= 1.0, "{read:?}");
    }
    assert_eq!(values(readings(&events, "process:port")[0])[server::ACCEPT_QUEUE], 1.0);
}

#[test]
fn a_missing_source_is_reported_once_and_again_when_it_appears() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let specs = [spec(
        "later",
        Probed::Processes { select: Select::PidFile(file.clone()), via: ProbeAccess::Local },
    )];
    let mut watch = ReadingTask::start(&specs, Since::now());
    let mut events = Vec::new();
    for round in 0..1000 {
        events.extend(watch.drain());
        if round == 30 {
            assert_eq!(warnings(&events).len(), 1, "{events:?}");
            std::fs::write(&file, format!("{}\n", std::process::id())).unwrap();
        }
        if !readings(&events, "process:later").is_empty() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    let sentences = warnings(&events);
    let expected = format!(
        "probe process:later: no readable process with the pid that {} names; it is asked again, and its \
         readings are missing until then",
        file.display()
    );
    assert_eq!(sentences, [expected.as_str(), "probe process:later answers again"]);
}

#[test]
fn an_unresponsive_page_delays_neither_probes_nor_the_end() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = |port: u16| format!("http://127.0.0.1:{port}/status");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nginx = |url: String| Probed::Nginx { url, connections: None };
    let specs = [
        spec("silent", nginx(at(silent.local_addr().unwrap().port()))),
        spec("closed", nginx(at(closed))),
        spec("here", Probed::Host { via: ProbeAccess::Local }),
        spec("server", Probed::Processes { select: Select::Server, via: ProbeAccess::Local }),
    ];
    let events = watched(&specs, |events| {
        readings(events, "host:here").len() >= 5 && warnings(events).len() >= 2
    });
    let sentences = warnings(&events);
    assert_eq!(sentences.len(), 2, "{sentences:?}");
    assert!(
        sentences.iter().any(|t| t.starts_with("probe nginx:closed: http://127.0.0.1:")),
        "{sentences:?}"
    );
    assert!(
        sentences.iter().any(|t| t.starts_with("probe process:server: no managed server")),
        "{sentences:?}"
    );
}

/// Twenty child processes, which end when it is dropped.
struct Twenty(Vec<std::process::Child>);

impl Twenty {
    fn start() -> Self {
        let one = || std::process::Command::new("sleep").arg("120").spawn().unwrap();
        Self((0..20).map(|_| one()).collect())
    }
}

impl Drop for Twenty {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Measures the cost of watching. Run it with
/// `cargo test -p brunt-probe costs -- --ignored --nocapture --test-threads 1`.
#[test]
#[ignore = "a measurement of half a minute, for docs/probes.md"]
fn the_costs_of_twenty_processes() {
    let twenty = Twenty::start();
    let every = Duration::from_secs(1);
    let of = |name: String, select| ProbeSpec {
        name,
        what: Probed::Processes { select, via: ProbeAccess::Local },
        interval: every,
    };
    let host = ProbeSpec {
        name: "here".into(),
        what: Probed::Host { via: ProbeAccess::Local },
        interval: every,
    };
    let separate: Vec<ProbeSpec> =
        twenty.0.iter().map(|c| of(c.id().to_string(), Select::Pid(c.id()))).collect();
    let cases = [
        ("host", vec![host.clone()]),
        ("20 processes of one name", vec![of("sleep".into(), Select::Name("sleep".into()))]),
        ("20 processes, a probe each", separate.clone()),
        ("20 processes, a probe each, and the host", separate.into_iter().chain([host]).collect()),
    ];
    for (what, specs) in cases {
        let mut probe = crate::SelfProbe::new(&[]);
        let mut watch = ReadingTask::start(&specs, Since::now());
        let seconds = 10;
        sleep(every * seconds);
        let used: f64 = probe
            .read(0, crate::ReadingMoment::Edge)
            .iter()
            .filter(|v| server::CPU.contains(&v.0.as_str()))
            .map(|v| v.1)
            .sum();
        let share = used / f64::from(seconds) * 100.0;
        println!("{what}: {share:.3} % of a core, {} readings in {seconds} s", watch.drain().len());
        assert!(share < 50.0, "something is very wrong");
    }
}

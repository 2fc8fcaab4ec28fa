//! Tests limits that no loopback has: recorded files of a machine, second by second, are read by
//! the probe and judged.
//!
//! The machine is quiet and has one interface of 1 Gbit/s; a case changes the content of some
//! files.

use brunt_model::event::Reading;
use brunt_model::finding::{LimitingResource, State, UseOrigin};
use brunt_model::reading_names::GENERATOR;
use brunt_model::{Environment, Event, Phase, Plan, Run, Snapshot, Tick, Verdict};
use brunt_probe::{ReadingMoment, Root, SelfProbe};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

const SECONDS: u64 = 5;
const SECOND: u64 = 1_000_000_000;

/// Activity of the machine per second.
#[derive(Clone, Copy)]
struct Machine {
    /// Hundredths of a second, of both cores together.
    stolen: u64,
    /// Hundredths of a second, of the second core alone.
    softirq: u64,
    sent_bytes: u64,
    received_packets: u64,
    missed_packets: u64,
    /// Packets dropped because receive queues were full.
    queue_dropped: u64,
    /// Absolute number, not per second.
    tracked: u64,
    tracking_dropped: u64,
}

const QUIET: Machine = Machine {
    stolen: 1,
    softirq: 4,
    sent_bytes: 20_000_000,
    received_packets: 40_000,
    missed_packets: 0,
    queue_dropped: 0,
    tracked: 211,
    tracking_dropped: 0,
};

impl Machine {
    /// Files of the machine after a number of seconds.
    fn files(self, second: u64) -> Vec<(&'static str, String)> {
        vec![
            ("proc/stat", self.stat(second)),
            ("proc/net/dev", self.interfaces(second)),
            ("proc/net/softnet_stat", self.receive_queues(second)),
            ("proc/net/stat/nf_conntrack", self.tracking(second)),
            ("proc/sys/net/netfilter/nf_conntrack_count", format!("{}\n", self.tracked)),
            ("proc/sys/net/netfilter/nf_conntrack_max", "262144\n".into()),
            ("sys/class/net/eth0/operstate", "up\n".into()),
            ("sys/class/net/eth0/speed", "1000\n".into()),
            ("sys/class/net/eth0/device/vendor", "0x8086\n".into()),
            (
                "sys/class/net/eth0/statistics/rx_missed_errors",
                format!("{}\n", 7 + self.missed_packets * second),
            ),
            ("proc/meminfo", "MemTotal:       24684084 kB\nMemAvailable:   23874188 kB\n".into()),
            ("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=48123\n".into()),
            ("proc/self/task/7/comm", "brunt-worker-0\n".into()),
            (
                "proc/self/task/7/schedstat",
                format!("{} {} 546\n", 300_000_000 * second + 5, 900_000 * second),
            ),
        ]
    }

    fn stat(self, second: u64) -> String {
        let cores = [
            core_ticks(second, 3, self.stolen / 2),
            core_ticks(second, self.softirq, self.stolen - self.stolen / 2),
        ];
        let all: [u64; 8] = std::array::from_fn(|part| cores[0][part] + cores[1][part]);
        format!(
            "cpu  {} 0 0\ncpu0 {} 0 0\ncpu1 {} 0 0\nintr 5 0\n",
            joined(all),
            joined(cores[0]),
            joined(cores[1])
        )
    }

    fn interfaces(self, second: u64) -> String {
        let bytes = 192_992_004 + self.sent_bytes * second;
        let packets = 14_140 + self.received_packets * second;
        format!(
            "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop\n    \
             lo: 99 9 0 0 0 0 0 0 99 9 0 0 0 0 0 0\n  eth0: {} {packets} 0 0 0 0 0 0 {bytes} 13241 0 0 0 0 0 0\n",
            packets * 60
        )
    }

    fn receive_queues(self, second: u64) -> String {
        receive_queue_line(0x08a6_e1d7 + self.received_packets * second, 0xdf)
            + &receive_queue_line(0x10, self.queue_dropped * second)
    }

    fn tracking(self, second: u64) -> String {
        let tracked = self.tracked;
        let dropped = self.tracking_dropped * second;
        format!(
            "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop\n\
             {tracked:08x} 0 0 0 0 0 0 0 0 0 {dropped:08x} 0\n{tracked:08x} 0 0 0 0 0 0 0 0 0 00000000 0\n"
        )
    }

    /// Verdict on a run on this machine.
    fn verdict(self) -> Verdict {
        let tree = TempDir::new().expect("a directory");
        let record = |second: u64| {
            for (path, text) in self.files(second) {
                let file = tree.path().join(path);
                fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                fs::write(file, text).expect("a file");
            }
        };
        record(0);
        let mut probe = SelfProbe::in_tree(&Root::recorded(tree.path()), &[]);
        let mut events =
            vec![started_event(), Event::Stage { at: Tick::ZERO, phase: Phase::Measure }];
        for second in 0..=SECONDS {
            record(second);
            let at = Tick(second * SECOND);
            let values = probe.read(1, ReadingMoment::Within);
            events.push(Event::Reading(Reading { at, source: GENERATOR.into(), values }));
            let to = Tick((second + 1).min(SECONDS) * SECOND);
            events.push(Event::Snapshot(Box::new(Snapshot {
                from: at,
                to,
                phase: Phase::Measure,
                ..Snapshot::default()
            })));
        }
        brunt_judge::judge(&Run::of(&events)).verdict
    }

    /// Asserts that exactly these limits are named.
    fn assert_limits(self, limits: &[LimitingResource]) {
        let verdict = self.verdict();
        let named: Vec<LimitingResource> = verdict.causes.iter().map(|cause| cause.limit).collect();
        assert_eq!(named, limits, "{verdict:#?}");
        // These runs have no replies.
        let origin = verdict.causes.first().map(|cause| cause.origin);
        let expected = match origin {
            Some(UseOrigin::Generator) => State::Limited,
            Some(UseOrigin::Machine | UseOrigin::Unknown) | None => State::Unjudged,
        };
        assert_eq!(verdict.state, expected);
        assert!(limits.is_empty() || origin.is_some(), "{verdict:?}");
    }
}

fn core_ticks(second: u64, softirq: u64, stolen: u64) -> [u64; 8] {
    let used = [30, 0, 10, 0, 0, 0, softirq, stolen];
    let idle = 100_u64.saturating_sub(used.iter().sum::<u64>());
    // A core that only receives packets has no time for anything else.
    let user = if softirq > 90 { 0 } else { 30 };
    [user, 0, 10 * u64::from(softirq <= 90), idle, 0, 0, softirq, stolen]
        .map(|ticks| 5000 + ticks * second)
}

fn receive_queue_line(packets: u64, dropped: u64) -> String {
    format!("{packets:08x} {dropped:08x} 00000001 00000000 00000000\n")
}

fn joined(ticks: [u64; 8]) -> String {
    ticks.map(|ticks| ticks.to_string()).join(" ")
}

fn started_event() -> Event {
    let plan: Plan = serde_json::from_value(json!({
        "populations": [{"name": "main", "scenario": {"requests": [], "steps": [{"next": "sequence"}]},
        "load": {"model": "closed", "users": {"stages": [{"from": 9.0, "to": 9.0, "duration_seconds": null}]},
            "think": {"least_seconds": 0.0, "most_seconds": 0.0}},
        "stop": {"warmup_seconds": 0.0, "duration_seconds": 5.0, "requests": null, "grace_seconds": 5.0}}],
        "connection": {"http": "1.1", "requests_per_connection": null, "retry_stale": false, "timeout_seconds": 30.0,
            "connect_timeout_seconds": 10.0, "connect_rate": 5000, "resolve": [], "resolve_every_seconds": null,
            "proxy": null, "unix_socket": null, "source": [], "receive_rate": null,
            "tls": {"cacert": null, "cert": null, "key": null, "insecure": false, "sni": null, "no_resumption": false}},
        "reply_policies": [{"checks": {"status": [], "body": null, "same_length": false}}], "objectives": [],
        "record": {"interval_seconds": 1.0, "labels": 1000, "samples": false}, "seed": 7, "threads": 1,
        "processes": 1, "precise": false
    }))
    .expect("a plan");
    let environment =
        Environment { addresses: vec!["10.0.0.9".into()], cores: 2, ..Environment::default() };
    Event::Started { plan: Box::new(plan), environment: Box::new(environment), unix_seconds: 0.0 }
}

#[test]
fn a_quiet_machine_names_none() {
    QUIET.assert_limits(&[]);
    let verdict = QUIET.verdict();
    for limit in [
        LimitingResource::Worker,
        LimitingResource::RunQueue,
        LimitingResource::Steal,
        LimitingResource::Nic,
        LimitingResource::Packets,
        LimitingResource::Conntrack,
        LimitingResource::Memory,
    ] {
        assert!(verdict.evidence.iter().any(|one| one.limit == limit), "{limit:?}: {verdict:#?}");
    }
}

#[test]
fn a_full_interface_is_named() {
    Machine { sent_bytes: 118_000_000, ..QUIET }.assert_limits(&[LimitingResource::Nic]);
}

#[test]
fn missed_packets_of_the_interface_are_named() {
    Machine { received_packets: 700_000, missed_packets: 9_000, ..QUIET }
        .assert_limits(&[LimitingResource::Packets]);
}

#[test]
fn a_core_that_only_receives_is_named() {
    Machine { softirq: 99, ..QUIET }.assert_limits(&[LimitingResource::Packets]);
}

#[test]
fn full_receive_queues_are_named() {
    Machine { queue_dropped: 800, ..QUIET }.assert_limits(&[LimitingResource::Packets]);
}

#[test]
fn a_full_table_of_connections_is_named() {
    Machine { tracked: 262_140, ..QUIET }.assert_limits(&[LimitingResource::Conntrack]);
    Machine { tracking_dropped: 30, ..QUIET }.assert_limits(&[LimitingResource::Conntrack]);
}

#[test]
fn steal_time_is_named() {
    Machine { stolen: 40, ..QUIET }.assert_limits(&[LimitingResource::Steal]);
}

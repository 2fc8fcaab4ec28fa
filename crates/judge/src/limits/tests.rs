//! Tests on runs built from events, as the engine sends them: each limit must be named alone.

mod agents;
mod shares;

use super::{cpu_taken_from_server, verdict};
use brunt_model::event::{Finish, Reading};
use brunt_model::finding::{LimitingResource, State, UseOrigin};
use brunt_model::plan::{ConnectionSettings, Population, RecordSettings};
use brunt_model::reading_names::{self as name, Nic};
use brunt_model::{
    Arrivals, Environment, Event, Failure, Load, LoadShape, Outcome, Phase, Plan, Request, Route,
    Run, Sample, Snapshot, Stop, Tally, ThinkTime, Tick, Verdict,
};
use brunt_model::{ReplyPolicy, Scenario};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// A run of ten seconds, with a snapshot each tenth of a second and ten requests in each.
const SECONDS: u64 = 10;
const TENTHS: Range<u64> = 0..SECONDS * 10;
const EACH: u64 = 10;

/// A run of two workers on a quiet machine of two cores, with changes.
#[derive(Clone)]
struct Story {
    plan: Plan,
    /// Nanoseconds of each of its seconds: a shorter or longer run has the same rates and shares.
    second: u64,
    /// Readings of processes are taken at both ends, and after this number of seconds in between.
    seconds_between_processes: u64,
    environment: Environment,
    /// Growth per second, by name.
    rates: BTreeMap<String, f64>,
    states: BTreeMap<String, f64>,
    /// Different values in some of its seconds.
    changes: Vec<(Range<u64>, String, f64)>,
    /// Milliseconds of lag in some of its tenths.
    lag: Option<(Range<u64>, u64)>,
    /// Nanoseconds that replies were in the kernel before they were read.
    read_lag: Option<u64>,
    /// Number of requests of each tenth that fail in this way.
    failure: Option<(Failure, u64)>,
}

fn plan(load: Load) -> Plan {
    let seconds = Duration::from_secs;
    Plan {
        populations: Population::only(
            load,
            Scenario::one(Request::get("http://10.0.0.9/")),
            Stop::after(seconds(SECONDS), seconds(1)),
        ),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings {
            connect_rate: 1000,
            ..ConnectionSettings::plain(seconds(30), seconds(5))
        },
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: Duration::from_millis(100),
            labels: 100,
            samples: false,
            records: None,
        },
        seed: 1,
        processes: 1,
        threads: 2,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

fn open_loop(max_in_flight: u32) -> Load {
    let rate = LoadShape::constant((EACH * 10) as f64);
    Load::Open { rate, arrivals: Arrivals::Even, connections: None, max_in_flight }
}

impl Story {
    /// A run without any limit.
    fn healthy() -> Self {
        let mut rates = BTreeMap::new();
        let mut states = BTreeMap::new();
        let cores = [
            (name::HOST_USER, 0.4),
            (name::HOST_SYSTEM, 0.3),
            (name::HOST_IDLE, 1.2),
            (name::HOST_STEAL, 0.02),
        ];
        let cores =
            cores.into_iter().chain([(name::HOST_SOFTIRQ, 0.07), (name::HOST_IOWAIT, 0.01)]);
        rates.extend(cores.map(|(name, rate)| (name.to_owned(), rate)));
        for worker in 0..2 {
            rates.insert(name::worker_cpu(worker), 0.3);
            rates.insert(name::worker_run_delay(worker), 0.002);
        }
        for (name, rate) in [
            (name::THROTTLED, 0.0),
            (name::PRESSURE_CPU, 0.02),
            (name::PRESSURE_MEMORY, 0.0),
            (name::SOFTNET_PROCESSED, 50_000.0),
            (name::SOFTNET_DROPPED, 0.0),
            (name::CONNTRACK_DROPPED, 0.0),
        ] {
            rates.insert(name.to_owned(), rate);
        }
        for (name, state) in [
            (name::DESCRIPTORS, 60.0),
            (name::DESCRIPTORS_LIMIT, 20_000.0),
            (name::PORT_RANGE, 28_232.0),
            (name::TCP_IN_USE, 64.0),
            (name::TCP_TIME_WAIT, 100.0),
            (name::CONNTRACK, 200.0),
            (name::CONNTRACK_LIMIT, 262_144.0),
            (name::MEMORY_TOTAL, 16e9),
            (name::MEMORY_AVAILABLE, 12e9),
            (name::BUSIEST_SOFTIRQ, 0.1),
        ] {
            states.insert(name.to_owned(), state);
        }
        rates.insert(Nic::SentBytes.reading_name("eth0"), 10e6);
        rates.insert(Nic::ReceivedBytes.reading_name("eth0"), 40e6);
        rates.insert(Nic::ReceivedPackets.reading_name("eth0"), 50_000.0);
        rates.insert(Nic::Missed.reading_name("eth0"), 0.0);
        states.insert(Nic::BitsPerSecond.reading_name("eth0"), 1e9);
        let load = Load::Closed { users: LoadShape::constant(10.0), think: ThinkTime::NONE };
        let environment =
            Environment { cores: 2, addresses: vec!["10.0.0.9".into()], ..Environment::default() };
        Self {
            plan: plan(load),
            second: SECOND,
            seconds_between_processes: 1,
            environment,
            rates,
            states,
            changes: Vec::new(),
            lag: None,
            read_lag: Some(2000),
            failure: None,
        }
    }

    fn on_loopback(mut self) -> Self {
        self.environment.addresses = vec!["127.0.0.1".into()];
        self
    }

    fn load(mut self, load: Load) -> Self {
        self.plan.main_mut().load = load;
        self
    }

    /// Changes a rate or a state for the whole run.
    fn with(self, name: impl Into<String>, value: f64) -> Self {
        self.for_seconds(0..SECONDS, name, value)
    }

    /// Changes a rate or a state for some seconds.
    fn for_seconds(mut self, seconds: Range<u64>, name: impl Into<String>, value: f64) -> Self {
        self.changes.push((seconds, name.into(), value));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.rates.remove(name);
        self.states.remove(name);
        self
    }

    fn lagging(mut self, tenths: Range<u64>, millis: u64) -> Self {
        self.lag = Some((tenths, millis));
        self
    }

    fn failing(mut self, failure: Failure, of_each_tenth: u64) -> Self {
        self.failure = Some((failure, of_each_tenth));
        self
    }

    fn run(&self) -> Run {
        Run::of(&self.events())
    }

    fn judged(&self) -> Verdict {
        verdict(&self.run())
    }

    /// Returns the named limits.
    fn limits(&self) -> Vec<LimitingResource> {
        let verdict = self.judged();
        let expected = match verdict.causes.first().map(|cause| cause.origin) {
            Some(UseOrigin::Generator) => State::Limited,
            Some(UseOrigin::Machine) => State::BusyMachine,
            Some(UseOrigin::Unknown) => State::Unexplained,
            None => State::Ok,
        };
        assert_eq!(verdict.state, expected);
        for cause in &verdict.causes {
            assert!(!cause.sentence.is_empty() && !cause.remedy.is_empty(), "{cause:?}");
            assert!(cause.lasted <= Duration::from_secs(SECONDS), "{cause:?}");
            assert!(
                verdict.evidence.iter().any(|evidence| evidence.limit == cause.limit),
                "{cause:?}"
            );
        }
        verdict.causes.iter().map(|cause| cause.limit).collect()
    }

    fn events(&self) -> Vec<Event> {
        let (plan, environment) = (Box::new(self.plan.clone()), Box::new(self.environment.clone()));
        let mut events = vec![Event::Started { plan, environment, unix_seconds: 0.0 }];
        let mut sums = self.rates.clone();
        events.push(self.reading(0, &mut sums));
        events.push(Event::Stage { at: Tick::ZERO, phase: Phase::Measure });
        for tenth in TENTHS {
            events.push(self.snapshot(tenth));
            if tenth % 10 == 9 {
                events.push(self.reading(tenth / 10 + 1, &mut sums));
            }
        }
        events.push(Event::Stage { at: Tick(SECONDS * self.second), phase: Phase::Grace });
        events
    }

    fn reading(&self, second: u64, sums: &mut BTreeMap<String, f64>) -> Event {
        let at = |name: &str, usual: f64| {
            let now = |change: &&(Range<u64>, String, f64)| {
                change.1 == name && change.0.contains(&second.saturating_sub(1))
            };
            self.changes.iter().find(now).map_or(usual, |change| change.2)
        };
        for (name, sum) in &mut *sums {
            let seconds = self.second as f64 / SECOND as f64;
            *sum += if second > 0 { at(name, self.rates[name]) * seconds } else { 0.0 };
        }
        let states = self.states.iter().map(|(name, usual)| (name.clone(), at(name, *usual)));
        let has_processes =
            second == SECONDS || second.is_multiple_of(self.seconds_between_processes);
        let values = sums.iter().map(|(name, sum)| (name.clone(), *sum)).chain(states);
        let values =
            values.filter(|value| has_processes || !value.0.contains("processes")).collect();
        Event::Reading(Reading {
            at: Tick(second * self.second),
            source: name::GENERATOR.into(),
            values,
        })
    }

    fn snapshot(&self, tenth: u64) -> Event {
        let lag = self.lag.as_ref().filter(|lag| lag.0.contains(&tenth)).map_or(0, |lag| lag.1);
        let mut snapshot = Snapshot {
            from: Tick(tenth * self.second / 10),
            to: Tick((tenth + 1) * self.second / 10),
            phase: Phase::Measure,
            ..Snapshot::default()
        };
        for number in 0..EACH {
            let failure =
                self.failure.filter(|failure| number < failure.1).map(|failure| failure.0);
            let dropped = failure == Some(Failure::Dropped);
            snapshot.measured.planned += 1;
            snapshot.flow.planned += 1;
            snapshot.flow.errors += u64::from(failure.is_some());
            snapshot.measured.begun += u64::from(!dropped);
            snapshot.flow.begun += u64::from(!dropped);
            if let (true, Load::Open { max_in_flight, .. }) = (dropped, &self.plan.main().load) {
                snapshot.flow.in_flight = u64::from(*max_in_flight);
            }
            record(&mut snapshot.measured, lag, self.read_lag, failure);
        }
        Event::Snapshot(Box::new(snapshot))
    }
}

/// A request of 5 ms, after its lag.
fn record(tally: &mut Tally, lag_millis: u64, read_lag: Option<u64>, failure: Option<Failure>) {
    let begun = Tick(lag_millis * MS);
    let last_byte = Tick(begun.0 + 5 * MS);
    let good = Outcome { status: Some(200), failure: None, expected: true };
    let outcome = failure.map_or(good, Outcome::failed);
    let sample = Sample {
        begun,
        sent: begun,
        first_byte: last_byte,
        last_byte,
        read_lag,
        outcome,
        ..Sample::default()
    };
    tally.record(&sample);
}

#[test]
fn a_healthy_run_has_no_limit_and_lists_the_checked_resources() {
    for story in
        [Story::healthy(), Story::healthy().on_loopback(), Story::healthy().load(open_loop(500))]
    {
        let verdict = story.judged();
        assert_eq!((verdict.state, verdict.causes), (State::Ok, Vec::new()));
        assert!(
            verdict
                .evidence
                .iter()
                .any(|one| one.limit == LimitingResource::Worker && (one.value - 0.3).abs() < 1e-6)
        );
        assert_eq!(verdict.unseen, Vec::<String>::new());
    }
}

#[test]
fn a_run_without_data_is_unjudged() {
    assert_eq!(verdict(&Run::default()), Verdict { state: State::Unjudged, ..Verdict::default() });
}

#[test]
fn a_saturated_worker_is_named() {
    let story = Story::healthy().with(name::worker_cpu(1), 0.99);
    assert_eq!(story.limits(), [LimitingResource::Worker]);
    let cause = &story.judged().causes[0];
    assert_eq!(cause.lasted, Duration::from_secs(10));
    assert!(
        cause.sentence.contains("99 %") && cause.sentence.contains("10.0 s of 10.0 s"),
        "{}",
        cause.sentence
    );
    assert!(cause.remedy.contains("--threads 3"), "{}", cause.remedy);
    assert_eq!(story.lagging(0..100, 3).limits(), [LimitingResource::Worker]);
}

#[test]
fn without_an_idle_core_more_threads_are_not_suggested() {
    let story = Story::healthy()
        .with(name::worker_cpu(0), 1.0)
        .with(name::HOST_IDLE, 0.05)
        .with(name::HOST_USER, 1.55);
    let verdict = story.judged();
    assert!(verdict.causes[0].remedy.contains("no idle core"), "{:?}", verdict.causes);
}

#[test]
fn cores_shared_with_the_server_are_named() {
    let busy = |story: Story| story.with(name::HOST_IDLE, 0.1).with(name::HOST_USER, 1.5);
    let delayed =
        |story: Story| busy(story).with(name::worker_run_delay(0), 0.4).lagging(0..100, 4);
    assert_eq!(delayed(Story::healthy().on_loopback()).limits(), [LimitingResource::Cores]);
    assert_eq!(
        busy(Story::healthy()).limits(),
        [],
        "the server is elsewhere, and no worker waited"
    );
    assert_eq!(delayed(Story::healthy()).limits(), [LimitingResource::RunQueue]);
}

/// A full machine that client and server share, with the cores that brunt, the server (nginx) and
/// a busy loop used.
fn full(story: Story, own: f64, server: f64, others: f64) -> Story {
    let mut story = story.on_loopback().with(name::HOST_IDLE, 0.02).with(name::HOST_USER, 1.58);
    let listener = Some("nginx (pid 123)".to_owned());
    story.environment.route = Some(Route { same_host: Some(true), listener, ..Route::default() });
    story
        .rates
        .extend([(name::CPU_USER.to_owned(), own / 2.0), (name::CPU_SYSTEM.to_owned(), own / 2.0)]);
    story.rates.insert(name::SERVER_PROCESSES.to_owned(), server);
    story.rates.insert(name::processes("sh"), others);
    story.states.insert(name::busiest_pid("sh"), 77.0);
    story.rates.insert(name::PROCESSES.to_owned(), server + others);
    story
}

#[test]
fn a_machine_used_by_other_processes_is_named_with_them() {
    let closed = full(Story::healthy(), 0.07, 0.08, 1.85).with(name::worker_run_delay(0), 0.6);
    assert_eq!(closed.limits(), [LimitingResource::OtherProcesses]);
    let judged = closed.judged();
    assert_eq!(judged.state, State::BusyMachine);
    let cause = &judged.causes[0];
    for words in
        ["other processes used 1.85 of 2 cores: sh (pid 77) 1.85", "brunt 0.07", "10.0 s of 10.0 s"]
    {
        assert!(cause.sentence.contains(words), "{}", cause.sentence);
    }
    assert!(!cause.remedy.contains("thread"), "{}", cause.remedy);
    assert_eq!(judged.other_processes[0].to_string(), "sh (pid 77) 1.85");
    let open = |millis| {
        full(Story::healthy().load(open_loop(500)), 0.07, 0.08, 1.85).lagging(0..100, millis)
    };
    assert_eq!(open(4).limits(), [LimitingResource::OtherProcesses]);
    assert_eq!(open(0).with(name::worker_run_delay(0), 0.6).limits(), [], "the schedule was kept");
}

#[test]
fn users_with_think_time_are_delayed_only_by_read_lag() {
    let pausing = |read_lag| {
        // A reply takes 5 ms.
        let pause = Duration::from_millis(95);
        let users = Load::Closed {
            users: LoadShape::constant(10.0),
            think: ThinkTime { least: pause, most: pause },
        };
        let story = full(Story::healthy().load(users), 0.07, 0.08, 1.85)
            .with(name::worker_run_delay(0), 0.6);
        Story { read_lag, ..story }.limits()
    };
    assert_eq!(pausing(Some(2000)), [], "replies were read in time");
    assert_eq!(pausing(Some(MS)), [LimitingResource::OtherProcesses]);
    assert_eq!(
        pausing(None),
        [LimitingResource::OtherProcesses],
        "how late replies were read is not known"
    );
}

#[test]
fn processes_that_may_be_the_server_are_not_named() {
    let unknown = full(Story::healthy(), 0.07, 0.08, 1.85).with(name::worker_run_delay(0), 0.6);
    let unknown = unknown.without(name::SERVER_PROCESSES);
    let verdict = unknown.judged();
    assert_eq!((verdict.state, verdict.other_processes), (State::Unexplained, Vec::new()));
    let said = verdict.causes.iter().map(|cause| &*cause.sentence).collect::<Vec<_>>().join("; ");
    assert!(!said.contains("sh") && !said.contains("the server"), "{said}");
}

#[test]
fn cpu_taken_from_the_server_is_detected_without_lag() {
    let open = || full(Story::healthy().load(open_loop(500)), 0.07, 0.08, 1.85);
    assert_eq!(cpu_taken_from_server(&open().run()), Some(LimitingResource::OtherProcesses));
    assert_eq!(cpu_taken_from_server(&full(Story::healthy(), 0.07, 1.9, 0.02).run()), None);
    let stolen = Story::healthy().with(name::HOST_STEAL, 0.3);
    assert_eq!(cpu_taken_from_server(&stolen.run()), None, "the server is elsewhere");
    assert_eq!(
        cpu_taken_from_server(&Story::healthy().with(name::HOST_STEAL, 0.3).on_loopback().run()),
        Some(LimitingResource::Steal)
    );
}

#[test]
fn a_server_that_saturates_the_machine_is_no_limit_of_the_generator() {
    let tomcat =
        |own, server| full(Story::healthy(), own, server, 0.0).with(name::worker_run_delay(0), 0.3);
    assert_eq!(tomcat(0.14, 1.84).limits(), [], "brunt took 7 % of what was in use");
    assert_eq!(tomcat(0.9, 1.08).limits(), [LimitingResource::Cores]);
    let lagging = full(Story::healthy().load(open_loop(500)), 0.14, 1.84, 0.0).lagging(0..100, 4);
    assert_eq!(lagging.limits(), [LimitingResource::Cores], "its schedule was not kept");
}

#[test]
fn a_suspended_worker_is_named() {
    let stopped = |seconds: f64| {
        let story = Story::healthy().load(open_loop(500)).lagging(30..40, 400);
        let mut story = story.for_seconds(3..10, name::worker_stopped_at(1), 3.1);
        story.states.extend([(name::worker_stopped(1), 0.0), (name::worker_stopped_at(1), 0.0)]);
        story.for_seconds(3..10, name::worker_stopped(1), seconds)
    };
    let story = stopped(1.0);
    assert_eq!(story.limits(), [LimitingResource::Stopped]);
    let cause = &story.judged().causes[0];
    assert!(
        cause.sentence.contains("worker 1 did not run for 1.0 s (from 3.1 s)"),
        "{}",
        cause.sentence
    );
    let busy = stopped(1.0).with(name::worker_cpu(1), 0.9);
    assert_eq!(busy.limits(), [LimitingResource::Lag], "it ran, and had other things to do");
}

#[test]
fn disturbed_spacing_is_lag_and_not_a_failed_check() {
    let run = |displaced| {
        let mut run = Run::of(&Story::healthy().load(open_loop(500)).events());
        let moments = brunt_model::spread::Moments { sum: 40_000, squares: 2_000_000 };
        let level = &mut run.spread.levels[0];
        (level.spans, level.displaced, level.planned, level.acted) =
            (800, displaced, moments, moments);
        verdict(&run).causes.iter().map(|cause| cause.limit).collect::<Vec<_>>()
    };
    assert_eq!((run(20), run(200)), (vec![], vec![LimitingResource::Lag]));
}

#[test]
fn waiting_for_a_core_is_named() {
    let story = Story::healthy().on_loopback().with(name::worker_run_delay(1), 0.48);
    assert_eq!(story.limits(), [LimitingResource::RunQueue]);
    assert_eq!(story.lagging(0..100, 4).limits(), [LimitingResource::RunQueue]);
}

#[test]
fn a_cpu_quota_explains_waiting_for_a_core() {
    let story = Story::healthy()
        .with(name::THROTTLED, 0.6)
        .with(name::worker_run_delay(0), 0.5)
        .lagging(0..100, 80);
    assert_eq!(story.limits(), [LimitingResource::Throttled]);
}

#[test]
fn steal_time_explains_waiting_for_a_core() {
    let story =
        Story::healthy().on_loopback().with(name::HOST_STEAL, 0.6).with(name::HOST_IDLE, 0.1);
    assert_eq!(story.with(name::worker_run_delay(0), 0.2).limits(), [LimitingResource::Steal]);
}

#[test]
fn exhausted_file_descriptors_are_named() {
    assert_eq!(
        Story::healthy().failing(Failure::FdsExhausted, 1).limits(),
        [LimitingResource::Descriptors]
    );
    let capped = |cap| {
        Story::healthy()
            .load(open_loop(cap))
            .failing(Failure::Dropped, 2)
            .with(name::DESCRIPTORS_LIMIT, 100.0)
    };
    assert_eq!(capped(36).limits(), [LimitingResource::Descriptors]);
    assert_eq!(capped(10).limits(), [], "the cap was asked for");
}

#[test]
fn exhausted_ports_are_named() {
    let story =
        Story::healthy().failing(Failure::PortsExhausted, 1).with(name::TCP_TIME_WAIT, 28_000.0);
    assert_eq!(story.limits(), [LimitingResource::Ports]);
    assert!(story.judged().causes[0].sentence.contains("100 requests"));
}

#[test]
fn exhausted_ports_without_any_connection_are_named() {
    let judged = |why: &str| {
        let finish = Finish { at: Tick(SECOND), interrupted: false, error: Some(why.into()) };
        verdict(&Run { finish: Some(finish), ..Run::default() })
    };
    let ports = judged("out of local ports: Cannot assign requested address (os error 99)");
    assert_eq!((ports.state, ports.causes[0].limit), (State::Limited, LimitingResource::Ports));
    assert_eq!(
        judged(&Failure::Refused.row().meaning),
        Verdict { state: State::Unjudged, ..Verdict::default() }
    );
}

#[test]
fn failures_of_the_server_are_no_limit_of_the_generator() {
    for failure in [
        Failure::Reset,
        Failure::Refused,
        Failure::ConnectTimeout,
        Failure::Timeout,
        Failure::Dropped,
    ] {
        assert_eq!(
            Story::healthy().load(open_loop(500)).failing(failure, 3).limits(),
            [],
            "{failure}"
        );
    }
}

#[test]
fn a_saturated_link_is_named() {
    assert_eq!(
        Story::healthy().with(Nic::SentBytes.reading_name("eth0"), 117e6).limits(),
        [LimitingResource::Nic]
    );
    let story = Story::healthy().with(Nic::ReceivedBytes.reading_name("eth0"), 120e6);
    assert_eq!(story.limits(), [LimitingResource::Nic]);
    assert!(story.judged().causes[0].sentence.contains("received 96 % of its 1000 Mbit/s"));
}

#[test]
fn dropped_packets_are_named() {
    let interface = Story::healthy().with(Nic::Missed.reading_name("eth0"), 900.0);
    let core = Story::healthy().with(name::BUSIEST_SOFTIRQ, 0.99);
    let queue = Story::healthy().with(name::SOFTNET_DROPPED, 600.0);
    for story in [interface, core, queue] {
        assert_eq!(story.limits(), [LimitingResource::Packets]);
    }
    let one = Story::healthy().for_seconds(4..5, name::SOFTNET_DROPPED, 10.0);
    assert_eq!(one.limits(), [], "ten of fifty thousand");
}

#[test]
fn a_full_conntrack_table_is_named() {
    assert_eq!(
        Story::healthy().with(name::CONNTRACK, 262_100.0).limits(),
        [LimitingResource::Conntrack]
    );
    assert_eq!(
        Story::healthy().for_seconds(3..4, name::CONNTRACK_DROPPED, 40.0).limits(),
        [LimitingResource::Conntrack]
    );
}

#[test]
fn low_memory_is_named() {
    assert_eq!(
        Story::healthy().with(name::MEMORY_AVAILABLE, 0.1e9).limits(),
        [LimitingResource::Memory]
    );
    assert_eq!(
        Story::healthy().with(name::PRESSURE_MEMORY, 0.3).lagging(0..100, 9).limits(),
        [LimitingResource::Memory]
    );
}

#[test]
fn unexplained_lag_is_named() {
    let story = Story::healthy().lagging(30..32, 400);
    assert_eq!(story.limits(), [LimitingResource::Lag]);
    let cause = &story.judged().causes[0];
    assert!(
        cause.sentence.contains("p99 of 405") && cause.sentence.contains("would be 5.0"),
        "{}",
        cause.sentence
    );
    assert_eq!(cause.lasted, Duration::from_millis(200));
}

#[test]
fn replies_that_are_read_late_are_lag() {
    let reading = |read_lag| Story { read_lag, ..Story::healthy() };
    let late = reading(Some(MS)).judged();
    assert_eq!(
        late.causes.iter().map(|cause| cause.limit).collect::<Vec<_>>(),
        [LimitingResource::Lag]
    );
    assert!(
        late.causes[0].sentence.contains("replies were read late"),
        "{}",
        late.causes[0].sentence
    );
    assert_eq!(reading(Some(MS / 5)).limits(), [], "a small share, and short");
    let unknown = reading(None).judged();
    assert_eq!((unknown.causes.len(), unknown.unseen.len()), (0, 1));
    assert!(unknown.unseen[0].contains("how late replies were read"), "{:?}", unknown.unseen);
}

#[test]
fn lag_by_paced_opening_of_connections_is_named() {
    let mut run = Run::of(&Story::healthy().load(open_loop(500)).lagging(30..32, 400).events());
    (0..20).for_each(|_| run.total.opening_lag.record(399 * MS));
    let cause = &verdict(&run).causes[0];
    assert_eq!(cause.limit, LimitingResource::Lag);
    assert!(
        cause.sentence.ends_with("they waited for paced connection opening, 1000 connections/s"),
        "{}",
        cause.sentence
    );
    assert_eq!(cause.remedy, "raise --connect-rate (now 1000)");
}

#[test]
fn lag_without_effect_on_figures_is_only_listed() {
    assert_eq!(Story::healthy().lagging(30..31, 400).limits(), [], "one request in a hundred");
    let story = Story::healthy().lagging(0..100, 0);
    assert!(story.judged().evidence.iter().any(|one| one.limit == LimitingResource::Lag));
}

#[test]
fn a_run_that_is_too_short_is_not_judged() {
    let mut run = Run::of(&Story::healthy().with(name::worker_cpu(0), 1.0).events());
    run.phases =
        vec![(Phase::Measure, Tick(2 * SECOND)), (Phase::Grace, Tick(2 * SECOND + 50 * MS))];
    let judged = verdict(&run);
    assert_eq!(judged.state, State::Ok);
    assert!(judged.unseen[0].contains("0.050 s is too short"), "{:?}", judged.unseen);
    run.total = Tally::default();
    (0..49).for_each(|_| record(&mut run.total, 0, None, None));
    record(&mut run.total, 7, None, None);
    assert_eq!(verdict(&run).state, State::Ok, "the slowest of fifty is no p99");
}

#[test]
fn a_missed_schedule_is_named() {
    let mut run = Run::of(&Story::healthy().load(open_loop(500)).events());
    assert_eq!(verdict(&run).state, State::Ok);
    run.flow.begun -= 20;
    assert_eq!(
        verdict(&run).causes.iter().map(|cause| cause.limit).collect::<Vec<_>>(),
        [LimitingResource::Lag]
    );
    run.flow.waiting = 20;
    assert_eq!(verdict(&run).state, State::Ok, "they wait for the server");
}

#[test]
fn arrivals_dropped_below_the_cap_are_generator_lag() {
    for (max_in_flight, state) in [(5000, State::Unexplained), (1, State::Ok)] {
        let mut run = Run::of(&Story::healthy().load(open_loop(max_in_flight)).events());
        run.flow.begun -= 20;
        run.total.failures[Failure::Dropped as usize] += 20;
        assert_eq!(verdict(&run).state, state, "{max_in_flight}");
    }
}

#[test]
fn a_short_limit_is_a_cause_only_if_it_caused_lag() {
    let brief = |lag: Option<Range<u64>>| {
        let mut story = Story::healthy();
        story.lag = lag.map(|tenths| (tenths, 300));
        // Half a second more than nothing, and less than a tenth of the run:
        // one reading of eleven seconds.
        story.for_seconds(5..6, name::worker_run_delay(0), 0.9)
    };
    let of = |story: &Story| {
        let mut run = Run::of(&story.events());
        // A longer measured time, so that the second is less than a tenth of it.
        run.phases.retain(|phase| phase.0 != Phase::Grace);
        run.last_interval_end = Tick(11 * SECOND);
        verdict(&run).causes.iter().map(|cause| cause.limit).collect::<Vec<_>>()
    };
    assert_eq!(of(&brief(None)), []);
    assert_eq!(of(&brief(Some(52..55))), [LimitingResource::RunQueue]);
    assert_eq!(of(&brief(Some(20..23))), [LimitingResource::Lag]);
}

#[test]
fn unreadable_resources_are_listed() {
    let unseen = |name: &str| Story::healthy().without(name).judged().unseen.join("\n");
    for (name, word) in [
        (name::HOST_IDLE, "/proc/stat"),
        (name::THROTTLED, "quota"),
        (name::DESCRIPTORS, "descriptors"),
        (name::CONNTRACK, "firewall"),
        (&name::worker_run_delay(1), "schedstat"),
        (&Nic::BitsPerSecond.reading_name("eth0"), "link's speed"),
    ] {
        assert!(unseen(name).contains(word), "{name}: {:?}", unseen(name));
        assert_eq!(unseen(name).lines().count(), 1, "{name}: {:?}", unseen(name));
    }
    let mut story = Story::healthy();
    (story.rates, story.states) = (BTreeMap::new(), BTreeMap::new());
    assert_eq!(story.judged().unseen.len(), 1);
}

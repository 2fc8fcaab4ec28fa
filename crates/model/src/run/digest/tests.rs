//! Tests that a run survives its digest, and that damaged digests are refused.

use super::{read, write};
use crate::outcome::MalformedReply;
use crate::plan::{ConnectionSettings, Population, RecordSettings};
use crate::spread::ArrivalBin;
use crate::tally::sums::entry;
use crate::{
    AgentEnvironment, AgentFacts, CheckFailure, Environment, Event, Failure, Finish, Load,
    LoadShape, LostProcess, Mark, Phase, Plan, ProcessPart, Reading, ReplyPolicy, Request, Run,
    Scenario, Snapshot, Stop, Tally, ThinkTime, Tick, Warning,
};
use proptest::prelude::*;
use std::time::Duration;

const INTERVAL: u64 = 100_000_000;

/// A pseudo-random generator with a known sequence.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn plan(populations: usize, agents: usize) -> Plan {
    let seconds = Duration::from_secs;
    let load = Load::Closed { users: LoadShape::constant(9.0), think: ThinkTime::NONE };
    let scenario = Scenario::one(Request::get("http://h/"));
    let [only] = <[Population; 1]>::try_from(Population::only(
        load,
        scenario,
        Stop::after(seconds(10), seconds(1)),
    ))
    .expect("one population");
    let named = |number: usize| Population {
        name: format!("population {number}"),
        // The first population is placed on a group, so that agents have different shares of it.
        group: (agents > 1 && number == 0).then(|| "west".to_owned()),
        ..only.clone()
    };
    Plan {
        populations: (0..populations).map(named).collect(),
        reply_policies: vec![ReplyPolicy::default()],
        connection: ConnectionSettings::plain(seconds(30), seconds(5)),
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: Duration::from_millis(100),
            labels: 100,
            samples: false,
            records: None,
        },
        seed: 1,
        threads: 2,
        processes: agents.max(1) as u32,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

fn agent(number: usize) -> AgentEnvironment {
    let facts = AgentFacts {
        brunt: "0.1.0".into(),
        kernel: format!("Linux {number}"),
        cores: number as u32 + 1,
        sysctls: vec![("net.core.somaxconn".into(), "4096".into())],
        ..AgentFacts::default()
    };
    let group = if number == 0 { "west" } else { "east" };
    AgentEnvironment {
        name: format!("load-{number}"),
        group: Some(group.into()),
        facts,
        ..AgentEnvironment::default()
    }
}

fn started(populations: usize, agents: usize) -> Event {
    let environment = Environment {
        command: "brunt http://h/".into(),
        plan_name: Some("e1".into()),
        brunt: "0.1.0".into(),
        limits: vec![("open files".into(), "1024".into())],
        agents: (0..agents).map(agent).collect(),
        strict: true,
        ..Environment::default()
    };
    Event::Started {
        plan: Box::new(plan(populations, agents)),
        environment: Box::new(environment),
        unix_seconds: 1_782_907_200.25,
    }
}

fn tally(numbers: &mut Numbers) -> Tally {
    let mut tally =
        Tally { planned: numbers.below(99), begun: numbers.below(99), ..Tally::default() };
    tally.iterations.succeeded = numbers.below(99);
    for _ in 0..numbers.below(9) {
        let nanos = numbers.below(1 << 31) * numbers.below(9);
        // Large counts do not fit into the compact form of a histogram.
        tally.response.record_n(nanos, numbers.below(99_999));
        tally.service.record(nanos / 2);
        tally.lag.record(nanos / 9);
        tally.phases.connect.record(nanos / 3);
        tally.statuses.add(200 + numbers.below(300) as u16, 1);
    }
    tally.failures[Failure::Timeout as usize] = numbers.below(9);
    entry(&mut tally.failure_times, Failure::Reset).record(numbers.below(1 << 30));
    *entry(&mut tally.malformed, MalformedReply::Chunk) += 1;
    tally
}

fn snapshot(number: u64, phase: Phase, numbers: &mut Numbers) -> Box<Snapshot> {
    let (from, to) = (Tick(number * INTERVAL), Tick((number + 1) * INTERVAL));
    let mut snapshot = Snapshot { from, to, phase, ..Snapshot::default() };
    snapshot.flow.completed = numbers.below(999);
    snapshot.flow.connections = numbers.below(99);
    snapshot.flow.bytes_received = numbers.below(1 << 31);
    snapshot.measured = tally(numbers);
    snapshot.warmup = tally(numbers);
    for label in 0..numbers.below(4) {
        *snapshot.label(label as u32) = tally(numbers);
    }
    for bin in 0..numbers.below(12) {
        let number = from.0 / 10_000_000 + bin;
        snapshot.bins.push(ArrivalBin {
            number,
            planned: numbers.below(9),
            acted: numbers.below(9),
        });
    }
    if numbers.below(2) == 0 {
        let transaction = snapshot.transactions.entry("buy".into()).or_default();
        transaction.started = numbers.below(99);
        transaction.unfinished = numbers.below(9);
        transaction.response.record(numbers.below(1 << 31));
    }
    Box::new(snapshot)
}

fn reading(number: u64, numbers: &mut Numbers) -> Event {
    let names = ["cpu_seconds", "rss_bytes", "threads"];
    // A reading without some of the values.
    let names = &names[..=numbers.below(3) as usize];
    let source = if numbers.below(2) == 0 { "generator" } else { "nginx" };
    let values = names.iter().map(|name| ((*name).to_owned(), numbers.below(999) as f64 / 7.0));
    Event::Reading(Reading {
        at: Tick(number * INTERVAL),
        source: source.into(),
        values: values.collect(),
    })
}

fn loss(at: u64, process: u32, processes: usize) -> Event {
    let part = ProcessPart { number: process, count: processes as u32, quiet: 1 };
    Event::Lost(LostProcess { at: Tick(at * INTERVAL), part, until: Tick::NEVER })
}

/// The events of a run with all that a run can have.
fn events(seed: u64, intervals: u64, populations: usize, agents: usize) -> Vec<Event> {
    let numbers = &mut Numbers(seed);
    let at = Tick(0);
    let mut events = vec![
        started(populations, agents),
        Event::Stage { at, phase: Phase::Warmup },
        Event::Label { id: 0, name: "/".into(), hop_of: None },
        Event::Label { id: 1, name: "/login".into(), hop_of: Some(0) },
        Event::Target { addresses: vec!["127.0.0.1:80".into()], server: Some("nginx".into()) },
        Event::Warning(Warning { at, text: "slow".into() }),
        Event::Mark(Mark { at, text: "deployed".into() }),
        Event::Warning(Warning { at, text: "slow".into() }),
        Event::CheckFailures(vec![
            CheckFailure { label: 1, ..CheckFailure::new("status", "200", "404") },
            CheckFailure::new("json $.id", "7", ""),
        ]),
    ];
    for number in 0..intervals {
        let phase = match number * 4 / intervals {
            0 => Phase::Warmup,
            3 => Phase::Grace,
            _ => Phase::Measure,
        };
        if number == intervals / 4 {
            events.push(Event::Stage { at: Tick(number * INTERVAL), phase: Phase::Measure });
        }
        if number == intervals * 3 / 4 {
            events.push(Event::Stage { at: Tick(number * INTERVAL), phase: Phase::Grace });
        }
        for population in 0..populations as u32 {
            let snapshot = snapshot(number, phase, numbers);
            events.push(Event::Population { number: population, snapshot });
        }
        for agent in 0..agents as u32 {
            let event = if numbers.below(2) == 0 {
                reading(number, numbers)
            } else {
                Event::Snapshot(snapshot(number, phase, numbers))
            };
            events.push(Event::Agent { number: agent, event: event.into() });
        }
        events.push(Event::Snapshot(snapshot(number, phase, numbers)));
        events.push(reading(number, numbers));
    }
    for process in 0..agents as u32 {
        events.push(loss(intervals / 2, process, agents));
        events.push(Event::Agent {
            number: process,
            event: loss(intervals / 2, process, agents).into(),
        });
    }
    if agents > 0 {
        events.push(Event::Resumed { at: Tick(intervals * INTERVAL), process: 0 });
        events.push(loss(intervals, 0, agents));
    }
    let error = seed.is_multiple_of(2).then(|| "no reply".into());
    let at = Tick(intervals * INTERVAL);
    events.push(Event::Finished(Finish { at, interrupted: seed.is_multiple_of(3), error }));
    events
}

fn digest(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(run, &mut bytes).expect("a digest");
    bytes
}

/// Fails if the runs differ. Readings are compared as text, because a missing value is NaN, which
/// differs from itself.
fn assert_same(mut one: Run, mut other: Run) {
    let history = |run: &Run| format!("{:?}", run.history);
    assert_eq!(history(&one), history(&other));
    one.history.clear();
    other.history.clear();
    let parts = |run: &mut Run| {
        let agents = std::mem::take(&mut run.agents);
        (std::mem::take(&mut run.populations), agents)
    };
    let ((populations, agents), (their_populations, their_agents)) =
        (parts(&mut one), parts(&mut other));
    assert_eq!((populations.len(), agents.len()), (their_populations.len(), their_agents.len()));
    assert!(one == other, "{one:#?}\ndiffers from\n{other:#?}");
    for (part, their_part) in
        populations.into_iter().chain(agents).zip(their_populations.into_iter().chain(their_agents))
    {
        assert_same(part, their_part);
    }
}

fn assert_survives(run: &Run) {
    let bytes = digest(run);
    let read = read(&mut &bytes[..]).expect("bytes").expect("a whole digest");
    assert_same(read, run.clone());
}

#[test]
fn a_run_of_several_populations_and_agents_survives() {
    let run = Run::of(&events(6, 40, 3, 3));
    assert!(run.is_interrupted() && run.finish.as_ref().unwrap().error.is_some());
    assert!(run.history.len() == 2 && run.populations[0].losses.len() == 2, "{run:#?}");
    assert!(run.populations.len() == 3 && run.agents[1].agents.is_empty());
    assert_ne!(run.losses[0].until, Tick::NEVER);
    assert_survives(&run);
}

#[test]
fn a_run_with_joined_points_and_dropped_readings_survives() {
    let run = Run::of(&events(1, 9000, 1, 0));
    assert!(run.series.len() > 2000 && run.series.len() < 9000);
    assert_survives(&run);
}

#[test]
fn a_run_without_an_end_or_without_events_survives() {
    let mut events = events(2, 9, 2, 1);
    events.pop();
    assert_survives(&Run::of(&events));
    assert_survives(&Run::default());
}

#[test]
fn a_run_that_goes_on_after_its_digest_is_the_same() {
    let events = events(3, 60, 2, 2);
    let (first, rest) = events.split_at(200);
    let mut folded = Run::of(first);
    let mut read = read(&mut &digest(&folded)[..]).unwrap().unwrap();
    for event in rest {
        folded.fold(event);
        read.fold(event);
    }
    assert_same(read, folded);
}

#[test]
fn damaged_digests_are_refused() {
    let whole = digest(&Run::of(&events(4, 9, 2, 2)));
    for cut in (0..whole.len()).step_by(97) {
        assert!(read(&mut &whole[..cut]).unwrap().is_none(), "cut at {cut}");
    }
    for at in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        assert!(read(&mut &damaged[..]).unwrap().is_none(), "changed at {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_run_survives(
        seed: u64, intervals in 1..80_u64, populations in 1..4_usize, agents in 0..4_usize,
    ) {
        assert_survives(&Run::of(&events(seed, intervals, populations, agents)));
    }

    #[test]
    fn any_message_is_a_run_or_none(seed: u64, at: usize, byte: u8) {
        // The checksum finds accidents; here the damage comes before it.
        let run = Run::of(&events(seed, 5, 1, 0));
        let mut payload = digest(&run)[8..].to_vec();
        let at = at % payload.len();
        payload[at] = byte;
        let bytes = crate::codec::frame(&payload).unwrap();
        if let Some(run) = read(&mut &bytes[..]).unwrap() {
            let _ = run.series.points().map(|point| point.response.quantile(0.99)).max();
        }
    }
}

//! Events as messages: what was written is read, whatever it is, and what a later version adds is skipped.

use brunt_model::agent::AgentCheck;
use brunt_model::agent::{
    AgentCheckDepth, AgentMessage, AgentReport, Assignment, CheckRequest, ClockReading,
    ControllerMessage, ControllerRequest, FileCopy, RunEnd, RunNumber,
};
use brunt_model::codec::{Decoded, LogError, LogReader, LogWriter, MAGIC, decode, encode, frame};
use brunt_model::codec::{
    read_agent_message, read_controller_message, write_agent_message, write_controller_message,
};
use brunt_model::outcome::MalformedReply;
use brunt_model::sample::ConnectTimes;
use brunt_model::spread::ArrivalBin;
use brunt_model::tally::iterations::IterationTally;
use brunt_model::tally::{PhaseTimes, Statuses};
use brunt_model::{
    CheckFailure, Event, Failure, Finish, Flow, LostProcess, Outcome, PartCommand, Phase,
    ProcessMessage, ProcessPart, ProcessShares, Reading, Route, Sample, Snapshot, Tally,
};
use brunt_model::{SampleRecord, Tick, TransactionTally, Warning};
use brunt_stats::Histogram;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use prost::Message;
use std::time::Duration;

// Events of every kind, with any values.

fn phase() -> impl Strategy<Value = Phase> {
    prop::sample::select(vec![Phase::Setup, Phase::Warmup, Phase::Measure, Phase::Grace])
}

fn failure() -> impl Strategy<Value = Failure> {
    prop::sample::select(Failure::all().collect::<Vec<_>>())
}

fn malformed() -> impl Strategy<Value = MalformedReply> {
    use MalformedReply::{
        Chunk, ChunkLineTooLong, ContentLength, HeadTooLarge, HeaderField, StatusLine,
        TooManyFields, TooManyInterim, TrailersTooLarge, TransferEncoding,
    };
    let first = [StatusLine, HeaderField, TooManyFields, HeadTooLarge, TooManyInterim];
    let others = [ContentLength, TransferEncoding, Chunk, ChunkLineTooLong, TrailersTooLarge];
    prop::sample::select([first, others].concat())
}

fn histogram() -> impl Strategy<Value = Histogram> {
    let value = prop_oneof![0..5000_u64, any::<u64>()];
    vec((value, prop_oneof![1..9_u64, 0..1_u64 << 40]), 0..12).prop_map(|values| {
        let mut histogram = Histogram::new();
        for (value, n) in values {
            histogram.record_n(value, n);
        }
        histogram
    })
}

fn phases() -> impl Strategy<Value = PhaseTimes> {
    let all = (histogram(), histogram(), histogram(), histogram(), histogram(), histogram());
    all.prop_map(|(resolve, connect, tls, connection, first_byte, receive)| PhaseTimes {
        resolve,
        connect,
        tls,
        connection,
        first_byte,
        receive,
    })
}

fn statuses(counts: &[(u16, u32)]) -> Statuses {
    let mut statuses = Statuses::default();
    for (status, count) in counts {
        statuses.add(*status, u64::from(*count));
    }
    statuses
}

fn tally() -> impl Strategy<Value = Tally> {
    let counts = (
        any::<[u64; 8]>(),
        vec(any::<u64>(), Failure::COUNT),
        vec((any::<u16>(), any::<u32>()), 0..4),
        vec((any::<u16>(), any::<u32>()), 0..4),
    );
    let kinds = (vec((failure(), histogram()), 0..3), vec((malformed(), any::<u64>()), 0..3));
    (counts, vec(histogram(), 10), kinds, phases()).prop_map(
        |((n, failed, received, bad), h, (times, malformed), phases)| {
            let [
                response,
                not_good,
                timed_out,
                service,
                queue_wait,
                lag,
                late,
                late_without_lag,
                opening_lag,
                read_lag,
            ] = h.try_into().expect("ten");
            Tally {
                iterations: IterationTally {
                    arrivals: n[0],
                    succeeded: n[1],
                    failed: n[2],
                    unfinished: n[3],
                },
                planned: n[0],
                begun: n[1],
                completed: n[2],
                good: n[3],
                failures: failed.try_into().expect("all kinds"),
                statuses: statuses(&received),
                unexpected: statuses(&bad),
                bytes_sent: n[4],
                bytes_received: n[5],
                redirects: n[6],
                retries: n[7],
                response,
                not_good,
                timed_out,
                service,
                queue_wait,
                lag,
                late,
                late_without_lag,
                failure_times: times,
                phases,
                opening_lag,
                read_lag,
                malformed,
            }
        },
    )
}

/// The message of a flow whose counters have these values.
fn flow_message(values: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (counter, value) in Flow::COUNTERS.iter().zip(values) {
        prost::encoding::uint64::encode(counter.number, value, &mut bytes);
    }
    bytes
}

fn flow() -> impl Strategy<Value = Flow> {
    vec(any::<u64>(), Flow::COUNTERS.len())
        .prop_map(|values| Flow::decode(&flow_message(&values)[..]).expect("numbers and integers"))
}

fn transaction() -> impl Strategy<Value = TransactionTally> {
    (any::<[u64; 4]>(), histogram(), histogram()).prop_map(|(n, response, failed_response)| {
        TransactionTally {
            started: n[0],
            succeeded: n[1],
            failed: n[2],
            unfinished: n[3],
            response,
            failed_response,
        }
    })
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let bin = any::<[u64; 3]>().prop_map(|[number, planned, acted]| ArrivalBin {
        number,
        planned,
        acted,
    });
    let parts = (any::<[u64; 2]>(), phase(), flow(), tally(), tally());
    let transactions = btree_map(".{0,8}", transaction(), 0..3);
    (parts, vec((any::<u32>(), tally()), 0..3), vec(bin, 0..4), transactions).prop_map(
        |(([from, to], phase, flow, measured, warmup), labels, bins, transactions)| {
            let (from, to) = (Tick(from), Tick(to));
            Snapshot { from, to, phase, flow, measured, warmup, labels, bins, transactions }
        },
    )
}

fn sample() -> impl Strategy<Value = Sample> {
    let step = || option::of(any::<u64>());
    let outcome = (option::of(any::<u16>()), option::of(failure()), any::<bool>());
    let rest = (step(), step(), step(), step(), option::of(malformed()));
    let numbers = (any::<[u64; 13]>(), any::<[bool; 3]>(), any::<[u32; 2]>());
    (numbers, outcome, rest).prop_map(|((n, is, id), (status, failure, expected), rest)| Sample {
        planned: Tick(n[0]),
        free: Tick(n[1]),
        begun: Tick(n[2]),
        sent: Tick(n[3]),
        first_byte: Tick(n[4]),
        last_byte: Tick(n[5]),
        opening: ConnectTimes { resolve: rest.0, connect: rest.1, tls: rest.2 },
        opened: is[0],
        reused: is[1],
        kept_alive: is[2],
        bytes_sent: n[6],
        bytes_received: n[7],
        head_bytes: n[8],
        body_bytes: n[9],
        extra_bytes: n[10],
        user: id[0],
        outcome: Outcome { status, failure, expected },
        label: id[1],
        iteration: n[11],
        opening_lag: n[12],
        read_lag: rest.3,
        malformed: rest.4,
    })
}

fn record((label, start_unix_millis): (String, u64)) -> SampleRecord {
    let sub_results = vec![SampleRecord { label: label.clone(), ..SampleRecord::default() }];
    SampleRecord { label, start_unix_millis, sub_results, ..SampleRecord::default() }
}

fn check_failure() -> impl Strategy<Value = CheckFailure> {
    (any::<u32>(), any::<[String; 3]>(), any::<u64>()).prop_map(
        |(label, [check, expected, found], count)| CheckFailure {
            label,
            count,
            ..CheckFailure::new(check, expected, found)
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let (at, text) = (|| any::<u64>().prop_map(Tick), || ".{0,40}");
    let value = (
        text(),
        prop::num::f64::ANY.prop_filter("NaN differs from itself", |value| !value.is_nan()),
    );
    let reading = (at(), text(), vec(value, 0..4)).prop_map(|(at, source, values)| Reading {
        at,
        source,
        values,
    });
    let finish = (at(), any::<bool>(), option::of(text()));
    let lost = (at(), any::<[u32; 2]>());
    prop_oneof![
        (at(), phase()).prop_map(|(at, phase)| Event::Stage { at, phase }),
        (any::<u32>(), text(), any::<Option<u32>>()).prop_map(|(id, name, hop_of)| Event::Label {
            id,
            name,
            hop_of
        }),
        (vec(text(), 0..3), option::of(text()))
            .prop_map(|(addresses, server)| Event::Target { addresses, server }),
        snapshot().prop_map(|snapshot| Event::Snapshot(Box::new(snapshot))),
        vec(sample(), 0..4).prop_map(Event::Samples),
        vec(check_failure(), 0..3).prop_map(Event::CheckFailures),
        vec((text(), any::<u64>()), 0..3)
            .prop_map(|all| Event::Records(all.into_iter().map(record).collect())),
        reading.prop_map(Event::Reading),
        (at(), text()).prop_map(|(at, text)| Event::Warning(Warning { at, text: text.into() })),
        finish.prop_map(|(at, interrupted, error)| Event::Finished(Finish {
            at,
            interrupted,
            error: error.map(Into::into)
        })),
        lost.prop_map(|(at, [number, of])| Event::Lost(LostProcess {
            at,
            part: ProcessPart { number, count: of, quiet: 0 },
            until: Tick::NEVER,
        })),
        (at(), any::<u32>()).prop_map(|(at, process)| Event::Resumed { at, process }),
    ]
}

proptest! {
    #[test]
    fn each_counter_is_the_field_of_its_number(values in vec(any::<u64>(), Flow::COUNTERS.len())) {
        let flow = Flow::decode(&flow_message(&values)[..]).expect("numbers and integers");
        let read: Vec<u64> = Flow::COUNTERS.iter().map(|counter| (counter.value)(&flow)).collect();
        prop_assert_eq!(read, values);
    }

    #[test]
    fn an_event_is_the_same_after_a_message(event in event()) {
        let bytes = encode(&event).expect("a message");
        prop_assert_eq!(decode(&bytes), Some(Decoded::Known(event)));
    }

    #[test]
    fn controllers_receive_the_messages_of_agents(
        run in any::<u64>(), ready in any::<u64>(), events in vec(event(), 0..3)
    ) {
        let run = RunNumber(run);
        let events = events.into_iter().map(|event| AgentReport::Part(ProcessMessage::Event(event)));
        let others = [
            AgentReport::Hello(1, Box::default()),
            AgentReport::Clock(ClockReading { sent: ready, received: 2, replied: u64::MAX }),
            AgentReport::Part(ProcessMessage::Ready(Tick(ready))),
            AgentReport::Part(ProcessMessage::EndRun),
            AgentReport::Finished(RunEnd { has_ended_test: true, ..RunEnd::default() }),
            AgentReport::Checked(Box::new(AgentCheck { failure: Some("refused".into()), ..AgentCheck::default() })),
            AgentReport::Gone("no file".into()),
        ];
        let messages: Vec<AgentMessage> =
            others.into_iter().chain(events).map(|report| AgentMessage { run, report }).collect();
        let mut bytes = Vec::new();
        for message in &messages {
            write_agent_message(&mut bytes, message).expect("a frame");
        }
        let mut from = &bytes[..];
        let received: Vec<AgentMessage> =
            std::iter::from_fn(|| read_agent_message(&mut from)).collect();
        prop_assert_eq!(received, messages);
    }

    #[test]
    fn agents_receive_the_messages_of_controllers(
        run in any::<u64>(), at in any::<u64>(), content in vec(any::<u8>(), 0..30), lease in any::<Option<u32>>()
    ) {
        let assignment = Assignment {
            plan: serde_json::json!({"a": [null, 1.5]}),
            shares: ProcessShares {
                process: ProcessPart { number: 2, count: 5, quiet: 0 },
                populations: vec![None, Some(ProcessPart { number: 1, count: 2, quiet: 0 })],
            },
            epoch_nanos: at,
            lease: lease.map(|nanos| Duration::from_nanos(nanos.into())),
            bytes_per_second: 7,
            route: Some(Route { listener_pids: vec![1, 99], ..Route::default() }),
        };
        let file = FileCopy { path: "data/ü.csv".into(), content };
        let at_tick = Tick(at);
        let requests = vec![
            ControllerRequest::Secrets(vec![("/a/0".into(), "\"x\"".into())]),
            ControllerRequest::File(file),
            ControllerRequest::Check(Box::new(CheckRequest { plan: assignment.plan.clone(), depth: AgentCheckDepth::Route })),
            ControllerRequest::Check(Box::new(CheckRequest { plan: assignment.plan.clone(), depth: AgentCheckDepth::All })),
            ControllerRequest::Assign(Box::new(assignment)),
            ControllerRequest::ReadClock(at),
            ControllerRequest::Command(PartCommand::Go(at_tick)),
            ControllerRequest::Command(PartCommand::Resume { begins: at_tick, from: at_tick }),
            ControllerRequest::Command(PartCommand::Steady(at_tick)),
            ControllerRequest::Command(PartCommand::Enough(at_tick)),
            ControllerRequest::Command(PartCommand::Stop(at_tick)),
        ];
        let run = RunNumber(run);
        let messages: Vec<ControllerMessage> =
            requests.into_iter().map(|request| ControllerMessage { run, request }).collect();
        let mut bytes = Vec::new();
        for message in &messages {
            write_controller_message(&mut bytes, message).expect("a frame");
        }
        let mut from = &bytes[..];
        let received: Vec<ControllerMessage> =
            std::iter::from_fn(|| read_controller_message(&mut from)).collect();
        prop_assert_eq!(received, messages);
    }
}

// A later version's messages: those of today with one more field in a label, and one more kind of event.

#[derive(Clone, PartialEq, Message)]
struct LaterEvent {
    #[prost(oneof = "LaterKind", tags = "3, 1000")]
    kind: Option<LaterKind>,
    #[prost(string, tag = "1001")]
    written_by: String,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum LaterKind {
    #[prost(message, tag = "3")]
    Label(LaterLabel),
    #[prost(message, tag = "1000")]
    Note(LaterNote),
}

#[derive(Clone, PartialEq, Message)]
struct LaterLabel {
    #[prost(uint32, tag = "1")]
    id: u32,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, repeated, tag = "1000")]
    groups: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct LaterNote {
    #[prost(string, tag = "1")]
    text: String,
}

fn later(kind: LaterKind) -> Vec<u8> {
    let event = LaterEvent { kind: Some(kind), written_by: "a later version".into() };
    frame(&event.encode_to_vec()).expect("a frame")
}

#[test]
fn one_more_field_and_one_more_kind_are_skipped() {
    let groups = vec!["checkout".into(), "all".into()];
    let label = later(LaterKind::Label(LaterLabel { id: 3, name: "/pay".into(), groups }));
    let note = later(LaterKind::Note(LaterNote {
        text: "of a kind that this version does not know".into(),
    }));
    let warning = Event::Warning(Warning { at: Tick(5), text: "slow".into() });
    let known = frame(&encode(&warning).expect("a message")).expect("a frame");
    let bytes = [&MAGIC[..], &note, &label, &note, &known].concat();
    let mut log = LogReader::new(&bytes[..]).expect("a log");
    let mut next = || log.next_event().expect("a whole log");
    assert_eq!(next(), Some(Event::Label { id: 3, name: "/pay".into(), hop_of: None }));
    assert_eq!(next(), Some(warning));
    assert_eq!(next(), None);
    assert_eq!(log.skipped(), 2);
}

// A later version's kinds within today's messages.

#[derive(Clone, PartialEq, Message)]
struct LaterSnapshot {
    #[prost(int32, tag = "3")]
    phase: i32,
    #[prost(message, optional, tag = "5")]
    measured: Option<LaterTally>,
}

#[derive(Clone, PartialEq, Message)]
struct LaterTally {
    #[prost(message, repeated, tag = "5")]
    failures: Vec<LaterCount>,
    #[prost(message, repeated, tag = "23")]
    malformed: Vec<LaterCount>,
}

#[derive(Clone, PartialEq, Message)]
struct LaterCount {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(uint64, tag = "2")]
    count: u64,
}

#[derive(Clone, PartialEq, Message)]
struct OneSnapshot {
    #[prost(message, optional, tag = "5")]
    snapshot: Option<LaterSnapshot>,
}

fn read_snapshot(phase: i32) -> Option<Decoded<Event>> {
    let count = |kind, count| LaterCount { kind, count };
    let failures = vec![count(9, 3), count(99, 4), count(17, 1)];
    let measured = Some(LaterTally { failures, malformed: vec![count(1, 2), count(9999, 5)] });
    let event = OneSnapshot { snapshot: Some(LaterSnapshot { phase, measured }) };
    decode(&event.encode_to_vec())
}

#[test]
fn failures_of_an_unknown_kind_still_count() {
    let Some(Decoded::Known(Event::Snapshot(snapshot))) = read_snapshot(3) else {
        panic!("no snapshot")
    };
    let measured = &snapshot.measured;
    assert_eq!((snapshot.phase, measured.failed_by(Failure::Timeout)), (Phase::Measure, 3));
    assert_eq!(measured.failed_by(Failure::System), 5);
    assert_eq!(measured.malformed, [(MalformedReply::StatusLine, 2)]);
    assert_eq!(read_snapshot(99), Some(Decoded::Unknown));
}

#[test]
fn a_log_of_another_version_is_refused() {
    let mut log = Vec::new();
    LogWriter::new(&mut log).expect("a log");
    for version in [b'4', b'6'] {
        log[7] = version;
        let Err(error) = LogReader::new(&log[..]) else {
            panic!("a log of version {version} was read")
        };
        assert!(
            matches!(&error, LogError::OtherVersion { found, .. } if found.as_bytes() == [b'0', version]),
            "{error}"
        );
    }
}

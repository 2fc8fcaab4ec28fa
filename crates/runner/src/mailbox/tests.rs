//! A slow listener receives the same sums, and delays nothing, even if it never returns.

use super::queue::EventQueue;
use super::{Delivery, Joined, MAX_WAITING, Mailbox};
use crate::run::EventListener;
use brunt_model::event::Warning;
use brunt_model::history::History;
use brunt_model::{Event, Finish, Phase, Reading, Run, Snapshot, Tick};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const AGES: Duration = Duration::from_mins(1);

/// Listener that waits for a signal before each event, and then passes the event on.
struct Slow {
    go: Receiver<()>,
    received: Sender<Event>,
}

impl EventListener for Slow {
    fn on_event(&mut self, event: &Event) {
        let _ = self.go.recv();
        let _ = self.received.send(event.clone());
    }
}

fn slow() -> (Mailbox, Sender<()>, Receiver<Event>) {
    let ((let_go, go), (received, events)) = (channel(), channel());
    (Mailbox::start(Slow { go, received }).unwrap(), let_go, events)
}

fn snapshot(number: u64, phase: Phase) -> Event {
    let mut snapshot = Snapshot {
        from: Tick(number * 100),
        to: Tick(number * 100 + 100),
        phase,
        ..Snapshot::default()
    };
    (snapshot.flow.planned, snapshot.flow.completed, snapshot.flow.in_flight) =
        (number, number + 1, number % 7);
    let tally = if phase == Phase::Warmup { &mut snapshot.warmup } else { &mut snapshot.measured };
    (tally.planned, tally.begun) = (number, number);
    tally.response.record(number * 1000 + 1);
    snapshot.label((number % 3) as u32).completed = number;
    snapshot.bin(number / 2).planned = number;
    Event::Snapshot(Box::new(snapshot))
}

fn population(of: u32, number: u64, phase: Phase) -> Event {
    let Event::Snapshot(snapshot) = snapshot(number + u64::from(of), phase) else {
        unreachable!("a snapshot")
    };
    Event::Population { number: of, snapshot }
}

fn reading(number: u64, source: &str) -> Event {
    Event::Reading(Reading {
        at: Tick(number * 100),
        source: source.into(),
        values: vec![("n".into(), number as f64)],
    })
}

/// Events of a run with this number of intervals: the first hundred are warm-up, and readings,
/// labels and warnings are between them.
fn run_of(intervals: u64) -> Vec<Event> {
    let mut events = vec![Event::Stage { at: Tick::ZERO, phase: Phase::Warmup }];
    for number in 0..intervals {
        let phase = if number < 100 { Phase::Warmup } else { Phase::Measure };
        if number == 100 {
            events.push(Event::Stage { at: Tick(number * 100), phase });
        }
        if number % 500 == 0 {
            events.push(Event::Label {
                id: (number / 500) as u32,
                name: format!("label {number}"),
                hop_of: None,
            });
            events.push(Event::Warning(Warning {
                at: Tick(number * 100),
                text: format!("at {number}").into(),
            }));
        }
        events.extend([reading(number, "generator"), reading(number, "process:server")]);
        events.extend([0, 1].map(|of| population(of, number, phase)));
        events.push(snapshot(number, phase));
    }
    events.push(Event::Finished(Finish {
        at: Tick(intervals * 100),
        interrupted: false,
        error: None,
    }));
    events
}

/// All sums of a run, and the last value of each reading.
fn sums(events: &[Event]) -> impl PartialEq + std::fmt::Debug {
    let run = Run::of(events);
    let tallies = [run.total, run.warmup].map(|tally| (tally.planned, tally.begun, tally.response));
    let labels: Vec<_> =
        run.labels.iter().map(|(label, tally)| (*label, tally.completed)).collect();
    let last = |history: &History| {
        history.names().iter().map(|name| history.last(name)).collect::<Vec<_>>()
    };
    let readings: Vec<_> =
        run.history.iter().map(|(source, history)| (source.clone(), last(history))).collect();
    (
        tallies,
        labels,
        run.flow,
        run.flow_all,
        readings,
        run.warnings,
        run.label_names,
        run.phases,
        run.last_interval_end,
    )
}

fn send_all(mailbox: &mut Mailbox, events: &[Event]) {
    for event in events {
        mailbox.on_event(event);
    }
}

fn is_joinable(event: &Event) -> bool {
    matches!(event, Event::Snapshot(_) | Event::Population { .. } | Event::Reading(_))
}

fn others(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(|event| !is_joinable(event)).collect()
}

#[test]
fn a_fast_listener_gets_each_event_unchanged() {
    let (mut mailbox, go, received) = slow();
    let events = run_of(10);
    for event in &events {
        mailbox.on_event(event);
        go.send(()).unwrap();
        assert_eq!(received.recv_timeout(AGES).as_ref(), Ok(event));
    }
    assert_eq!(mailbox.close(AGES), Delivery { joined: Joined::default(), is_complete: true });
}

#[test]
fn a_slow_listener_gets_the_same_sums_in_the_same_order() {
    let (mut mailbox, go, received) = slow();
    let events = run_of(3000);
    send_all(&mut mailbox, &events);
    drop(go);
    let delivery = mailbox.close(AGES);
    assert!(delivery.is_complete);
    let received: Vec<Event> = received.iter().collect();
    assert!(received.len() <= 2 * MAX_WAITING, "{} of {}", received.len(), events.len());
    let missing = (events.len() - received.len()) as u64;
    assert_eq!(delivery.joined.snapshots + delivery.joined.readings, missing);
    assert_eq!(others(&received), others(&events));
    assert_eq!(sums(&received), sums(&events));
    let ends: Vec<Tick> = received
        .iter()
        .filter_map(|event| if let Event::Snapshot(s) = event { Some(s.to) } else { None })
        .collect();
    assert!(ends.is_sorted(), "{ends:?}");
}

#[test]
fn a_blocked_listener_delays_neither_the_run_nor_its_end() {
    let (mut mailbox, go, _heard) = slow();
    let events = run_of(3000);
    send_all(&mut mailbox, &events);
    let waiting = mailbox.shared.state().queue.len();
    // The fourteen events that cannot be merged wait as well.
    assert!(waiting <= MAX_WAITING + 16, "{waiting}");
    assert!(!mailbox.close(Duration::from_millis(10)).is_complete);
    drop(go);
}

#[test]
fn a_listener_that_panicked_gets_no_more_events() {
    struct Broken;
    impl EventListener for Broken {
        fn on_event(&mut self, _: &Event) {
            std::panic::resume_unwind(Box::new("broken"));
        }
    }
    let mut mailbox = Mailbox::start(Broken).unwrap();
    mailbox.on_event(&snapshot(1, Phase::Measure));
    let shared = mailbox.shared.clone();
    drop(shared.changed.wait_while(shared.state(), |state| !state.ended).unwrap());
    mailbox.on_event(&snapshot(2, Phase::Measure));
    assert!(mailbox.shared.state().queue.is_empty());
    assert!(!mailbox.close(AGES).is_complete);
}

#[test]
fn snapshots_of_different_phases_are_never_merged() {
    let mut queue = EventQueue::default();
    let parts = [Phase::Warmup, Phase::Measure, Phase::Grace];
    parts
        .iter()
        .enumerate()
        .for_each(|(number, phase)| queue.push(snapshot(number as u64, *phase), 1));
    assert_eq!((queue.len(), queue.joined()), (3, Joined::default()));
}

#[test]
fn single_samples_do_not_wait_in_a_mailbox() {
    let (mut mailbox, go, received) = slow();
    mailbox.on_event(&Event::Samples(Vec::new()));
    drop(go);
    assert!(mailbox.close(AGES).is_complete);
    assert_eq!(received.iter().count(), 0);
}

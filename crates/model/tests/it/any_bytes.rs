//! Event logs of arbitrary bytes: they are read or refused, and what was read can be folded into a run.

use brunt_model::codec::{LogReader, LogWriter, MAGIC, decode, encode, frame};
use brunt_model::{Event, Run, Snapshot, Tick, Warning};
use brunt_tests::inputs::{corpus, survives};

/// Events of every shape that a decoder has to follow.
fn events() -> Vec<Event> {
    let mut snapshot = Snapshot { from: Tick(5), to: Tick(9), ..Snapshot::default() };
    (1..2000).step_by(37).for_each(|n| snapshot.measured.response.record(n * n * n));
    snapshot.label(3).statuses.add(404, 7);
    let texts = ["", "slow", "a longer text of several words"];
    let warnings = texts.map(|text| Event::Warning(Warning { at: Tick(10), text: text.into() }));
    let mut events = vec![
        Event::Snapshot(Box::new(snapshot)),
        Event::Label { id: 3, name: "http://h/".into(), hop_of: Some(1) },
    ];
    events.push(Event::Target {
        addresses: vec!["127.0.0.1:80".into()],
        server: Some("nginx".into()),
    });
    events.extend(warnings);
    events
}

fn log() -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = LogWriter::new(&mut out).expect("a log");
    for event in events() {
        writer.write(&event).expect("an event");
    }
    out
}

fn replay(log: &[u8]) {
    let Ok(mut reader) = LogReader::new(log) else { return };
    let mut run = Run::default();
    while let Ok(Some(event)) = reader.next_event() {
        run.fold(&event);
    }
}

#[test]
fn damaged_logs_are_read_up_to_the_damage() {
    let seeds = [corpus("events"), vec![log()]].concat();
    survives("events", seeds, 2000, replay);
}

/// The sum of a frame finds accidents; here the damage comes before it.
#[test]
fn any_payload_is_an_event_or_none() {
    let payloads: Vec<Vec<u8>> =
        events().iter().map(|event| encode(event).expect("bytes")).collect();
    survives("payloads of events", payloads, 4000, |payload| {
        let _ = decode(payload);
        replay(&[&MAGIC[..], &frame(payload).expect("a frame")].concat());
    });
}

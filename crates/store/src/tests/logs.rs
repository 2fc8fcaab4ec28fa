//! Tests packed logs: the complete events before any damage are read.

use super::world::{events, snapshot};
use crate::log::{EventReader, LogHead, PackedReader, PackedWriter};
use brunt_model::codec::{LogError, LogWriter, frame};
use brunt_model::outcome::MalformedReply;
use brunt_model::{Event, Failure, Run, Tick, Warning};
use proptest::prelude::*;

fn packed(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = PackedWriter::new(&mut bytes, &LogHead::default()).unwrap();
    for event in events {
        assert!(writer.write(event).unwrap() > 8);
    }
    bytes
}

fn read(bytes: &[u8]) -> (Vec<Event>, Option<LogError>) {
    let mut reader = match EventReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut read = Vec::new();
    loop {
        match reader.next_event() {
            Ok(Some(event)) => read.push(event),
            Ok(None) => return (read, None),
            Err(error) => return (read, Some(error)),
        }
    }
}

#[test]
fn both_kinds_are_read_by_one_reader() {
    let mut plain = Vec::new();
    let mut writer = LogWriter::new(&mut plain).unwrap();
    for event in &events(1.0) {
        writer.write(event).unwrap();
    }
    for bytes in [plain, packed(&events(1.0))] {
        let (read, error) = read(&bytes);
        assert!(error.is_none());
        assert_eq!(read, events(1.0));
    }
    assert!(matches!(read(b"GIF89a......").1, Some(LogError::NotALog)));
    assert!(matches!(PackedReader::new(&b"BRUNT\x0005"[..]), Err(LogError::NotALog)));
}

#[test]
fn a_log_with_an_excessive_compression_ratio_is_damaged() {
    let warning =
        |bytes: usize| Event::Warning(Warning { at: Tick::ZERO, text: "a".repeat(bytes).into() });
    let plain = warning(10 << 20);
    assert_eq!(read(&packed(std::slice::from_ref(&plain))).0, [plain]);
    let bomb = packed(&[warning(200 << 20)]);
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    assert!(matches!(read(&bomb), (events, Some(LogError::Torn(0..=1))) if events.is_empty()));
}

#[test]
fn a_truncated_log_gives_its_complete_events() {
    let whole = packed(&events(1.0));
    let mut most = 0;
    for cut in 0..whole.len() {
        let (read, _) = read(&whole[..cut]);
        assert!(events(1.0).starts_with(&read) && read.len() >= most, "cut at {cut}");
        most = read.len();
    }
    assert_eq!(most, events(1.0).len() - 1);
}

#[test]
fn a_flipped_bit_ends_the_log_at_its_position() {
    let whole = packed(&events(1.0));
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        let (read, error) = read(&damaged);
        assert!(error.is_some() && events(1.0).starts_with(&read), "at {at}");
    }
}

#[test]
fn similar_snapshots_are_compressed() {
    let many: Vec<Event> = (0..1000).map(|tenth| snapshot(tenth, 100)).collect();
    let mut plain = Vec::new();
    let mut writer = LogWriter::new(&mut plain).unwrap();
    for event in &many {
        writer.write(event).unwrap();
    }
    let packed = packed(&many);
    assert!(packed.len() * 3 < plain.len() * 2, "{} of {}", packed.len(), plain.len());
    assert_eq!(read(&packed).0, many);
}

fn some_events() -> impl Strategy<Value = Vec<Event>> {
    let warning = (any::<u64>(), ".{0,2000}")
        .prop_map(|(at, text)| Event::Warning(Warning { at: Tick(at), text: text.into() }));
    proptest::collection::vec(
        prop_oneof![warning, (0..9u64, 0..99u64).prop_map(|(a, b)| snapshot(a, b))],
        0..40,
    )
}

proptest! {
    #[test]
    fn written_data_are_read_back(events in some_events()) {
        let (read, error) = read(&packed(&events));
        prop_assert!(error.is_none());
        prop_assert_eq!(read, events);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&[crate::log::MAGIC.to_vec(), bytes].concat());
    }
}

/// Logs of `brunt -r RATE -d 1s --warmup 300ms --urls …`, with `--events` and from its store. The figures are those that
/// brunt reported when it wrote them. The server failed one request in ten.
#[test]
fn recorded_logs_are_read() {
    let plain = include_bytes!("../../../../dev/tests/data/log-v5/plain.log");
    let stored = include_bytes!("../../../../dev/tests/data/log-v5/packed.events");
    for log in [&plain[..], &stored[..]] {
        let (events, error) = read(log);
        assert!(error.is_none(), "{error:?}");
        let run = Run::of(&events);
        let all = &run.total;
        assert_eq!([all.planned, all.begun, all.completed, all.good], [224, 224, 217, 203]);
        assert_eq!((all.bytes_received, all.bytes_sent), (15078, 15008));
        assert_eq!((all.response.quantile(0.5), all.response.max()), (2_215_935, 9_318_329));
        assert_eq!((all.lag.count(), all.lag.max()), (224, 4_507_373));
        assert_eq!((all.phases.connect.count(), run.flow_all.reused), (8, 268));
        assert_eq!(all.statuses.sorted(), [(200, 203), (503, 14)]);
        assert_eq!(all.failed_by(Failure::Stale), 4);
        assert_eq!(all.malformed, [(MalformedReply::StatusLine, 3)]);
    }
}

/// A log of `brunt ab -n 40 -c 2`.
#[test]
fn recorded_samples_are_read() {
    let (events, error) = read(include_bytes!("../../../../dev/tests/data/log-v5/samples.events"));
    assert!(error.is_none());
    let samples = events
        .iter()
        .map(|event| if let Event::Samples(samples) = event { samples.len() } else { 0 });
    assert_eq!(samples.sum::<usize>(), 40);
}

#[test]
fn logs_of_another_version_are_refused() {
    for (file, version) in [(b"BRUNT\x0004", "04"), (b"BRUNTZ06", "06")] {
        let (_, error) = read(file);
        assert!(
            matches!(&error, Some(LogError::OtherVersion { found, .. }) if found == version),
            "{error:?}"
        );
    }
}

#[test]
fn events_of_an_unknown_kind_are_counted_in_a_warning() {
    let mut packer = flate2::Compress::new(flate2::Compression::fast(), false);
    let mut unknown = Vec::with_capacity(64);
    // Field 1000, of length 1.
    packer.compress_vec(&[0xc2, 0x3e, 1, 7], &mut unknown, flate2::FlushCompress::Sync).unwrap();
    let mut plain = crate::log::MAGIC.to_vec();
    plain.extend(frame(&serde_json::to_vec(&LogHead::default()).unwrap()).unwrap());
    plain.extend(frame(&unknown).unwrap());
    let mut log = EventReader::new(&plain[..]).unwrap();
    assert_eq!((log.warning(), log.next_event().unwrap()), (None, None));
    assert!(log.warning().unwrap().starts_with("skipped 1 events of the log"));
}

//! Packed logs: whatever happens to the file, the whole events before it are read.

use super::world::{events, snapshot};
use crate::log::{EventReader, Head, PackedReader, PackedWriter};
use brunt_model::codec::{LogError, LogWriter};
use brunt_model::{Event, Run, Tick, Warning};
use proptest::prelude::*;

fn packed(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = PackedWriter::new(&mut bytes, &Head::default()).unwrap();
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
    assert!(matches!(PackedReader::new(&b"BRUNT\x0004"[..]), Err(LogError::NotALog)));
}

#[test]
fn a_log_cut_anywhere_gives_its_whole_events() {
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
fn a_flipped_bit_ends_the_log_where_it_is() {
    let whole = packed(&events(1.0));
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        let (read, error) = read(&damaged);
        assert!(error.is_some() && events(1.0).starts_with(&read), "at {at}");
    }
}

#[test]
fn snapshots_that_resemble_each_other_are_packed() {
    let many: Vec<Event> = (0..1000).map(|tenth| snapshot(tenth, 100)).collect();
    let mut plain = Vec::new();
    let mut writer = LogWriter::new(&mut plain).unwrap();
    for event in &many {
        writer.write(event).unwrap();
    }
    let packed = packed(&many);
    assert!(packed.len() * 2 < plain.len(), "{} of {}", packed.len(), plain.len());
    assert_eq!(read(&packed).0, many);
}

fn some_events() -> impl Strategy<Value = Vec<Event>> {
    let warning = (any::<u64>(), ".{0,2000}").prop_map(|(at, text)| Event::Warning(Warning { at: Tick(at), text }));
    proptest::collection::vec(prop_oneof![warning, (0..9u64, 0..99u64).prop_map(|(a, b)| snapshot(a, b))], 0..40)
}

proptest! {
    #[test]
    fn what_was_written_is_read(events in some_events()) {
        let (read, error) = read(&packed(&events));
        prop_assert!(error.is_none());
        prop_assert_eq!(read, events);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&[crate::log::MAGIC.to_vec(), bytes].concat());
    }
}

/// Logs that brunt wrote when the version was 3: by `brunt -r 300 -d 1s --warmup 300ms --urls …`, with `--events` and from
/// its store, and by `brunt ab -n 40 -c 2`. The figures are those that it reported then.
#[test]
fn logs_of_version_3_are_read() {
    let plain = include_bytes!("../../../../tests/data/log-v3/plain.log");
    let stored = include_bytes!("../../../../tests/data/log-v3/packed.events");
    for bytes in [&plain[..], stored] {
        let (events, error) = read(bytes);
        assert!(error.is_none(), "{error:?}");
        let run = Run::of(&events);
        let all = &run.total;
        assert_eq!((all.planned, all.begun, all.completed, all.good), (303, 303, 303, 303));
        assert_eq!((all.bytes_received, all.bytes_sent), (20604, 20909));
        assert_eq!((all.response.quantile(0.5), all.response.max()), (2_592_767, 13_608_197));
        assert_eq!((all.lag.count(), all.lag.max(), all.phases.connect.count()), (303, 9_570_519, 3));
        assert_eq!(run.flow_all.reused, 376);
    }
    let (events, error) = read(include_bytes!("../../../../tests/data/log-v3/samples.events"));
    assert!(error.is_none());
    let samples = events.iter().map(|event| if let Event::Samples(samples) = event { samples.len() } else { 0 });
    assert_eq!(samples.sum::<usize>(), 40);
}

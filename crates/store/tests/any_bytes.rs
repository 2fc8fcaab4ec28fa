//! Packed logs and results of other tools, of arbitrary bytes: they are read or refused.

use brunt_model::codec::frame;
use brunt_model::{Event, Run, Tick, Warning};
use brunt_store::foreign::{File, read};
use brunt_store::log::{EventReader, LogHead, MAGIC, PackedWriter};
use brunt_tests::inputs::{corpus, survives};
use std::io::Write;

fn packed(texts: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PackedWriter::new(&mut out, &LogHead::default()).expect("a log");
    for text in texts {
        let event = Event::Warning(Warning { at: Tick(10), text: (*text).into() });
        writer.write(&event).expect("an event");
    }
    out
}

fn replay(log: &[u8]) {
    let Ok(reader) = EventReader::new(log) else { return };
    let mut run = Run::default();
    reader.map_while(Result::ok).for_each(|event| run.fold(&event));
}

/// A packed log whose frames are whole, and whose stream is these bytes.
fn with_stream(stream: &[u8]) -> Vec<u8> {
    let head = serde_json::to_vec(&LogHead::default()).expect("a head");
    let frames = [&head[..], stream].map(|payload| frame(payload).expect("a frame"));
    [&MAGIC[..], &frames.concat()].concat()
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.flush()).expect("deflate");
    packer.get_ref().clone()
}

#[test]
fn damaged_packed_logs_are_read_up_to_the_damage() {
    let seeds = [corpus("packed-events"), vec![packed(&["slow", "slow again", ""])]].concat();
    survives("packed-events", seeds, 1500, replay);
}

#[test]
fn any_stream_in_a_packed_log_is_parsed_or_refused() {
    let seeds = vec![deflated(b"slow"), deflated(&[0; 4000]), deflated(&packed(&["slow"]))];
    survives("streams of packed logs", seeds, 1500, |stream| {
        replay(&with_stream(stream));
        replay(&with_stream(&deflated(stream)));
    });
}

/// 300 MB of zeros, packed into 300 kB: the longest event has 256 MiB.
#[test]
fn a_stream_that_decompresses_to_too_much_is_refused() {
    let zeros = vec![0; 1 << 20];
    let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    (0..300).for_each(|_| packer.write_all(&zeros).expect("deflate"));
    packer.flush().expect("deflate");
    let log = with_stream(packer.get_ref());
    assert!(log.len() < 4 << 20);
    let mut reader = EventReader::new(&log[..]).expect("a log");
    assert!(reader.next_event().is_err());
}

#[test]
fn any_results_are_parsed_or_refused() {
    survives("results", corpus("results"), 4000, |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        // The second name holds a load, which some kinds of file need.
        for name in ["results", "nginx-100.csv"] {
            if let Ok(all) = read(&[File { name: name.into(), text: text.clone() }], &[]) {
                assert!(all.observations.iter().all(|one| one.contender < all.contenders.len()));
            }
        }
    });
}

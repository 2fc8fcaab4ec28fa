//! Arbitrary bytes as an event log, and as the payload of a frame in one: read or refused, and folded into a run.

#![no_main]

use brunt_model::Run;
use brunt_model::codec::{LogReader, MAGIC, frame};
use libfuzzer_sys::fuzz_target;

fn replay(log: &[u8]) {
    let Ok(mut reader) = LogReader::new(log) else { return };
    let mut run = Run::default();
    while let Ok(Some(event)) = reader.next_event() {
        run.fold(&event);
    }
}

fuzz_target!(|data: &[u8]| {
    replay(data);
    // The sum of a frame would stop nearly every change.
    replay(&[&MAGIC[..], &frame(data).expect("a frame")].concat());
});

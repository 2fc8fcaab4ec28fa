//! Arbitrary bytes as a packed event log, and as the deflated stream in one: read or refused, and folded into a run.

#![no_main]

use brunt_model::Run;
use brunt_model::codec::frame;
use brunt_store::log::{EventReader, MAGIC};
use libfuzzer_sys::fuzz_target;

fn replay(log: &[u8]) {
    let Ok(reader) = EventReader::new(log) else { return };
    let mut run = Run::default();
    reader.map_while(Result::ok).for_each(|event| run.fold(&event));
}

fuzz_target!(|data: &[u8]| {
    replay(data);
    let frames = [&b"{\"belongs\":null}"[..], data].map(|payload| frame(payload).expect("a frame"));
    replay(&[&MAGIC[..], &frames.concat()].concat());
});

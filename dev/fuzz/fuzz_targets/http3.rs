//! Arbitrary bytes of a server of HTTP/3, as the stream of a request and, cut at each byte 0xfe, as streams of one direction:
//! no panic, an end, and the same outcome however the bytes are cut.

#![no_main]

use brunt_wire::replay::{http3_reply, http3_streams};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seed, bytes)) = data.split_last() else { return };
    let size = usize::from(*seed) + 1;
    assert_eq!(http3_reply([bytes]), http3_reply(bytes.chunks(size)), "cut");
    let streams: Vec<&[u8]> = bytes.split(|byte| *byte == 0xfe).collect();
    assert_eq!(http3_streams(&streams, usize::MAX), http3_streams(&streams, size), "cut");
});

//! Arbitrary bytes of a server on a connection of HTTP/2 with requests under way: no panic, an end, and the same outcome
//! however the bytes are cut.

#![no_main]

use brunt_wire::replay::http2;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seed, bytes)) = data.split_last() else { return };
    assert_eq!(http2([bytes]), http2(bytes.chunks(usize::from(*seed) + 1)), "cut");
});

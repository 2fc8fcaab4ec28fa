//! Arbitrary bytes on a WebSocket that agreed on compression: no panic, an end, bounded memory, and the same messages however the
//! bytes are cut.

#![no_main]

use brunt_wire::replay::websocket;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((seed, bytes)) = data.split_last() else { return };
    assert_eq!(websocket([bytes]), websocket(bytes.chunks(usize::from(*seed) + 1)), "cut");
});

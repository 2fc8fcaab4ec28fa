//! Arbitrary bytes as the file behind `{csv:FILE:column}`: its cells are found by names and by numbers, or it is refused.

#![no_main]

use brunt_script::Feeds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for column in ["name", "1", "2"] {
        let mut feeds = Feeds::default();
        let Ok(column) = feeds.column_of("data.csv", bytes, column) else { continue };
        for n in [0, 1, 2, u64::MAX] {
            let _ = feeds.cell(column, n);
        }
    }
});

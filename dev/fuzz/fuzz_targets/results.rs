//! Arbitrary text as a file that `brunt analyse` is given: observations, or refused with a reason.

#![no_main]

use brunt_store::foreign::{File, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // The second name holds a load, which some kinds of file need.
    for name in ["results", "nginx-100.csv"] {
        if let Ok(all) = read(&[File { name: name.into(), text: text.into() }], &[]) {
            assert!(all.observations.iter().all(|one| one.contender < all.contenders.len()));
        }
    }
});

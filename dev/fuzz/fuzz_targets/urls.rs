//! Arbitrary text as a file of URLs: read, or refused with a line.

#![no_main]

use brunt_spec::words::urls;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    // Files of data are not read: random names could be those of devices.
    if !text.contains('<') {
        let _ = urls::parse(text, Path::new("urls.txt"), Some("http://127.0.0.1/"));
    }
});

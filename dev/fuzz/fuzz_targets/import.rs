//! Inputs of `brunt import`: they are read or refused in each format.
#![no_main]

use brunt_import::{Format, Options, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let options =
        Options { file: "input".into(), think: true, resources: true, ..Options::default() };
    for format in Format::ALL {
        let _ = import(format, &text, &options);
    }
});

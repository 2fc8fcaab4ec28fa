//! Inputs of `brunt import`: they are read or refused in each format.
#![no_main]

use brunt_import::{ImportFormat, ImportOptions, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let options = ImportOptions {
        file: "input".into(),
        think: true,
        resources: true,
        ..ImportOptions::default()
    };
    for format in ImportFormat::ALL {
        let _ = import(format, &text, &options);
    }
});

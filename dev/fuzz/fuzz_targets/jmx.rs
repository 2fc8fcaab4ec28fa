//! Arbitrary bytes as a plan of JMeter and as a properties file: a plan is written back as it was read, and imported, or refused.

#![no_main]

use brunt_import::jmx::JmxOptions;
use brunt_jmx::{JmxDocument, properties};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = properties::parse(&properties::decode(bytes));
    let Ok(document) = JmxDocument::parse(bytes) else { return };
    assert_eq!(document.write(), bytes);
    let _ = document.unsupported();
    let _ = brunt_import::jmx::read(bytes, &JmxOptions::default());
});

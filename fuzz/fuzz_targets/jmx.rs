//! Arbitrary bytes as a plan of JMeter and as a properties file: a plan is written back as it was read, and imported, or refused.

#![no_main]

use brunt_import::jmx::JmxOptions;
use brunt_jmx::{Document, properties};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = properties::parse(&properties::decode(bytes));
    let Ok(mut document) = Document::parse(bytes) else { return };
    assert_eq!(document.write(), bytes);
    let nodes: Vec<_> = document.all_elements().map(|element| element.node()).collect();
    let _ = document.unsupported();
    for node in nodes {
        document.set_enabled(node, false);
        document.set_property(node, "name", "value");
    }
    document.redact();
    let _ = brunt_import::jmx::read(bytes, &JmxOptions::default());
    assert!(Document::parse(&document.write()).is_ok());
});

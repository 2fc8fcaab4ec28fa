//! Arbitrary bytes as a result file of JMeter: its records are read, or refused.

#![no_main]

use brunt_jmx::jtl::{JtlSettings, read};
use brunt_jmx::statistics::{Statistics, StatisticsSettings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(records) = read(bytes, &JtlSettings::default()) else { return };
    let mut statistics = Statistics::new(StatisticsSettings::default());
    for record in records.flatten() {
        statistics.record(&record);
    }
    let _ = (
        statistics.to_json(),
        statistics.apdex(),
        statistics.errors(),
        statistics.errors_by_label(),
    );
});

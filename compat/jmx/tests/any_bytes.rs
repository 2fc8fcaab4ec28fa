//! Plans, properties files and result files of arbitrary bytes: they are read or refused.

use brunt_jmx::jtl::{JtlSettings, read};
use brunt_jmx::statistics::{Statistics, StatisticsSettings};
use brunt_jmx::{JmxDocument, properties};
use brunt_tests::inputs::{corpus, survives};

#[test]
fn any_plan_round_trips_or_is_refused() {
    survives("jmx", corpus("jmx"), 3000, |bytes| {
        let _ = properties::parse(&properties::decode(bytes));
        let Ok(document) = JmxDocument::parse(bytes) else { return };
        assert_eq!(document.write(), bytes);
        let _ = document.unsupported();
    });
}

#[test]
fn any_result_file_is_parsed_or_refused() {
    survives("jtl", corpus("jtl"), 3000, |bytes| {
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
}

#[test]
fn files_of_the_corpus_are_read_completely() {
    for bytes in corpus("jtl") {
        let records: Result<Vec<_>, _> =
            read(&*bytes, &JtlSettings::default()).expect("a header").collect();
        assert!(!records.expect("all records").is_empty());
    }
    let plans: Vec<_> = corpus("jmx").into_iter().filter(|bytes| bytes.starts_with(b"<")).collect();
    assert!(!plans.is_empty() && plans.iter().all(|plan| JmxDocument::parse(plan).is_ok()));
}

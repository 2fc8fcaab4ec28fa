use super::*;
use std::collections::HashSet;
use std::fmt::Write;

#[test]
fn rows_are_indexed_by_their_kind() {
    for (at, row) in kinds::ROWS.iter().enumerate() {
        assert_eq!(row.kind as usize, at);
        assert!(!row.title.is_empty());
    }
}

#[test]
fn classes_and_forms_belong_to_one_kind() {
    let mut seen = HashSet::new();
    for row in kinds::ROWS {
        for class in row.classes {
            // Of kinds that share a class, one has no GUI class or JMeter's general one.
            let found = row.guiclasses.iter().map(|guiclass| kind(class, "", guiclass));
            let found = found.chain([kind(class, "", "unknown")]);
            assert!(found.flatten().any(|kind| kind == row.kind), "{:?} {class}", row.kind);
            for guiclass in row.guiclasses {
                assert!(seen.insert((class, guiclass)), "{class} {guiclass} stand twice");
            }
        }
    }
}

#[test]
fn aliases_full_names_and_forms_are_resolved() {
    let http = Some(ElementKind::HttpSampler);
    assert_eq!(kind("HTTPSampler2", "", ""), http);
    assert_eq!(kind("org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy", "", ""), http);
    assert_eq!(kind("unknown", "HTTPSamplerProxy", "HttpTestSampleGui"), http);
    assert_eq!(
        kind("HTTPSamplerProxy", "", "GraphQLHTTPSamplerGui"),
        Some(ElementKind::GraphQlSampler)
    );
    assert_eq!(kind("ConfigTestElement", "", "HttpDefaultsGui"), Some(ElementKind::HttpDefaults));
    assert_eq!(kind("ConfigTestElement", "", "OtherGui"), Some(ElementKind::Config));
    assert_eq!(
        kind("ResultCollector", "", "ViewResultsFullVisualizer"),
        Some(ElementKind::ViewResultsTree)
    );
    assert_eq!(kind("com.example.HTTPSamplerProxy", "", ""), None);
    assert_eq!(
        kind("kg.apc.jmeter.threads.UltimateThreadGroup", "", ""),
        Some(ElementKind::UltimateThreadGroup)
    );
}

#[test]
fn roles_of_unknown_classes_are_derived_from_their_names() {
    assert_eq!(Role::guess("com.example.FastSampler"), Role::Sampler);
    assert_eq!(Role::guess("com.example.MyThreadGroup"), Role::ThreadGroup);
    assert_eq!(Role::guess("com.example.Other"), Role::Unknown);
}

/// Rows of the table in docs/jmeter.md.
fn documented_elements() -> String {
    const ROLES: [(Role, &str); 9] = [
        (Role::ThreadGroup, "Thread groups"),
        (Role::Controller, "Controllers"),
        (Role::Sampler, "Samplers"),
        (Role::Config, "Configuration"),
        (Role::Timer, "Timers"),
        (Role::PreProcessor, "Pre-processors"),
        (Role::PostProcessor, "Post-processors"),
        (Role::Assertion, "Assertions"),
        (Role::Listener, "Listeners"),
    ];
    let mut table =
        "| role | run | accepted without effect | not supported |\n|---|---|---|---|\n".to_owned();
    for (role, name) in ROLES {
        let cells = [Tier::Runs, Tier::Accepted, Tier::Unsupported].map(|tier| {
            let rows = kinds::ROWS.iter().filter(|row| row.role == role && row.tier == tier);
            let mut titles: Vec<&str> = rows.map(|row| row.title).collect();
            titles.dedup();
            if titles.is_empty() { "–".to_owned() } else { titles.join(", ") }
        });
        writeln!(table, "| {name} | {} |", cells.join(" | ")).expect("memory");
    }
    table
}

#[test]
fn the_documentation_lists_all_elements() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/jmeter.md");
    let text = std::fs::read_to_string(file).expect("docs/jmeter.md");
    let (_, rest) = text.split_once("<!-- elements -->\n").expect("the beginning of the table");
    let (table, _) = rest.split_once("<!-- /elements -->").expect("the end of the table");
    let expected = documented_elements();
    assert_eq!(table, expected, "write this table into docs/jmeter.md:\n{expected}");
}

//! Edits of plans of JMeter, and of plan files that are imported from them.

#[path = "../../../../crates/editor/tests/it/random_edits.rs"]
mod random_edits;

use brunt_editor::element::FieldForm;
use brunt_editor::{PlanEdit, PlanFormat, apply};
use brunt_import::jmx::{JmxOptions, read};
use proptest::prelude::*;
use random_edits::{Plan, action, all_elements, check, edited, files, form};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const FORMATS: [PlanFormat; 1] = [brunt_jmx::editor::FORMAT];

/// Plans of JMeter in the repository, and the plan files that the import makes of them.
static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let mut plans = Vec::new();
    for path in files(Path::new(ROOT), &["examples", "dev", "compat"], &["jmx"]) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let text = text.replace("\r\n", "\n");
        if let Ok(imported) = read(text.as_bytes(), &JmxOptions::default()) {
            plans.push(Plan { file: "plan.yaml".to_owned(), ..jmx(&imported.plan) });
        }
        plans.push(jmx(&text));
    }
    plans.retain(|plan| plan.read().is_ok());
    plans
});

fn jmx(text: &str) -> Plan {
    Plan { file: "plan.jmx".to_owned(), text: text.to_owned(), formats: &FORMATS }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn edits_change_nothing_else(action in action()) {
        check(&PLANS, &action);
    }
}

#[test]
fn properties_of_jmeter_keep_what_is_not_edited() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\">\n  <hashTree>\n    <TestPlan testname=\"p\"/>\n    <hashTree>\n      <HeaderManager testname=\"h\" enabled=\"true\">\n        <collectionProp name=\"HeaderManager.headers\">\n          <elementProp name=\"A\" elementType=\"Header\">\n            <stringProp name=\"Header.name\">A</stringProp>\n            <stringProp name=\"Header.value\">1</stringProp>\n            <x:unknown/>\n          </elementProp>\n        </collectionProp>\n      </HeaderManager>\n      <hashTree/>\n    </hashTree>\n  </hashTree>\n</jmeterTestPlan>\n";
    let plan = jmx(text);
    let set = PlanEdit::Set {
        path: "0.0/HeaderManager.headers".to_owned(),
        value: "A: <2>\nB: b: c".to_owned(),
    };
    let changed = edited(&plan, set).expect("a value");
    assert!(changed.text.contains("<stringProp name=\"Header.value\">&lt;2&gt;</stringProp>\n            <x:unknown/>\n          </elementProp>\n          <elementProp name=\"B\" elementType=\"Header\">"), "{}", changed.text);
    let field = form(&changed, "0.0").fields.into_iter().find(|field| field.name == "Headers");
    assert_eq!(field.and_then(|field| field.value).as_deref(), Some("A: <2>\nB: b: c"));
    // An element is removed with its tree and its line, so that the rest stays.
    let add = PlanEdit::Add { list: "0".to_owned(), index: 1, kind: "Thread Group".to_owned() };
    let added = edited(&plan, add).expect("an element");
    let removed = edited(&added, PlanEdit::Remove { paths: vec!["0.1".to_owned()] }).expect("it");
    assert_eq!(removed.text, plan.text);
}

#[test]
fn a_raw_body_of_jmeter_is_one_value() {
    let text = "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"/><hashTree><HTTPSamplerProxy testname=\"s\"><elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\"><elementProp name=\"\" elementType=\"HTTPArgument\"><stringProp name=\"Argument.value\">{\n  1\n}</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy><hashTree/></hashTree></hashTree></jmeterTestPlan>";
    let plan = jmx(text);
    let fields = form(&plan, "0.0").fields;
    let body = fields.iter().find(|field| field.name == "Body Data").expect("a body");
    assert_eq!((body.form, body.value.as_deref()), (FieldForm::Lines, Some("{\n  1\n}")));
    let set = PlanEdit::Set { path: body.path.clone(), value: "{\n  <2>: x\n}".to_owned() };
    let changed = edited(&plan, set).expect("a value");
    assert_eq!(changed.text, text.replace("{\n  1\n}", "{\n  &lt;2&gt;: x\n}"));
    // Parameters with several lines have no place in a list of lines.
    let named = text.replace(
        "name=\"Argument.value\"",
        "name=\"Argument.name\">n</stringProp><stringProp name=\"Argument.value\"",
    );
    let plan = jmx(&named);
    let fields = form(&plan, "0.0").fields;
    let parameters = fields.iter().find(|field| field.name == "Parameters").expect("parameters");
    assert!(parameters.cut);
    let set = PlanEdit::Set { path: parameters.path.clone(), value: "a: b".to_owned() };
    assert!(edited(&plan, set).is_err());
    let many = PlanEdit::Remove { paths: vec!["0.0".to_owned(); 300] };
    assert!(apply("p.jmx", &plan.text, &[many], &FORMATS).is_err());
}

#[test]
fn a_deep_plan_has_a_tree_of_bounded_depth() {
    let text = format!(
        "<jmeterTestPlan>{}{}</jmeterTestPlan>",
        "<hashTree><G/>".repeat(5000),
        "</hashTree>".repeat(5000)
    );
    let plan = jmx(&text);
    assert_eq!(all_elements(&plan).len(), 100);
    assert!(form(&plan, &vec!["0"; 300].join(".")).fields.len() == 1);
}

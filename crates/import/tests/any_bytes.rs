//! Inputs of arbitrary bytes: each format reads or refuses them. What becomes a plan is one that can be read.

use brunt_import::{Format, Options, import};
use brunt_spec::plan::{Draft, PlanInputs};
use brunt_tests::inputs::{corpus, survives};
use std::collections::BTreeMap;

#[test]
fn any_input_becomes_a_plan_or_is_refused() {
    let options = Options { file: "input".into(), think: true, resources: true, ..Options::default() };
    survives("import", corpus("import"), 1500, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for format in Format::ALL {
            let Ok(plan) = import(format, &text, &options) else { continue };
            let draft = Draft::parse(&plan, "plan.yaml", &[]).unwrap_or_else(|error| panic!("{error}\n{plan}"));
            let ports = BTreeMap::new();
            let given =
                PlanInputs { ports: &ports, dir: "/tmp/d", plan_dir: "/plans", environment: &|_| Some("x".into()) };
            draft.resolve(given, "plan").unwrap_or_else(|error| panic!("{error}\n{plan}"));
        }
    });
}

//! Arbitrary text as a plan file: resolved, or refused with a place.

#![no_main]

use brunt_spec::plan::{FillInputs, PlanTree};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fuzz_target!(|text: &str| {
    let Ok(draft) = PlanTree::parse(text, "plan.yaml", &[]) else { return };
    let ports: BTreeMap<String, u16> =
        draft.ports().unwrap_or_default().into_iter().zip(4711..).collect();
    let given = FillInputs {
        ports: &ports,
        dir: "/tmp/d",
        plan_dir: "/plans",
        environment: &|_| Some("x".into()),
    };
    let _ = draft.resolve(given, "plan");
});

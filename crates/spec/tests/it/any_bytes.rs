//! Plan files and URL files of arbitrary bytes: they are read or refused.

use brunt_spec::plan::{FillInputs, PlanTree};
use brunt_spec::words::urls;
use brunt_tests::inputs::{corpus, survives};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn any_plan_file_is_parsed_or_refused() {
    survives("plan", corpus("plan"), 1500, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(draft) = PlanTree::parse(&text, "plan.yaml", &[]) else { return };
        let ports = draft.ports().unwrap_or_default();
        let ports: BTreeMap<String, u16> = ports.into_iter().zip(4711..).collect();
        let given = FillInputs {
            ports: &ports,
            dir: "/tmp/d",
            plan_dir: "/plans",
            environment: &|_| Some("x".into()),
        };
        let _ = draft.resolve(given, "plan");
    });
}

#[test]
fn any_url_file_is_parsed_or_refused() {
    survives("urls", corpus("urls"), 3000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        // Files of data are not read: random names could be those of devices.
        if !text.contains('<') {
            let _ = urls::parse(&text, Path::new("urls.txt"), Some("http://127.0.0.1/"));
        }
    });
}

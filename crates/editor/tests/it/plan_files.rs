//! Edits of plan files.

use crate::random_edits::{Plan, action, all_elements, check, edited, files, form};
use brunt_editor::{PlanEdit, apply};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Plan files of the repository.
static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let files = files(Path::new(ROOT), &["examples", "dev", "crates"], &["yaml"]);
    let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    let plans = texts.map(|text| plan(&text.replace("\r\n", "\n")));
    plans.filter(|plan| plan.read().is_ok()).collect()
});

fn plan(text: &str) -> Plan {
    Plan { file: "plan.yaml".to_owned(), text: text.to_owned(), formats: &[] }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn edits_change_nothing_else(action in action()) {
        check(&PLANS, &action);
    }
}

/// Each kind that can be added is a valid part of a plan.
#[test]
fn each_kind_of_step_can_be_added() {
    let text = "scenario:\n  base: http://127.0.0.1:8080\n  steps:\n  # home\n  - get: /\n    name: home\nload: {users: 2}\n";
    let plan = plan(text);
    let lists = form(&plan, "scenario").lists;
    let steps = lists.iter().find(|list| list.path == "scenario.steps").expect("steps");
    assert!(steps.kinds.len() > 30, "{:?}", steps.kinds);
    for kind in &steps.kinds {
        assert!(!kind.about.is_empty(), "{kind:?}");
        for index in 0..2 {
            let list = steps.path.clone();
            let added = edited(&plan, PlanEdit::Add { list, index, kind: kind.name.clone() });
            let added = added.expect("a step");
            let element = &all_elements(&added)[2 + index];
            assert_eq!(element.kind, kind.name, "{}", added.text);
            assert!(
                added.text.contains("  # home\n  - get: /\n    name: home\n"),
                "{}",
                added.text
            );
        }
    }
}

#[test]
fn comments_move_with_their_steps() {
    let text = "scenario:\n  steps:\n  # a\n  - get: /a   # first\n  # b\n  # and more\n  - post: /b\n    body: |\n      x\n\n      y\n  - transaction: t\n    steps: []\n";
    let plan = plan(text);
    let moved = |path: &str, list: &str, index| {
        let edit = PlanEdit::Move { paths: vec![path.to_owned()], list: list.to_owned(), index };
        edited(&plan, edit).expect("a move").text
    };
    assert_eq!(
        moved("scenario.steps[1]", "scenario.steps", 0),
        "scenario:\n  steps:\n  # b\n  # and more\n  - post: /b\n    body: |\n      x\n\n      y\n  # a\n  - get: /a   # first\n  - transaction: t\n    steps: []\n"
    );
    assert_eq!(
        moved("scenario.steps[1]", "scenario.steps[2].steps", 0),
        "scenario:\n  steps:\n  # a\n  - get: /a   # first\n  - transaction: t\n    steps:\n    # b\n    # and more\n    - post: /b\n      body: |\n        x\n\n        y\n"
    );
    let paths = vec!["scenario.steps[0]".to_owned(), "scenario.steps[1]".to_owned()];
    let both = PlanEdit::Move { paths, list: "scenario.steps".to_owned(), index: 3 };
    let both = apply("plan.yaml", text, &[both], &[]).expect("a move");
    assert_eq!(both.select, ["scenario.steps[1]", "scenario.steps[2]"]);
    assert!(
        both.text.starts_with(
            "scenario:\n  steps:\n  - transaction: t\n    steps: []\n  # a\n  - get: /a"
        ),
        "{}",
        both.text
    );
}

#[test]
fn parts_can_be_added_and_renamed() {
    let mut plan = plan("# a plan\nload: {users: 2}\n");
    for kind in ["scenario", "populations", "setup", "probes"] {
        let add = PlanEdit::Add { list: String::new(), index: 0, kind: kind.to_owned() };
        plan = edited(&plan, add).expect("a part");
    }
    let set =
        |path: &str, value: &str| PlanEdit::Set { path: path.to_owned(), value: value.to_owned() };
    plan = edited(&plan, set("@populations.users", "buyers")).expect("a name");
    let list = "populations.buyers".to_owned();
    let add = PlanEdit::Add { list, index: 0, kind: "load".to_owned() };
    plan = edited(&plan, add).expect("a section");
    plan = edited(&plan, set("populations.buyers.load.users", "3")).expect("a value");
    assert!(plan.text.starts_with("# a plan\nload: {users: 2}\n"), "{}", plan.text);
    let titles: Vec<String> = all_elements(&plan).into_iter().map(|one| one.path).collect();
    assert!(titles.contains(&"populations.buyers".to_owned()), "{titles:?}");
    let wrong = edited(&plan, set("@populations.buyers", "")).map(|plan| plan.text);
    assert!(wrong.is_err(), "{wrong:?}");
}

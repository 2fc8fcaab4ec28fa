//! Random edits of plan files and of plans of JMeter from the repository.

use brunt_editor::element::{Field, FieldForm};
use brunt_editor::{Element, ElementForm, PlanEdit, PlanText, apply, is_jmx};
use brunt_import::jmx::{JmxOptions, read};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A plan: the name of its file, and its text.
#[derive(Debug, Clone)]
struct Plan {
    file: String,
    text: String,
}

/// Plans of the repository, and plan files that are imported from those of JMeter.
static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let mut files = Vec::new();
    for folder in ["examples", "dev", "crates"] {
        collect(&Path::new(ROOT).join(folder), &mut files);
    }
    files.sort();
    let mut plans = Vec::new();
    for path in files {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let text = text.replace("\r\n", "\n");
        let file = path.display().to_string();
        if is_jmx(&file) {
            let imported = read(text.as_bytes(), &JmxOptions::default());
            let plan = imported.ok().map(|imported| imported.plan);
            plans.extend(plan.map(|text| Plan { file: format!("{file}.yaml"), text }));
        }
        plans.push(Plan { file, text });
    }
    plans.retain(|plan| PlanText::read(&plan.file, &plan.text).is_ok());
    plans
});

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| ["yaml", "jmx"].iter().any(|one| end == *one))
        {
            files.push(path);
        }
    }
}

fn elements(element: &Element, all: &mut Vec<Element>) {
    all.push(element.clone());
    for child in &element.children {
        elements(child, all);
    }
}

fn all_elements(plan: &Plan) -> Vec<Element> {
    let text = PlanText::read(&plan.file, &plan.text).unwrap_or_else(|error| {
        panic!("{}: {error}\n{}", plan.file, plan.text);
    });
    let mut all = Vec::new();
    elements(&text.tree(), &mut all);
    all
}

fn form(plan: &Plan, path: &str) -> ElementForm {
    let text = PlanText::read(&plan.file, &plan.text).expect("a plan");
    text.form(path).unwrap_or_else(|| panic!("{path}\n{}", plan.text))
}

/// Kinds and titles of all elements, without their order.
fn inventory(plan: &Plan) -> Vec<(String, String)> {
    let all = all_elements(plan).into_iter();
    let mut inventory: Vec<(String, String)> = all.map(|one| (one.kind, one.title)).collect();
    inventory.sort();
    inventory
}

fn edited(plan: &Plan, edit: PlanEdit) -> Result<Plan, String> {
    let edited = apply(&plan.file, &plan.text, &[edit]).map_err(|error| error.to_string())?;
    Ok(Plan { file: plan.file.clone(), text: edited.text })
}

/// Nothing before the first and nothing after the last of these lines has changed. Lines count from 1.
fn assert_rest(before: &str, after: &str, first: usize, last: usize) {
    let lines: Vec<&str> = before.split('\n').collect();
    let head = lines[..first.saturating_sub(1)].join("\n");
    let tail = lines[last.min(lines.len())..].join("\n");
    assert!(after.starts_with(&head), "{head}\n---\n{after}");
    assert!(after.ends_with(&tail), "{tail}\n---\n{after}");
}

/// Sets a field to its present value, to another one, and back.
fn check_set(plan: &Plan, element: &Element, field: &Field, text: &str) {
    let set = |plan: &Plan, value: &str| {
        edited(plan, PlanEdit::Set { path: field.path.clone(), value: value.to_owned() })
    };
    if field.cut {
        return;
    }
    let has_alias = plan.text.contains('*') && plan.text.contains('&');
    let present = field.value.clone().unwrap_or_default();
    match set(plan, &present) {
        Ok(same) if field.value.is_some() => {
            assert_eq!(same.text, plan.text, "{} of {}", field.name, element.path);
        }
        Ok(_) => {}
        Err(error) => assert!(has_alias, "{error}: {}\n{}", field.path, plan.text),
    }
    let value = match field.form {
        FieldForm::Text | FieldForm::Lines | FieldForm::List => text.replace('\n', " "),
        FieldForm::Number => "7".to_owned(),
        FieldForm::Switch => "true".to_owned(),
        FieldForm::Choice => field.words[0].clone(),
        FieldForm::Pairs => format!("name: {}", text.replace('\n', " ")),
        FieldForm::Yaml => "{a: [1, two]}".to_owned(),
    };
    // Spaces around a value are no part of a word, and a name must be free.
    if value.trim() != value || value.is_empty() || field.path.starts_with('@') {
        return;
    }
    let Ok(changed) = set(plan, &value) else { return };
    assert_rest(&plan.text, &changed.text, element.line, element.end_line);
    // Another key can make another kind of the element, which has another form.
    if field.required || field.form == FieldForm::Yaml {
        return;
    }
    let again = form(&changed, &element.path);
    let new = again.fields.iter().find(|known| known.path == field.path);
    let new = new.unwrap_or_else(|| panic!("{}\n{}", field.path, changed.text));
    assert_eq!(new.value.as_deref(), Some(value.as_str()), "{}\n{}", field.path, changed.text);
}

/// A random action on a random element.
#[derive(Debug, Clone)]
struct Action {
    plan: Index,
    element: Index,
    other: Index,
    field: Index,
    text: String,
    kind: u8,
}

fn action() -> impl Strategy<Value = Action> {
    let text = prop_oneof![
        "[a-z]{1,8}",
        "[ -~]{1,12}",
        Just("<a href=\"x\">&amp;</a>".to_owned()),
        Just("${name} é 😀 # no comment: yes".to_owned()),
        Just("true".to_owned()),
    ];
    (any::<Index>(), any::<Index>(), any::<Index>(), any::<Index>(), text, 0..6_u8).prop_map(
        |(plan, element, other, field, text, kind)| Action {
            plan,
            element,
            other,
            field,
            text,
            kind,
        },
    )
}

fn check(action: &Action) {
    let plan = &PLANS[action.plan.index(PLANS.len())];
    let all = all_elements(plan);
    let element = &all[action.element.index(all.len())];
    assert!(element.line >= 1 && element.line <= element.end_line, "{element:?}");
    let form = form(plan, &element.path);
    let listed: Vec<&Element> = all.iter().filter(|one| one.list.is_some()).collect();
    match action.kind {
        0 | 1 if !form.fields.is_empty() => {
            check_set(
                plan,
                element,
                &form.fields[action.field.index(form.fields.len())],
                &action.text,
            );
        }
        2 if element.list.is_some() => {
            let paths = vec![element.path.clone()];
            let disabled = edited(plan, PlanEdit::Enable { paths: paths.clone(), enabled: false });
            let Ok(disabled) = disabled else { return };
            let is_enabled = |plan: &Plan| {
                all_elements(plan)
                    .into_iter()
                    .find(|one| one.path == element.path)
                    .expect("it")
                    .enabled
            };
            assert!(!is_enabled(&disabled), "{}", disabled.text);
            let enabled =
                edited(&disabled, PlanEdit::Enable { paths, enabled: true }).expect("a plan");
            assert!(is_enabled(&enabled));
            if element.enabled {
                assert_eq!(inventory(&enabled), inventory(plan));
                assert_rest(&plan.text, &enabled.text, element.line, element.end_line);
            }
        }
        3 if !form.lists.is_empty() => {
            let addition = &form.lists[action.field.index(form.lists.len())];
            let kind = &addition.kinds[action.other.index(addition.kinds.len())];
            let add = PlanEdit::Add {
                list: addition.path.clone(),
                index: addition.index,
                kind: kind.name.clone(),
            };
            let added = apply(&plan.file, &plan.text, &[add]);
            let has_alias = plan.text.contains('*') && plan.text.contains('&');
            let added = match added {
                Ok(added) => added,
                Err(error) => {
                    assert!(has_alias, "{error}: {addition:?}\n{}", plan.text);
                    return;
                }
            };
            let after = Plan { file: plan.file.clone(), text: added.text };
            let [path] = &added.select[..] else { panic!("{:?}", added.select) };
            assert!(
                all_elements(&after).iter().any(|one| one.path == *path),
                "{path}\n{}",
                after.text
            );
            let removed = edited(&after, PlanEdit::Remove { paths: vec![path.clone()] });
            let removed = removed.unwrap_or_else(|error| panic!("{error}\n{}", after.text));
            if is_jmx(&plan.file) {
                assert_eq!(inventory(&removed), inventory(plan));
            }
        }
        4 | 5 if !listed.is_empty() => {
            let moved = listed[action.element.index(listed.len())];
            let lists =
                all.iter().flat_map(|one| &one.lists).filter(|list| list.r#type == moved.r#type);
            let lists: Vec<_> = lists.collect();
            let list = lists[action.other.index(lists.len())];
            let inside = |one: &&Element| one.list.as_deref() == Some(&list.path);
            let index = action.field.index(all.iter().filter(inside).count() + 1);
            let paths = vec![moved.path.clone()];
            let list = list.path.clone();
            let is_move = action.kind == 4;
            let edit = if is_move {
                PlanEdit::Move { paths, list, index }
            } else {
                PlanEdit::Copy { paths, list, index }
            };
            let Ok(result) = apply(&plan.file, &plan.text, &[edit]) else { return };
            let after = Plan { file: plan.file.clone(), text: result.text };
            let [path] = &result.select[..] else { panic!("{:?}", result.select) };
            let all = all_elements(&after);
            let found = all.iter().find(|one| one.path == *path);
            let found = found.unwrap_or_else(|| panic!("{path}\n{}", after.text));
            assert_eq!((&found.kind, &found.title), (&moved.kind, &moved.title), "{}", after.text);
            if is_move {
                assert_eq!(
                    inventory(&after),
                    inventory(plan),
                    "{}\n---\n{}",
                    plan.text,
                    after.text
                );
                let comments = |text: &str| text.matches("# ").count();
                assert_eq!(comments(&after.text), comments(&plan.text), "{}", after.text);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn edits_change_nothing_else(action in action()) {
        check(&action);
    }
}

/// Each kind that can be added is a valid part of a plan.
#[test]
fn each_kind_of_step_can_be_added() {
    let text = "scenario:\n  base: http://127.0.0.1:8080\n  steps:\n  # home\n  - get: /\n    name: home\nload: {users: 2}\n";
    let plan = Plan { file: "plan.yaml".to_owned(), text: text.to_owned() };
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
    let plan = Plan { file: "plan.yaml".to_owned(), text: text.to_owned() };
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
    let both = apply("plan.yaml", text, &[both]).expect("a move");
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
    let mut plan =
        Plan { file: "p.yaml".to_owned(), text: "# a plan\nload: {users: 2}\n".to_owned() };
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

#[test]
fn properties_of_jmeter_keep_what_is_not_edited() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\">\n  <hashTree>\n    <TestPlan testname=\"p\"/>\n    <hashTree>\n      <HeaderManager testname=\"h\" enabled=\"true\">\n        <collectionProp name=\"HeaderManager.headers\">\n          <elementProp name=\"A\" elementType=\"Header\">\n            <stringProp name=\"Header.name\">A</stringProp>\n            <stringProp name=\"Header.value\">1</stringProp>\n            <x:unknown/>\n          </elementProp>\n        </collectionProp>\n      </HeaderManager>\n      <hashTree/>\n    </hashTree>\n  </hashTree>\n</jmeterTestPlan>\n";
    let plan = Plan { file: "p.jmx".to_owned(), text: text.to_owned() };
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
    let plan = Plan { file: "p.jmx".to_owned(), text: text.to_owned() };
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
    let plan = Plan { file: "p.jmx".to_owned(), text: named };
    let fields = form(&plan, "0.0").fields;
    let parameters = fields.iter().find(|field| field.name == "Parameters").expect("parameters");
    assert!(parameters.cut);
    let set = PlanEdit::Set { path: parameters.path.clone(), value: "a: b".to_owned() };
    assert!(edited(&plan, set).is_err());
    let many = PlanEdit::Remove { paths: vec!["0.0".to_owned(); 300] };
    assert!(apply("p.jmx", &plan.text, &[many]).is_err());
}

#[test]
fn a_deep_plan_has_a_tree_of_bounded_depth() {
    let text = format!(
        "<jmeterTestPlan>{}{}</jmeterTestPlan>",
        "<hashTree><G/>".repeat(5000),
        "</hashTree>".repeat(5000)
    );
    let plan = Plan { file: "deep.jmx".to_owned(), text };
    assert_eq!(all_elements(&plan).len(), 100);
    assert!(form(&plan, &vec!["0"; 300].join(".")).fields.len() == 1);
}

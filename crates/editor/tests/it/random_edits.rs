//! Random edits of plans of any format, with the properties that hold for all of them.

use brunt_editor::element::{Field, FieldForm};
use brunt_editor::{
    EditError, EditedText, Element, ElementForm, PlanEdit, PlanFormat, PlanText, apply,
};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::{Path, PathBuf};

/// A plan: the name of its file, its text, and the formats other than plan files.
#[derive(Debug, Clone)]
pub struct Plan {
    pub file: String,
    pub text: String,
    pub formats: &'static [PlanFormat],
}

impl Plan {
    pub fn read(&self) -> Result<PlanText, EditError> {
        PlanText::read(&self.file, &self.text, self.formats)
    }

    fn apply(&self, edit: PlanEdit) -> Result<EditedText, EditError> {
        apply(&self.file, &self.text, &[edit], self.formats)
    }

    fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }
}

/// Files with one of these endings, in order.
pub fn files(root: &Path, folders: &[&str], endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders {
        collect(&root.join(folder), endings, &mut files);
    }
    files.sort();
    files
}

fn collect(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, endings, files);
        } else if path.extension().is_some_and(|end| endings.iter().any(|one| end == *one)) {
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

pub fn all_elements(plan: &Plan) -> Vec<Element> {
    let text = plan.read().unwrap_or_else(|error| {
        panic!("{}: {error}\n{}", plan.file, plan.text);
    });
    let mut all = Vec::new();
    elements(&text.tree(), &mut all);
    all
}

pub fn form(plan: &Plan, path: &str) -> ElementForm {
    let text = plan.read().expect("a plan");
    text.form(path).unwrap_or_else(|| panic!("{path}\n{}", plan.text))
}

/// Kinds and titles of all elements, without their order.
fn inventory(plan: &Plan) -> Vec<(String, String)> {
    let all = all_elements(plan).into_iter();
    let mut inventory: Vec<(String, String)> = all.map(|one| (one.kind, one.title)).collect();
    inventory.sort();
    inventory
}

pub fn edited(plan: &Plan, edit: PlanEdit) -> Result<Plan, String> {
    let edited = plan.apply(edit).map_err(|error| error.to_string())?;
    Ok(plan.with_text(edited.text))
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
pub struct Action {
    plan: Index,
    element: Index,
    other: Index,
    field: Index,
    text: String,
    kind: u8,
}

pub fn action() -> impl Strategy<Value = Action> {
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

pub fn check(plans: &[Plan], action: &Action) {
    let plan = &plans[action.plan.index(plans.len())];
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
            let added = plan.apply(add);
            let has_alias = plan.text.contains('*') && plan.text.contains('&');
            let added = match added {
                Ok(added) => added,
                Err(error) => {
                    assert!(has_alias, "{error}: {addition:?}\n{}", plan.text);
                    return;
                }
            };
            let after = plan.with_text(added.text);
            let [path] = &added.select[..] else { panic!("{:?}", added.select) };
            assert!(
                all_elements(&after).iter().any(|one| one.path == *path),
                "{path}\n{}",
                after.text
            );
            let removed = edited(&after, PlanEdit::Remove { paths: vec![path.clone()] });
            let removed = removed.unwrap_or_else(|error| panic!("{error}\n{}", after.text));
            if plan.formats.iter().any(|format| format.has_file(&plan.file)) {
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
            let Ok(result) = plan.apply(edit) else { return };
            let after = plan.with_text(result.text);
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

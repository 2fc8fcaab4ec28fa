//! Random edits of plan files: those of the repository, those that are imported, and generated ones in all forms of YAML.

use brunt_import::jmx::{self, JmxOptions};
use brunt_import::{ImportFormat, ImportOptions, import};
use brunt_spec::System;
use brunt_spec::plan::{PlanNode, PlanValue, Yaml, edit, parse};
use brunt_tests::schema::SchemaValidator;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A value of a plan: its path, its text if it is a single value, and the first line of its key.
#[derive(Debug, Clone, PartialEq)]
struct Leaf {
    path: String,
    text: String,
    line: usize,
}

/// What a random edit does.
#[derive(Debug, Clone)]
struct Edit {
    at: Index,
    /// None: it removes the value.
    value: Option<Tree>,
    /// The value is added to the list or map at the path, not put in its place.
    is_addition: bool,
}

#[derive(Debug, Clone)]
enum Tree {
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    fn yaml(&self) -> Yaml {
        match self {
            Self::Text(text) => Yaml::text(text),
            Self::List(items) => Yaml::List(items.iter().map(Self::yaml).collect()),
            Self::Map(entries) => {
                Yaml::Map(entries.iter().map(|(key, value)| (key.clone(), value.yaml())).collect())
            }
        }
    }
}

fn line(position: &impl ToString) -> usize {
    position.to_string().rsplit(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0)
}

/// All values in the order of the file, lists and maps before their members.
fn leaves(node: &PlanNode, path: &str, at: usize, out: &mut Vec<Leaf>) {
    let (text, members): (String, Vec<(String, usize, &PlanNode)>) = match &node.value {
        PlanValue::Null => ("null".into(), Vec::new()),
        PlanValue::Text { text, .. } => (format!("={text}"), Vec::new()),
        PlanValue::List(nodes) => {
            let items = nodes
                .iter()
                .enumerate()
                .map(|(index, node)| (format!("{path}[{index}]"), line(&node.at), node));
            ("[]".into(), items.collect())
        }
        PlanValue::Map(entries) => {
            let entries = entries.iter().map(|entry| {
                let is_simple = entry.key.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && !entry.key.is_empty();
                let key = match (is_simple, path) {
                    (false, _) => format!("{path}[\"{}\"]", entry.key),
                    (true, "") => entry.key.clone(),
                    (true, _) => format!("{path}.{}", entry.key),
                };
                (key, line(&entry.at), &entry.node)
            });
            ("{}".into(), entries.collect())
        }
    };
    if !path.is_empty() {
        out.push(Leaf { path: path.to_owned(), text, line: at });
    }
    for (path, at, node) in members {
        leaves(node, &path, at, out);
    }
}

fn all(text: &str) -> Vec<Leaf> {
    let mut out = Vec::new();
    leaves(&parse(text, "p").unwrap_or_else(|error| panic!("{error}\n{text}")), "", 0, &mut out);
    out
}

fn texts(leaves: &[Leaf]) -> Vec<(&str, &str)> {
    leaves.iter().map(|leaf| (leaf.path.as_str(), leaf.text.as_str())).collect()
}

/// The node at a path that `leaves` made.
fn node<'n>(root: &'n PlanNode, wanted: &str, path: &str) -> Option<&'n PlanNode> {
    let mut below = Vec::new();
    match &root.value {
        PlanValue::List(nodes) => {
            below.extend(
                nodes.iter().enumerate().map(|(index, node)| (format!("{path}[{index}]"), node)),
            );
        }
        PlanValue::Map(entries) => {
            let mut found = Vec::new();
            leaves(root, path, 0, &mut found);
            for entry in entries {
                let simple = if path.is_empty() {
                    entry.key.clone()
                } else {
                    format!("{path}.{}", entry.key)
                };
                let quoted = format!("{path}[\"{}\"]", entry.key);
                below.push((
                    if found.iter().any(|leaf| leaf.path == simple) { simple } else { quoted },
                    &entry.node,
                ));
            }
        }
        PlanValue::Null | PlanValue::Text { .. } => {}
    }
    below.into_iter().find_map(|(path, child)| {
        if path == wanted {
            Some(child)
        } else if wanted.starts_with(&path) {
            node(child, wanted, &path)
        } else {
            None
        }
    })
}

fn is_below(path: &str, parent: &str) -> bool {
    path == parent || path.strip_prefix(parent).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Makes an edit, and checks that nothing else changes. Returns false if it was refused.
fn check(text: &str, change: &Edit) -> bool {
    let before = all(text);
    if before.is_empty() {
        return false;
    }
    let index = change.at.index(before.len());
    let leaf = &before[index];
    let root = parse(text, "p").expect("a plan");
    let present = Yaml::from(
        node(&root, &leaf.path, "").unwrap_or_else(|| panic!("{} in\n{text}", leaf.path)),
    );
    assert_eq!(
        edit(text, "p", &leaf.path, Some(&present)).expect("an edit"),
        text,
        "the present value of {}",
        leaf.path
    );

    let subtree =
        before[index..].iter().take_while(|other| is_below(&other.path, &leaf.path)).count();
    let (path, replaced) = match (&change.value, change.is_addition, leaf.text.as_str()) {
        (Some(_), true, "[]") => {
            let items = before.iter().filter(|other| {
                other.path.strip_prefix(&leaf.path).is_some_and(|rest| {
                    rest.starts_with('[')
                        && rest.ends_with(']')
                        && !rest[1..].contains(['[', '.'])
                        && !rest.contains('"')
                })
            });
            (format!("{}[{}]", leaf.path, items.count()), index + subtree..index + subtree)
        }
        (Some(_), true, "{}") => (format!("{}.added", leaf.path), index + subtree..index + subtree),
        _ => (leaf.path.clone(), index..index + subtree),
    };
    let value = change.value.as_ref().map(Tree::yaml);
    let edited = match edit(text, "p", &path, value.as_ref()) {
        Ok(edited) => edited,
        Err(error) => {
            let is_shared = text.contains('*') && text.contains('&');
            assert!(is_shared, "{error}\n{path}: {value:?}\n{text}");
            return false;
        }
    };
    let after = all(&edited);
    // The same tree with the one value changed. Items after a removed one have other indexes.
    let added: Vec<Leaf> =
        after.iter().filter(|other| is_below(&other.path, &path)).cloned().collect();
    if let Some(value) = &value {
        let mut expected = before.clone();
        expected.splice(replaced.clone(), added.clone());
        assert_eq!(texts(&after), texts(&expected), "{path}: {value:?}\n{text}\n---\n{edited}");
        let alone = all(&Yaml::Map(vec![("v".into(), value.clone())]).write());
        let as_alone: Vec<_> = added
            .iter()
            .map(|leaf| (leaf.path.replacen(&path, "v", 1), leaf.text.clone()))
            .collect();
        let alone: Vec<_> = alone.into_iter().map(|leaf| (leaf.path, leaf.text)).collect();
        assert_eq!(as_alone, alone, "{path}\n{edited}");
    } else {
        let rest: Vec<&str> = before[..index]
            .iter()
            .chain(&before[replaced.end..])
            .map(|leaf| leaf.text.as_str())
            .collect();
        assert_eq!(
            after.iter().map(|leaf| leaf.text.as_str()).collect::<Vec<_>>(),
            rest,
            "{path}\n{text}\n---\n{edited}"
        );
    }
    check_text(text, &edited, &before, &replaced);
    if value.is_some() && replaced.end > replaced.start {
        let again = edit(&edited, "p", &path, Some(&present))
            .unwrap_or_else(|error| panic!("{error}\n{edited}"));
        assert_eq!(texts(&all(&again)), texts(&before), "{path}\n{edited}\n---\n{again}");
    }
    true
}

/// The lines before the value's first line and from the next value's line on are the same bytes.
fn check_text(text: &str, edited: &str, before: &[Leaf], replaced: &std::ops::Range<usize>) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // The lines of items are those of their values, which may be below the dash.
    if let Some(last) = before[..replaced.start].iter().rfind(|leaf| !leaf.path.ends_with(']')) {
        // The line of a key changes with its only member, and that of a list or map in brackets with any.
        let is_below_it = before.get(replaced.start).is_some_and(|leaf| {
            !replaced.is_empty() && leaf.line > last.line && !is_below(&leaf.path, &last.path)
        });
        let head: String = lines[..last.line - usize::from(!is_below_it)].concat();
        let head = head.trim_end_matches(['\r', '\n']);
        assert!(edited.starts_with(head), "HEAD {head}\n---\n{edited}");
    }
    if let Some(next) =
        before.get(replaced.end).filter(|next| next.line > before[replaced.end - 1].line)
    {
        let tail: String = lines[next.line - 1..].concat();
        // The second key of an item comes to stand at the dash where the first is removed.
        let tail = tail.trim_start_matches(' ');
        assert!(edited.ends_with(tail), "TAIL {tail}\n---\n{edited}");
    }
}

/// Plan files, and what the import makes of its inputs.
fn plans() -> Vec<String> {
    let mut plans = Vec::new();
    let files = |folder: &str, end: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(Path::new(ROOT).join(folder)).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.to_string_lossy().ends_with(end));
        files.sort();
        files
    };
    for folder in [
        "examples",
        "dev/fuzz/corpus/plan",
        "dev/bench/scenarios",
        "crates/spec/src/plan/tests",
        "crates/cli/src/plan_file",
    ] {
        plans.extend(
            files(folder, ".yaml").iter().map(|file| fs::read_to_string(file).expect("a plan")),
        );
    }
    for folder in files("../shared/jmx", "").into_iter().chain([]) {
        plans.extend(jmx_plan(&folder.join("plan.jmx")));
    }
    plans.extend(files("dev/tests/data/jmeter", ".jmx").iter().filter_map(|file| jmx_plan(file)));
    let inputs = [
        (ImportFormat::Curl, "curl.txt"),
        (ImportFormat::Har, "shop.har"),
        (ImportFormat::Openapi, "shop.openapi.yaml"),
        (ImportFormat::Postman, "shop.postman.json"),
        (ImportFormat::Urls, "urls.txt"),
    ];
    for (format, file) in inputs {
        let text = fs::read_to_string(Path::new(ROOT).join("dev/tests/data/import").join(file))
            .expect("an input");
        plans.push(import(format, &text, &ImportOptions::default()).expect("a plan"));
    }
    plans.retain(|plan| parse(plan, "p").is_ok());
    plans
}

/// The error that a plan file is refused with.
fn refusal(plan: &str, folder: &Path) -> Option<String> {
    let file = folder.join("plan.yaml");
    fs::write(&file, plan).expect("a plan");
    let system = System {
        environment: |_| Some("secret".into()),
        languages: brunt_languages::LANGUAGES,
        ..System::bare(20_000, 2, None, 1)
    };
    brunt_spec::plan_file::load(&file, &[], "/tmp/none", &system)
        .err()
        .map(|error| error.to_string())
}

#[test]
fn valid_plans_match_the_schema() {
    let schema = brunt_spec::plan::schema();
    let validator = SchemaValidator::new(schema);
    let folder = tempfile::tempdir().expect("a folder");
    let (mut count, mut wrong) = (0, Vec::new());
    for plan in plans() {
        if refusal(&plan, folder.path()).is_some() {
            continue;
        }
        count += 1;
        let tree = brunt_spec::plan::json(&parse(&plan, "p").expect("a plan"));
        wrong.extend(validator.check(&tree).err().map(|error| format!("{error}\n{plan}")));
    }
    assert!(count > 20 && wrong.is_empty(), "{count} plans\n{}", wrong.join("\n"));
}

fn jmx_plan(file: &Path) -> Option<String> {
    let folder = file.parent()?.to_owned();
    let options = JmxOptions {
        file: "plan.jmx".into(),
        directory: folder.clone(),
        files: folder,
        ..JmxOptions::default()
    };
    jmx::read(&fs::read(file).ok()?, &options).ok().map(|import| import.plan)
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9/.]{1,8}",
        "[ -~]{0,20}",
        "(\\$\\{[a-z]{1,5}\\}|[a-zäß€ ,:#'\"\\[{]){1,6}",
        "[a-z ]{1,9}\n[a-z #:]{0,9}\n?",
        Just("-5".to_owned()),
        Just("null".to_owned()),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    word().prop_map(Tree::Text).prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Tree::List),
            proptest::collection::btree_map("[a-z]{1,6}|[A-Z]\\.[a-z -]{1,5}x", inner, 0..5)
                .prop_map(|map| Tree::Map(map.into_iter().collect())),
        ]
    })
}

fn edits() -> impl Strategy<Value = Edit> {
    (any::<Index>(), proptest::option::weighted(0.8, tree()), any::<bool>())
        .prop_map(|(at, value, is_addition)| Edit { at, value, is_addition })
}

/// Writes a tree in one of many forms, which `styles` chooses.
struct Render {
    styles: Vec<u8>,
    used: usize,
}

impl Render {
    fn style(&mut self, choices: u8) -> u8 {
        self.used += 1;
        self.styles[self.used % self.styles.len()] % choices
    }

    fn note(&mut self) -> &'static str {
        ["", "", "", "   # a note", " # [x: 'y'"][usize::from(self.style(5))]
    }

    fn flow(&mut self, tree: &Tree) -> String {
        match tree {
            Tree::Text(text) => match self.style(3) {
                0 if !text.contains(|c: char| c.is_control()) => {
                    format!("'{}'", text.replace('\'', "''"))
                }
                _ => Yaml::Map(vec![("v".into(), Yaml::List(vec![Yaml::Quoted(text.clone())]))])
                    .write()
                    .trim_start_matches("v: [")
                    .trim_end()
                    .trim_end_matches(']')
                    .to_owned(),
            },
            Tree::List(items) => {
                let comma = if self.style(3) == 0 && !items.is_empty() { " ," } else { "" };
                format!(
                    "[{}{comma}]",
                    items.iter().map(|item| self.flow(item)).collect::<Vec<_>>().join(" , ")
                )
            }
            Tree::Map(entries) => {
                let entries =
                    entries.iter().map(|(key, value)| format!("\"{key}\": {}", self.flow(value)));
                format!("{{ {}}}", entries.collect::<Vec<_>>().join(","))
            }
        }
    }

    /// The rest of the line, and the lines below it.
    fn block(&mut self, tree: &Tree, indent: usize) -> String {
        match tree {
            Tree::Text(text)
                if text.contains('\n')
                    && self.style(2) == 0
                    && text.starts_with(|c: char| c.is_alphabetic()) =>
            {
                let end = if text.ends_with('\n') { "" } else { "-" };
                let mut out = format!(" |{end}{}", self.note());
                text.lines().for_each(|line| out.extend(["\n", &" ".repeat(indent), line]));
                out + if self.style(2) == 0 { "\n\n" } else { "\n" }
            }
            Tree::Map(entries) if !entries.is_empty() && self.style(3) > 0 => {
                let mut out = format!("{}\n", self.note());
                for (key, value) in entries {
                    if self.style(4) == 0 {
                        out.extend(["\n", &" ".repeat(indent), "# About ", key, ".\n"]);
                    }
                    let deeper = indent + 1 + usize::from(self.style(4));
                    out.extend([&" ".repeat(indent), key, ":", &self.block(value, deeper)]);
                }
                out
            }
            Tree::List(items) if !items.is_empty() && self.style(3) > 0 => {
                let mut out = format!("{}\n", self.note());
                for item in items {
                    let value = self.block(item, indent + 2);
                    // A map begins beside its dash.
                    let value = match (item, value.split_once('\n')) {
                        (Tree::Map(_), Some(("", rest)))
                            if rest.starts_with(' ') && !rest.trim_start().starts_with('#') =>
                        {
                            format!(" {}", rest.trim_start())
                        }
                        _ => value,
                    };
                    out.extend([&" ".repeat(indent), "-", &value]);
                }
                out
            }
            _ => format!(" {}{}\n", self.flow(tree), self.note()),
        }
    }
}

fn generated() -> impl Strategy<Value = String> {
    let entries = proptest::collection::btree_map("[a-z]{1,6}", tree(), 1..6);
    (entries, proptest::collection::vec(any::<u8>(), 40..60), 0..3u8).prop_map(
        |(entries, styles, end)| {
            let mut render = Render { styles, used: 0 };
            let tree = Tree::Map(entries.into_iter().collect());
            let text = match render.block(&tree, 0) {
                text if text.starts_with('\n') => text[1..].to_owned(),
                text => text.trim_start().to_owned(),
            };
            match end {
                0 => text,
                1 => text.replace('\n', "\r\n"),
                _ => text.trim_end().to_owned(),
            }
        },
    )
}

#[test]
fn edits_of_plans_change_one_value() {
    let plans = plans();
    assert!(plans.len() > 40, "{} plans", plans.len());
    let edits = proptest::collection::vec(edits(), plans.len());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 12,
        ..ProptestConfig::default()
    });
    let tried = runner.run(&edits, |edits| {
        for (plan, edit) in plans.iter().zip(&edits) {
            check(plan, edit);
        }
        Ok(())
    });
    tried.unwrap_or_else(|error| panic!("{error}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn edits_of_generated_plans_change_one_value(text in generated(), edits in proptest::collection::vec(edits(), 4)) {
        prop_assume!(parse(&text, "p").is_ok());
        for edit in &edits {
            check(&text, edit);
        }
    }
}

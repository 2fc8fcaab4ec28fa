//! Finds the parts of a plan file by their paths.

use crate::item_paths::{ItemPaths, is_within};
use brunt_spec::plan::edit::Layout;
use brunt_spec::plan::parts::{ContainerForm, PlanPart};
use brunt_spec::plan::{PlanNode, PlanValue};
use std::ops::Range;

/// Paths of the items of a list.
pub const ITEMS: ItemPaths = ItemPaths { open: "[", close: "]" };

/// A part of a plan file with its place.
#[derive(Debug, Clone)]
pub struct PartPlace<'n> {
    /// Path such as `scenario.steps[0]`; empty for the whole file.
    pub path: String,
    pub part: PlanPart,
    pub node: &'n PlanNode,
    /// Key of the part, if its container is a map.
    pub name: Option<&'n str>,
    /// Path of the list that contains it, and the index there.
    pub list: Option<(String, usize)>,
    /// True if its name is free, as that of a population.
    pub has_free_name: bool,
    /// Keys and indices from the root.
    steps: Vec<PathStep<'n>>,
}

#[derive(Debug, Clone, Copy)]
enum PathStep<'n> {
    Key(&'n str),
    Index(usize),
}

impl<'n> PartPlace<'n> {
    /// The whole file, which has an empty path.
    pub fn root(node: &'n PlanNode) -> Self {
        Self {
            path: String::new(),
            part: PlanPart::Plan,
            node,
            name: None,
            list: None,
            has_free_name: false,
            steps: Vec::new(),
        }
    }

    /// The parts directly in it, in the order of the text.
    pub fn children(&self) -> Vec<Self> {
        let mut children = Vec::new();
        for container in self.part.containers(self.node) {
            let (node, key) = match self.node.entries().iter().find(|e| e.key == container.key) {
                Some(entry) => (&entry.node, Some(entry.key.as_str())),
                None => (self.node, None),
            };
            let path = join(&self.path, &container.key);
            let mut steps = self.steps.clone();
            steps.extend(key.map(PathStep::Key));
            let inner = Self {
                path,
                part: container.part,
                node,
                name: key,
                list: None,
                has_free_name: false,
                steps,
            };
            match (container.form, &node.value) {
                (ContainerForm::Single, _) => children.push(inner),
                (ContainerForm::List, PlanValue::List(items)) => {
                    let items = items.iter().enumerate();
                    children.extend(items.map(|(index, node)| inner.item(index, node)));
                }
                (ContainerForm::Map, PlanValue::Map(entries)) => {
                    children
                        .extend(entries.iter().map(|entry| inner.entry(&entry.key, &entry.node)));
                }
                // A value of another kind is an error of the plan.
                (ContainerForm::List | ContainerForm::Map, _) => {}
            }
        }
        children
    }

    fn item(&self, index: usize, node: &'n PlanNode) -> Self {
        let mut item = self.clone();
        item.path = format!("{}[{index}]", self.path);
        item.steps.push(PathStep::Index(index));
        Self { node, name: None, list: Some((self.path.clone(), index)), ..item }
    }

    fn entry(&self, key: &'n str, node: &'n PlanNode) -> Self {
        let mut entry = self.clone();
        entry.path = join(&self.path, key);
        entry.steps.push(PathStep::Key(key));
        Self { node, name: Some(key), has_free_name: true, ..entry }
    }

    /// The part at a path in it; None if there is none.
    pub fn find(self, path: &str) -> Option<Self> {
        let mut place = self;
        // Only one child can lead to the path, so the way down needs no return.
        while place.path != path {
            place = place.children().into_iter().find(|child| is_within(path, &child.path))?;
        }
        Some(place)
    }

    /// Range of its text, with its key or dash.
    pub fn range(&self, root: Option<&Layout>) -> Option<Range<usize>> {
        let mut layout = root?;
        // An item begins with its dash, and a value with its key.
        let mut start = layout.range.start;
        for step in &self.steps {
            let member = match *step {
                PathStep::Index(index) => layout.members().get(index)?,
                PathStep::Key(key) => {
                    layout.members().iter().find(|member| member.key.as_deref() == Some(key))?
                }
            };
            start = member.start;
            layout = &member.value;
        }
        Some(start..layout.range.end.max(start))
    }
}

/// The path of a key in a map.
pub fn join(path: &str, key: &str) -> String {
    match (path, key) {
        (path, "") => path.to_owned(),
        // Names with dots or brackets would be several places.
        (path, key) if key.contains(['.', '[', ']']) => format!("{path}[\"{key}\"]"),
        ("", key) => key.to_owned(),
        (path, key) => format!("{path}.{key}"),
    }
}

/// The path of the map or list around a value, and the key of the value; None for an item of a list.
pub fn split(path: &str) -> Option<(&str, &str)> {
    if let Some(rest) = path.strip_suffix("\"]") {
        let start = rest.rfind("[\"")?;
        return Some((&rest[..start], &rest[start + 2..]));
    }
    if path.ends_with(']') {
        return None;
    }
    Some(path.rsplit_once('.').unwrap_or(("", path)))
}

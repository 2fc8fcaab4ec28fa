//! Reads plan files, and edits their text.
//!
//! * `find`: elements by their paths.
//! * `fields`: values of fields.
//! * `edits`: edits of the text.

mod edits;
mod fields;
mod find;

use crate::editable_plan::EditablePlan;
use crate::element::{AddedKind, Addition, Element, ElementForm, ElementList};
use crate::plan_edit::{EditError, EditedText, PlanEdit};
use brunt_spec::plan::edit::Layout;
use brunt_spec::plan::parts::{ContainerForm, PartKind, PlanPart};
use brunt_spec::plan::{PlanNode, PlanValue, parse};
use find::{PartPlace, join};

/// Longest title of an element, in bytes.
const MAX_TITLE_BYTES: usize = 200;

/// The text of a plan file, with its tree.
#[derive(Debug)]
pub struct YamlPlan {
    file: String,
    text: String,
    root: PlanNode,
    /// Ranges of the values; None if a key is no text.
    layout: Option<Layout>,
    /// Offsets of the beginnings of lines.
    line_starts: Vec<usize>,
}

impl YamlPlan {
    /// Reads a plan file.
    pub fn read(file: &str, text: &str) -> Result<Self, EditError> {
        let root = parse(text, file)?;
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Ok(Self {
            file: file.to_owned(),
            text: text.to_owned(),
            root,
            layout: Layout::read(text),
            line_starts,
        })
    }

    /// Line of a position in the text, from 1.
    fn line(&self, position: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= position)
    }

    /// The element at a place, with all elements in it.
    fn element(&self, place: &PartPlace<'_>) -> Element {
        let children = place.children();
        let lists = place.part.containers(place.node).into_iter().filter_map(|container| {
            let path = join(&place.path, &container.key);
            (container.form == ContainerForm::List)
                .then_some(ElementList { path, r#type: container.part.noun() })
        });
        let first = place.node.at.line_and_column().0 as usize;
        let (line, end_line) = match place.range(self.layout.as_ref()) {
            Some(range) => {
                let last = range.end.saturating_sub(1).max(range.start);
                (self.line(range.start), self.line(last))
            }
            // The value of an alias has its text in another place.
            None => (first, first),
        };
        Element {
            kind: kind(place),
            title: self.title(place),
            line,
            end_line,
            enabled: is_enabled(place),
            r#type: place.part.noun(),
            list: place.list.as_ref().map(|(list, _)| list.clone()),
            index: place.list.as_ref().map_or(0, |(_, index)| *index),
            lists: lists.collect(),
            children: children.iter().map(|child| self.element(child)).collect(),
            path: place.path.clone(),
        }
    }

    fn title(&self, place: &PartPlace<'_>) -> String {
        let PartPlace { part, node, name, .. } = place;
        let title = match part {
            PlanPart::Plan if place.path.is_empty() => text_of(node, "name").or(Some(&self.file)),
            PlanPart::Step => {
                let value = part.kind_key(node).and_then(|key| text_of(node, key));
                text_of(node, "name").or(value)
            }
            // Branches without a weight have the weight 1.
            PlanPart::Branch => text_of(node, "weight").or(Some("1")),
            PlanPart::Section("script.request") => {
                node.text().or_else(|| text_of(node, "label")).or_else(|| text_of(node, "url"))
            }
            PlanPart::DataFile => node.text().or_else(|| text_of(node, "file")),
            PlanPart::Probe => {
                let key = node.entries().first().map(|entry| entry.key.as_str());
                node.text().or(key)
            }
            _ => *name,
        };
        let title = title.unwrap_or_default();
        title[..title.floor_char_boundary(MAX_TITLE_BYTES)].replace('\n', " ")
    }

    fn root_place(&self) -> PartPlace<'_> {
        PartPlace::root(&self.root)
    }
}

/// Text of a key in a map.
fn text_of<'n>(node: &'n PlanNode, key: &str) -> Option<&'n str> {
    node.child(key).and_then(PlanNode::text)
}

fn kind(place: &PartPlace<'_>) -> String {
    let key = match place.part {
        PlanPart::Stage | PlanPart::HookLevels => place.name,
        PlanPart::Section("script.request") => Some("request"),
        // A text alone is a JSONPath.
        PlanPart::Extractor if place.node.text().is_some() => Some("json"),
        part => part.kind_key(place.node),
    };
    key.unwrap_or_else(|| place.part.noun()).to_owned()
}

/// True if a part is not disabled. Only steps can be.
fn is_enabled(place: &PartPlace<'_>) -> bool {
    let text = place.node.child("enabled").and_then(PlanNode::text);
    place.part != PlanPart::Step || text != Some("false")
}

impl EditablePlan for YamlPlan {
    fn tree(&self) -> Element {
        self.element(&self.root_place())
    }

    fn form(&self, path: &str) -> Option<ElementForm> {
        let place = self.root_place().find(path)?;
        let kind = kind(&place);
        let kinds = place.part.kinds().into_iter();
        Some(ElementForm {
            path: path.to_owned(),
            title: self.title(&place),
            about: kinds.filter(|known| known.name == kind).map(|known| known.about).collect(),
            kind,
            fields: Self::fields(&place),
            lists: additions(&place),
        })
    }

    fn apply(&self, edit: &PlanEdit) -> Result<EditedText, EditError> {
        self.apply_edit(edit)
    }
}

/// The places in and after a part where other parts can be added.
fn additions(place: &PartPlace<'_>) -> Vec<Addition> {
    let mut additions: Vec<Addition> = Vec::new();
    for container in place.part.containers(place.node) {
        let path = join(&place.path, &container.key);
        let node = if container.key.is_empty() {
            Some(place.node)
        } else {
            place.node.child(&container.key)
        };
        let index = match node.map(|node| &node.value) {
            Some(PlanValue::List(items)) => items.len(),
            _ => 0,
        };
        if container.form != ContainerForm::Single {
            let name = if container.key.is_empty() { place.part.noun() } else { &container.key };
            additions.push(addition(path, index, name.to_owned(), container.part.kinds()));
        }
    }
    additions.push(addition(
        place.path.clone(),
        0,
        format!("keys of {}", place.part.noun()),
        place.part.missing(place.node),
    ));
    if let Some((list, index)) = &place.list {
        let name = format!("after this {}", place.part.noun());
        additions.push(addition(list.clone(), index + 1, name, place.part.kinds()));
    }
    additions.retain(|addition| !addition.kinds.is_empty());
    additions
}

fn addition(path: String, index: usize, name: String, kinds: Vec<PartKind>) -> Addition {
    let kinds = kinds.into_iter().map(|kind| AddedKind { name: kind.name, about: kind.about });
    Addition { path, index, name, kinds: kinds.collect() }
}

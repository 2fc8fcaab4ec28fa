//! Builds test elements with properties and children, and writes them.

use crate::document::encode_attribute;
use crate::markup::{Prop, insert};
use crate::support::ElementKind;
use std::fmt::Write;

/// A test element with its children.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    class: &'static str,
    guiclass: &'static str,
    pub(super) name: String,
    properties: Vec<Prop>,
    pub(super) children: Vec<Item>,
}

impl Item {
    /// Creates an element of a kind with properties at paths.
    pub(crate) fn of(
        kind: ElementKind,
        name: impl Into<String>,
        properties: impl IntoIterator<Item = (&'static str, Prop)>,
    ) -> Self {
        let row = kind.row();
        let class = row.classes.first().copied().unwrap_or_default();
        let guiclass = row.guiclasses.first().copied().unwrap_or_default();
        let mut all = Vec::new();
        for (path, property) in properties {
            insert(&mut all, path, property);
        }
        Self { class, guiclass, name: name.into(), properties: all, children: Vec::new() }
    }

    /// Adds a property.
    pub(super) fn with(mut self, property: Prop) -> Self {
        self.properties.push(property);
        self
    }

    /// Adds elements to the children.
    pub(super) fn over(mut self, children: Vec<Item>) -> Self {
        self.children.extend(children);
        self
    }

    /// Start tag of the element.
    fn start(&self) -> String {
        let Self { class, guiclass, .. } = self;
        let name = encode_attribute(&self.name);
        format!(
            "<{class} guiclass=\"{guiclass}\" testclass=\"{class}\" testname=\"{name}\" enabled=\"true\">"
        )
    }

    /// Its markup on one line, and an empty tree.
    pub(crate) fn markup(&self) -> String {
        let properties: String = self.properties.iter().map(Prop::markup).collect();
        format!("{}{properties}</{}>\n<hashTree/>", self.start(), self.class)
    }

    /// Appends the markup of the element and its children.
    pub(super) fn write(&self, out: &mut String, depth: usize) {
        let space = "  ".repeat(depth);
        let _ = writeln!(out, "{space}{}", self.start());
        self.properties.iter().for_each(|property| property.write(out, Some(depth + 1)));
        let _ = writeln!(out, "{space}</{}>", self.class);
        // JMeter pairs each element with a `hashTree`, even without children.
        if self.children.is_empty() {
            let _ = writeln!(out, "{space}<hashTree/>");
            return;
        }
        let _ = writeln!(out, "{space}<hashTree>");
        self.children.iter().for_each(|child| child.write(out, depth + 1));
        let _ = writeln!(out, "{space}</hashTree>");
    }
}

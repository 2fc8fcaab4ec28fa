//! Builds test elements with properties and children, and writes their markup.

use crate::document::{encode, encode_attribute};
use crate::forms;
use crate::support::ElementKind;
use std::fmt::Write;

/// A property of a test element.
#[derive(Debug, Clone)]
pub(crate) enum Prop {
    /// Tag, name and text.
    Scalar(&'static str, String, String),
    /// Nested properties: name, class and GUI class.
    Element(String, &'static str, &'static str, Vec<Prop>),
    List(String, Vec<Prop>),
}

impl Prop {
    /// A property with a text.
    pub(crate) fn text(name: &str, text: impl Into<String>) -> Self {
        Self::Scalar("stringProp", name.to_owned(), text.into())
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Scalar(_, name, _) | Self::Element(name, ..) | Self::List(name, _) => name,
        }
    }

    /// True if it has no text and no properties.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Scalar(_, _, text) => text.is_empty(),
            Self::Element(_, _, _, properties) | Self::List(_, properties) => properties.is_empty(),
        }
    }

    /// Its markup on one line.
    pub(crate) fn markup(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    /// Appends the markup: at this depth with a line for each property, or on one line.
    fn write(&self, out: &mut String, depth: Option<usize>) {
        let name = encode_attribute(self.name());
        let (start, end, properties) = match self {
            Self::Scalar(tag, _, text) => {
                let markup = format!("<{tag} name=\"{name}\">{}</{tag}>", encode(text));
                return line(out, depth, &markup);
            }
            Self::Element(_, class, guiclass, properties) => {
                let start = element_start(self.name(), class, guiclass);
                (start, "</elementProp>", properties)
            }
            Self::List(_, properties) => {
                (format!("<collectionProp name=\"{name}\">"), "</collectionProp>", properties)
            }
        };
        line(out, depth, &start);
        properties.iter().for_each(|property| property.write(out, depth.map(|depth| depth + 1)));
        line(out, depth, end);
    }
}

/// Start tag of a property that is an element.
pub(crate) fn element_start(name: &str, class: &str, guiclass: &str) -> String {
    let name = encode_attribute(name);
    let form = if guiclass.is_empty() {
        String::new()
    } else {
        format!(" guiclass=\"{guiclass}\" testclass=\"{class}\" enabled=\"true\"")
    };
    format!("<elementProp name=\"{name}\" elementType=\"{class}\"{form}>")
}

/// Appends markup, as a line if there is a depth.
fn line(out: &mut String, depth: Option<usize>, markup: &str) {
    match depth {
        Some(depth) => _ = writeln!(out, "{}{markup}", "  ".repeat(depth)),
        None => out.push_str(markup),
    }
}

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

/// Inserts a property into the elements at its path, and adds those that are missing.
fn insert(properties: &mut Vec<Prop>, path: &str, property: Prop) {
    let Some((outer, rest)) = path.split_once('/') else { return properties.push(property) };
    if !properties.iter().any(|one| one.name() == outer) {
        let element = forms::inner_element(outer).map(|(name, class, guiclass)| {
            Prop::Element(name.to_owned(), class, guiclass, Vec::new())
        });
        properties.extend(element);
    }
    if let Some(Prop::Element(_, _, _, inner)) =
        properties.iter_mut().find(|one| one.name() == outer)
    {
        insert(inner, rest, property);
    }
}

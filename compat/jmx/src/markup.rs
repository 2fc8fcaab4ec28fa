//! Builds properties of test elements, and writes their markup.

use crate::document::{encode, encode_attribute};
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
    pub(crate) fn write(&self, out: &mut String, depth: Option<usize>) {
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
        for property in properties {
            property.write(out, depth.map(|depth| depth + 1));
        }
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

/// Elements within the properties of others: name, class, class of the form.
const INNER: [(&str, &str, &str); 8] = [
    ("ThreadGroup.main_controller", "LoopController", "LoopControlPanel"),
    ("HTTPsampler.Arguments", "Arguments", "HTTPArgumentsPanel"),
    ("HTTPsampler.Files", "HTTPFileArgs", ""),
    ("TestPlan.user_defined_variables", "Arguments", "ArgumentsPanel"),
    ("SetVariablesAction", "Arguments", "ArgumentsPanel"),
    ("VariablesContainer", "Arguments", "ArgumentsPanel"),
    ("Arguments.arguments", "Arguments", "ArgumentsPanel"),
    ("arguments", "Arguments", "ArgumentsPanel"),
];

/// Name, class and GUI class of an element within the properties of others; None if unknown.
pub(crate) fn inner_element(name: &str) -> Option<(&'static str, &'static str, &'static str)> {
    INNER.into_iter().find(|(known, ..)| *known == name)
}

/// Inserts a property into the elements at its path, and adds those that are missing.
pub(crate) fn insert(properties: &mut Vec<Prop>, path: &str, property: Prop) {
    let Some((outer, rest)) = path.split_once('/') else { return properties.push(property) };
    if !properties.iter().any(|one| one.name() == outer) {
        let element = inner_element(outer).map(|(name, class, guiclass)| {
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

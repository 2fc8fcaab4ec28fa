//! Test elements with their properties and children, and their markup.

use crate::document::{encode, encode_attribute};
use std::fmt::Write;

/// A property of a test element.
#[derive(Debug, Clone)]
pub(super) enum Prop {
    /// A text.
    Text(String, String),
    /// True or false.
    Flag(String, bool),
    /// A whole number.
    Number(String, i64),
    /// Properties within a property: its name, its class, and the form that shows it.
    Element(String, &'static str, &'static str, Vec<Prop>),
    /// A list.
    List(String, Vec<Prop>),
}

impl Prop {
    fn write(&self, out: &mut String, depth: usize) {
        let space = "  ".repeat(depth);
        let _ = match self {
            Self::Text(name, text) => {
                writeln!(out, "{space}<stringProp name=\"{}\">{}</stringProp>", encode_attribute(name), encode(text))
            }
            Self::Flag(name, is) => {
                writeln!(out, "{space}<boolProp name=\"{}\">{is}</boolProp>", encode_attribute(name))
            }
            Self::Number(name, number) => {
                writeln!(out, "{space}<intProp name=\"{}\">{number}</intProp>", encode_attribute(name))
            }
            Self::Element(name, class, form, properties) => {
                let name = encode_attribute(name);
                let form = if form.is_empty() {
                    String::new()
                } else {
                    format!(" guiclass=\"{form}\" testclass=\"{class}\" enabled=\"true\"")
                };
                let _ = writeln!(out, "{space}<elementProp name=\"{name}\" elementType=\"{class}\"{form}>");
                for property in properties {
                    property.write(out, depth + 1);
                }
                writeln!(out, "{space}</elementProp>")
            }
            Self::List(name, properties) => {
                let _ = writeln!(out, "{space}<collectionProp name=\"{}\">", encode_attribute(name));
                for property in properties {
                    property.write(out, depth + 1);
                }
                writeln!(out, "{space}</collectionProp>")
            }
        };
    }
}

/// A test element.
#[derive(Debug, Clone)]
pub(super) struct Item {
    class: &'static str,
    form: &'static str,
    /// Its name.
    pub(super) name: String,
    properties: Vec<Prop>,
    /// The elements below it.
    pub(super) children: Vec<Item>,
}

impl Item {
    /// An element of a class, shown by a form.
    pub(super) fn new(class: &'static str, form: &'static str, name: impl Into<String>) -> Self {
        Self { class, form, name: name.into(), properties: Vec::new(), children: Vec::new() }
    }

    /// The same with a text.
    pub(super) fn text(mut self, name: &str, text: impl Into<String>) -> Self {
        self.properties.push(Prop::Text(name.to_owned(), text.into()));
        self
    }

    /// The same with a flag.
    pub(super) fn flag(mut self, name: &str, is: bool) -> Self {
        self.properties.push(Prop::Flag(name.to_owned(), is));
        self
    }

    /// The same with a number.
    pub(super) fn number(mut self, name: &str, number: i64) -> Self {
        self.properties.push(Prop::Number(name.to_owned(), number));
        self
    }

    /// The same with another property.
    pub(super) fn with(mut self, property: Prop) -> Self {
        self.properties.push(property);
        self
    }

    /// The same with elements below it.
    pub(super) fn over(mut self, children: Vec<Item>) -> Self {
        self.children.extend(children);
        self
    }

    /// Appends its markup, and that of what is below it.
    pub(super) fn write(&self, out: &mut String, depth: usize) {
        let space = "  ".repeat(depth);
        let (class, form, name) = (self.class, self.form, encode_attribute(&self.name));
        let _ = writeln!(
            out,
            "{space}<{class} guiclass=\"{form}\" testclass=\"{class}\" testname=\"{name}\" enabled=\"true\">"
        );
        self.properties.iter().for_each(|property| property.write(out, depth + 1));
        let _ = writeln!(out, "{space}</{class}>");
        if self.children.is_empty() {
            let _ = writeln!(out, "{space}<hashTree/>");
            return;
        }
        let _ = writeln!(out, "{space}<hashTree>");
        self.children.iter().for_each(|child| child.write(out, depth + 1));
        let _ = writeln!(out, "{space}</hashTree>");
    }
}

/// `Arguments`: names and values.
pub(super) fn arguments(name: &str, pairs: &[(String, String)]) -> Prop {
    let one = |(name, value): &(String, String)| {
        let text = |key: &str, text: &str| Prop::Text(key.to_owned(), text.to_owned());
        let properties =
            vec![text("Argument.name", name), text("Argument.value", value), text("Argument.metadata", "=")];
        Prop::Element(name.clone(), "Argument", "", properties)
    };
    let list = Prop::List("Arguments.arguments".into(), pairs.iter().map(one).collect());
    Prop::Element(name.to_owned(), "Arguments", "ArgumentsPanel", vec![list])
}

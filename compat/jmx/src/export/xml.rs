//! Builds test elements with properties and children, and writes their markup.

use crate::document::{encode, encode_attribute};
use std::fmt::Write;

/// A property of a test element.
#[derive(Debug, Clone)]
pub(super) enum Prop {
    Text(String, String),
    Flag(String, bool),
    Number(String, i64),
    /// Nested properties: name, class and GUI class.
    Element(String, &'static str, &'static str, Vec<Prop>),
    List(String, Vec<Prop>),
}

impl Prop {
    fn write(&self, out: &mut String, depth: usize) {
        let space = "  ".repeat(depth);
        let _ = match self {
            Self::Text(name, text) => {
                writeln!(
                    out,
                    "{space}<stringProp name=\"{}\">{}</stringProp>",
                    encode_attribute(name),
                    encode(text)
                )
            }
            Self::Flag(name, value) => {
                writeln!(
                    out,
                    "{space}<boolProp name=\"{}\">{value}</boolProp>",
                    encode_attribute(name)
                )
            }
            Self::Number(name, number) => {
                writeln!(
                    out,
                    "{space}<intProp name=\"{}\">{number}</intProp>",
                    encode_attribute(name)
                )
            }
            Self::Element(name, class, form, properties) => {
                let name = encode_attribute(name);
                let form = if form.is_empty() {
                    String::new()
                } else {
                    format!(" guiclass=\"{form}\" testclass=\"{class}\" enabled=\"true\"")
                };
                let _ = writeln!(
                    out,
                    "{space}<elementProp name=\"{name}\" elementType=\"{class}\"{form}>"
                );
                for property in properties {
                    property.write(out, depth + 1);
                }
                writeln!(out, "{space}</elementProp>")
            }
            Self::List(name, properties) => {
                let _ =
                    writeln!(out, "{space}<collectionProp name=\"{}\">", encode_attribute(name));
                for property in properties {
                    property.write(out, depth + 1);
                }
                writeln!(out, "{space}</collectionProp>")
            }
        };
    }
}

/// A test element with its children.
#[derive(Debug, Clone)]
pub(super) struct Item {
    class: &'static str,
    form: &'static str,
    pub(super) name: String,
    properties: Vec<Prop>,
    pub(super) children: Vec<Item>,
}

impl Item {
    /// Creates an element of a class with its GUI class.
    pub(super) fn new(class: &'static str, form: &'static str, name: impl Into<String>) -> Self {
        Self { class, form, name: name.into(), properties: Vec::new(), children: Vec::new() }
    }

    /// Adds a text property.
    pub(super) fn text(mut self, name: &str, text: impl Into<String>) -> Self {
        self.properties.push(Prop::Text(name.to_owned(), text.into()));
        self
    }

    /// Adds a boolean property.
    pub(super) fn flag(mut self, name: &str, value: bool) -> Self {
        self.properties.push(Prop::Flag(name.to_owned(), value));
        self
    }

    /// Adds a number property.
    pub(super) fn number(mut self, name: &str, number: i64) -> Self {
        self.properties.push(Prop::Number(name.to_owned(), number));
        self
    }

    /// Adds a property of any type.
    pub(super) fn with(mut self, property: Prop) -> Self {
        self.properties.push(property);
        self
    }

    /// Adds elements to the children.
    pub(super) fn over(mut self, children: Vec<Item>) -> Self {
        self.children.extend(children);
        self
    }

    /// Appends the markup of the element and its children.
    pub(super) fn write(&self, out: &mut String, depth: usize) {
        let space = "  ".repeat(depth);
        let class = self.class;
        let form = self.form;
        let name = encode_attribute(&self.name);
        let _ = writeln!(
            out,
            "{space}<{class} guiclass=\"{form}\" testclass=\"{class}\" testname=\"{name}\" enabled=\"true\">"
        );
        self.properties.iter().for_each(|property| property.write(out, depth + 1));
        let _ = writeln!(out, "{space}</{class}>");
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

/// An `Arguments` property with names and values.
pub(super) fn arguments(name: &str, pairs: &[(String, String)]) -> Prop {
    let arguments = pairs.iter().map(|(name, value)| {
        let properties = vec![
            Prop::Text("Argument.name".into(), name.clone()),
            Prop::Text("Argument.value".into(), value.clone()),
            Prop::Text("Argument.metadata".into(), "=".into()),
        ];
        Prop::Element(name.clone(), "Argument", "", properties)
    });
    let list = Prop::List("Arguments.arguments".into(), arguments.collect());
    Prop::Element(name.to_owned(), "Arguments", "ArgumentsPanel", vec![list])
}

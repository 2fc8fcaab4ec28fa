//! Forms of test elements: the properties that an editor shows, with the names that they have in `JMeter`, and the markup of a
//! new element. The rows are in `support/kinds.rs`.

use crate::export::{Item, Prop};
use crate::support::{ElementKind, ElementRow};

/// A property of a kind of element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyRow {
    /// Names of the property and of the elements around it, with `/` between them.
    pub path: &'static str,
    /// Name in `JMeter`'s window.
    pub label: &'static str,
    /// Tag that `JMeter` writes.
    pub tag: &'static str,
    /// Form of the value.
    pub form: PropertyForm,
    /// Value in a new element; None if `JMeter` omits the property there.
    pub initial: Option<&'static str>,
    /// Value of an absent or empty property.
    pub absent: &'static str,
    /// Set if brunt ignores the property.
    pub ignored: Option<IgnoredProperty>,
}

/// A property without an effect in brunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IgnoredProperty {
    /// Reason for the user.
    pub reason: &'static str,
    /// Value for which brunt and `JMeter` do the same; a notice names each other value. None if the property changes no sample
    /// of `JMeter` either, so that there is no notice.
    pub harmless: Option<&'static str>,
}

impl PropertyRow {
    /// Returns the name of the property.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Its path and its value in a new element.
    pub(crate) fn initial(&self) -> Option<(&'static str, Prop)> {
        let text = self.initial?;
        let name = self.name().to_owned();
        Some(match self.form {
            PropertyForm::List | PropertyForm::Table | PropertyForm::Pairs(_) => {
                (self.path, Prop::List(name, Vec::new()))
            }
            _ => (self.path, Prop::Scalar(self.tag, name, text.to_owned())),
        })
    }
}

/// The form of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyForm {
    /// A text.
    Text,
    /// A text that may have several lines.
    Lines,
    /// True or false.
    Flag,
    /// A number, or an expression.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// Elements with a name and a value each.
    Pairs(PairForm),
    /// Another structure, which an editor shows in the text only.
    Table,
}

/// The markup of elements with a name and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairForm {
    /// Class of the elements.
    pub class: &'static str,
    /// Their properties: the name, the value, then others.
    pub properties: &'static [PropertyRow],
}

impl PairForm {
    /// Property with the name.
    pub fn name(&self) -> &'static str {
        self.properties[0].path
    }

    /// Property with the value.
    pub fn value(&self) -> &'static str {
        self.properties[1].path
    }

    /// Markup of a new entry, on one line.
    pub(crate) fn markup(&self, name: &str, value: &str) -> String {
        let texts = [Prop::text(self.name(), name), Prop::text(self.value(), value)];
        let others = self.properties[2..].iter().filter_map(PropertyRow::initial);
        let properties = texts.into_iter().chain(others.map(|(_, property)| property)).collect();
        Prop::Element(name.to_owned(), self.class, "", properties).markup()
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

/// Rows of all kinds that have a form, in the order of `JMeter`'s menus.
pub fn forms() -> impl Iterator<Item = &'static ElementRow> {
    ElementKind::all().map(ElementKind::row).filter(|row| row.properties.is_some())
}

/// The properties of a kind; empty if an editor knows only those in the file.
pub fn form(kind: ElementKind) -> &'static [PropertyRow] {
    kind.row().properties.unwrap_or_default()
}

/// Markup of a new element with this name and an empty tree.
pub fn markup(row: &ElementRow) -> String {
    let rows = row.properties.unwrap_or_default().iter();
    let properties = rows.filter(|property| !row.is_bare || property.tag == "collectionProp");
    Item::of(row.kind, row.title, properties.filter_map(PropertyRow::initial)).markup()
}

//! Forms of test elements: the properties that an editor shows, with the names that they have in `JMeter`, and the markup of a
//! new element. The rows are in `support/kinds.rs`.

use crate::export::Item;
pub use crate::fields::{IgnoredProperty, ItemForm, PropertyForm, PropertyRow};
use crate::support::{ElementKind, ElementRow};

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

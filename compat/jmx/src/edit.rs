//! Changes the text of a .jmx file: values of properties and attributes, and whole elements. All other bytes stay.
//!
//! A document is not changed. Functions return the range of the text and its replacement.

use crate::document::{JmxDocument, NodeId, encode, encode_attribute};
use crate::element::TestElement;
use crate::fields::ItemForm;
use crate::markup::{element_start, inner_element};
use crate::property::{Property, PropertyKind};
use std::fmt::Write as _;
use std::ops::Range;

/// A range of the text, and its replacement. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextChange {
    /// Bytes that are replaced.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// Applies changes that do not overlap.
pub fn apply_changes(text: &str, mut changes: Vec<TextChange>) -> String {
    // From the end, so that earlier ranges stay valid.
    changes.sort_by_key(|change| std::cmp::Reverse(change.range.start));
    let mut text = text.to_owned();
    for TextChange { range, text: replacement } in changes {
        text.replace_range(range, &replacement);
    }
    text
}

impl JmxDocument {
    /// Range of an element with its content, in the text of a file in UTF-8 without a byte-order mark.
    pub fn range(&self, id: NodeId) -> Range<usize> {
        let node = self.node(id);
        let end = if node.close.is_empty() { node.open.end } else { node.close.end };
        node.open.start as usize..end as usize
    }

    /// Range between the tags of an element; None for `<a/>`.
    fn content(&self, id: NodeId) -> Option<Range<usize>> {
        let node = self.node(id);
        // Only an element with an end tag has a place for content.
        (!node.close.is_empty()).then_some(node.open.end as usize..node.close.start as usize)
    }

    /// Returns the change that sets the content of an element to a markup.
    fn set_content(&self, id: NodeId, markup: &str) -> TextChange {
        if let Some(range) = self.content(id) {
            return TextChange { range, text: markup.to_owned() };
        }
        let range = self.range(id);
        // An element such as `<hashTree/>` gets an end tag.
        let open = self.raw(id).trim_end_matches('>').trim_end_matches('/').trim_end();
        TextChange { range, text: format!("{open}>{markup}</{}>", self.name(id)) }
    }

    /// Returns the change that sets an attribute of an element.
    pub fn set_attribute(&self, id: NodeId, name: &str, value: &str) -> TextChange {
        let start = self.range(id).start;
        let value = encode_attribute(value);
        if let Some(range) = self.attribute_value(id, name) {
            // The other quotes may be in the value.
            let value = value.replace('\'', "&apos;");
            return TextChange { range: start + range.start..start + range.end, text: value };
        }
        // A new attribute comes first, since its place there is the same in each start tag.
        let end = start + 1 + self.name(id).len();
        TextChange { range: end..end, text: format!(" {name}=\"{value}\"") }
    }
}

impl<'d> TestElement<'d> {
    /// Range of the element with its tree.
    pub fn range(&self) -> Range<usize> {
        let document = self.document();
        // In the file, the tree of an element follows it.
        let own = document.range(self.node());
        own.start..self.tree().map_or(own.end, |tree| document.range(tree).end)
    }

    /// The property at a path of names, such as `ThreadGroup.main_controller/LoopController.loops`.
    pub fn property(&self, path: &str) -> Option<Property<'d>> {
        self.properties().at(path)
    }

    /// Returns the change that adds a property with this markup, and the elements around it that are missing. None if the
    /// form of such an element is unknown.
    fn add_property(&self, path: &str, markup: String) -> Option<TextChange> {
        let mut around = self.properties();
        let mut outer: Vec<&str> = path.split('/').collect();
        outer.pop();
        let mut missing = Vec::new();
        for name in outer {
            match around.element(name).filter(|_| missing.is_empty()) {
                Some(inner) => around = inner,
                None => missing.push(name),
            }
        }
        // The innermost element has the property, and each other one has the next.
        let mut missing = missing.into_iter().rev();
        let markup = missing.try_fold(markup, |markup, name| {
            let (_, class, guiclass) = inner_element(name)?;
            Some(format!("{}{markup}</elementProp>", element_start(name, class, guiclass)))
        })?;
        Some(self.append(around.node(), &markup))
    }

    /// Returns the change that sets a property to a text. A missing property is added, with this tag. None if that is not
    /// possible.
    pub fn set_text(&self, path: &str, tag: &str, value: &str) -> Option<TextChange> {
        let document = self.document();
        let markup = encode(value);
        let Some(property) = self.property(path) else {
            let name = encode_attribute(last(path));
            return self.add_property(path, format!("<{tag} name=\"{name}\">{markup}</{tag}>"));
        };
        // `FloatProperty` has the value in an element named `value`.
        let value = document
            .elements(property.node())
            .find(|&child| document.name(child) == "value")
            .unwrap_or(property.node());
        Some(document.set_content(value, &markup))
    }

    /// Returns the change that sets a property to an expression. A number or boolean becomes a text, because `JMeter` refuses
    /// expressions in them. None if a missing one cannot be added.
    pub fn set_expression(&self, path: &str, value: &str) -> Option<TextChange> {
        let property = self.property(path).filter(|property| {
            matches!(property.kind(), PropertyKind::Bool | PropertyKind::Int | PropertyKind::Long)
        });
        let Some(property) = property else { return self.set_text(path, "stringProp", value) };
        let name = encode_attribute(last(path));
        let value = encode(value);
        let text = format!("<stringProp name=\"{name}\">{value}</stringProp>");
        Some(TextChange { range: self.document().range(property.node()), text })
    }

    /// True if a property of the element is a reference to that of another element.
    pub fn has_reference(&self) -> bool {
        let document = self.document();
        let mut rest = vec![self.node()];
        while let Some(node) = rest.pop() {
            if document.attribute(node, "reference").is_some() {
                return true;
            }
            rest.extend(document.elements(node));
        }
        false
    }

    /// Returns the change that adds a markup at the end of an element, on a separate line.
    fn append(&self, id: NodeId, markup: &str) -> TextChange {
        let document = self.document();
        let Some(last) = document.elements(id).next_back() else {
            return document.set_content(id, markup);
        };
        let start = document.range(last).start;
        // Files of `JMeter` have a line for each property; a file on one line gets no indentation.
        let indentation = document.indentation(start).unwrap_or_default();
        let end = document.range(last).end;
        TextChange { range: end..end, text: format!("\n{indentation}{markup}") }
    }

    /// Returns the change that removes a property; None if it is absent.
    pub fn remove_property(&self, path: &str) -> Option<TextChange> {
        let property = self.property(path)?;
        Some(self.document().removal(self.document().range(property.node())))
    }

    /// Returns the change that sets the texts of a collection. None if a missing one cannot be added.
    pub fn set_list(&self, path: &str, values: &[&str]) -> Option<TextChange> {
        let list = self.property(path);
        let mut old: Vec<Property<'_>> = list.iter().flat_map(Property::items).collect();
        let entries =
            values.iter().map(|value| match take(&mut old, |item| item.text() == *value) {
                Some(item) => self.document().source(self.document().range(item.node())).to_owned(),
                None => {
                    format!(
                        "<stringProp name=\"{}\">{}</stringProp>",
                        java_hash(value),
                        encode(value)
                    )
                }
            });
        let entries: Vec<String> = entries.collect();
        self.set_entries(path, list.as_ref(), &entries)
    }

    /// Returns the change that sets the names and values in a collection. Entries keep their other properties. None if a
    /// missing collection cannot be added.
    pub fn set_pairs(
        &self,
        path: &str,
        form: &ItemForm,
        pairs: &[(String, String)],
    ) -> Option<TextChange> {
        let list = self.property(path);
        let mut old: Vec<Property<'_>> = list.iter().flat_map(Property::items).collect();
        let mut entries = Vec::new();
        for (name, value) in pairs {
            let entry = take(&mut old, |item| {
                item.properties().text(form.name()).unwrap_or_default() == *name
            });
            entries.push(match entry {
                Some(item) => self.with_value(&item, form, value),
                None => form.markup(name, value),
            });
        }
        self.set_entries(path, list.as_ref(), &entries)
    }

    /// The markup of an entry with another value.
    fn with_value(&self, entry: &Property<'_>, form: &ItemForm, value: &str) -> String {
        let document = self.document();
        let range = document.range(entry.node());
        let text = document.source(range.clone());
        let Some(property) = entry.properties().get(form.value()) else {
            return form.markup(&entry.properties().text(form.name()).unwrap_or_default(), value);
        };
        if property.text() == value {
            return text.to_owned();
        }
        let change = document.set_content(property.node(), &encode(value));
        // The change has offsets of the whole text, but the entry is written at another place.
        let inner = change.range.start - range.start..change.range.end - range.start;
        apply_changes(text, vec![TextChange { range: inner, text: change.text }])
    }

    /// Writes the entries of a collection. Entries that stay keep their lines.
    fn set_entries(
        &self,
        path: &str,
        list: Option<&Property<'_>>,
        entries: &[String],
    ) -> Option<TextChange> {
        let document = self.document();
        let Some(list) = list else {
            let name = encode_attribute(last(path));
            let entries = entries.concat();
            let markup = format!("<collectionProp name=\"{name}\">{entries}</collectionProp>");
            return self.add_property(path, markup);
        };
        let (Some(content), Some(first)) = (document.content(list.node()), list.items().next())
        else {
            // The collection is empty.
            let own = document.indentation(document.range(list.node()).start).unwrap_or_default();
            let mut markup = String::new();
            for entry in entries {
                let _ = write!(markup, "\n{own}  {entry}");
            }
            let end = if entries.is_empty() { String::new() } else { format!("\n{own}") };
            return Some(document.set_content(list.node(), &format!("{markup}{end}")));
        };
        let mut markup = String::new();
        let mut position = content.start;
        let mut rest = entries.iter();
        for item in list.items() {
            let range = document.range(item.node());
            // The layout between entries stays, and so do comments.
            let before = document.source(position..range.start);
            match rest.next() {
                Some(entry) => markup.extend([before, entry]),
                None => markup.push_str(before.trim_end()),
            }
            position = range.end;
        }
        let indentation = document.indentation(document.range(first.node()).start);
        for entry in rest {
            // A file on one line stays on one line.
            if let Some(indentation) = indentation {
                let _ = write!(markup, "\n{indentation}");
            }
            markup.push_str(entry);
        }
        markup.push_str(document.source(position..content.end));
        Some(document.set_content(list.node(), &markup))
    }

    /// Returns the change that inserts the markup of elements with their trees before the child at an index, or after the last
    /// one. Lines of the markup get no indentation, because texts of properties may have several lines.
    pub fn insert_child(&self, index: usize, markup: &str) -> TextChange {
        let document = self.document();
        let children: Vec<TestElement<'_>> = self.children().collect();
        if let Some(next) = children.get(index) {
            let start = next.range().start;
            let indentation = document.indentation(start).unwrap_or_default();
            return TextChange { range: start..start, text: format!("{markup}\n{indentation}") };
        }
        if let Some(last) = children.last() {
            let Range { start, end } = last.range();
            let indentation = document.indentation(start).unwrap_or_default();
            return TextChange { range: end..end, text: format!("\n{indentation}{markup}") };
        }
        let own = document.indentation(document.range(self.node()).start).unwrap_or_default();
        // Elements without children have an empty tree, or none in plans that were written by hand.
        if let Some(tree) = self.tree() {
            return document.set_content(tree, &format!("\n{own}  {markup}\n{own}"));
        }
        let end = document.range(self.node()).end;
        let text = format!("\n{own}<hashTree>\n{own}  {markup}\n{own}</hashTree>");
        TextChange { range: end..end, text }
    }

    /// The markup of the element with its tree.
    pub fn markup(&self) -> &'d str {
        self.document().source(self.range())
    }

    /// Returns the change that removes the element with its tree.
    pub fn removal(&self) -> TextChange {
        self.document().removal(self.range())
    }
}

impl JmxDocument {
    /// The blanks before a position, if there is nothing else before it on its line.
    fn indentation(&self, position: usize) -> Option<&str> {
        let text = self.source(0..position);
        let line = &text[text.rfind('\n').map_or(0, |start| start + 1)..];
        line.trim().is_empty().then_some(line)
    }

    /// The change that removes a range, with its line if there is nothing else on it.
    fn removal(&self, range: Range<usize>) -> TextChange {
        let start = match self.indentation(range.start) {
            Some(indentation) => {
                let line = range.start - indentation.len();
                // The line break before it, so that the one after it stays.
                if self.source(0..line).ends_with('\n') { line - 1 } else { line }
            }
            None => range.start,
        };
        TextChange { range: start..range.end, text: String::new() }
    }
}

/// The last name of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Takes the first item that fits.
fn take<'d>(
    items: &mut Vec<Property<'d>>,
    fits: impl Fn(&Property<'d>) -> bool,
) -> Option<Property<'d>> {
    let index = items.iter().position(fits)?;
    Some(items.remove(index))
}

/// Java's hash code of a text, which `JMeter` uses as the name of an item.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

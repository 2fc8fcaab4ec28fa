//! Iterates over the elements of a document, for callers that need more than
//! an expression can name.

use crate::document::{Document, Kind};

/// An element of a document.
#[derive(Clone, Copy, Debug)]
pub struct Element<'d> {
    document: &'d Document,
    node: u32,
}

impl Document {
    /// Returns all elements, in document order.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        let nodes = 0..self.nodes.len() as u32;
        nodes.filter(|node| self.is_element(*node)).map(|node| Element { document: self, node })
    }
}

impl<'d> Element<'d> {
    /// True if the element has this name. In HTML, case does not matter.
    pub fn has_name(&self, name: &str) -> bool {
        self.document.is_same_name(self.document.name(self.node), name)
    }

    /// Returns the value of an attribute; None if the element does not have it.
    pub fn attribute(&self, name: &str) -> Option<&'d str> {
        self.document.attribute(self.node, name)
    }

    /// Returns the text of the first child; empty if that is no text node.
    pub fn first_text(&self) -> &'d str {
        let first = self.document.children(self.node).next();
        let text = first.filter(|node| self.document.nodes[*node as usize].kind == Kind::Text);
        text.map_or("", |node| self.document.text(node))
    }

    /// Returns the nearest ancestor with this name.
    pub fn nearest_ancestor(&self, name: &str) -> Option<Self> {
        let mut ancestors =
            self.document.ancestors(self.node).map(|node| Self { document: self.document, node });
        ancestors.find(|element| element.has_name(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_described_by_name_attribute_text_and_position() {
        let page = Document::html(
            "<SELECT NAME=s><option>one</option></select><textarea>two<!-- -->three</textarea>",
        );
        let options: Vec<Element<'_>> =
            page.elements().filter(|element| element.has_name("OPTION")).collect();
        let [option] = options[..] else { panic!("{options:?}") };
        assert_eq!((option.first_text(), option.attribute("value")), ("one", None));
        assert_eq!(
            option.nearest_ancestor("select").and_then(|select| select.attribute("name")),
            Some("s")
        );
        assert!(option.nearest_ancestor("form").is_none());
        let empty = Document::html("<p><b>bold</b></p>");
        assert_eq!(
            empty.elements().find(|element| element.has_name("p")).map(|p| p.first_text()),
            Some("")
        );
    }
}

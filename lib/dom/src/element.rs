//! The elements of a document one by one, for callers that look at more than an expression can name.

use crate::document::{Document, Kind};

/// An element of a document.
#[derive(Clone, Copy, Debug)]
pub struct Element<'d> {
    document: &'d Document,
    node: u32,
}

impl Document {
    /// All elements, in document order.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        let nodes = 0..self.nodes.len() as u32;
        nodes.filter(|node| self.is_element(*node)).map(|node| Element { document: self, node })
    }
}

impl<'d> Element<'d> {
    /// Whether it has this name; in HTML upper and lower case are the same.
    pub fn is(&self, name: &str) -> bool {
        self.document.is_same_name(self.document.name(self.node), name)
    }

    /// The value of an attribute; None: it has no such attribute.
    pub fn attribute(&self, name: &str) -> Option<&'d str> {
        self.document.attribute(self.node, name)
    }

    /// The text of its first child; empty where that is no text.
    pub fn first_text(&self) -> &'d str {
        let is_text = |node: &u32| self.document.nodes[*node as usize].kind == Kind::Text;
        self.document.children(self.node).next().filter(is_text).map_or("", |node| self.document.text(node))
    }

    /// The innermost element around it of this name.
    pub fn around(&self, name: &str) -> Option<Self> {
        let above = |node: u32| Self { document: self.document, node };
        self.document.ancestors(self.node).map(above).find(|element| element.is(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_told_by_name_attribute_text_and_surroundings() {
        let page = Document::html("<SELECT NAME=s><option>one</option></select><textarea>two<!-- -->three</textarea>");
        let options: Vec<Element<'_>> = page.elements().filter(|element| element.is("OPTION")).collect();
        let [option] = options[..] else { panic!("{options:?}") };
        assert_eq!((option.first_text(), option.attribute("value")), ("one", None));
        assert_eq!(option.around("select").and_then(|select| select.attribute("name")), Some("s"));
        assert!(option.around("form").is_none());
        let empty = Document::html("<p><b>bold</b></p>");
        assert_eq!(empty.elements().find(|element| element.is("p")).map(|p| p.first_text()), Some(""));
    }
}

//! Iterates over the elements of a document, for callers that need more than
//! an expression can name.

use crate::document::{Document, Kind, ROOT};

/// An element of a document.
#[derive(Clone, Copy, Debug)]
pub struct Element<'d> {
    document: &'d Document,
    node: u32,
}

/// A part of an element's content.
#[derive(Clone, Copy, Debug)]
pub enum Content<'d> {
    /// An element.
    Element(Element<'d>),
    /// A text.
    Text(&'d str),
    /// A comment.
    Comment(&'d str),
}

impl Document {
    /// Returns the content of the document: its root element, and the comments around it.
    pub fn content(&self) -> impl Iterator<Item = Content<'_>> {
        content(self, ROOT)
    }

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

    /// Returns the name.
    pub fn name(&self) -> &'d str {
        self.document.name(self.node)
    }

    /// Returns names and values of the attributes, in order.
    pub fn attributes(&self) -> impl Iterator<Item = (&'d str, &'d str)> + use<'d> {
        let document = self.document;
        document
            .attributes(self.node)
            .map(|one| (document.attribute_name(one), document.attribute_value(one)))
    }

    /// Returns the content, in order.
    pub fn content(&self) -> impl Iterator<Item = Content<'d>> + use<'d> {
        content(self.document, self.node)
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

/// The content of a node, without processing instructions.
fn content(document: &Document, node: u32) -> impl Iterator<Item = Content<'_>> {
    document.children(node).filter_map(|node| match document.nodes[node as usize].kind {
        Kind::Element => Some(Content::Element(Element { document, node })),
        Kind::Text => Some(Content::Text(document.text(node))),
        Kind::Comment => Some(Content::Comment(document.text(node))),
        Kind::Root | Kind::Instruction => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_has_elements_texts_and_comments() {
        let document = Document::xml("<!--a--><r x='1'>b<c/>d<!--e--></r>").unwrap();
        let described = |content: Content<'_>| match content {
            Content::Element(element) => format!("<{}>", element.name()),
            Content::Text(text) => text.to_owned(),
            Content::Comment(text) => format!("!{text}"),
        };
        let outer: Vec<String> = document.content().map(described).collect();
        assert_eq!(outer, ["!a", "<r>"]);
        let root = document.elements().next().unwrap();
        assert_eq!(root.attributes().collect::<Vec<_>>(), [("x", "1")]);
        assert_eq!(root.content().map(described).collect::<Vec<_>>(), ["b", "<c>", "d", "!e"]);
    }

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

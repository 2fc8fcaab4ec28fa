//! The tree: nodes in document order in one array, so that an element's descendants are a range of it, and all text in one
//! string, so that an element's text is a slice of it.

use crate::error::DomError;
use std::collections::HashMap;
use std::ops::Range;

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// The document node, which holds the root element.
pub(crate) const ROOT: u32 = 0;

/// Bytes that a document may have, so that offsets fit into 32 bits.
pub(crate) const MAX_BYTES: usize = 1 << 30;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Root,
    Element,
    Text,
    Comment,
    Instruction,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    /// Index of the name of an element, or of the target of a processing instruction.
    name: u32,
    pub parent: u32,
    /// The sibling before it.
    pub previous: u32,
    /// One past the last descendant.
    pub end: u32,
    /// In `Document::text`, or in `Document::data` for comments and processing instructions.
    start: u32,
    stop: u32,
    /// The first attribute of this node or a later one.
    attributes: u32,
}

#[derive(Clone, Debug)]
struct Attribute {
    name: u32,
    start: u32,
    stop: u32,
}

/// A parsed HTML or XML document.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) html: bool,
    pub(crate) nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    names: Vec<Box<str>>,
    text: String,
    data: String,
    pub(crate) truncated: bool,
}

impl Document {
    /// Reads HTML as a browser without scripting does: `html`, `head`, `body` and `tbody` are implied, and any text gives a
    /// document. Namespaces of embedded SVG and MathML are dropped; the content of a `template` is its children.
    ///
    /// Markup that takes far more work than its size suggests (10,000s of nested elements or of attributes of one
    /// element) is read up to that point: see [`Document::is_truncated`].
    pub fn html(source: &str) -> Self {
        crate::html::parse(source)
    }

    /// Reads XML. Entities are the five predefined ones and numeric references; a DOCTYPE is skipped.
    ///
    /// # Errors
    ///
    /// With line and column, if the text is not well-formed, uses another entity, or has more than 1 GiB.
    pub fn xml(source: &str) -> Result<Self, DomError> {
        crate::xml::parse(source)
    }

    /// Whether [`Document::html`] left off the rest of a page that takes too much work.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn name(&self, node: u32) -> &str {
        match self.nodes[node as usize].kind {
            Kind::Element | Kind::Instruction => &self.names[self.nodes[node as usize].name as usize],
            _ => "",
        }
    }

    /// A number that elements of one name share.
    pub(crate) fn name_index(&self, node: u32) -> u32 {
        self.nodes[node as usize].name
    }

    /// The text of a node and all below it; the content of a comment or processing instruction.
    pub(crate) fn text(&self, node: u32) -> &str {
        let Node { kind, start, stop, .. } = self.nodes[node as usize];
        let all = if matches!(kind, Kind::Comment | Kind::Instruction) { &self.data } else { &self.text };
        &all[start as usize..stop as usize]
    }

    /// Where the text of a node stands within [`Document::all_text`].
    pub(crate) fn text_range(&self, node: u32) -> Range<usize> {
        self.nodes[node as usize].start as usize..self.nodes[node as usize].stop as usize
    }

    pub(crate) fn all_text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_element(&self, node: u32) -> bool {
        self.nodes[node as usize].kind == Kind::Element
    }

    /// Indices of a node's attributes.
    pub(crate) fn attributes(&self, node: u32) -> Range<u32> {
        let after = self.nodes.get(node as usize + 1).map_or(self.attributes.len() as u32, |next| next.attributes);
        self.nodes[node as usize].attributes..after
    }

    pub(crate) fn attribute_name(&self, attribute: u32) -> &str {
        &self.names[self.attributes[attribute as usize].name as usize]
    }

    pub(crate) fn attribute_value(&self, attribute: u32) -> &str {
        let Attribute { start, stop, .. } = self.attributes[attribute as usize];
        &self.data[start as usize..stop as usize]
    }

    /// The value of the attribute of this name; in HTML upper and lower case are the same.
    pub(crate) fn attribute(&self, node: u32, name: &str) -> Option<&str> {
        let found = self.attributes(node).find(|one| self.is_same_name(self.attribute_name(*one), name))?;
        Some(self.attribute_value(found))
    }

    /// Whether a name of this document is the wanted one; in HTML upper and lower case are the same.
    pub(crate) fn is_same_name(&self, own: &str, wanted: &str) -> bool {
        if self.html { own.eq_ignore_ascii_case(wanted) } else { own == wanted }
    }

    /// The children of a node, in document order.
    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.nodes[node as usize].end;
        let first = Some(node + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| Some(self.nodes[*child as usize].end).filter(|next| *next < end))
    }

    /// The nodes above a node, from its parent to the document node.
    pub(crate) fn ancestors(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let above = |node: u32| Some(self.nodes[node as usize].parent).filter(|parent| *parent != NONE);
        std::iter::successors(above(node), move |node| above(*node))
    }
}

/// Builds a document from its parts in document order.
#[derive(Debug)]
pub(crate) struct Builder {
    document: Document,
    names: HashMap<Box<str>, u32>,
    /// The open nodes, and the last child of each.
    open: Vec<(u32, u32)>,
}

impl Builder {
    pub fn html() -> Self {
        Self::new(true)
    }

    pub fn xml() -> Self {
        Self::new(false)
    }

    fn new(html: bool) -> Self {
        let (nodes, attributes, names) = (Vec::new(), Vec::new(), Vec::new());
        let (text, data) = (String::new(), String::new());
        let document = Document { html, nodes, attributes, names, text, data, truncated: false };
        let mut builder = Self { document, names: HashMap::new(), open: Vec::new() };
        let root = builder.push(Kind::Root, 0);
        builder.open.push((root, NONE));
        builder
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    pub fn open(&mut self, name: &str) {
        let name = self.intern(name);
        let node = self.push(Kind::Element, name);
        self.open.push((node, NONE));
    }

    /// Adds an attribute to the element that was opened last.
    pub fn attribute(&mut self, name: &str, value: &str) {
        let name = self.intern(name);
        let start = self.document.data.len() as u32;
        self.document.data.push_str(value);
        let stop = self.document.data.len() as u32;
        self.document.attributes.push(Attribute { name, start, stop });
    }

    /// Adds text; text after text is the same node.
    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let last = self.open.last().map_or(NONE, |(_, last)| *last);
        let joins = last != NONE && self.document.nodes[last as usize].kind == Kind::Text;
        let node = if joins { last } else { self.push(Kind::Text, 0) };
        self.document.text.push_str(text);
        self.document.nodes[node as usize].stop = self.document.text.len() as u32;
    }

    pub fn comment(&mut self, text: &str) {
        self.data(Kind::Comment, 0, text);
    }

    pub fn instruction(&mut self, target: &str, text: &str) {
        let target = self.intern(target);
        self.data(Kind::Instruction, target, text);
    }

    fn data(&mut self, kind: Kind, name: u32, text: &str) {
        let node = self.push(kind, name) as usize;
        self.document.nodes[node].start = self.document.data.len() as u32;
        self.document.data.push_str(text);
        self.document.nodes[node].stop = self.document.data.len() as u32;
    }

    /// Closes the element that was opened last.
    pub fn close(&mut self) {
        if let Some((node, _)) = self.open.pop() {
            let node = node as usize;
            self.document.nodes[node].end = self.document.nodes.len() as u32;
            self.document.nodes[node].stop = self.document.text.len() as u32;
        }
    }

    pub fn finish(mut self) -> Document {
        while !self.open.is_empty() {
            self.close();
        }
        self.document
    }

    fn push(&mut self, kind: Kind, name: u32) -> u32 {
        let node = self.document.nodes.len() as u32;
        let (parent, previous) = self.open.last().copied().unwrap_or((NONE, NONE));
        if let Some((_, last)) = self.open.last_mut() {
            *last = node;
        }
        let at = self.document.text.len() as u32;
        let attributes = self.document.attributes.len() as u32;
        let end = node + 1;
        self.document.nodes.push(Node { kind, name, parent, previous, end, start: at, stop: at, attributes });
        node
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(index) = self.names.get(name) {
            return *index;
        }
        let index = self.document.names.len() as u32;
        self.document.names.push(name.into());
        self.names.insert(name.into(), index);
        index
    }
}

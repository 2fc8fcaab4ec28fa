//! The document tree. All nodes are in one array in document order, so the descendants of
//! an element are a range of it. All text is in one string, so the text of an element is
//! a slice of it.

use crate::error::DomError;
use std::collections::HashMap;
use std::ops::Range;

/// Index that means no node.
pub(crate) const NONE: u32 = u32::MAX;

/// Index of the document node, the parent of the root element.
pub(crate) const ROOT: u32 = 0;

/// Maximum size of a document in bytes, so that offsets fit into 32 bits.
pub(crate) const MAX_BYTES: usize = 1 << 30;

/// Kind of a node.
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
    /// Index of the previous sibling, or [`NONE`].
    pub previous: u32,
    /// Index after that of the last descendant.
    pub end: u32,
    /// Range of the text in `Document::text`, or in `Document::data` for
    /// comments and processing instructions.
    start: u32,
    stop: u32,
    /// Index of the first attribute of this node or of a later one.
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
    /// Parses HTML as a browser without scripting does. `html`, `head`, `body` and `tbody` are
    /// implied, and any text gives a document. Namespaces of embedded SVG and MathML are dropped;
    /// the content of a `template` becomes its children.
    ///
    /// Parsing stops at markup that takes far more work than its size suggests (10,000s of nested
    /// elements, or of attributes of one element): see [`Document::is_truncated`].
    pub fn html(source: &str) -> Self {
        crate::html::parse(source)
    }

    /// Parses XML. The supported entities are the five predefined ones and numeric references;
    /// a DOCTYPE is skipped.
    ///
    /// # Errors
    ///
    /// Returns an error with line and column if the text is not well-formed, uses another entity,
    /// or has more than 1 GiB.
    pub fn xml(source: &str) -> Result<Self, DomError> {
        crate::xml::parse(source)
    }

    /// True if [`Document::html`] omitted the rest of a page that takes too much work.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn name(&self, node: u32) -> &str {
        match self.nodes[node as usize].kind {
            Kind::Element | Kind::Instruction => {
                &self.names[self.nodes[node as usize].name as usize]
            }
            _ => "",
        }
    }

    /// Returns a number that is equal for elements of the same name.
    pub(crate) fn name_index(&self, node: u32) -> u32 {
        self.nodes[node as usize].name
    }

    /// Returns the text of a node and all its descendants, or the content of a
    /// comment or processing instruction.
    pub(crate) fn text(&self, node: u32) -> &str {
        let Node { kind, start, stop, .. } = self.nodes[node as usize];
        let all =
            if matches!(kind, Kind::Comment | Kind::Instruction) { &self.data } else { &self.text };
        &all[start as usize..stop as usize]
    }

    /// Range of the text of a node within [`Document::all_text`].
    pub(crate) fn text_range(&self, node: u32) -> Range<usize> {
        self.nodes[node as usize].start as usize..self.nodes[node as usize].stop as usize
    }

    pub(crate) fn all_text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_element(&self, node: u32) -> bool {
        self.nodes[node as usize].kind == Kind::Element
    }

    /// Returns the indices of a node's attributes.
    pub(crate) fn attributes(&self, node: u32) -> Range<u32> {
        // The attributes of all nodes are in one array, in document order.
        let after = self
            .nodes
            .get(node as usize + 1)
            .map_or(self.attributes.len() as u32, |next| next.attributes);
        self.nodes[node as usize].attributes..after
    }

    pub(crate) fn attribute_name(&self, attribute: u32) -> &str {
        &self.names[self.attributes[attribute as usize].name as usize]
    }

    pub(crate) fn attribute_value(&self, attribute: u32) -> &str {
        let Attribute { start, stop, .. } = self.attributes[attribute as usize];
        &self.data[start as usize..stop as usize]
    }

    /// Returns the value of the attribute with this name. In HTML, case does not matter.
    pub(crate) fn attribute(&self, node: u32, name: &str) -> Option<&str> {
        let attribute = self
            .attributes(node)
            .find(|other| self.is_same_name(self.attribute_name(*other), name))?;
        Some(self.attribute_value(attribute))
    }

    /// True if two names are equal. In HTML, case does not matter.
    pub(crate) fn is_same_name(&self, one: &str, other: &str) -> bool {
        if self.html { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    /// Returns the children of a node, in document order.
    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.nodes[node as usize].end;
        let first = Some(node + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| {
            Some(self.nodes[*child as usize].end).filter(|next| *next < end)
        })
    }

    /// Returns the ancestors of a node, from its parent to the document node.
    pub(crate) fn ancestors(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.parent(node), move |node| self.parent(*node))
    }

    fn parent(&self, node: u32) -> Option<u32> {
        Some(self.nodes[node as usize].parent).filter(|parent| *parent != NONE)
    }
}

/// Builds a document from its parts in document order.
#[derive(Debug)]
pub(crate) struct Builder {
    document: Document,
    names: HashMap<Box<str>, u32>,
    /// The open nodes, each with its last child.
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
        let document = Document {
            html,
            nodes: Vec::new(),
            attributes: Vec::new(),
            names: Vec::new(),
            text: String::new(),
            data: String::new(),
            truncated: false,
        };
        let mut builder = Self { document, names: HashMap::new(), open: Vec::new() };
        let root = builder.push(Kind::Root, 0);
        builder.open.push((root, NONE));
        builder
    }

    /// Number of open elements.
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

    /// Adds text. Consecutive texts become one node.
    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let last = self.open.last().map_or(NONE, |(_, last)| *last);
        // A parser may deliver one text in several pieces.
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
        let position = self.document.text.len() as u32;
        let attributes = self.document.attributes.len() as u32;
        // The end of an element is set when it is closed.
        let end = node + 1;
        self.document.nodes.push(Node {
            kind,
            name,
            parent,
            previous,
            end,
            start: position,
            stop: position,
            attributes,
        });
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

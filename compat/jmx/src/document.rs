//! Parses a .jmx file into a tree that can be written back byte for byte.
//!
//! A node keeps its markup as a range of the source. All nodes are in one vector and every walk is
//! a loop, so a deep file needs no stack.
//!
//! `encoding` reads UTF-8, UTF-16, ISO-8859-1 and windows-1252; a file is written
//! in its original encoding.
//!
//! The parser accepts everything that JMeter loads: byte-order mark, CRLF, comments, references to
//! control characters. It expands no entities except the five of XML.

mod attributes;
mod encoding;
mod lines;
mod parse;
mod text;

pub use encoding::declared as declared_encoding;
pub use parse::{MAX_BYTES, MAX_DEPTH, MAX_NODES};
pub(crate) use text::{decode, decode_attribute, encode, encode_attribute};

use crate::error::{FilePosition, JmxError};
use encoding::Encoding;
use lines::LineIndex;
use std::borrow::Cow;
use std::ops::Range;

/// Identifies one node of a [`JmxDocument`]. Valid only for the document that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// The kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// `<a …>…</a>` or `<a …/>`.
    Element,
    /// Text between markup, with unresolved references.
    Text,
    /// `<![CDATA[…]]>`.
    CharacterData,
    /// `<!--…-->`.
    Comment,
    /// The byte-order mark, the XML declaration, processing instructions, and a DOCTYPE
    /// without an internal subset.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) parent: Option<NodeId>,
    /// Source range of the start tag, or of the whole node if it is not an element.
    pub(crate) open: Range<u32>,
    /// Source range of the end tag; empty for `<a/>` and for nodes that are not elements.
    pub(crate) close: Range<u32>,
    pub(crate) children: Vec<NodeId>,
    /// The preceding element with the same parent.
    pub(crate) previous: Option<NodeId>,
}

/// A .jmx file: see the [module](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JmxDocument {
    source: String,
    encoding: Encoding,
    lines: LineIndex,
    nodes: Vec<Node>,
    /// The root element and the nodes outside it.
    top: Vec<NodeId>,
    root: NodeId,
}

impl JmxDocument {
    /// Reads a .jmx file.
    ///
    /// # Errors
    ///
    /// Fails on malformed XML (with line, column and the open element), an unknown encoding, a
    /// DOCTYPE with an internal subset, a root element other than `jmeterTestPlan`, and a file
    /// beyond [`MAX_BYTES`], [`MAX_NODES`] or [`MAX_DEPTH`].
    pub fn parse(bytes: &[u8]) -> Result<Self, JmxError> {
        parse::parse(bytes)
    }

    /// Returns exactly the bytes of the parsed file.
    pub fn write(&self) -> Vec<u8> {
        let mut out = String::with_capacity(self.source.len());
        let mut rest: Vec<(NodeId, bool)> =
            self.top.iter().rev().map(|&node| (node, false)).collect();
        while let Some((id, closes)) = rest.pop() {
            let node = self.node(id);
            if closes {
                out.push_str(self.markup(&node.close));
                continue;
            }
            out.push_str(self.markup(&node.open));
            rest.push((id, true));
            rest.extend(node.children.iter().rev().map(|&child| (child, false)));
        }
        self.encoding.write(out)
    }

    /// The root element, `jmeterTestPlan`.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Kind of a node.
    pub fn kind(&self, id: NodeId) -> NodeKind {
        self.node(id).kind
    }

    /// The element that contains a node. None for the root and for other outermost nodes.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// All nodes directly in an element, in order.
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        &self.node(id).children
    }

    /// The elements directly in an element, in order.
    pub fn elements(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + Clone + '_ {
        self.children(id).iter().copied().filter(|&child| self.kind(child) == NodeKind::Element)
    }

    /// The preceding element with the same parent.
    pub(crate) fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous
    }

    /// Name of an element as written; empty for other nodes.
    pub fn name(&self, id: NodeId) -> &str {
        attributes::name(self.tag(id))
    }

    /// Value of an attribute, with references resolved.
    pub fn attribute(&self, id: NodeId, name: &str) -> Option<Cow<'_, str>> {
        let value = self.attribute_value(id, name)?;
        Some(text::decode_attribute(&self.tag(id)[value]))
    }

    /// Names and values of all attributes, in order, with references resolved.
    pub fn attributes(&self, id: NodeId) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let open = self.tag(id);
        attributes::attributes(open)
            .map(|one| (&open[one.name], text::decode_attribute(&open[one.value])))
    }

    /// Follows the attribute `reference`, which JMeter writes in place of a repeated value. Its
    /// value is a path such as `../../collectionProp/stringProp[3]`. Returns the element itself
    /// without that attribute, or if the path has no target.
    pub(crate) fn resolve_reference(&self, id: NodeId) -> NodeId {
        let path = self.attribute(id, "reference");
        path.and_then(|path| path.split('/').try_fold(id, |from, step| self.step(from, step)))
            .unwrap_or(id)
    }

    /// Follows one step of a reference: `..`, or the name of a child with an
    /// optional number from 1.
    fn step(&self, from: NodeId, step: &str) -> Option<NodeId> {
        if step == ".." {
            return self.parent(from);
        }
        let (name, number) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
            Some((name, number)) => (name, number.parse::<usize>().ok()?.checked_sub(1)?),
            None => (step, 0),
        };
        self.elements(from).filter(|&child| self.name(child) == name).nth(number)
    }

    /// Text directly within an element, with references resolved, line ends as
    /// LF and without comments.
    pub fn text(&self, id: NodeId) -> Cow<'_, str> {
        let mut parts = self.children(id).iter().filter_map(|&child| self.text_of(child));
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |all, part| all + part)
    }

    /// Line and column at which a node begins.
    pub fn position(&self, id: NodeId) -> FilePosition {
        self.lines.position(&self.source, self.node(id).open.start as usize)
    }

    /// Line on which a node begins, from 1. Faster than [`position`](Self::position).
    pub fn line(&self, id: NodeId) -> u32 {
        self.lines.line(self.node(id).open.start as usize)
    }

    /// Line of a byte of the text, from 1.
    pub fn line_of(&self, byte: usize) -> u32 {
        self.lines.line(byte)
    }

    /// Markup of a node as written: the start tag of an element, or all of another node.
    pub fn raw(&self, id: NodeId) -> &str {
        self.markup(&self.node(id).open)
    }

    /// The start tag of an element; empty for other nodes.
    fn tag(&self, id: NodeId) -> &str {
        match self.node(id) {
            Node { kind: NodeKind::Element, open, .. } => self.markup(open),
            _ => "",
        }
    }

    fn text_of(&self, id: NodeId) -> Option<Cow<'_, str>> {
        let node = self.node(id);
        let raw = self.markup(&node.open);
        match node.kind {
            NodeKind::Text => Some(text::decode(raw)),
            NodeKind::CharacterData => {
                let inner = raw.strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>"));
                Some(text::line_ends(inner.unwrap_or_default()))
            }
            _ => None,
        }
    }

    /// Range of an attribute's value in the start tag, without quotes.
    pub(crate) fn attribute_value(&self, id: NodeId, name: &str) -> Option<Range<usize>> {
        let open = self.tag(id);
        attributes::attributes(open)
            .find(|attribute| &open[attribute.name.clone()] == name)
            .map(|found| found.value)
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// True if the document has exactly this text.
    pub fn has_text(&self, text: &str) -> bool {
        self.source == text
    }

    /// A range of the text.
    pub(crate) fn source(&self, range: Range<usize>) -> &str {
        &self.source[range]
    }

    fn markup(&self, range: &Range<u32>) -> &str {
        &self.source[range.start as usize..range.end as usize]
    }
}

#[cfg(test)]
mod tests;

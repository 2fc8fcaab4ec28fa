//! Parses bytes into a document.

use super::encoding::Encoding;
use super::lines::LineIndex;
use super::{JmxDocument, Node, NodeId, NodeKind, attributes, encoding, text};
use crate::error::JmxError;
use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::Event;

/// Maximum size of a plan, in bytes.
pub const MAX_BYTES: usize = 64 << 20;

/// Maximum number of nodes in a plan: elements, texts, comments.
pub const MAX_NODES: usize = 4_000_000;

/// Maximum nesting of elements.
pub const MAX_DEPTH: usize = 20_000;

const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// Implements [`JmxDocument::parse`].
pub(super) fn parse(bytes: &[u8]) -> Result<JmxDocument, JmxError> {
    if bytes.len() > MAX_BYTES {
        let size = bytes.len();
        return Err(JmxError::new(format!(
            "the plan has {size} bytes; at most {MAX_BYTES} are read"
        )));
    }
    let (source, encoding) = encoding::read(bytes)?;
    let mut builder = Builder::new(&source);
    match builder.read() {
        Ok(()) => builder.finish(encoding),
        Err((position, message)) => {
            Err(JmxError::at(builder.lines.position(&source, position), message))
        }
    }
}

/// Byte of the source, and description of the error there.
type Fault = (usize, String);

struct Builder<'s> {
    source: &'s str,
    lines: LineIndex,
    nodes: Vec<Node>,
    top: Vec<NodeId>,
    open: Vec<NodeId>,
    /// The last child element of each open element.
    last: Vec<Option<NodeId>>,
    root: Option<NodeId>,
}

impl<'s> Builder<'s> {
    fn new(source: &'s str) -> Self {
        Self {
            source,
            lines: LineIndex::new(source),
            nodes: Vec::new(),
            top: Vec::new(),
            open: Vec::new(),
            last: Vec::new(),
            root: None,
        }
    }

    fn read(&mut self) -> Result<(), Fault> {
        let mut base = 0;
        if self.source.starts_with(BYTE_ORDER_MARK) {
            base = BYTE_ORDER_MARK.len_utf8();
            self.add(NodeKind::Other, 0, base)?;
        }
        // The reader skips a byte-order mark itself, and positions would then be wrong.
        if self.source[base..].starts_with(BYTE_ORDER_MARK) {
            return Err((
                base,
                "the plan begins with two byte-order marks; remove them".to_owned(),
            ));
        }
        let mut reader = Reader::from_str(&self.source[base..]);
        loop {
            let from = base + reader.buffer_position() as usize;
            let event = reader.read_event();
            let to = base + reader.buffer_position() as usize;
            let event = event
                .map_err(|error| self.fault(&error, base + reader.error_position() as usize))?;
            if event == Event::Eof {
                return self.end(from);
            }
            self.take(&event, from, to)?;
        }
    }

    fn take(&mut self, event: &Event<'_>, from: usize, to: usize) -> Result<(), Fault> {
        match event {
            Event::Start(_) => {
                let id = self.element(from, to)?;
                self.open.push(id);
                self.last.push(None);
                if self.open.len() > MAX_DEPTH {
                    return Err((from, format!("elements are nested deeper than {MAX_DEPTH}")));
                }
            }
            Event::Empty(_) => {
                self.element(from, to)?;
            }
            Event::End(_) => {
                self.last.pop();
                if let Some(id) = self.open.pop() {
                    self.nodes[id.0 as usize].close = from as u32..to as u32;
                }
            }
            Event::Text(_) | Event::GeneralRef(_) => self.text(from, to)?,
            Event::CData(_) if self.open.is_empty() => return Err((from, outside())),
            Event::CData(_) => {
                self.add(NodeKind::CharacterData, from, to)?;
            }
            Event::Comment(_) => {
                self.add(NodeKind::Comment, from, to)?;
            }
            Event::Decl(_) | Event::PI(_) | Event::DocType(_) => self.other(event, from, to)?,
            Event::Eof => {}
        }
        Ok(())
    }

    fn element(&mut self, from: usize, to: usize) -> Result<NodeId, Fault> {
        let tag = &self.source[from..to];
        if let Some((position, message)) = attributes::fault(tag) {
            return Err((from + position, message));
        }
        for one in attributes::attributes(tag) {
            if let Some((position, message)) = text::fault(&tag[one.value.clone()]) {
                return Err((from + one.value.start + position, message));
            }
        }
        if self.open.is_empty() && self.root.is_some() {
            return Err((
                from,
                format!("a second root element `{}`; remove it", attributes::name(tag)),
            ));
        }
        let id = self.add(NodeKind::Element, from, to)?;
        self.root.get_or_insert(id);
        if let Some(last) = self.last.last_mut() {
            self.nodes[id.0 as usize].previous = last.replace(id);
        }
        Ok(id)
    }

    fn text(&mut self, from: usize, to: usize) -> Result<(), Fault> {
        let text = &self.source[from..to];
        if self.open.is_empty() && !text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            return Err((from, outside()));
        }
        if let Some((position, message)) = text::fault(text) {
            return Err((from + position, message));
        }
        let last =
            self.open.last().and_then(|open| self.nodes[open.0 as usize].children.last()).copied();
        if let Some(node) = last.map(|last| &mut self.nodes[last.0 as usize])
            && node.kind == NodeKind::Text
        {
            // The reader splits text at entity references; the document keeps it as one node.
            node.open.end = to as u32;
            return Ok(());
        }
        if from < to {
            self.add(NodeKind::Text, from, to)?;
        }
        Ok(())
    }

    fn other(&mut self, event: &Event<'_>, from: usize, to: usize) -> Result<(), Fault> {
        let markup = &self.source[from..to];
        // Entities can expand to a huge text.
        if matches!(event, Event::DocType(_)) && markup.contains('[') {
            let message =
                "a DOCTYPE that declares entities is refused; remove the part in [ ]".to_owned();
            return Err((from, message));
        }
        self.add(NodeKind::Other, from, to).map(|_| ())
    }

    fn add(&mut self, kind: NodeKind, from: usize, to: usize) -> Result<NodeId, Fault> {
        if self.nodes.len() >= MAX_NODES {
            return Err((from, format!("the plan has more than {MAX_NODES} nodes")));
        }
        let id = NodeId(self.nodes.len() as u32);
        let parent = self.open.last().copied();
        let end = to as u32;
        self.nodes.push(Node {
            kind,
            parent,
            open: from as u32..end,
            close: end..end,
            children: Vec::new(),
            previous: None,
        });
        match parent {
            Some(parent) => self.nodes[parent.0 as usize].children.push(id),
            None => self.top.push(id),
        }
        Ok(id)
    }

    fn end(&self, position: usize) -> Result<(), Fault> {
        match self.open.last() {
            Some(_) => {
                Err((position, format!("the plan ends before {} is closed", self.innermost())))
            }
            None => Ok(()),
        }
    }

    fn finish(self, encoding: Encoding) -> Result<JmxDocument, JmxError> {
        let root = self
            .root
            .ok_or_else(|| JmxError::new("not a JMeter plan: the file has no elements"))?;
        let document = JmxDocument {
            source: self.source.to_owned(),
            encoding,
            lines: self.lines,
            nodes: self.nodes,
            top: self.top,
            root,
        };
        match document.name(root) {
            "jmeterTestPlan" => Ok(document),
            "testResults" => Err(JmxError::new(
                "not a JMeter plan but a result file (.jtl): its root is `testResults`",
            )),
            other => {
                let message = format!(
                    "not a JMeter plan: the root element is `{other}`, expected `jmeterTestPlan`"
                );
                Err(JmxError::at(document.position(root), message))
            }
        }
    }

    /// Names the open element for messages: `` `<stringProp>` (line 12) ``.
    fn innermost(&self) -> String {
        let Some(&open) = self.open.last() else { return "no element".to_owned() };
        let tag = &self.nodes[open.0 as usize].open;
        let position = tag.start as usize;
        let name = attributes::name(&self.source[position..tag.end as usize]);
        format!("`<{name}>` (line {})", self.lines.position(self.source, position).line)
    }

    fn fault(&self, error: &Error, position: usize) -> Fault {
        let within = if self.open.is_empty() {
            String::new()
        } else {
            format!(" within {}", self.innermost())
        };
        let message = match error {
            Error::IllFormed(IllFormedError::MismatchedEndTag { found, .. }) => {
                format!("unexpected `</{found}>`: the open element is {}", self.innermost())
            }
            Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
                format!("unexpected `</{found}>`: no element is open")
            }
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                format!("`&` without `;`{within}; write `&amp;` for a literal `&`")
            }
            Error::Syntax(SyntaxError::UnclosedComment) => {
                format!("a comment{within} is not closed; expected `-->`")
            }
            Error::Syntax(SyntaxError::UnclosedCData) => {
                format!("a CDATA section{within} is not closed; expected `]]>`")
            }
            Error::Syntax(
                SyntaxError::UnclosedTag
                | SyntaxError::UnclosedSingleQuotedAttributeValue
                | SyntaxError::UnclosedDoubleQuotedAttributeValue,
            ) => format!(
                "a tag{within} is not closed; expected `>`, or write `&lt;` for a literal `<`"
            ),
            other => format!("malformed XML{within}: {other}"),
        };
        (position, message)
    }
}

fn outside() -> String {
    "text outside the root element; remove it".to_owned()
}

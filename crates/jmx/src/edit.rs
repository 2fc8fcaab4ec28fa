//! Changes of a document. Each touches the markup of the nodes that it names, and nothing else.

use crate::document::{Document, Markup, Node, NodeId, NodeKind, encode, encode_attribute};
use crate::property::{Properties, PropertyKind};
use brunt_model::secret::{is_secret_field, is_secret_header};

impl Document {
    /// Enables or disables a test element.
    pub fn set_enabled(&mut self, element: NodeId, enabled: bool) {
        self.set_attribute(element, "enabled", if enabled { "true" } else { "false" });
    }

    /// Names a test element.
    pub fn set_name(&mut self, element: NodeId, name: &str) {
        self.set_attribute(element, "testname", name);
    }

    /// Sets an attribute of an element: in place where it is there, else as the last. Nodes other than elements stay as they are.
    pub fn set_attribute(&mut self, id: NodeId, name: &str, value: &str) {
        if self.kind(id) != NodeKind::Element || self.attribute(id, name).as_deref() == Some(value) {
            return;
        }
        let mut tag = self.raw(id).to_owned();
        let value = encode_attribute(value);
        if let Some(range) = self.attribute_value(id, name) {
            tag.replace_range(range, &value);
        } else {
            let end = tag.trim_end_matches('>').trim_end_matches('/').trim_end().len();
            tag.insert_str(end, &format!(" {name}=\"{value}\""));
        }
        self.node_mut(id).open = Markup::Edited(tag.into());
    }

    /// Sets the text directly within an element; comments and elements within it stay.
    pub fn set_text(&mut self, id: NodeId, text: &str) {
        if self.kind(id) != NodeKind::Element || self.text(id) == text {
            return;
        }
        let is_text = |document: &Self, child| matches!(document.kind(child), NodeKind::Text | NodeKind::CharacterData);
        let kept: Vec<NodeId> = self.children(id).iter().copied().filter(|&child| !is_text(self, child)).collect();
        self.node_mut(id).children = kept;
        if !text.is_empty() {
            self.insert(id, 0, NodeKind::Text, &encode(text), "");
        }
    }

    /// Sets a scalar property of a test element, an `elementProp` or an item of a list. Where it is absent, a `stringProp` is
    /// added as the last. Returns whether it could be set: false where the name is one of a collection or an element.
    pub fn set_property(&mut self, element: NodeId, name: &str, value: &str) -> bool {
        let Some(property) = Properties::new(self, element).get(name) else {
            self.add_property(element, name, value);
            return true;
        };
        let compound = [PropertyKind::Element, PropertyKind::Collection, PropertyKind::Map, PropertyKind::Object];
        if compound.contains(&property.kind()) {
            return false;
        }
        let node = property.node();
        let nested = self.elements(node).find(|&child| self.name(child) == "value");
        self.set_text(nested.unwrap_or(node), value);
        true
    }

    /// Replaces secrets by `***`: passwords of the authorization manager and of samplers, values of headers that authenticate, and
    /// cookies. Text with `${…}` stays, since the secret is elsewhere. Returns how many were replaced.
    pub fn redact(&mut self) -> usize {
        let secrets: Vec<NodeId> = self.secrets();
        for &node in &secrets {
            self.set_text(node, "***");
        }
        secrets.len()
    }

    fn secrets(&self) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut rest = vec![self.root()];
        while let Some(node) = rest.pop() {
            rest.extend(self.elements(node));
            let properties = Properties::new(self, node);
            let header = properties.text("Header.name").is_some_and(|name| is_secret_header(&name));
            let argument = properties.text("Argument.name").is_some_and(|name| is_secret_field(&name));
            for property in properties.iter() {
                let value = match &*property.name() {
                    "Header.value" => header,
                    "Argument.value" => argument,
                    "Cookie.value" => true,
                    name => is_secret_field(name),
                };
                let text = property.text();
                if value && !text.is_empty() && !text.contains("${") && text != "***" {
                    found.push(property.node());
                }
            }
        }
        found
    }

    fn add_property(&mut self, element: NodeId, name: &str, value: &str) {
        let open = format!("<stringProp name=\"{}\">", encode_attribute(name));
        let children = self.children(element);
        let first = children.first().filter(|&&child| self.kind(child) == NodeKind::Text);
        let before = first.map(|&child| self.raw(child).to_owned());
        let at = match children.last() {
            Some(&last) if before.is_some() && self.kind(last) == NodeKind::Text => children.len() - 1,
            _ => children.len(),
        };
        let added = self.insert(element, at, NodeKind::Element, &open, "</stringProp>");
        if let Some(space) = before.filter(|space| space.trim().is_empty()) {
            self.insert(element, at, NodeKind::Text, &space, "");
        }
        self.set_text(added, value);
    }

    fn insert(&mut self, parent: NodeId, at: usize, kind: NodeKind, open: &str, close: &str) -> NodeId {
        self.open_up(parent);
        let (open, close) = (Markup::Edited(open.into()), Markup::Edited(close.into()));
        let place = self.node(parent).at;
        let id = self.push(Node {
            kind,
            parent: Some(parent),
            open,
            close,
            children: Vec::new(),
            previous: None,
            at: place,
        });
        self.node_mut(parent).children.insert(at, id);
        id
    }

    /// Makes `<a/>` into `<a></a>`.
    fn open_up(&mut self, id: NodeId) {
        let Some(tag) = self.raw(id).strip_suffix("/>").map(str::trim_end) else { return };
        let (open, close) = (format!("{tag}>"), format!("</{}>", self.name(id)));
        let node = self.node_mut(id);
        node.open = Markup::Edited(open.into());
        node.close = Markup::Edited(close.into());
    }
}

#[cfg(test)]
mod tests;

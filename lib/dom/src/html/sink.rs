//! The linked tree that `html5ever` builds and rearranges. It counts the steps of the builder.

use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Index of the document node.
pub(super) const ROOT: usize = 0;

/// Number of steps for creating an element.
const ELEMENT: u64 = 32;

/// A node of the tree, with its name if it is an element.
#[derive(Clone)]
pub(super) struct Handle {
    node: usize,
    name: Rc<QualName>,
}

/// Content of a node.
pub(super) enum NodeData {
    Document,
    Element(Rc<QualName>, Vec<Attribute>),
    Text(StrTendril),
    Comment(StrTendril),
}

struct LinkedNode {
    data: NodeData,
    parent: Option<usize>,
    previous: Option<usize>,
    next: Option<usize>,
    first: Option<usize>,
    last: Option<usize>,
}

/// All nodes, linked by index.
#[derive(Default)]
pub(super) struct Tree(Vec<LinkedNode>);

impl Tree {
    pub fn data(&self, node: usize) -> &NodeData {
        &self.0[node].data
    }

    pub fn first_child(&self, node: usize) -> Option<usize> {
        self.0[node].first
    }

    pub fn next(&self, node: usize) -> Option<usize> {
        self.0[node].next
    }

    pub fn parent(&self, node: usize) -> Option<usize> {
        self.0[node].parent
    }

    fn add(&mut self, data: NodeData) -> usize {
        self.0.push(LinkedNode {
            data,
            parent: None,
            previous: None,
            next: None,
            first: None,
            last: None,
        });
        self.0.len() - 1
    }

    /// Removes a node from its parent.
    fn detach(&mut self, node: usize) {
        let parent = self.0[node].parent.take();
        let previous = self.0[node].previous.take();
        let next = self.0[node].next.take();
        match previous {
            Some(previous) => self.0[previous].next = next,
            None => parent.into_iter().for_each(|parent| self.0[parent].first = next),
        }
        match next {
            Some(next) => self.0[next].previous = previous,
            None => parent.into_iter().for_each(|parent| self.0[parent].last = previous),
        }
    }

    /// Inserts a node below a parent, before one of its children or at the end.
    fn insert(&mut self, parent: usize, before: Option<usize>, node: usize) {
        self.detach(node);
        let previous = before.map_or(self.0[parent].last, |before| self.0[before].previous);
        let inserted = &mut self.0[node];
        inserted.parent = Some(parent);
        inserted.previous = previous;
        inserted.next = before;
        match previous {
            Some(previous) => self.0[previous].next = Some(node),
            None => self.0[parent].first = Some(node),
        }
        match before {
            Some(before) => self.0[before].previous = Some(node),
            None => self.0[parent].last = Some(node),
        }
    }

    /// Inserts a node or text. Text after text is appended to it.
    fn place(&mut self, parent: usize, before: Option<usize>, child: NodeOrText<Handle>) {
        let text = match child {
            NodeOrText::AppendNode(node) => return self.insert(parent, before, node.node),
            NodeOrText::AppendText(text) => text,
        };
        let previous = before.map_or(self.0[parent].last, |before| self.0[before].previous);
        if let Some(NodeData::Text(existing)) = previous.map(|previous| &mut self.0[previous].data)
        {
            existing.push_tendril(&text);
        } else {
            let node = self.add(NodeData::Text(text));
            self.insert(parent, before, node);
        }
    }
}

/// Builds the tree for `html5ever`.
pub(super) struct Sink {
    tree: RefCell<Tree>,
    steps_left: Cell<u64>,
    no_name: Rc<QualName>,
}

impl Sink {
    pub fn new(steps: u64) -> Self {
        let mut tree = Tree::default();
        tree.add(NodeData::Document);
        let no_name = Rc::new(QualName::new(None, "".into(), "".into()));
        Self { tree: RefCell::new(tree), steps_left: Cell::new(steps), no_name }
    }

    pub fn charge(&self, steps: u64) {
        self.steps_left.set(self.steps_left.get().saturating_sub(steps));
    }

    pub fn steps_left(&self) -> u64 {
        self.steps_left.get()
    }

    pub fn is_exhausted(&self) -> bool {
        self.steps_left() == 0
    }

    pub fn into_tree(self) -> Tree {
        self.tree.into_inner()
    }

    fn add(&self, data: NodeData) -> Handle {
        let name = if let NodeData::Element(name, _) = &data {
            Rc::clone(name)
        } else {
            Rc::clone(&self.no_name)
        };
        Handle { node: self.tree.borrow_mut().add(data), name }
    }
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { node: ROOT, name: Rc::clone(&self.no_name) }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        // The tree builder calls this for each open element that it searches.
        self.charge(1);
        &target.name
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> Handle {
        let bytes: usize =
            attributes.iter().map(|one| one.name.local.len() + one.value.len()).sum();
        self.charge(ELEMENT + bytes as u64);
        self.add(NodeData::Element(Rc::new(name), attributes))
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.add(NodeData::Comment(text))
    }

    fn create_pi(&self, target: StrTendril, _: StrTendril) -> Handle {
        // HTML has no processing instructions; a browser reads them as comments.
        self.add(NodeData::Comment(target))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.tree.borrow_mut().place(parent.node, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let has_parent = self.tree.borrow().parent(element.node).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// Returns the element itself, so that the content of a template is below it.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        self.charge(1);
        one.node == other.node
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let parent = self.tree.borrow().parent(sibling.node);
        if let Some(parent) = parent {
            self.tree.borrow_mut().place(parent, Some(sibling.node), child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        if let NodeData::Element(_, existing) = &mut self.tree.borrow_mut().0[target.node].data {
            self.charge((existing.len() * attributes.len()) as u64);
            for one in attributes {
                if existing.iter().all(|other| other.name != one.name) {
                    existing.push(one);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.tree.borrow_mut().detach(target.node);
    }

    fn reparent_children(&self, node: &Handle, parent: &Handle) {
        let mut tree = self.tree.borrow_mut();
        while let Some(child) = tree.first_child(node.node) {
            self.charge(1);
            tree.insert(parent.node, None, child);
        }
    }
}

//! Finds the nodes on an axis that pass a node test.

use super::ast::{Axis, Step, Test};
use super::evaluate::{Evaluator, Outcome};
use super::value::NodeRef;
use crate::document::{Kind, NONE, ROOT};
use std::collections::HashSet;

/// Nodes that earlier context nodes of a step gave already, so that nested context nodes do
/// not give them again.
#[derive(Default)]
struct Covered {
    /// Index after that of the last node with descendants that were given.
    end: u32,
    /// The previous context node.
    last: Option<u32>,
    /// Parents with children that were given.
    parents: HashSet<u32>,
}

impl<'a> Evaluator<'a> {
    /// Returns the nodes that a step gives for all context nodes, in document order.
    pub(super) fn step(&self, contexts: &[NodeRef], step: &'a Step) -> Outcome<Vec<NodeRef>> {
        let mut out = Vec::new();
        let mut covered = Covered::default();
        let contexts = self.useful(contexts, step);
        // For preceding siblings, the last context node comes first, because it gives all
        // that the earlier ones give.
        let is_backward = step.axis == Axis::PrecedingSibling;
        for index in 0..contexts.len() {
            let node_ref = contexts[if is_backward { contexts.len() - 1 - index } else { index }];
            let mut nodes = Vec::new();
            self.axis(node_ref, step, &mut covered, &mut nodes)?;
            for predicate in &step.predicates {
                nodes = self.filter(nodes, predicate)?;
            }
            out.append(&mut nodes);
        }
        self.sorted(out)
    }

    /// Sorts nodes and removes duplicates.
    pub(super) fn sorted(&self, mut nodes: Vec<NodeRef>) -> Outcome<Vec<NodeRef>> {
        if !nodes.is_sorted_by(|one, next| one < next) {
            self.charge(nodes.len() as u64 * 4)?;
            nodes.sort_unstable();
            nodes.dedup();
        }
        Ok(nodes)
    }

    /// Returns the context node that gives all nodes of the others, if there is one;
    /// otherwise all context nodes.
    fn useful(&self, contexts: &[NodeRef], step: &Step) -> Vec<NodeRef> {
        let one = match step.axis {
            _ if step.is_positional => None,
            Axis::Following => contexts.iter().min_by_key(|node_ref| self.after(**node_ref)),
            Axis::Preceding => contexts.last(),
            _ => None,
        };
        one.map_or_else(|| contexts.to_vec(), |one| vec![*one])
    }

    /// Returns the first node that follows.
    fn after(&self, node_ref: NodeRef) -> u32 {
        if node_ref.attribute().is_some() { node_ref.node + 1 } else { self.end(node_ref.node) }
    }

    fn end(&self, node: u32) -> u32 {
        self.document.nodes[node as usize].end
    }

    /// Adds the nodes of one axis, the nearest first.
    fn axis(
        &self,
        node_ref: NodeRef,
        step: &Step,
        covered: &mut Covered,
        out: &mut Vec<NodeRef>,
    ) -> Outcome<()> {
        let node = node_ref.node;
        if node_ref.attribute().is_some() && self.axis_of_attribute(node_ref, step, out)? {
            return Ok(());
        }
        match step.axis {
            Axis::Itself => self.take(node, step, out),
            Axis::Parent => self.take_all(self.document.ancestors(node).take(1), step, out),
            Axis::Child => self.take_all(self.document.children(node), step, out),
            Axis::Descendant | Axis::DescendantOrSelf => self.below(node, step, covered, out),
            Axis::Ancestor | Axis::AncestorOrSelf => self.above(node_ref, step, covered, out),
            Axis::FollowingSibling | Axis::PrecedingSibling => {
                self.siblings(node, step, covered, out)
            }
            Axis::Following => self.take_all(self.after(node_ref)..self.end(ROOT), step, out),
            Axis::Preceding => {
                // The axis excludes ancestors, which end after the node.
                let preceding = (1..node).rev().filter(|other| self.end(*other) <= node);
                // All nodes before this one are examined.
                self.charge(u64::from(node))?;
                self.take_all(preceding, step, out)
            }
            Axis::Attribute | Axis::Namespace => self.attributes(node, step, out),
        }
    }

    /// Handles an attribute on an axis on which it has no nodes, or other nodes than its element.
    /// Returns true if no nodes of the element follow.
    fn axis_of_attribute(
        &self,
        node_ref: NodeRef,
        step: &Step,
        out: &mut Vec<NodeRef>,
    ) -> Outcome<bool> {
        match step.axis {
            Axis::Itself | Axis::DescendantOrSelf if matches!(step.test, Test::Node) => {
                out.push(node_ref);
            }
            Axis::Parent => self.take(node_ref.node, step, out)?,
            Axis::Ancestor | Axis::AncestorOrSelf | Axis::Following | Axis::Preceding => {
                if step.axis == Axis::AncestorOrSelf && matches!(step.test, Test::Node) {
                    out.push(node_ref);
                }
                return Ok(false);
            }
            _ => {}
        }
        Ok(true)
    }

    fn below(
        &self,
        node: u32,
        step: &Step,
        covered: &mut Covered,
        out: &mut Vec<NodeRef>,
    ) -> Outcome<()> {
        // An earlier context node gave these descendants already.
        if !step.is_positional && self.end(node) <= covered.end {
            return Ok(());
        }
        covered.end = covered.end.max(self.end(node));
        let first = if step.axis == Axis::Descendant { node + 1 } else { node };
        self.take_all(first..self.end(node), step, out)
    }

    fn above(
        &self,
        node_ref: NodeRef,
        step: &Step,
        covered: &mut Covered,
        out: &mut Vec<NodeRef>,
    ) -> Outcome<()> {
        let with_itself = node_ref.attribute().is_some() || step.axis == Axis::AncestorOrSelf;
        let previous = covered.last.replace(node_ref.node).filter(|_| !step.is_positional);
        let itself = Some(node_ref.node).filter(|_| with_itself);
        let nodes = itself.into_iter().chain(self.document.ancestors(node_ref.node));
        // The previous context node gave all of its ancestors already.
        let new = nodes.take_while(|node| {
            previous.is_none_or(|last| *node >= last || self.end(*node) <= last)
        });
        self.take_all(new, step, out)
    }

    fn siblings(
        &self,
        node: u32,
        step: &Step,
        covered: &mut Covered,
        out: &mut Vec<NodeRef>,
    ) -> Outcome<()> {
        let parent = self.document.nodes[node as usize].parent;
        if parent == NONE || (!step.is_positional && !covered.parents.insert(parent)) {
            return Ok(());
        }
        if step.axis == Axis::FollowingSibling {
            let end = self.end(parent);
            let first = Some(self.end(node)).filter(|next| *next < end);
            let later = std::iter::successors(first, |node| {
                Some(self.end(*node)).filter(|next| *next < end)
            });
            return self.take_all(later, step, out);
        }
        self.take_all(
            std::iter::successors(self.previous(node), |node| self.previous(*node)),
            step,
            out,
        )
    }

    fn previous(&self, node: u32) -> Option<u32> {
        Some(self.document.nodes[node as usize].previous).filter(|previous| *previous != NONE)
    }

    /// Adds attributes, or the namespace declarations in scope, which are attributes, too.
    fn attributes(&self, node: u32, step: &Step, out: &mut Vec<NodeRef>) -> Outcome<()> {
        let is_namespace = step.axis == Axis::Namespace;
        let mut declared_names = HashSet::new();
        let itself = Some(node).filter(|_| self.document.is_element(node));
        let above = self.document.ancestors(node).filter(|_| is_namespace);
        for element in itself.into_iter().chain(above) {
            self.charge(1)?;
            for attribute in self.document.attributes(element) {
                self.charge(1)?;
                let name = self.document.attribute_name(attribute);
                let declared = if name == "xmlns" { Some("") } else { name.strip_prefix("xmlns:") };
                // HTML has no namespace declarations; `xmlns` is an ordinary attribute there.
                let declared = declared.filter(|_| !self.document.html);
                let name =
                    if is_namespace { declared } else { Some(name).filter(|_| declared.is_none()) };
                if let Some(name) = name
                    && self.passes(NodeRef::attribute_of(element, attribute), name, &step.test)?
                    && (!is_namespace || declared_names.insert(name))
                {
                    out.push(NodeRef::attribute_of(element, attribute));
                }
            }
        }
        Ok(())
    }

    fn take_all(
        &self,
        nodes: impl Iterator<Item = u32>,
        step: &Step,
        out: &mut Vec<NodeRef>,
    ) -> Outcome<()> {
        for node in nodes {
            self.take(node, step, out)?;
        }
        Ok(())
    }

    /// Adds a node if it passes the test.
    fn take(&self, node: u32, step: &Step, out: &mut Vec<NodeRef>) -> Outcome<()> {
        self.charge(1)?;
        let kind = self.document.nodes[node as usize].kind;
        let passes = match &step.test {
            Test::Node => true,
            Test::Text => kind == Kind::Text,
            Test::Comment => kind == Kind::Comment,
            Test::Instruction(target) => {
                kind == Kind::Instruction
                    && target.as_ref().is_none_or(|target| **target == *self.document.name(node))
            }
            test => {
                kind == Kind::Element
                    && self.passes(NodeRef::node(node), self.document.name(node), test)?
            }
        };
        if passes {
            out.push(NodeRef::node(node));
        }
        Ok(())
    }

    /// True if a name of the document passes the test: exactly, in XML by its part after the
    /// prefix, or by its namespace.
    fn passes(&self, node_ref: NodeRef, name_in_document: &str, test: &Test) -> Outcome<bool> {
        Ok(match test {
            Test::Any | Test::Node => true,
            Test::Qualified { uri, local: wanted } => {
                wanted.as_ref().is_none_or(|wanted| local(name_in_document) == &**wanted)
                    && self.namespace_uri(node_ref)? == &**uri
            }
            Test::Prefix(prefix) => name_in_document.starts_with(&**prefix),
            Test::Name(name) => {
                self.document.is_same_name(name_in_document, name)
                    || (!self.document.html && local(name_in_document) == &**name)
            }
            _ => false,
        })
    }
}

/// Returns the part of a name after its prefix.
pub(super) fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

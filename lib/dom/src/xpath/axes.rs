//! The nodes on an axis that pass a node test.

use super::ast::{Axis, Step, Test};
use super::evaluate::{Evaluator, Outcome};
use super::value::At;
use crate::document::{Kind, NONE, ROOT};
use std::collections::HashSet;

/// What earlier context nodes of a step have given already, so that nested ones do not give it again.
#[derive(Default)]
struct Covered {
    /// One past the last node whose descendants were given.
    end: u32,
    /// The context node before.
    last: Option<u32>,
    /// Parents whose children were given.
    parents: HashSet<u32>,
}

impl<'a> Evaluator<'a> {
    /// What a step gives from all context nodes, in document order.
    pub(super) fn step(&self, contexts: &[At], step: &'a Step) -> Outcome<Vec<At>> {
        let mut out = Vec::new();
        let mut covered = Covered::default();
        let contexts = self.useful(contexts, step);
        // The last sibling comes first where it gives all that the ones before it give.
        let is_backward = step.axis == Axis::PrecedingSibling;
        for index in 0..contexts.len() {
            let at = contexts[if is_backward { contexts.len() - 1 - index } else { index }];
            let mut found = Vec::new();
            self.axis(at, step, &mut covered, &mut found)?;
            for predicate in &step.predicates {
                found = self.filter(found, predicate)?;
            }
            out.append(&mut found);
        }
        self.sorted(out)
    }

    /// Sorts nodes and drops the ones that occur twice.
    pub(super) fn sorted(&self, mut nodes: Vec<At>) -> Outcome<Vec<At>> {
        if !nodes.is_sorted_by(|one, next| one < next) {
            self.charge(nodes.len() as u64 * 4)?;
            nodes.sort_unstable();
            nodes.dedup();
        }
        Ok(nodes)
    }

    /// Of the context nodes, the one that gives all that the others give, where there is one.
    fn useful(&self, contexts: &[At], step: &Step) -> Vec<At> {
        let one = match step.axis {
            _ if step.is_positional => None,
            Axis::Following => contexts.iter().min_by_key(|at| self.after(**at)),
            Axis::Preceding => contexts.last(),
            _ => None,
        };
        one.map_or_else(|| contexts.to_vec(), |one| vec![*one])
    }

    /// The first node that follows.
    fn after(&self, at: At) -> u32 {
        if at.attribute().is_some() { at.node + 1 } else { self.end(at.node) }
    }

    fn end(&self, node: u32) -> u32 {
        self.document.nodes[node as usize].end
    }

    /// Adds the nodes of one axis, the nearest first.
    fn axis(&self, at: At, step: &Step, covered: &mut Covered, out: &mut Vec<At>) -> Outcome<()> {
        let node = at.node;
        if at.attribute().is_some() && self.axis_of_attribute(at, step, out)? {
            return Ok(());
        }
        match step.axis {
            Axis::Itself => self.take(node, step, out),
            Axis::Parent => self.take_all(self.document.ancestors(node).take(1), step, out),
            Axis::Child => self.take_all(self.document.children(node), step, out),
            Axis::Descendant | Axis::DescendantOrSelf => self.below(node, step, covered, out),
            Axis::Ancestor | Axis::AncestorOrSelf => self.above(at, step, covered, out),
            Axis::FollowingSibling | Axis::PrecedingSibling => self.siblings(node, step, covered, out),
            Axis::Following => self.take_all(self.after(at)..self.end(ROOT), step, out),
            Axis::Preceding => {
                let ended = (1..node).rev().filter(|other| self.end(*other) <= node);
                self.charge(u64::from(node))?;
                self.take_all(ended, step, out)
            }
            Axis::Attribute | Axis::Namespace => self.attributes(node, step, out),
        }
    }

    /// Handles the axes on which attributes have no nodes or other ones than their element; whether this was one.
    fn axis_of_attribute(&self, at: At, step: &Step, out: &mut Vec<At>) -> Outcome<bool> {
        match step.axis {
            Axis::Itself | Axis::DescendantOrSelf if matches!(step.test, Test::Node) => out.push(at),
            Axis::Parent => self.take(at.node, step, out)?,
            Axis::Ancestor | Axis::AncestorOrSelf | Axis::Following | Axis::Preceding => {
                if step.axis == Axis::AncestorOrSelf && matches!(step.test, Test::Node) {
                    out.push(at);
                }
                return Ok(false);
            }
            _ => {}
        }
        Ok(true)
    }

    fn below(&self, node: u32, step: &Step, covered: &mut Covered, out: &mut Vec<At>) -> Outcome<()> {
        if !step.is_positional && self.end(node) <= covered.end {
            return Ok(());
        }
        covered.end = covered.end.max(self.end(node));
        let first = if step.axis == Axis::Descendant { node + 1 } else { node };
        self.take_all(first..self.end(node), step, out)
    }

    fn above(&self, at: At, step: &Step, covered: &mut Covered, out: &mut Vec<At>) -> Outcome<()> {
        let with_itself = at.attribute().is_some() || step.axis == Axis::AncestorOrSelf;
        let last = covered.last.replace(at.node).filter(|_| !step.is_positional);
        // Above the context node before this one, everything was given.
        let is_new = |node: &u32| last.is_none_or(|last| *node >= last || self.end(*node) <= last);
        let itself = Some(at.node).filter(|_| with_itself);
        self.take_all(itself.into_iter().chain(self.document.ancestors(at.node)).take_while(is_new), step, out)
    }

    fn siblings(&self, node: u32, step: &Step, covered: &mut Covered, out: &mut Vec<At>) -> Outcome<()> {
        let parent = self.document.nodes[node as usize].parent;
        if parent == NONE || (!step.is_positional && !covered.parents.insert(parent)) {
            return Ok(());
        }
        if step.axis == Axis::FollowingSibling {
            let end = self.end(parent);
            let next = |node: u32| Some(self.end(node)).filter(|next| *next < end);
            return self.take_all(std::iter::successors(next(node), |node| next(*node)), step, out);
        }
        let previous = |node: u32| Some(self.document.nodes[node as usize].previous).filter(|one| *one != NONE);
        self.take_all(std::iter::successors(previous(node), |node| previous(*node)), step, out)
    }

    /// Attributes, or the namespace declarations in scope, which are attributes too.
    fn attributes(&self, node: u32, step: &Step, out: &mut Vec<At>) -> Outcome<()> {
        let is_wanted = step.axis == Axis::Namespace;
        let mut seen = HashSet::new();
        let itself = Some(node).filter(|_| self.document.is_element(node));
        let above = self.document.ancestors(node).filter(|_| is_wanted);
        for element in itself.into_iter().chain(above) {
            self.charge(1)?;
            for attribute in self.document.attributes(element) {
                self.charge(1)?;
                let name = self.document.attribute_name(attribute);
                let declared = if name == "xmlns" { Some("") } else { name.strip_prefix("xmlns:") };
                let declared = declared.filter(|_| !self.document.html);
                let name = if is_wanted { declared } else { Some(name).filter(|_| declared.is_none()) };
                if let Some(name) = name
                    && self.passes(At::attribute_of(element, attribute), name, &step.test)?
                    && (!is_wanted || seen.insert(name))
                {
                    out.push(At::attribute_of(element, attribute));
                }
            }
        }
        Ok(())
    }

    fn take_all(&self, nodes: impl Iterator<Item = u32>, step: &Step, out: &mut Vec<At>) -> Outcome<()> {
        for node in nodes {
            self.take(node, step, out)?;
        }
        Ok(())
    }

    /// Adds a node if it passes the test.
    fn take(&self, node: u32, step: &Step, out: &mut Vec<At>) -> Outcome<()> {
        self.charge(1)?;
        let kind = self.document.nodes[node as usize].kind;
        let passes = match &step.test {
            Test::Node => true,
            Test::Text => kind == Kind::Text,
            Test::Comment => kind == Kind::Comment,
            Test::Instruction(target) => {
                kind == Kind::Instruction && target.as_ref().is_none_or(|target| **target == *self.document.name(node))
            }
            test => kind == Kind::Element && self.passes(At::node(node), self.document.name(node), test)?,
        };
        if passes {
            out.push(At::node(node));
        }
        Ok(())
    }

    /// Whether a name of the document passes: as written, in XML by its part after the prefix, or by its namespace.
    fn passes(&self, at: At, own: &str, test: &Test) -> Outcome<bool> {
        Ok(match test {
            Test::Any | Test::Node => true,
            Test::Qualified { uri, local: wanted } => {
                wanted.as_ref().is_none_or(|wanted| local(own) == &**wanted) && self.namespace_uri(at)? == &**uri
            }
            Test::Prefix(prefix) => own.starts_with(&**prefix),
            Test::Name(name) => self.document.is_same_name(own, name) || (!self.document.html && local(own) == &**name),
            _ => false,
        })
    }
}

/// The part of a name after its prefix.
pub(super) fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

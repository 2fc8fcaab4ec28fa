//! Finds the elements of a selector, a pass over the document for each of its parts, so that the time is linear in both.

use super::ast::{Combinator, Complex, Matcher, Place, Simple};
use crate::document::{Document, Kind, NONE, ROOT};
use std::cell::OnceCell;
use std::collections::HashMap;

/// HTML elements that can be disabled.
const CONTROLS: [&str; 7] = ["button", "input", "select", "textarea", "option", "optgroup", "fieldset"];

/// Of each node, its place among the elements beside it and the number of these, from 1.
type Places = Vec<(u32, u32)>;

pub(super) struct Search<'d> {
    document: &'d Document,
    places: OnceCell<Places>,
    places_of_type: OnceCell<Places>,
    lowered: OnceCell<Vec<u8>>,
}

impl<'d> Search<'d> {
    pub fn new(document: &'d Document) -> Self {
        Self { document, places: OnceCell::new(), places_of_type: OnceCell::new(), lowered: OnceCell::new() }
    }

    /// The elements of any of the selectors, in document order.
    pub fn list(&self, list: &[Complex]) -> Vec<u32> {
        sorted(list.iter().flat_map(|complex| self.complex(complex)).collect())
    }

    fn complex(&self, complex: &Complex) -> Vec<u32> {
        let mut found = Vec::new();
        for (index, (combinator, compound)) in complex.iter().enumerate() {
            let candidates = if index == 0 { self.elements() } else { self.related(*combinator, &found) };
            found = self.compound(candidates, compound);
        }
        found
    }

    fn elements(&self) -> Vec<u32> {
        (0..self.document.nodes.len() as u32).filter(|node| self.document.is_element(*node)).collect()
    }

    /// Those of the candidates that pass all parts of a compound.
    fn compound(&self, mut candidates: Vec<u32>, compound: &[Simple]) -> Vec<u32> {
        for simple in compound {
            match simple {
                Simple::Place(place) => candidates = at_place(&candidates, *place),
                Simple::Is(list) => self.keep(&mut candidates, &self.list(list), true),
                Simple::Not(list) => self.keep(&mut candidates, &self.list(list), false),
                Simple::Has(list) => {
                    let found = list.iter().flat_map(|complex| self.having_complex(complex)).collect();
                    self.keep(&mut candidates, &sorted(found), true);
                }
                Simple::Contains(text) => {
                    let starts = self.occurrences(text.as_bytes());
                    candidates.retain(|node| self.contains(*node, &starts, text.len()));
                }
                simple => candidates.retain(|node| self.passes(*node, simple)),
            }
        }
        candidates
    }

    /// Keeps the candidates that are, or are not, among some.
    fn keep(&self, candidates: &mut Vec<u32>, among: &[u32], wanted: bool) {
        let mut is_among = vec![false; self.document.nodes.len()];
        for node in among {
            is_among[*node as usize] = true;
        }
        candidates.retain(|node| is_among[*node as usize] == wanted);
    }

    /// The elements that stand in the relation to any of the given ones, which are in document order.
    fn related(&self, combinator: Combinator, to: &[u32]) -> Vec<u32> {
        let nodes = &self.document.nodes;
        let mut found = Vec::new();
        let mut covered = 0;
        let mut seen = vec![false; nodes.len()];
        for node in to {
            match combinator {
                Combinator::Descendant => {
                    let end = nodes[*node as usize].end;
                    found.extend((covered.max(*node + 1)..end).filter(|one| self.document.is_element(*one)));
                    covered = covered.max(end);
                }
                Combinator::Child => {
                    found.extend(self.document.children(*node).filter(|one| self.document.is_element(*one)));
                }
                Combinator::Next => found.extend(self.later(*node).next()),
                Combinator::Later => {
                    let parent = nodes[*node as usize].parent as usize;
                    if !std::mem::replace(&mut seen[parent], true) {
                        found.extend(self.later(*node));
                    }
                }
            }
        }
        sorted(found)
    }

    /// The elements after one, below the same parent.
    fn later(&self, node: u32) -> impl Iterator<Item = u32> {
        let nodes = &self.document.nodes;
        let end = nodes[nodes[node as usize].parent as usize].end;
        let next = move |node: u32| Some(nodes[node as usize].end).filter(|next| *next < end);
        std::iter::successors(next(node), move |node| next(*node)).filter(|node| self.document.is_element(*node))
    }

    /// The elements before one, below the same parent, the nearest first.
    fn earlier(&self, node: u32) -> impl Iterator<Item = u32> {
        let previous = |node: u32| Some(self.document.nodes[node as usize].previous).filter(|one| *one != NONE);
        std::iter::successors(previous(node), move |node| previous(*node))
            .filter(|node| self.document.is_element(*node))
    }

    /// The elements that have a relative selector's match: found from the right, for all elements at once.
    fn having_complex(&self, complex: &Complex) -> Vec<u32> {
        let mut found: Option<Vec<u32>> = None;
        let mut combinator = Combinator::Descendant;
        for (before, compound) in complex.iter().rev() {
            let candidates = found.map_or_else(|| self.elements(), |right| self.having(combinator, &right));
            found = Some(self.compound(candidates, compound));
            combinator = *before;
        }
        self.having(combinator, &found.unwrap_or_default())
    }

    /// The elements that any of the given ones stands in the relation to.
    fn having(&self, combinator: Combinator, related: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.document.nodes.len()];
        for node in related {
            let is_new = |one: &u32| !std::mem::replace(&mut seen[*one as usize], true);
            match combinator {
                Combinator::Descendant => found.extend(self.document.ancestors(*node).take_while(is_new)),
                Combinator::Child => found.extend(self.document.ancestors(*node).take(1).filter(is_new)),
                Combinator::Next => found.extend(self.earlier(*node).take(1)),
                Combinator::Later => found.extend(self.earlier(*node).take_while(is_new)),
            }
        }
        found.retain(|node| self.document.is_element(*node));
        sorted(found)
    }

    fn passes(&self, node: u32, simple: &Simple) -> bool {
        let document = self.document;
        let has = |name: &str| document.attribute(node, name).is_some();
        let is_control = || CONTROLS.iter().any(|control| document.is_same_name(document.name(node), control));
        match simple {
            Simple::Name(name) => document.is_same_name(document.name(node), name),
            Simple::Id(id) => document.attribute(node, "id") == Some(id),
            Simple::Class(class) => document
                .attribute(node, "class")
                .is_some_and(|all| all.split_ascii_whitespace().any(|one| one == class)),
            Simple::Attribute { name, condition, ignores_case } => {
                is_match(document.attribute(node, name), condition.as_ref(), *ignores_case)
            }
            Simple::Nth { step, offset, from_end, of_type } => {
                let (index, count) = self.place(node, *of_type);
                is_nth(i64::from(if *from_end { count + 1 - index } else { index }), *step, *offset)
            }
            Simple::Empty => document
                .children(node)
                .all(|child| matches!(document.nodes[child as usize].kind, Kind::Comment | Kind::Instruction)),
            Simple::Root => document.nodes[node as usize].parent == ROOT,
            Simple::Checked => {
                has(if document.is_same_name(document.name(node), "option") { "selected" } else { "checked" })
            }
            Simple::Disabled => is_control() && has("disabled"),
            Simple::Enabled => is_control() && !has("disabled"),
            _ => true,
        }
    }

    fn place(&self, node: u32, of_type: bool) -> (u32, u32) {
        let cell = if of_type { &self.places_of_type } else { &self.places };
        cell.get_or_init(|| self.count_places(of_type))[node as usize]
    }

    fn count_places(&self, of_type: bool) -> Places {
        let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
        let mut places = vec![(0, 0); self.document.nodes.len()];
        let elements = self.elements();
        let key = |node: u32| {
            let name = if of_type { self.document.name_index(node) } else { 0 };
            (self.document.nodes[node as usize].parent, name)
        };
        for node in &elements {
            let count = counts.entry(key(*node)).or_default();
            *count += 1;
            places[*node as usize].0 = *count;
        }
        for node in &elements {
            places[*node as usize].1 = counts[&key(*node)];
        }
        places
    }

    /// Where a text begins within all text of the document, letters A to Z in lower case (Knuth, Morris and Pratt).
    fn occurrences(&self, wanted: &[u8]) -> Vec<usize> {
        let mut borders = vec![0; wanted.len()];
        let advance = |borders: &[usize], mut matched: usize, byte: u8| {
            while matched > 0 && (matched == wanted.len() || wanted[matched] != byte) {
                matched = borders[matched - 1];
            }
            matched + usize::from(wanted[matched] == byte)
        };
        if wanted.is_empty() {
            return Vec::new();
        }
        for index in 1..wanted.len() {
            borders[index] = advance(&borders, borders[index - 1], wanted[index]);
        }
        let text = self.lowered.get_or_init(|| self.document.all_text().to_ascii_lowercase().into_bytes());
        let mut starts = Vec::new();
        let mut matched = 0;
        for (index, byte) in text.iter().enumerate() {
            matched = advance(&borders, matched, *byte);
            if matched == wanted.len() {
                starts.push(index + 1 - wanted.len());
            }
        }
        starts
    }

    /// Whether one of the occurrences of a text of this length is within an element.
    fn contains(&self, node: u32, starts: &[usize], length: usize) -> bool {
        let range = self.document.text_range(node);
        let first = starts.partition_point(|start| *start < range.start);
        length == 0 || starts.get(first).is_some_and(|start| start + length <= range.end)
    }
}

fn sorted(mut nodes: Vec<u32>) -> Vec<u32> {
    if !nodes.is_sorted_by(|one, next| one < next) {
        nodes.sort_unstable();
        nodes.dedup();
    }
    nodes
}

fn at_place(found: &[u32], place: Place) -> Vec<u32> {
    let count = found.len() as i64;
    let from_start = |place: i64| if place < 0 { count + place } else { place };
    let range = match place {
        Place::At(place) => from_start(place)..from_start(place) + 1,
        Place::Below(place) => 0..from_start(place),
        Place::Above(place) => from_start(place) + 1..count,
    };
    let is_in = |(index, _): &(usize, &u32)| range.contains(&(*index as i64));
    found.iter().enumerate().filter(is_in).map(|(_, node)| *node).collect()
}

/// Whether `place` is `step × n + offset` for some n from 0.
fn is_nth(place: i64, step: i64, offset: i64) -> bool {
    let distance = place - offset;
    if step == 0 { distance == 0 } else { distance % step == 0 && distance / step >= 0 }
}

fn is_match(value: Option<&str>, condition: Option<&(Matcher, String)>, ignores_case: bool) -> bool {
    let Some((matcher, wanted)) = condition else {
        return value.is_some();
    };
    let Some(value) = value else {
        return *matcher == Matcher::NotEqual;
    };
    if ignores_case {
        return compares(&value.to_lowercase(), *matcher, &wanted.to_lowercase());
    }
    compares(value, *matcher, wanted)
}

fn compares(value: &str, matcher: Matcher, wanted: &str) -> bool {
    match matcher {
        Matcher::Equal => value == wanted,
        Matcher::NotEqual => value != wanted,
        Matcher::Word => value.split_ascii_whitespace().any(|word| word == wanted),
        Matcher::Dash => value.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
        // An empty text is in no value, by the rules of CSS.
        Matcher::Start => !wanted.is_empty() && value.starts_with(wanted),
        Matcher::End => !wanted.is_empty() && value.ends_with(wanted),
        Matcher::Inside => !wanted.is_empty() && value.contains(wanted),
    }
}

//! Finds the elements of a selector. Each of its parts takes one pass over the document, so the
//! time is linear in both.

use super::ast::{Combinator, Complex, Matcher, Place, Simple};
use crate::document::{Document, Kind, NONE, ROOT};
use std::cell::OnceCell;
use std::collections::HashMap;

/// HTML elements that can be disabled.
const CONTROLS: [&str; 7] =
    ["button", "input", "select", "textarea", "option", "optgroup", "fieldset"];

/// For each node: its place among its element siblings, from 1, and their number.
type Places = Vec<(u32, u32)>;

pub(super) struct Search<'d> {
    document: &'d Document,
    places: OnceCell<Places>,
    places_of_type: OnceCell<Places>,
    lowered: OnceCell<Vec<u8>>,
}

impl<'d> Search<'d> {
    pub fn new(document: &'d Document) -> Self {
        Self {
            document,
            places: OnceCell::new(),
            places_of_type: OnceCell::new(),
            lowered: OnceCell::new(),
        }
    }

    /// Returns the elements that match any of the selectors, in document order.
    pub fn list(&self, list: &[Complex]) -> Vec<u32> {
        sorted(list.iter().flat_map(|complex| self.complex(complex)).collect())
    }

    fn complex(&self, complex: &Complex) -> Vec<u32> {
        let mut matches = Vec::new();
        for (index, (combinator, compound)) in complex.iter().enumerate() {
            let candidates =
                if index == 0 { self.elements() } else { self.related(*combinator, &matches) };
            matches = self.compound(candidates, compound);
        }
        matches
    }

    fn elements(&self) -> Vec<u32> {
        (0..self.document.nodes.len() as u32)
            .filter(|node| self.document.is_element(*node))
            .collect()
    }

    /// Returns the candidates that match all parts of a compound selector.
    fn compound(&self, mut candidates: Vec<u32>, compound: &[Simple]) -> Vec<u32> {
        for simple in compound {
            match simple {
                Simple::Place(place) => candidates = at_place(&candidates, *place),
                Simple::Is(list) => self.keep(&mut candidates, &self.list(list), true),
                Simple::Not(list) => self.keep(&mut candidates, &self.list(list), false),
                Simple::Has(list) => {
                    let matches =
                        list.iter().flat_map(|complex| self.having_complex(complex)).collect();
                    self.keep(&mut candidates, &sorted(matches), true);
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

    /// Keeps the candidates that are, or are not, in a list of nodes.
    fn keep(&self, candidates: &mut Vec<u32>, list: &[u32], wanted: bool) {
        let mut is_listed = vec![false; self.document.nodes.len()];
        for node in list {
            is_listed[*node as usize] = true;
        }
        candidates.retain(|node| is_listed[*node as usize] == wanted);
    }

    /// Returns the elements that are related by the combinator to any of the given nodes, which
    /// are in document order.
    fn related(&self, combinator: Combinator, to: &[u32]) -> Vec<u32> {
        let nodes = &self.document.nodes;
        let mut elements = Vec::new();
        let mut covered = 0;
        let mut handled_parents = vec![false; nodes.len()];
        for node in to {
            match combinator {
                Combinator::Descendant => {
                    let end = nodes[*node as usize].end;
                    // Descendants of nested elements are added once.
                    elements.extend(
                        (covered.max(*node + 1)..end).filter(|one| self.document.is_element(*one)),
                    );
                    covered = covered.max(end);
                }
                Combinator::Child => {
                    elements.extend(
                        self.document.children(*node).filter(|one| self.document.is_element(*one)),
                    );
                }
                Combinator::Next => elements.extend(self.later(*node).next()),
                Combinator::Later => {
                    let parent = nodes[*node as usize].parent as usize;
                    // The first sibling in document order gives all later ones.
                    if !std::mem::replace(&mut handled_parents[parent], true) {
                        elements.extend(self.later(*node));
                    }
                }
            }
        }
        sorted(elements)
    }

    /// Returns the later element siblings.
    fn later(&self, node: u32) -> impl Iterator<Item = u32> {
        let nodes = &self.document.nodes;
        let end = nodes[nodes[node as usize].parent as usize].end;
        let first = Some(nodes[node as usize].end).filter(|next| *next < end);
        std::iter::successors(first, move |node| {
            Some(nodes[*node as usize].end).filter(|next| *next < end)
        })
        .filter(|node| self.document.is_element(*node))
    }

    /// Returns the earlier element siblings, the nearest first.
    fn earlier(&self, node: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.previous(node), move |node| self.previous(*node))
            .filter(|node| self.document.is_element(*node))
    }

    fn previous(&self, node: u32) -> Option<u32> {
        Some(self.document.nodes[node as usize].previous).filter(|previous| *previous != NONE)
    }

    /// Returns the elements for which a relative selector matches. It is evaluated from the right,
    /// for all elements at once.
    fn having_complex(&self, complex: &Complex) -> Vec<u32> {
        let mut matches: Option<Vec<u32>> = None;
        let mut combinator = Combinator::Descendant;
        for (before, compound) in complex.iter().rev() {
            let candidates =
                matches.map_or_else(|| self.elements(), |right| self.having(combinator, &right));
            matches = Some(self.compound(candidates, compound));
            combinator = *before;
        }
        self.having(combinator, &matches.unwrap_or_default())
    }

    /// Returns the elements to which any of the given nodes is related by the combinator.
    fn having(&self, combinator: Combinator, related: &[u32]) -> Vec<u32> {
        let mut elements = Vec::new();
        let mut visited = vec![false; self.document.nodes.len()];
        for node in related {
            match combinator {
                Combinator::Descendant => {
                    let ancestors = self.document.ancestors(*node);
                    elements.extend(ancestors.take_while(|node| visit(&mut visited, *node)));
                }
                Combinator::Child => {
                    let parent = self.document.ancestors(*node).take(1);
                    elements.extend(parent.filter(|node| visit(&mut visited, *node)));
                }
                Combinator::Next => elements.extend(self.earlier(*node).take(1)),
                Combinator::Later => {
                    elements
                        .extend(self.earlier(*node).take_while(|node| visit(&mut visited, *node)));
                }
            }
        }
        elements.retain(|node| self.document.is_element(*node));
        sorted(elements)
    }

    fn passes(&self, node: u32, simple: &Simple) -> bool {
        let document = self.document;
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
            Simple::Empty => document.children(node).all(|child| {
                matches!(document.nodes[child as usize].kind, Kind::Comment | Kind::Instruction)
            }),
            Simple::Root => document.nodes[node as usize].parent == ROOT,
            Simple::Checked => {
                let is_option = document.is_same_name(document.name(node), "option");
                document.attribute(node, if is_option { "selected" } else { "checked" }).is_some()
            }
            Simple::Disabled => {
                self.is_control(node) && document.attribute(node, "disabled").is_some()
            }
            Simple::Enabled => {
                self.is_control(node) && document.attribute(node, "disabled").is_none()
            }
            // `compound` handles the other kinds.
            _ => true,
        }
    }

    fn is_control(&self, node: u32) -> bool {
        let name = self.document.name(node);
        CONTROLS.iter().any(|control| self.document.is_same_name(name, control))
    }

    fn place(&self, node: u32, of_type: bool) -> (u32, u32) {
        let cell = if of_type { &self.places_of_type } else { &self.places };
        cell.get_or_init(|| self.count_places(of_type))[node as usize]
    }

    fn count_places(&self, of_type: bool) -> Places {
        let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
        let mut places = vec![(0, 0); self.document.nodes.len()];
        let elements = self.elements();
        for node in &elements {
            let count = counts.entry(self.sibling_group(*node, of_type)).or_default();
            *count += 1;
            places[*node as usize].0 = *count;
        }
        for node in &elements {
            places[*node as usize].1 = counts[&self.sibling_group(*node, of_type)];
        }
        places
    }

    /// Parent of a node, and the index of its name if places are counted by type.
    fn sibling_group(&self, node: u32, of_type: bool) -> (u32, u32) {
        let name = if of_type { self.document.name_index(node) } else { 0 };
        (self.document.nodes[node as usize].parent, name)
    }

    /// Returns the offsets of a text within all text of the document, with letters A to Z in lower
    /// case (Knuth, Morris and Pratt).
    fn occurrences(&self, wanted: &[u8]) -> Vec<usize> {
        // A simple search takes quadratic time for hostile texts such as `aaaa…b`.
        let mut borders = vec![0; wanted.len()];
        if wanted.is_empty() {
            return Vec::new();
        }
        for index in 1..wanted.len() {
            borders[index] = advance(wanted, &borders, borders[index - 1], wanted[index]);
        }
        let text =
            self.lowered.get_or_init(|| self.document.all_text().to_ascii_lowercase().into_bytes());
        let mut starts = Vec::new();
        let mut matched = 0;
        for (index, byte) in text.iter().enumerate() {
            matched = advance(wanted, &borders, matched, *byte);
            if matched == wanted.len() {
                starts.push(index + 1 - wanted.len());
            }
        }
        starts
    }

    /// True if one of the occurrences of a text of this length is within an element.
    fn contains(&self, node: u32, starts: &[usize], length: usize) -> bool {
        let range = self.document.text_range(node);
        let first = starts.partition_point(|start| *start < range.start);
        length == 0 || starts.get(first).is_some_and(|start| start + length <= range.end)
    }
}

/// Marks a node as visited. Returns true if it was not visited before.
fn visit(visited: &mut [bool], node: u32) -> bool {
    !std::mem::replace(&mut visited[node as usize], true)
}

/// Returns the number of matched bytes after one more byte of the text.
fn advance(wanted: &[u8], borders: &[usize], mut matched: usize, byte: u8) -> usize {
    while matched > 0 && (matched == wanted.len() || wanted[matched] != byte) {
        matched = borders[matched - 1];
    }
    matched + usize::from(wanted[matched] == byte)
}

fn sorted(mut nodes: Vec<u32>) -> Vec<u32> {
    // Most lists are sorted already, and checking takes linear time.
    if !nodes.is_sorted_by(|one, next| one < next) {
        nodes.sort_unstable();
        nodes.dedup();
    }
    nodes
}

/// Returns the nodes at a place; negative numbers count from the end.
fn at_place(nodes: &[u32], place: Place) -> Vec<u32> {
    let count = nodes.len() as i64;
    let range = match place {
        Place::At(place) => from_start(place, count)..from_start(place, count) + 1,
        Place::Below(place) => 0..from_start(place, count),
        Place::Above(place) => from_start(place, count) + 1..count,
    };
    let indexed = nodes.iter().enumerate();
    indexed.filter(|(index, _)| range.contains(&(*index as i64))).map(|(_, node)| *node).collect()
}

fn from_start(place: i64, count: i64) -> i64 {
    if place < 0 { count + place } else { place }
}

/// True if `place` is `step × n + offset` for some n from 0.
fn is_nth(place: i64, step: i64, offset: i64) -> bool {
    let distance = place - offset;
    if step == 0 { distance == 0 } else { distance % step == 0 && distance / step >= 0 }
}

fn is_match(
    value: Option<&str>,
    condition: Option<&(Matcher, String)>,
    ignores_case: bool,
) -> bool {
    let Some((matcher, wanted)) = condition else {
        return value.is_some();
    };
    let Some(value) = value else {
        // In jQuery, an absent attribute differs from each value.
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
        Matcher::Dash => {
            value.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        // By the rules of CSS, no value contains an empty text.
        Matcher::Start => !wanted.is_empty() && value.starts_with(wanted),
        Matcher::End => !wanted.is_empty() && value.ends_with(wanted),
        Matcher::Inside => !wanted.is_empty() && value.contains(wanted),
    }
}

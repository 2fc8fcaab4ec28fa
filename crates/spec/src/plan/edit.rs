//! Changes values in the text of a plan file. Comments, order and all other text stay as they are.
//!
//! * `items`: adds, moves and removes items of lists with their comments, and renames keys.
//! * `layout`: ranges of the values in the text.

mod items;
mod layout;

pub use items::{PlanItem, insert, item, remove, rename};
pub use layout::{Layout, Member};

use super::json::is_typed;
use super::write::Yaml;
use super::yaml;
use crate::error::{Result, SourcePosition, SpecError};
use layout::{Content, Style};
use std::cmp::Reverse;
use std::ops::Range;

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Key(String),
    Index(usize),
}

/// The text of a value: the part on the line of its key or dash, and the lines below it.
struct Extent {
    on_line: Range<usize>,
    below: Range<usize>,
}

/// A range of the text, and the text that replaces it.
struct Change {
    range: Range<usize>,
    text: String,
}

/// Returns the text of a plan file with another value at a path such as `load.rate`,
/// `scenario.steps[2].get` or `scenario.headers["X.Y"]`. A missing key is added at the end
/// of its map, an item after the last one at the end of its list. Without a value, the key
/// or item is removed.
///
/// `file` is the name of the file in errors.
///
/// # Errors
///
/// Returns a [`SpecError`] with its place in these cases: the text is no plan file, or the path
/// leads nowhere. A value with an anchor and an alias are also refused, because the change
/// would affect other values.
pub fn edit(text: &str, file: &str, path: &str, value: Option<&Yaml>) -> Result<String> {
    let places = places(path).ok_or_else(|| {
        error(
            file,
            path,
            "malformed path; write one such as load.rate or scenario.steps[0].get".to_owned(),
        )
    })?;
    // The parser refuses a file of comments only, but a first key can be added to it.
    let has_content = text.trim_start_matches('\u{feff}').lines().any(|line| !is_blank(line));
    let old_tree = if has_content {
        comparable(&Yaml::from(&yaml::parse_draft(text, file)?))
    } else {
        Yaml::Null
    };
    let mut expected_tree = old_tree.clone();
    let value = value.map(comparable);
    if !apply(&mut expected_tree, &places, value.as_ref()) {
        let wrong =
            "there is no value; a key can be added only to a map, an item only after the last one";
        return Err(error(file, path, wrong.to_owned()));
    }
    // The text stays as it is, so an edit without effect changes no formatting.
    if expected_tree == old_tree {
        return Ok(text.to_owned());
    }
    let editor = Editor::new(text);
    if !has_content {
        return Ok(editor.with_first_entry(&expected_tree));
    }
    let root =
        Layout::read(text).ok_or_else(|| refusal(file, path, "a key of the file is no text"))?;
    // A comment below a text in lines would become a part of it; the second try writes
    // the text within quotes.
    for value in [value.clone(), value.as_ref().map(without_lines)] {
        let changes = editor.changes(&root, &places, value.as_ref());
        let new_text = apply_changes(text, changes.map_err(|reason| refusal(file, path, reason))?);
        // The result is read again, because a wrong range would silently change other values.
        if yaml::parse_draft(&new_text, file)
            .is_ok_and(|tree| comparable(&Yaml::from(&tree)) == expected_tree)
        {
            return Ok(new_text);
        }
    }
    Err(refusal(file, path, "the value cannot be changed without changing others"))
}

fn refusal(file: &str, path: &str, reason: &str) -> SpecError {
    error(file, path, format!("{reason}; edit the file by hand"))
}

fn error(file: &str, path: &str, wrong: String) -> SpecError {
    SpecError::new(&SourcePosition::whole(file), path, wrong)
}

/// Reads a path; None if it is malformed.
fn places(path: &str) -> Option<Vec<Place>> {
    let mut places = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        // Names of variables and headers may contain dots and brackets.
        let (place, end) = if let Some(inner) = rest.strip_prefix("[\"") {
            let length = inner.find("\"]")?;
            (Place::Key(inner[..length].to_owned()), length + 4)
        } else if let Some(inner) = rest.strip_prefix('[') {
            let length = inner.find(']')?;
            (Place::Index(inner[..length].parse().ok()?), length + 2)
        } else {
            let name = if places.is_empty() { rest } else { rest.strip_prefix('.')? };
            // One key of plan files has a dot.
            let length = if name == "http1.0" {
                name.len()
            } else {
                name.find(['.', '[']).unwrap_or(name.len())
            };
            (Place::Key(name[..length].to_owned()), rest.len() - name.len() + length)
        };
        if place == Place::Key(String::new()) {
            return None;
        }
        places.push(place);
        rest = &rest[end..];
    }
    (!places.is_empty()).then_some(places)
}

/// The value without layout and comments, as reading the text again gives it.
fn comparable(value: &Yaml) -> Yaml {
    match value {
        // Quotes count only if the value without them would be a number or a boolean.
        Yaml::Quoted(text) if !is_typed(text) => Yaml::Text(text.clone()),
        Yaml::Null | Yaml::Text(_) | Yaml::Quoted(_) => value.clone(),
        Yaml::List(items) => Yaml::List(items.iter().map(comparable).collect()),
        Yaml::Map(entries) | Yaml::Block(entries) => {
            Yaml::Map(entries.iter().map(|(key, value)| (key.clone(), comparable(value))).collect())
        }
        Yaml::Commented { value, .. } => value.as_deref().map_or(Yaml::Null, comparable),
    }
}

/// The value with multi-line texts in quotes.
fn without_lines(value: &Yaml) -> Yaml {
    match value {
        Yaml::Text(text) if text.contains('\n') => Yaml::Quoted(text.clone()),
        Yaml::List(items) => Yaml::List(items.iter().map(without_lines).collect()),
        Yaml::Map(entries) => Yaml::Map(
            entries.iter().map(|(key, value)| (key.clone(), without_lines(value))).collect(),
        ),
        Yaml::Null | Yaml::Text(_) | Yaml::Quoted(_) | Yaml::Block(_) | Yaml::Commented { .. } => {
            value.clone()
        }
    }
}

/// Changes a value of a tree. Returns false if its path does not exist and nothing
/// can be added there.
fn apply(tree: &mut Yaml, places: &[Place], value: Option<&Yaml>) -> bool {
    let Some((place, rest)) = places.split_first() else {
        *tree = value.cloned().unwrap_or(Yaml::Null);
        return true;
    };
    // An empty section, such as `load:`, is null in YAML.
    if *tree == Yaml::Null && value.is_some() {
        *tree = if matches!(place, Place::Key(_)) {
            Yaml::Map(Vec::new())
        } else {
            Yaml::List(Vec::new())
        };
    }
    match (tree, place) {
        (Yaml::Map(entries), Place::Key(key)) => {
            match (entries.iter().position(|(known, _)| known == key), value) {
                (Some(index), None) if rest.is_empty() => drop(entries.remove(index)),
                (Some(index), _) => return apply(&mut entries[index].1, rest, value),
                (None, None) => return false,
                (None, Some(value)) => {
                    return nest_value(rest, value).is_some_and(|value| {
                        entries.push((key.clone(), value));
                        true
                    });
                }
            }
        }
        (Yaml::List(items), Place::Index(index)) => match value {
            None if rest.is_empty() && *index < items.len() => drop(items.remove(*index)),
            _ if *index < items.len() => return apply(&mut items[*index], rest, value),
            Some(value) if *index == items.len() => {
                return nest_value(rest, value).is_some_and(|value| {
                    items.push(value);
                    true
                });
            }
            _ => return false,
        },
        _ => return false,
    }
    true
}

/// The value below the keys of a path that does not exist yet.
fn nest_value(places: &[Place], value: &Yaml) -> Option<Yaml> {
    places.iter().rev().try_fold(value.clone(), |value, place| match place {
        Place::Key(key) => Some(Yaml::Map(vec![(key.clone(), value)])),
        Place::Index(0) => Some(Yaml::List(vec![value])),
        // A list has no items before the new one, so only index 0 is possible.
        Place::Index(_) => None,
    })
}

fn index_of(layout: &Layout, place: &Place) -> Option<usize> {
    match place {
        Place::Index(index) => (*index < layout.members().len()).then_some(*index),
        Place::Key(key) => {
            layout.members().iter().position(|member| member.key.as_ref() == Some(key))
        }
    }
}

struct Editor<'t> {
    text: &'t str,
    line_break: &'static str,
}

impl<'t> Editor<'t> {
    fn new(text: &'t str) -> Self {
        // Files of Windows keep their line breaks.
        Self { text, line_break: if text.contains("\r\n") { "\r\n" } else { "\n" } }
    }

    /// The changes of the text that set or remove a value.
    fn changes(
        &self,
        root: &Layout,
        places: &[Place],
        value: Option<&Yaml>,
    ) -> Result<Vec<Change>, &'static str> {
        let mut parents: Vec<(&Layout, usize)> = Vec::new();
        let mut layout = root;
        for (depth, place) in places.iter().enumerate() {
            // An alias has its value in another place, which other keys may use, too.
            layout.check_editable()?;
            let Some(index) = index_of(layout, place) else {
                let value = value
                    .and_then(|value| nest_value(&places[depth + 1..], value))
                    .ok_or("there is no value")?;
                let value = match place {
                    Place::Key(key) => Yaml::Map(vec![(key.clone(), value)]),
                    Place::Index(_) => Yaml::List(vec![value]),
                };
                return Ok(self.addition(&parents, layout, &value));
            };
            parents.push((layout, index));
            layout = &layout.members()[index].value;
        }
        layout.check_editable()?;
        Ok(match value {
            Some(value) => self.replacement(&parents, layout, value),
            None => self.removal(&parents),
        })
    }

    /// Returns the changes to the text that replace the value `old`.
    fn replacement(&self, parents: &[(&Layout, usize)], old: &Layout, value: &Yaml) -> Vec<Change> {
        let Some(&(parent, index)) = parents.last() else {
            return vec![Change { range: old.range.clone(), text: value.flow() }];
        };
        let member = &parent.members()[index];
        // A key without a value has an empty range after its colon.
        let is_nothing = old.range.is_empty();
        let has_indicator = self.text[..old.indicator_end].ends_with([':', '-']);
        // Within brackets, a value in block style would be invalid YAML.
        if parent.style() == Style::Flow {
            let separator = if !is_nothing {
                ""
            } else if has_indicator {
                " "
            } else {
                ": "
            };
            return vec![Change {
                range: old.range.clone(),
                text: format!("{separator}{}", value.flow()),
            }];
        }
        let mut lines = if member.key.is_some() { value.after_key() } else { value.after_dash() };
        let first = lines.remove(0);
        let Extent { mut on_line, below } = self.extent(old);
        // Lines of a map or list stay after the comments that begin it.
        let position = if first.is_empty() && !below.is_empty() {
            below.start
        } else {
            self.line_end(on_line.end)
        };
        if first.is_empty() {
            on_line.start = old.indicator_end;
        }
        let space = if on_line.start == old.indicator_end && !first.is_empty() { " " } else { "" };
        vec![
            Change { range: below, text: String::new() },
            // Three changes, so that a comment between the key and its value stays.
            Change { range: position..position, text: self.lines(member.start, lines) },
            Change { range: on_line, text: format!("{space}{first}") },
        ]
    }

    fn extent(&self, layout: &Layout) -> Extent {
        let Layout { indicator_end, ref range, ref content, .. } = *layout;
        // The value begins on a line below its key.
        if self.text[indicator_end..range.start].contains('\n') {
            let below = self.line_end_before(range.start)..self.line_end(range.end);
            return Extent { on_line: indicator_end..indicator_end, below };
        }
        match *content {
            Content::BlockScalar { header_end } => {
                let below = self.line_end(header_end).min(range.end)..range.end;
                Extent { on_line: range.start..header_end, below }
            }
            _ => Extent { on_line: range.clone(), below: range.end..range.end },
        }
    }

    /// Adds a key or an item at the end of a list or map.
    fn addition(&self, parents: &[(&Layout, usize)], layout: &Layout, value: &Yaml) -> Vec<Change> {
        let members = layout.members();
        let Some(last) = members.last() else { return self.replacement(parents, layout, value) };
        let end = last.value.range.end;
        if layout.style() == Style::Flow {
            let flow = value.flow();
            // Without the brackets of the new list or map: the entry joins the old one.
            return vec![Change {
                range: end..end,
                text: format!(", {}", &flow[1..flow.len() - 1]),
            }];
        }
        let end = self.line_end(end);
        vec![Change { range: end..end, text: self.lines(last.start, value.lines()) }]
    }

    /// Removes a key or an item.
    fn removal(&self, parents: &[(&Layout, usize)]) -> Vec<Change> {
        let Some((&(parent, index), around)) = parents.split_last() else { return Vec::new() };
        let members = parent.members();
        let Member { start, value, .. } = &members[index];
        let next = members.get(index + 1).map(|next| next.start);
        let range = match (parent.style(), next) {
            // A block without members would be null, so an empty list or map is written.
            _ if members.len() == 1 => {
                let is_map = members[0].key.is_some();
                let empty = if is_map { Yaml::Map(Vec::new()) } else { Yaml::List(Vec::new()) };
                return self.replacement(around, parent, &empty);
            }
            (Style::Flow, Some(next)) => *start..next,
            // The comma before the last member is removed, too.
            (Style::Flow, None) => members[index - 1].value.range.end..value.range.end,
            (Style::Block, Some(next)) if !self.is_first_of_line(*start) => {
                let end = self.line_end(value.range.end);
                // A comment between two members describes the next one.
                let has_comment = !self.text[end..next].trim().is_empty();
                *start..if has_comment { end } else { next }
            }
            (Style::Block, _) => self.whole_lines(*start..value.range.end),
        };
        vec![Change { range, text: String::new() }]
    }

    /// Returns the text, which has only comments, with a first entry.
    fn with_first_entry(&self, tree: &Yaml) -> String {
        let needs_break = !self.text.is_empty() && !self.text.ends_with('\n');
        let separator = if needs_break { self.line_break } else { "" };
        format!("{}{separator}{}", self.text, tree.write().replace('\n', self.line_break))
    }

    /// Lines to insert at the end of another line, indented as the text at `start`.
    fn lines(&self, start: usize, lines: Vec<String>) -> String {
        // The byte order mark has no column.
        let indentation =
            self.text[self.line_start(start)..start].trim_start_matches('\u{feff}').chars().count();
        let mut text = String::new();
        for line in lines {
            text.push_str(self.line_break);
            if !line.is_empty() {
                text.extend(std::iter::repeat_n(' ', indentation));
                text.push_str(&line);
            }
        }
        text
    }

    /// The lines of a range, with the line break before them; at the start of the file, with
    /// the one after them.
    fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        let start = self.line_start(range.start);
        let end = self.line_end(range.end);
        // The first line has no line break before it, so the one after it is removed.
        let is_first = self.text[..start].trim_start_matches('\u{feff}').is_empty();
        if is_first {
            start..self.text.len().min(end + self.line_break.len())
        } else {
            self.line_end_before(start)..end
        }
    }

    fn is_first_of_line(&self, position: usize) -> bool {
        self.text[self.line_start(position)..position]
            .trim_start_matches('\u{feff}')
            .trim_start()
            .is_empty()
    }

    fn line_start(&self, position: usize) -> usize {
        self.text[..position].rfind('\n').map_or(0, |line_break| line_break + 1)
    }

    /// Position of the line break, or of the end of the text.
    fn line_end(&self, position: usize) -> usize {
        let end =
            self.text[position..].find('\n').map_or(self.text.len(), |length| position + length);
        if self.text[position..end].ends_with('\r') { end - 1 } else { end }
    }

    /// End of the line before the line of `position`.
    fn line_end_before(&self, position: usize) -> usize {
        let text_before = &self.text[..self.line_start(position)];
        let text_before = text_before.strip_suffix('\n').unwrap_or(text_before);
        text_before.strip_suffix('\r').unwrap_or(text_before).len()
    }
}

/// Applies changes, which do not overlap, to a text.
fn apply_changes(text: &str, mut changes: Vec<Change>) -> String {
    // From the end, so that earlier ranges stay valid.
    changes.sort_by_key(|change| Reverse(change.range.start));
    let mut text = text.to_owned();
    for Change { range, text: replacement } in changes {
        text.replace_range(range, &replacement);
    }
    text
}

/// True if a line is empty or has only a comment.
fn is_blank(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests;

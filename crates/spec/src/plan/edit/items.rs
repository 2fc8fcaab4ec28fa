//! Adds, moves and removes items of lists together with the comments above them, and renames keys.

use super::layout::{Layout, Style};
use super::{
    Change, Editor, Place, apply, apply_changes, comparable, edit, error, index_of, is_blank,
    places, refusal,
};
use crate::error::{Result, SpecError};
use crate::plan::write::Yaml;
use crate::plan::yaml;

/// An item of a list, to insert it at another place.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanItem {
    /// Its value.
    pub value: Yaml,
    /// Lines of its text, from the comments above it, without the indentation of its dash. Empty if it shares its lines with other items.
    lines: Vec<String>,
}

impl PlanItem {
    /// A new item.
    pub fn new(value: Yaml) -> Self {
        Self { value, lines: Vec::new() }
    }

    /// Its lines, from its dash or the comments above it.
    fn lines(&self) -> Vec<String> {
        match &self.lines[..] {
            [] => Yaml::List(vec![self.value.clone()]).lines(),
            lines => lines.to_vec(),
        }
    }
}

/// A place in a text with the lists and maps around it.
struct Target<'l> {
    /// The list or map, and the index of the member in it.
    parent: &'l Layout,
    index: usize,
}

fn target<'l>(root: &'l Layout, places: &[Place]) -> Option<Target<'l>> {
    let (last, around) = places.split_last()?;
    let parent = around
        .iter()
        .try_fold(root, |layout, place| Some(&layout.members()[index_of(layout, place)?].value))?;
    Some(Target { parent, index: index_of(parent, last)? })
}

fn read_path(file: &str, path: &str) -> Result<Vec<Place>> {
    places(path).ok_or_else(|| {
        let wrong = "malformed path; write one such as scenario.steps[0]".to_owned();
        error(file, path, wrong)
    })
}

fn no_value(file: &str, path: &str) -> SpecError {
    error(file, path, "there is no value".to_owned())
}

/// Returns the item of a list at a path, with its comments.
///
/// # Errors
///
/// [`SpecError`] if the text is no plan file, or the path leads to no item.
pub fn item(text: &str, file: &str, path: &str) -> Result<PlanItem> {
    let places = read_path(file, path)?;
    let mut tree = Yaml::from(&yaml::parse_draft(text, file)?);
    let value = value_at(&mut tree, &places).ok_or_else(|| no_value(file, path))?;
    let mut item = PlanItem::new(value.clone());
    let root = Layout::read(text);
    let target = root.as_ref().and_then(|root| target(root, &places));
    if let Some(Target { parent, index }) =
        target.filter(|target| target.parent.style() == Style::Block)
    {
        let editor = Editor::new(text);
        let member = &parent.members()[index];
        let start = editor.line_start(member.start);
        let end = editor.line_end(member.value.range.end);
        let indentation = member.start - start;
        // A dash after another dash begins no line.
        if editor.is_first_of_line(member.start) {
            let start = editor.comments_above(parent, index);
            let lines = text[start..end].lines();
            item.lines = lines.map(|line| without_indentation(line, indentation)).collect();
        }
    }
    Ok(item)
}

/// A line without its first blanks, up to this number.
fn without_indentation(line: &str, indentation: usize) -> String {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    line[blanks.min(indentation)..].to_owned()
}

/// Returns the text with an item at an index of the list at a path. Later items move on. A missing list is added.
///
/// # Errors
///
/// [`SpecError`] if the text is no plan file, or the path leads to no list.
pub fn insert(text: &str, file: &str, list: &str, index: usize, item: &PlanItem) -> Result<String> {
    let list_places = read_path(file, list)?;
    let mut expected_tree = comparable(&Yaml::from(&yaml::parse_draft(text, file)?));
    let length = match value_at(&mut expected_tree, &list_places) {
        Some(Yaml::List(items)) => items.len(),
        None | Some(Yaml::Null) => 0,
        Some(_) => return Err(error(file, list, "the value is no list".to_owned())),
    };
    if index > length {
        return Err(error(file, list, format!("the list has {length} items")));
    }
    let value = comparable(&item.value);
    let is_inserted = match value_at(&mut expected_tree, &list_places) {
        Some(Yaml::List(items)) => {
            items.insert(index, value);
            true
        }
        _ => apply(&mut expected_tree, &list_places, Some(&Yaml::List(vec![value]))),
    };
    if !is_inserted {
        return Err(no_value(file, list));
    }
    // Lines that do not fit into the new place are written again, without their comments.
    for item in [item, &PlanItem::new(item.value.clone())] {
        let Some(new_text) = inserted(text, file, list, index, item) else { continue };
        if yaml::parse_draft(&new_text, file)
            .is_ok_and(|tree| comparable(&Yaml::from(&tree)) == expected_tree)
        {
            return Ok(new_text);
        }
    }
    Err(refusal(file, list, "the item cannot be inserted without changing others"))
}

fn value_at<'t>(tree: &'t mut Yaml, places: &[Place]) -> Option<&'t mut Yaml> {
    places.iter().try_fold(tree, |tree, place| match (tree, place) {
        (Yaml::Map(entries) | Yaml::Block(entries), Place::Key(key)) => {
            entries.iter_mut().find(|(known, _)| known == key).map(|(_, value)| value)
        }
        (Yaml::List(items), Place::Index(index)) => items.get_mut(*index),
        _ => None,
    })
}

/// Inserts an item into the list at a path. None if the text cannot be changed so.
fn inserted(text: &str, file: &str, list: &str, index: usize, item: &PlanItem) -> Option<String> {
    let places = places(list)?;
    let root = Layout::read(text)?;
    let layout = places
        .iter()
        .try_fold(&root, |layout, place| Some(&layout.members()[index_of(layout, place)?].value));
    match layout.map(Layout::members).unwrap_or_default() {
        [] => first_item(text, file, list, item),
        members if layout?.style() == Style::Block => {
            let editor = Editor::new(text);
            let first = members[0].start;
            let begins_line = editor.is_first_of_line(first);
            let position = match index.checked_sub(1) {
                Some(before) => editor.line_end(members[before].value.range.end),
                // A list within a list begins after the dash of the other one.
                None if !begins_line => first,
                // Above the comments of the first item, which describe it.
                None => editor.line_end_before(editor.comments_above(layout?, 0)),
            };
            let mut addition = editor.lines(first, item.lines());
            if position == first {
                let indentation = editor.lines(first, vec![" ".to_owned()]);
                let indentation = indentation.strip_suffix(' ').unwrap_or_default();
                addition = format!("{}{indentation}", addition.trim_start());
            } else if position == 0 {
                // The list begins in the first line, so the line break comes after the item.
                addition = format!("{}{}", addition.trim_start(), editor.line_break);
            }
            Some(apply_changes(text, vec![Change { range: position..position, text: addition }]))
        }
        members => {
            let Some(next) = members.get(index) else {
                return edit(text, file, &format!("{list}[{index}]"), Some(&item.value)).ok();
            };
            let addition = format!("{}, ", item.value.flow());
            let range = next.start..next.start;
            Some(apply_changes(text, vec![Change { range, text: addition }]))
        }
    }
}

/// Writes the first item of a list, in block style if its place allows it.
fn first_item(text: &str, file: &str, list: &str, item: &PlanItem) -> Option<String> {
    // A list with a comment is never written in one line.
    let marked = item.value.clone().with_comments(vec!["first item".to_owned()]);
    let text = edit(text, file, list, Some(&Yaml::List(vec![marked]))).ok()?;
    let places = places(&format!("{list}[0]"))?;
    let root = Layout::read(&text)?;
    let Target { parent, index } = target(&root, &places)?;
    if parent.style() == Style::Flow {
        return Some(text);
    }
    let editor = Editor::new(&text);
    let member = &parent.members()[index];
    let start = editor.comments_above(parent, index);
    let range = editor.line_end_before(start)..editor.line_end(member.value.range.end);
    let lines = editor.lines(member.start, item.lines());
    Some(apply_changes(&text, vec![Change { range, text: lines }]))
}

/// Returns the text without the value at a path, and without the comments directly above an item of a list.
///
/// # Errors
///
/// [`SpecError`] if the text is no plan file, or the path leads nowhere.
pub fn remove(text: &str, file: &str, path: &str) -> Result<String> {
    let places = read_path(file, path)?;
    let root = Layout::read(text);
    let target = root.as_ref().and_then(|root| target(root, &places));
    let is_item = matches!(places.last(), Some(Place::Index(_)));
    let comments = target.filter(|_| is_item).map(|Target { parent, index }| {
        let editor = Editor::new(text);
        let start = parent.members()[index].start;
        let line = editor.line_start(start);
        // The comments above a dash after another dash are those of the outer item.
        let has_lines = parent.style() == Style::Block && editor.is_first_of_line(start);
        if has_lines { editor.comments_above(parent, index)..line } else { line..line }
    });
    let mut new_text = text.to_owned();
    new_text.replace_range(comments.unwrap_or_default(), "");
    // Lines that look like comments may belong to a value; without them the tree would be another one.
    let old_tree = comparable(&Yaml::from(&yaml::parse_draft(text, file)?));
    let is_same = yaml::parse_draft(&new_text, file)
        .is_ok_and(|tree| comparable(&Yaml::from(&tree)) == old_tree);
    edit(if is_same { &new_text } else { text }, file, path, None)
}

/// Returns the text with another name for the key at a path.
///
/// # Errors
///
/// [`SpecError`] if the text is no plan file, the path leads to no key, or another key has the name.
pub fn rename(text: &str, file: &str, path: &str, name: &str) -> Result<String> {
    let places = read_path(file, path)?;
    let Some((Place::Key(old), around)) = places.split_last() else {
        return Err(error(file, path, "an item of a list has no name".to_owned()));
    };
    if name == old {
        return Ok(text.to_owned());
    }
    let mut tree = comparable(&Yaml::from(&yaml::parse_draft(text, file)?));
    let Some(Yaml::Map(entries)) = value_at(&mut tree, around) else {
        return Err(no_value(file, path));
    };
    if entries.iter().any(|(known, _)| known == name) {
        return Err(error(file, path, format!("`{name}` exists already; write another name")));
    }
    let entry = entries.iter_mut().find(|(known, _)| known == old);
    name.clone_into(&mut entry.ok_or_else(|| no_value(file, path))?.0);
    let root =
        Layout::read(text).ok_or_else(|| refusal(file, path, "a key of the file is no text"))?;
    let Target { parent, index } = target(&root, &places).ok_or_else(|| no_value(file, path))?;
    let member = &parent.members()[index];
    let end = text[..member.value.indicator_end].trim_end_matches([':', ' ', '\t']).len();
    let key = Yaml::text(name).flow();
    let change = Change { range: member.start..end.max(member.start), text: key };
    let new_text = apply_changes(text, vec![change]);
    match yaml::parse_draft(&new_text, file) {
        Ok(new_tree) if comparable(&Yaml::from(&new_tree)) == tree => Ok(new_text),
        _ => Err(refusal(file, path, "the key cannot be renamed without changing others")),
    }
}

impl Editor<'_> {
    /// Start of the comments that end directly above the line of a member; the start of its line if there are none.
    fn comments_above(&self, parent: &Layout, index: usize) -> usize {
        let members = parent.members();
        let mut start = self.line_start(members[index].start);
        // A line that begins with `#` may be the end of the value before.
        let before = index.checked_sub(1).map_or(0, |before| members[before].value.range.end);
        while start > before {
            let line = self.line_start(start - 1);
            if line < before {
                break;
            }
            let above = &self.text[line..start];
            if above.trim().is_empty() || !is_blank(above) {
                break;
            }
            start = line;
        }
        start
    }
}

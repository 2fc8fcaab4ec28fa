//! Edits of plan files.

use super::YamlPlan;
use super::fields::NAME_PREFIX;
use super::find::{ITEMS, PartPlace, join, split};
use crate::item_paths::is_within;
use crate::plan_edit::{EditError, EditedText, PlanEdit};
use brunt_spec::SpecError;
use brunt_spec::plan::edit::{self, PlanItem};
use brunt_spec::plan::parts::{ContainerForm, PlanPart};
use brunt_spec::plan::{PlanNode, Yaml, parse};

impl YamlPlan {
    /// Returns the text after an edit.
    ///
    /// # Errors
    ///
    /// The edit is not possible.
    pub fn apply_edit(&self, edit: &PlanEdit) -> Result<EditedText, EditError> {
        match edit {
            PlanEdit::Set { path, value } => self.set(path, value),
            PlanEdit::Remove { paths } => {
                let paths = self.outermost(paths)?;
                let text = without_items(&self.file, self.text.clone(), &paths)?;
                Ok(EditedText { text, select: Vec::new() })
            }
            PlanEdit::Add { list, index, kind } => self.add(list, *index, kind),
            PlanEdit::Move { paths, list, index } => {
                let paths = self.outermost(paths)?;
                if paths.iter().any(|path| is_within(list, path)) {
                    return Err(EditError("an element cannot be moved into itself".to_owned()));
                }
                let copies = self.copy(&paths, list, *index)?;
                let (originals, select) = ITEMS.moved(&paths, list, *index);
                let text = without_items(&self.file, copies.text, &originals)?;
                Ok(EditedText { text, select })
            }
            PlanEdit::Copy { paths, list, index } => {
                self.copy(&self.outermost(paths)?, list, *index)
            }
            PlanEdit::Enable { paths, enabled } => self.enable(paths, *enabled),
        }
    }

    fn set(&self, path: &str, value: &str) -> Result<EditedText, EditError> {
        let file = &self.file;
        // The same value could get another layout.
        if let Some(field) = self.field(path) {
            field.ensure_editable()?;
            if field.has_value(value) {
                return Ok(EditedText { text: self.text.clone(), select: Vec::new() });
            }
        }
        if let Some(element) = path.strip_prefix(NAME_PREFIX) {
            let name = value.trim();
            if name.is_empty() {
                return Err(EditError("the name is empty; write one".to_owned()));
            }
            // A path in quotes could not be read.
            if name.contains("\"]") {
                return Err(EditError(format!("`{name}`: a name cannot contain `\"]`")));
            }
            let (around, _) = split(element).ok_or_else(|| EditError::no_element(element))?;
            let text = edit::rename(&self.text, file, element, name)?;
            return Ok(EditedText { text, select: vec![join(around, name)] });
        }
        let node = self.node(path);
        let value = self.value_of(path, value)?;
        let text = match &value {
            // Nothing was there, and nothing is.
            None if node.is_none() => self.text.clone(),
            None => edit::remove(&self.text, file, path)?,
            Some(value) => edit::edit(&self.text, file, path, Some(value))?,
        };
        Ok(EditedText { text, select: Vec::new() })
    }

    /// Value at a path of keys and indices.
    fn node(&self, path: &str) -> Option<&PlanNode> {
        if let Some(place) = self.root_place().find(path) {
            return Some(place.node);
        }
        let (around, key) = split(path)?;
        self.node(around)?.child(key)
    }

    fn add(&self, list: &str, index: usize, kind: &str) -> Result<EditedText, EditError> {
        let file = &self.file;
        let container = self.container(list).ok_or_else(|| EditError::no_element(list))?;
        // A part lacks certain keys; a list or map can have any number of parts.
        let kinds = match &container {
            AddedTo::Part(place) => place.part.missing(place.node),
            AddedTo::List(part) | AddedTo::Map(part, _) => part.kinds(),
        };
        let kind = kinds.into_iter().find(|known| known.name == kind).ok_or_else(|| {
            EditError(format!("`{list}`: an element of the kind `{kind}` cannot be added here"))
        })?;
        let example = Yaml::from(&parse(&kind.example, "example")?);
        // A map is written in a line for each key.
        let example = if let Yaml::Block(keys) = example { Yaml::Map(keys) } else { example };
        let (text, path) = match container {
            AddedTo::List(_) => {
                let text = edit::insert(&self.text, file, list, index, &PlanItem::new(example))?;
                (text, format!("{list}[{index}]"))
            }
            AddedTo::Map(part, node) => {
                let path = join(list, &free_name(part.noun(), node));
                (edit::edit(&self.text, file, &path, Some(&example))?, path)
            }
            AddedTo::Part(_) => {
                let path = join(list, &kind.name);
                (edit::edit(&self.text, file, &path, Some(&example))?, path)
            }
        };
        let path = Self::read(file, &text)?.selected(list, path);
        Ok(EditedText { text, select: vec![path] })
    }

    /// The element that is selected after a value was added to a part: the one at the path of the value, the first one in
    /// it, or else the part itself.
    fn selected(&self, part: &str, path: String) -> String {
        if self.root_place().find(&path).is_some() {
            return path;
        }
        let children = self.root_place().find(part).map(|place| place.children());
        let mut children = children.unwrap_or_default().into_iter();
        let first = children.find(|child| is_within(&child.path, &path));
        first.map_or_else(|| part.to_owned(), |child| child.path)
    }

    /// The list, map or part with this path.
    fn container(&self, path: &str) -> Option<AddedTo<'_>> {
        // A step within `shuffle` is also a list.
        let place = self.root_place().find(path);
        let around = split(path).and_then(|(around, _)| self.root_place().find(around));
        for place in place.iter().chain(&around) {
            for container in place.part.containers(place.node) {
                if join(&place.path, &container.key) != path {
                    continue;
                }
                let node = place.node.child(&container.key).unwrap_or(place.node);
                match container.form {
                    ContainerForm::List => return Some(AddedTo::List(container.part)),
                    ContainerForm::Map => return Some(AddedTo::Map(container.part, node)),
                    ContainerForm::Single => {}
                }
            }
        }
        place.map(AddedTo::Part)
    }

    fn copy(&self, paths: &[String], list: &str, index: usize) -> Result<EditedText, EditError> {
        let Some(AddedTo::List(part)) = self.container(list) else {
            return Err(EditError(format!("`{list}`: the plan has no such list")));
        };
        let mut text = self.text.clone();
        for (number, path) in paths.iter().enumerate() {
            let place = self.list_item(path)?;
            if place.part != part {
                return Err(EditError(format!(
                    "a {} cannot be in a list of the type `{}`",
                    place.part.noun(),
                    part.noun()
                )));
            }
            let item = edit::item(&self.text, &self.file, path)?;
            // Each insertion moves the next place on by one.
            text = edit::insert(&text, &self.file, list, index + number, &item)?;
        }
        Ok(EditedText { text, select: ITEMS.inserted(list, index, paths.len()) })
    }

    /// The part at a path, which is in a list.
    fn list_item(&self, path: &str) -> Result<PartPlace<'_>, EditError> {
        let place = self.root_place().find(path).ok_or_else(|| EditError::no_element(path))?;
        if place.list.is_none() {
            let noun = place.part.noun();
            return Err(EditError(format!(
                "`{path}`: a {noun} cannot be moved or copied, because it is not in a list"
            )));
        }
        Ok(place)
    }

    fn enable(&self, paths: &[String], enabled: bool) -> Result<EditedText, EditError> {
        let mut text = self.text.clone();
        for path in paths {
            let place = self.root_place().find(path).ok_or_else(|| EditError::no_element(path))?;
            if place.part != PlanPart::Step {
                let noun = place.part.noun();
                return Err(EditError(format!(
                    "`{path}`: only steps can be disabled, and it is a {noun}"
                )));
            }
            let key = join(path, "enabled");
            let has_key = place.node.child("enabled").is_some();
            // Enabled is the default, so the key is removed rather than set.
            text = match (enabled, has_key) {
                (true, false) => text,
                (true, true) => edit::edit(&text, &self.file, &key, None)?,
                (false, _) => edit::edit(&text, &self.file, &key, Some(&Yaml::text("false")))?,
            };
        }
        Ok(EditedText { text, select: paths.to_vec() })
    }

    /// Paths that are in no other of the paths, in the order of the text.
    fn outermost(&self, paths: &[String]) -> Result<Vec<String>, EditError> {
        let mut outermost: Vec<(usize, String)> = Vec::new();
        for path in paths {
            let is_inner = paths.iter().any(|other| other != path && is_within(path, other));
            let is_double = outermost.iter().any(|(_, known)| known == path);
            if is_inner || is_double {
                continue;
            }
            let place = self.root_place().find(path);
            let range = place.as_ref().and_then(|place| place.range(self.layout.as_ref()));
            if place.is_none() && self.node(path).is_none() {
                return Err(EditError::no_element(path));
            }
            outermost.push((range.map_or(usize::MAX, |range| range.start), path.clone()));
        }
        outermost.sort_by_key(|(start, _)| *start);
        Ok(outermost.into_iter().map(|(_, path)| path).collect())
    }
}

/// Where an element is added.
enum AddedTo<'n> {
    List(PlanPart),
    Map(PlanPart, &'n PlanNode),
    Part(PartPlace<'n>),
}

/// Returns a text without the values at these paths, which are in the order of the text.
fn without_items(file: &str, text: String, paths: &[String]) -> Result<String, EditError> {
    // The last one first, so that the other paths stay valid.
    paths.iter().rev().try_fold(text, |text, path| Ok(edit::remove(&text, file, path)?))
}

/// A name that a map does not have yet.
fn free_name(noun: &str, map: &PlanNode) -> String {
    let base = noun.replace(' ', "_");
    let numbered = (2..).map(|number| format!("{base}{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    // A map that is not written yet has no children, so the first name is free.
    names.find(|name| map.child(name).is_none()).unwrap_or(base)
}

impl From<SpecError> for EditError {
    fn from(error: SpecError) -> Self {
        Self(error.to_string())
    }
}

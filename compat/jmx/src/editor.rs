//! Reads plans of `JMeter`, and edits their text: a format of `brunt_editor`.
//!
//! The path of an element is the indices from the outermost one, such as `0.2.1`. The path of a field is the path of its element,
//! `/`, and the names of its property: `0.2.1/HTTPSampler.path`. The list of an element's children has the path of the element.

use crate::edit::{TextChange, apply_changes};
use crate::forms::{self, ItemForm, PropertyForm, PropertyRow};
use crate::property::{Property, PropertyKind};
use crate::{JmxDocument, Role, TestElement};
use brunt_editor::element::{
    AddedKind, Addition, Element, ElementForm, ElementList, Field, FieldForm,
};
use brunt_editor::item_paths::{ItemPaths, is_within};
use brunt_editor::{EditError, EditablePlan, EditedText, PlanEdit, PlanFormat};

/// The format of plans of `JMeter`.
pub const FORMAT: PlanFormat =
    PlanFormat { ending: "jmx", read: |text| Ok(Box::new(JmxPlan::read(text)?)) };

/// True if a file is a plan of `JMeter`, by its name.
pub fn is_jmx(file: &str) -> bool {
    FORMAT.has_file(file)
}

/// Paths of the children of an element.
const ITEMS: ItemPaths = ItemPaths { open: ".", close: "" };

/// Type of all elements: each can be in each list.
const ELEMENT: &str = "element";

/// Property with the parameters of a request, or with its raw body.
const PARAMETERS: &str = "HTTPsampler.Arguments/Arguments.arguments";

/// Maximum depth of the tree. Deeper elements are in the text only.
// The tree is made, written and shown by recursion, and a file may be 20,000 elements deep.
const MAX_DEPTH: usize = 100;

/// Kind of the root of a file with several outermost elements.
const FILE: &str = "jmeterTestPlan";

/// Path of the field with the name of an element.
const NAME: &str = "@testname";

/// A plan of `JMeter`.
#[derive(Debug)]
pub struct JmxPlan {
    text: String,
    document: JmxDocument,
}

/// An element with its path.
struct Place<'d> {
    path: String,
    element: TestElement<'d>,
}

impl JmxPlan {
    /// Reads the text of a plan.
    ///
    /// # Errors
    ///
    /// The text is no plan of `JMeter`.
    pub fn read(text: &str) -> Result<Self, EditError> {
        let document =
            JmxDocument::parse(text.as_bytes()).map_err(|error| EditError(error.to_string()))?;
        // The bytes of UTF-16 can be valid UTF-8; then the ranges are those of another text.
        if !document.has_text(text) {
            return Err(EditError("the plan is not in UTF-8; convert it first".to_owned()));
        }
        Ok(Self { text: text.to_owned(), document })
    }

    /// The document of the text.
    pub fn document(&self) -> &JmxDocument {
        &self.document
    }

    fn places(&self) -> Vec<Place<'_>> {
        let outermost = self.document.test_elements().enumerate();
        outermost.map(|(index, element)| Place { path: index.to_string(), element }).collect()
    }

    /// The element at a path.
    fn find(&self, path: &str) -> Result<TestElement<'_>, EditError> {
        self.at(path).ok_or_else(|| EditError::no_element(path))
    }

    fn at(&self, path: &str) -> Option<TestElement<'_>> {
        let mut indices = path.split('.').map(|index| index.parse::<usize>().ok());
        let mut element = self.document.test_elements().nth(indices.next()??)?;
        for index in indices {
            element = element.children().nth(index?)?;
        }
        Some(element)
    }

    /// The tree of an element and those in it, up to a maximum depth.
    fn element(&self, place: &Place<'_>) -> Element {
        let Place { path, element } = place;
        let is_deepest = path.split('.').count() >= MAX_DEPTH;
        let children = if is_deepest { Vec::new() } else { place.children() };
        let (list, index) = match path.rsplit_once('.') {
            Some((list, index)) => (Some(list.to_owned()), index.parse().unwrap_or_default()),
            None => (None, 0),
        };
        Element {
            path: path.clone(),
            kind: kind(element),
            title: element.name().into_owned(),
            line: element.line() as usize,
            end_line: self.document.line_of(element.range().end.saturating_sub(1)) as usize,
            enabled: element.enabled(),
            r#type: ELEMENT,
            list,
            index,
            lists: vec![ElementList { path: path.clone(), r#type: ELEMENT }],
            children: children.iter().map(|child| self.element(child)).collect(),
        }
    }

    fn with_changes(&self, changes: Vec<TextChange>, select: Vec<String>) -> EditedText {
        EditedText { text: apply_changes(&self.text, changes), select }
    }

    fn set(&self, path: &str, value: &str) -> Result<EditedText, EditError> {
        let (element_path, name) =
            path.split_once('/').ok_or_else(|| EditError::no_element(path))?;
        let element = self.find(element_path)?;
        // The same value could get other escapes.
        let fields = fields(element_path, &element);
        if let Some(field) = fields.iter().find(|field| field.path == path) {
            field.ensure_editable()?;
            if field.has_value(value) {
                return Ok(self.with_changes(Vec::new(), Vec::new()));
            }
        }
        if name == NAME {
            let change = self.document.set_attribute(element.node(), "testname", value);
            return Ok(self.with_changes(vec![change], vec![element_path.to_owned()]));
        }
        let row = row(&element, name);
        let property = element.property(name);
        if element.has_reference() {
            return Err(EditError(format!(
                "`{path}`: the element has references to values of other elements; edit it in the text"
            )));
        }
        let form = row.map_or(PropertyForm::Text, |row| row.form);
        if value.is_empty() && property.is_none() {
            return Ok(self.with_changes(Vec::new(), Vec::new()));
        }
        let change = match form {
            PropertyForm::Pairs(pairs) if is_raw_body(name, property.as_ref(), &pairs) => {
                element.set_pairs(name, &pairs, &[(String::new(), value.to_owned())])
            }
            PropertyForm::Pairs(pairs) => {
                let lines = value.lines().filter(|line| !line.trim().is_empty());
                let values = lines.map(name_and_value).collect::<Result<Vec<_>, _>>()?;
                element.set_pairs(name, &pairs, &values)
            }
            PropertyForm::List => {
                // An empty pattern would match each reply.
                let lines = value.lines().filter(|line| !line.trim().is_empty());
                element.set_list(name, &lines.collect::<Vec<_>>())
            }
            // An absent value is the default.
            PropertyForm::Choice(_) | PropertyForm::Flag if value.is_empty() => {
                match element.remove_property(name) {
                    Some(change) => Some(change),
                    None => return Ok(self.with_changes(Vec::new(), Vec::new())),
                }
            }
            // A new property has the tag that `JMeter` writes; an existing one keeps its own.
            PropertyForm::Flag if property.is_none() => element.set_text(name, "boolProp", value),
            // The text alone has a place for it.
            PropertyForm::Table | PropertyForm::Items(_) => None,
            // JMeter reads an expression from a text only.
            _ if value.contains("${") => element.set_expression(name, value),
            _ => element.set_text(name, "stringProp", value),
        };
        let change = change.ok_or_else(|| {
            EditError(format!(
                "`{path}`: the file has no place for this property; add it in the text"
            ))
        })?;
        Ok(self.with_changes(vec![change], Vec::new()))
    }

    fn remove(&self, paths: &[String]) -> Result<EditedText, EditError> {
        // The path of a field has the names of its property after a slash.
        if paths.iter().any(|path| path.contains('/')) {
            let mut changes: Vec<TextChange> = Vec::new();
            for path in paths {
                let (path, name) = path.split_once('/').ok_or_else(|| {
                    EditError("elements and settings cannot be removed at once".to_owned())
                })?;
                changes.extend(self.find(path)?.remove_property(name));
            }
            changes.dedup();
            return Ok(self.with_changes(changes, Vec::new()));
        }
        let paths = self.outermost(paths)?;
        let changes: Result<Vec<TextChange>, EditError> =
            paths.iter().map(|path| Ok(self.movable(path)?.removal())).collect();
        Ok(self.with_changes(changes?, Vec::new()))
    }

    /// The element at a path, if it has a place for a child at an index.
    fn parent(&self, path: &str, index: usize) -> Result<TestElement<'_>, EditError> {
        let parent = self.find(path)?;
        let count = parent.children().count();
        if index > count {
            return Err(EditError(format!("`{path}`: the element has {count} elements in it")));
        }
        Ok(parent)
    }

    /// The element at a path, if it is not an outermost one.
    fn movable(&self, path: &str) -> Result<TestElement<'_>, EditError> {
        if !path.contains('.') {
            return Err(EditError(format!(
                "`{path}`: an outermost element cannot be moved, copied or removed"
            )));
        }
        self.find(path)
    }

    fn add(&self, list: &str, index: usize, kind: &str) -> Result<EditedText, EditError> {
        let row = forms::forms().find(|row| row.title == kind).ok_or_else(|| {
            EditError(format!("`{kind}`: the studio has no form for this kind of element"))
        })?;
        let change = self.parent(list, index)?.insert_child(index, &forms::markup(row));
        Ok(self.with_changes(vec![change], vec![format!("{list}.{index}")]))
    }

    /// Paths that are in no other of the paths, in the order of the text.
    fn outermost(&self, paths: &[String]) -> Result<Vec<String>, EditError> {
        let mut outermost: Vec<String> = Vec::new();
        for path in paths {
            self.find(path)?;
            let is_inner = paths.iter().any(|other| other != path && is_within(path, other));
            if !is_inner && !outermost.contains(path) {
                outermost.push(path.clone());
            }
        }
        outermost.sort_by_key(|path| indices(path));
        Ok(outermost)
    }

    /// Copies elements, or moves them.
    fn transfer(
        &self,
        paths: &[String],
        list: &str,
        index: usize,
        is_move: bool,
    ) -> Result<EditedText, EditError> {
        let paths = self.outermost(paths)?;
        let elements: Vec<TestElement<'_>> =
            paths.iter().map(|path| self.movable(path)).collect::<Result<_, _>>()?;
        let target = self.parent(list, index)?;
        if is_move && paths.iter().any(|path| is_within(list, path)) {
            return Err(EditError("an element cannot be moved into itself".to_owned()));
        }
        // References are relative to their place. JMeter writes them rarely.
        if elements.iter().any(|element| element.markup().contains(" reference=\"")) {
            return Err(EditError(
                "an element with references to other elements cannot be moved or copied here"
                    .to_owned(),
            ));
        }
        // An element without a tree would take the tree of the next one.
        let markups = elements.iter().map(|element| match element.tree() {
            Some(_) => element.markup().to_owned(),
            None => format!("{}\n<hashTree/>", element.markup()),
        });
        let markup = markups.collect::<Vec<_>>().join("\n");
        // Copies are inserted before the originals are removed, so the index counts in the old list.
        let inserted = vec![target.insert_child(index, &markup)];
        if !is_move {
            return Ok(self.with_changes(inserted, ITEMS.inserted(list, index, paths.len())));
        }
        let copied = Self::read(&apply_changes(&self.text, inserted))?;
        let (originals, select) = ITEMS.moved(&paths, list, index);
        let text = copied.remove(&originals)?.text;
        Ok(EditedText { text, select })
    }
}

impl<'d> Place<'d> {
    fn children(&self) -> Vec<Place<'d>> {
        let children = self.element.children().enumerate();
        children
            .map(|(index, element)| Place { path: format!("{}.{index}", self.path), element })
            .collect()
    }
}

impl EditablePlan for JmxPlan {
    fn tree(&self) -> Element {
        let places = self.places();
        match &places[..] {
            // Nearly all plans have one outermost element.
            [plan] => self.element(plan),
            places => Element {
                path: String::new(),
                kind: FILE.to_owned(),
                title: String::new(),
                line: 1,
                end_line: self.text.lines().count(),
                enabled: true,
                r#type: "file",
                list: None,
                index: 0,
                lists: Vec::new(),
                children: places.iter().map(|place| self.element(place)).collect(),
            },
        }
    }

    fn form(&self, path: &str) -> Option<ElementForm> {
        if path.is_empty() {
            // A file of `JMeter` 3 has a test plan and a workbench.
            return Some(ElementForm::empty(path, FILE));
        }
        let element = self.find(path).ok()?;
        let mut lists = vec![Addition {
            path: path.to_owned(),
            index: element.children().count(),
            name: format!("in {}", kind(&element)),
            kinds: added_kinds(&element),
        }];
        if let Some((list, index)) = path.rsplit_once('.') {
            let parent = self.find(list).ok()?;
            lists.push(Addition {
                path: list.to_owned(),
                index: index.parse::<usize>().ok()? + 1,
                name: "after this element".to_owned(),
                kinds: added_kinds(&parent),
            });
        }
        Some(ElementForm {
            path: path.to_owned(),
            kind: kind(&element),
            title: element.name().into_owned(),
            about: String::new(),
            fields: fields(path, &element),
            lists,
        })
    }

    fn apply(&self, edit: &PlanEdit) -> Result<EditedText, EditError> {
        match edit {
            PlanEdit::Set { path, value } => self.set(path, value),
            PlanEdit::Remove { paths } => self.remove(paths),
            PlanEdit::Add { list, index, kind } => self.add(list, *index, kind),
            PlanEdit::Move { paths, list, index } => self.transfer(paths, list, *index, true),
            PlanEdit::Copy { paths, list, index } => self.transfer(paths, list, *index, false),
            PlanEdit::Enable { paths, enabled } => {
                let mut distinct = paths.clone();
                distinct.sort();
                distinct.dedup();
                let changes: Result<Vec<TextChange>, EditError> = distinct
                    .iter()
                    .map(|path| {
                        let node = self.find(path)?.node();
                        Ok(self.document.set_attribute(node, "enabled", &enabled.to_string()))
                    })
                    .collect();
                Ok(self.with_changes(changes?, paths.clone()))
            }
        }
    }
}

/// Name of an element's kind: that of `JMeter`, or its class.
fn kind(element: &TestElement<'_>) -> String {
    match element.kind() {
        Some(kind) => kind.title().to_owned(),
        None => element.tag().rsplit('.').next().unwrap_or_default().to_owned(),
    }
}

/// The row of a property in the form of its element.
fn row(element: &TestElement<'_>, path: &str) -> Option<&'static PropertyRow> {
    forms::form(element.kind()?).iter().find(|row| row.path == path)
}

/// Kinds that can be children of an element.
fn added_kinds(parent: &TestElement<'_>) -> Vec<AddedKind> {
    let is_plan = parent.role() == Role::Plan;
    let rows = forms::forms().filter(|row| match row.role {
        Role::Plan => false,
        // `JMeter` ignores thread groups in other elements.
        Role::ThreadGroup => is_plan,
        Role::Controller | Role::Sampler => {
            matches!(parent.role(), Role::ThreadGroup | Role::Controller)
        }
        _ => true,
    });
    rows.map(|row| AddedKind { name: row.title.to_owned(), about: String::new() }).collect()
}

fn fields(path: &str, element: &TestElement<'_>) -> Vec<Field> {
    let name = Field::new(format!("{path}/{NAME}"), "Name", FieldForm::Text);
    let mut fields = vec![name.with_value(&element.name())];
    let rows = element.kind().map(forms::form).unwrap_or_default();
    for row in rows.iter().filter(|row| has_field(row)) {
        fields.push(row_field(path, row, element.property(row.path)));
    }
    for property in element.properties().iter() {
        let name = property.name().into_owned();
        let is_in_row = rows.iter().any(|row| row.path.split('/').next() == Some(name.as_str()));
        let form = match property.kind() {
            PropertyKind::Bool => FieldForm::Switch,
            PropertyKind::Int | PropertyKind::Long | PropertyKind::Float | PropertyKind::Double => {
                FieldForm::Number
            }
            PropertyKind::String if property.text().contains('\n') => FieldForm::Lines,
            PropertyKind::String => FieldForm::Text,
            // The text shows them.
            PropertyKind::Element
            | PropertyKind::Collection
            | PropertyKind::Map
            | PropertyKind::Object
            | PropertyKind::Other => continue,
        };
        // Names without a row, and names that the form has no place for.
        if !is_in_row && !name.is_empty() && !name.contains('/') {
            let line = Some(property.line() as usize);
            let field = Field::new(format!("{path}/{name}"), &name, form);
            fields.push(Field { line, ..field }.with_value(&property.text()));
        }
    }
    fields
}

/// True if the form has a field for a row.
fn has_field(row: &PropertyRow) -> bool {
    !matches!(row.form, PropertyForm::Table | PropertyForm::Items(_))
}

/// The field of a row.
fn row_field(path: &str, row: &PropertyRow, property: Option<Property<'_>>) -> Field {
    let text = property.as_ref().map(Property::text).unwrap_or_default();
    let form = match row.form {
        PropertyForm::Text if text.contains('\n') => FieldForm::Lines,
        PropertyForm::Text => FieldForm::Text,
        // Tables and items have no field.
        PropertyForm::Lines | PropertyForm::Table | PropertyForm::Items(_) => FieldForm::Lines,
        // Expressions such as `${name}` are possible in each property.
        PropertyForm::Flag if !matches!(&*text, "" | "true" | "false") => FieldForm::Text,
        PropertyForm::Flag => FieldForm::Switch,
        PropertyForm::Number => FieldForm::Number,
        PropertyForm::Choice(words) if !text.is_empty() && !words.contains(&&*text) => {
            FieldForm::Text
        }
        PropertyForm::Choice(_) => FieldForm::Choice,
        PropertyForm::List => FieldForm::List,
        PropertyForm::Pairs(_) => FieldForm::Pairs,
    };
    let words = if let PropertyForm::Choice(words) = row.form { words } else { &[] };
    let field = Field {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        about: format!("`{}`", row.path),
        ..Field::new(format!("{path}/{}", row.path), row.label, form)
    };
    let Some(property) = property else { return field };
    let line = Some(property.line() as usize);
    if let PropertyForm::Pairs(pairs) = row.form
        && is_raw_body(row.path, Some(&property), &pairs)
    {
        let value = property.items().next().and_then(|item| {
            item.properties().text(pairs.value()).map(std::borrow::Cow::into_owned)
        });
        return Field { line, form: FieldForm::Lines, name: "Body Data".to_owned(), ..field }
            .with_value(&value.unwrap_or_default());
    }
    let text = match row.form {
        PropertyForm::Pairs(pairs) => {
            let lines = property.items().map(|item| {
                let name = item.properties().text(pairs.name()).unwrap_or_default();
                let value = item.properties().text(pairs.value()).unwrap_or_default();
                format!("{name}: {value}")
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        PropertyForm::List => {
            property.items().map(|item| item.text().into_owned()).collect::<Vec<_>>().join("\n")
        }
        _ => text.into_owned(),
    };
    let field = Field { line, ..field }.with_value(&text);
    // Each line of the field is an entry, so an entry with several lines has no place in it.
    let entries = property.items().count();
    let is_list = matches!(row.form, PropertyForm::Pairs(_) | PropertyForm::List);
    let is_ambiguous = property.items().any(|item| match row.form {
        PropertyForm::Pairs(pairs) => {
            item.properties().text(pairs.name()).is_some_and(|name| name.contains(": "))
        }
        _ => item.text().trim().is_empty(),
    });
    let fits = !is_list || (text.lines().count() == entries && !is_ambiguous);
    Field { cut: field.cut || !fits, ..field }
}

/// True if a property is the raw body of a request: parameters with one entry without a name.
fn is_raw_body(path: &str, property: Option<&Property<'_>>, pairs: &ItemForm) -> bool {
    if path != PARAMETERS {
        return false;
    }
    let mut items = property.into_iter().flat_map(Property::items);
    match (items.next(), items.next()) {
        (Some(item), None) => item.properties().text(pairs.name()).is_none(),
        _ => false,
    }
}

/// A name and its value from a line.
fn name_and_value(line: &str) -> Result<(String, String), EditError> {
    let pair = line.split_once(": ").or_else(|| Some((line.trim_end().strip_suffix(':')?, "")));
    let (name, value) = pair
        .ok_or_else(|| EditError(format!("`{line}`: write a name and its value, `name: value`")))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn indices(path: &str) -> Vec<usize> {
    path.split('.').filter_map(|index| index.parse().ok()).collect()
}

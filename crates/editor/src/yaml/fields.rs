//! Fields of the parts of a plan file: their values as texts, and texts as values.

use super::YamlPlan;
use super::find::{PartPlace, join, split};
use crate::element::{Field, FieldForm};
use crate::plan_edit::EditError;
use brunt_spec::plan::parts::{KeyForm, PlanPart};
use brunt_spec::plan::{PlanNode, PlanValue, Yaml, parse};

/// Prefix of the path of a field that is the name of an element.
pub const NAME_PREFIX: char = '@';

impl YamlPlan {
    /// Fields of a part.
    pub fn fields(place: &PartPlace<'_>) -> Vec<Field> {
        let mut fields = Vec::new();
        if place.has_free_name {
            let name = Field::new(format!("{NAME_PREFIX}{}", place.path), "name", FieldForm::Text);
            fields
                .push(Field { required: true, ..name }.with_value(place.name.unwrap_or_default()));
        }
        if let Some(form) = whole_form(place) {
            let whole = Field::new(place.path.clone(), place.part.noun(), form);
            fields.push(with_value(whole, place.node));
            return fields;
        }
        let required = place.part.kind_key(place.node);
        for key in place.part.keys(place.node) {
            let value = place.node.child(&key.name);
            let form = effective_form(&key.form, value);
            let words =
                if let KeyForm::Choice(words) = &key.form { words.clone() } else { Vec::new() };
            let field = Field {
                required: required == Some(key.name.as_str()),
                about: key.about,
                words,
                default: key.default,
                ..Field::new(join(&place.path, &key.name), &key.name, form)
            };
            fields.push(match value {
                Some(value) => with_value(field, value),
                None => field,
            });
        }
        fields
    }

    /// The field with this path.
    pub fn field(&self, path: &str) -> Option<Field> {
        let value = path.strip_prefix(NAME_PREFIX).unwrap_or(path);
        let around = split(value).map(|(around, _)| around);
        let places = [Some(value), around].into_iter().flatten();
        let fields = places
            .filter_map(|place| self.root_place().find(place))
            .flat_map(|place| Self::fields(&place));
        fields.into_iter().find(|field| field.path == path)
    }

    /// The value of a field from its text; None if the text is empty, so that the value is removed.
    ///
    /// # Errors
    ///
    /// The text does not fit the form of the field.
    pub fn value_of(&self, path: &str, text: &str) -> Result<Option<Yaml>, EditError> {
        let form = self.field(path).ok_or_else(|| EditError::no_element(path))?.form;
        let value = match form {
            _ if text.is_empty() => return Ok(None),
            FieldForm::List => {
                let lines = text.lines().filter(|line| !line.is_empty());
                Yaml::texts(lines.map(str::to_owned).collect())
            }
            FieldForm::Pairs => {
                let pairs = text.lines().filter(|line| !line.trim().is_empty()).map(pair);
                Yaml::Map(pairs.collect::<Result<_, _>>()?)
            }
            FieldForm::Yaml => {
                let node = parse(text, "the value");
                let node =
                    node.map_err(|error| EditError(format!("the value is no YAML: {error}")))?;
                Yaml::from(&node)
            }
            FieldForm::Text
            | FieldForm::Lines
            | FieldForm::Choice
            | FieldForm::Switch
            | FieldForm::Number => Yaml::text(text),
        };
        Ok(Some(value))
    }
}

/// A field with the value of a node.
fn with_value(field: Field, node: &PlanNode) -> Field {
    let line = Some(node.at.line_and_column().0 as usize);
    let form = field.form;
    Field { line, ..field }.with_value(&text_of(node, form))
}

/// The form of a part that is edited as one value; None if its keys have fields.
fn whole_form(place: &PartPlace<'_>) -> Option<FieldForm> {
    match (place.part, &place.node.value) {
        (PlanPart::Probe, _) => Some(FieldForm::Yaml),
        // Short forms, such as the URL of a request or the name of a data file.
        (PlanPart::Extractor | PlanPart::DataFile, PlanValue::Text { .. })
        | (PlanPart::Section("script.request"), PlanValue::Text { .. }) => Some(FieldForm::Text),
        _ => None,
    }
}

/// The form of a key with this value. A value that does not fit the form of the key is shown as YAML.
fn effective_form(form: &KeyForm, value: Option<&PlanNode>) -> FieldForm {
    let fits = value.is_none_or(|node| match (form, &node.value) {
        (_, PlanValue::Null)
        | (KeyForm::Text | KeyForm::Lines | KeyForm::Number, PlanValue::Text { .. }) => true,
        (KeyForm::Switch, PlanValue::Text { text, .. }) => {
            ["true", "false"].contains(&text.as_str())
        }
        (KeyForm::Choice(words), PlanValue::Text { text, .. }) => words.contains(text),
        (KeyForm::List, PlanValue::Text { .. }) => is_one_line(node),
        (KeyForm::List, PlanValue::List(items)) => {
            items.iter().all(|item| is_one_line(item) && item.text() != Some(""))
        }
        (KeyForm::Pairs, PlanValue::Map(entries)) => entries.iter().all(|entry| {
            is_one_line(&entry.node) && !entry.key.contains(": ") && !entry.key.is_empty()
        }),
        _ => false,
    });
    match form {
        KeyForm::Text if value.is_some_and(|node| node.text().is_some() && !is_one_line(node)) => {
            FieldForm::Lines
        }
        // Expressions such as `${name}` are no words of a choice.
        KeyForm::Switch | KeyForm::Choice(_) if !fits && value.is_some_and(is_one_line) => {
            FieldForm::Text
        }
        _ if !fits => FieldForm::Yaml,
        KeyForm::Text => FieldForm::Text,
        KeyForm::Lines => FieldForm::Lines,
        KeyForm::Choice(_) => FieldForm::Choice,
        KeyForm::Switch => FieldForm::Switch,
        KeyForm::Number => FieldForm::Number,
        KeyForm::List => FieldForm::List,
        KeyForm::Pairs => FieldForm::Pairs,
        KeyForm::Yaml => FieldForm::Yaml,
    }
}

/// True if a value is a text on one line, which a field of a list or map can show.
fn is_one_line(node: &PlanNode) -> bool {
    node.text().is_some_and(|text| !text.contains('\n'))
}

/// The text of a value in a form.
fn text_of(node: &PlanNode, form: FieldForm) -> String {
    match (form, &node.value) {
        (_, PlanValue::Null) => String::new(),
        (FieldForm::Yaml, _) => Yaml::from(node).write().trim_end().to_owned(),
        (_, PlanValue::Text { text, .. }) => text.clone(),
        (_, PlanValue::List(items)) => {
            let lines = items.iter().map(|item| item.text().unwrap_or_default());
            lines.collect::<Vec<_>>().join("\n")
        }
        (_, PlanValue::Map(entries)) => {
            let lines = entries
                .iter()
                .map(|entry| format!("{}: {}", entry.key, entry.node.text().unwrap_or_default()));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

/// A name and its value from a line.
fn pair(line: &str) -> Result<(String, Yaml), EditError> {
    let (name, value) = line
        .split_once(": ")
        .or_else(|| Some((line.trim_end().strip_suffix(':')?, "")))
        .ok_or_else(|| EditError(format!("`{line}`: write a name and its value, `name: value`")))?;
    Ok((name.to_owned(), Yaml::json_text(value)))
}

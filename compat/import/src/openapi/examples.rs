//! Generates example values for requests that satisfy the schemas of a description.
//!
//! A value that the description states comes first, if it satisfies its schema. Else one is made from
//! everything that applies to it at once: the schema, the targets of its references, its `allOf`, and one
//! alternative of each `oneOf` and `anyOf`. Alternatives are tried until the value satisfies its schema.

use super::acceptance::Acceptance;
use super::demands::{Demands, component_of};
use super::document::Document;
use super::range::NumberRange;
use super::texts::texts;
use indexmap::IndexSet;
use serde_json::{Map, Number, Value, json};

/// Maximum depth of an example.
const MAX_DEPTH: usize = 12;
/// Maximum number of values of an example, including those that are tried.
const MAX_VALUES: usize = 4000;
/// Maximum number of items, or of further entries, that are made to reach a minimum.
const MAX_ITEMS: usize = 100;
/// Number of values that are tried for a place of a list without equal items.
const TRIED_ITEMS: usize = 20;

/// Generates example values from the schemas of a description.
pub(super) struct Examples<'a> {
    document: &'a Document,
    acceptance: Acceptance<'a>,
}

/// An example of a schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Example {
    pub(super) value: Value,
    /// False if no value was found that satisfies the schema.
    pub(super) is_valid: bool,
}

/// Progress of an example within its limits.
struct Progress<'a> {
    /// Schemas of the objects around the current value.
    open: Vec<&'a Value>,
    /// Number of values that may still be generated.
    remaining_values: usize,
}

impl<'a> Examples<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self { document, acceptance: Acceptance::new(document) }
    }

    /// Example of a media type or parameter: an explicit one, or one generated from its schema.
    pub(super) fn example_of(&self, holder: &'a Value, name: &str) -> Example {
        self.of_schema(&holder["schema"], name, self.explicit_example(holder))
    }

    /// True if the description states a value of a parameter.
    pub(super) fn has_example(&self, parameter: &'a Value) -> bool {
        let schema = self.document.resolve(&parameter["schema"]);
        let keys = [parameter, schema]
            .into_iter()
            .flat_map(|holder| [&holder["example"], &holder["default"]]);
        self.explicit_example(parameter).is_some() || keys.into_iter().any(|value| !value.is_null())
    }

    /// Example of a parameter.
    pub(super) fn of_parameter(&self, parameter: &'a Value) -> Example {
        let name = parameter["name"].as_str().unwrap_or_default();
        let content = parameter["content"].as_object().and_then(|content| content.values().next());
        match content {
            Some(media) => {
                let example = self.example_of(media, name);
                Example { value: Value::from(example.value.to_string()), ..example }
            }
            // In Swagger 2.0 the type is not in a schema.
            None if parameter.get("schema").is_none() => {
                self.of_schema(parameter, name, self.explicit_example(parameter))
            }
            None => self.example_of(parameter, name),
        }
    }

    /// The first example that the document states for a media type or parameter; None without one
    /// or if it is null.
    pub(super) fn explicit_example(&self, holder: &'a Value) -> Option<&'a Value> {
        let examples = &holder["examples"];
        let first = examples
            .as_object()
            .and_then(|all| all.values().next())
            .map(|one| &self.document.resolve(one)["value"]);
        let example = holder
            .get("example")
            .or(first)
            .or_else(|| examples.as_array().and_then(|all| all.first()));
        example.filter(|example| !example.is_null())
    }

    /// Generates an example of a schema; `name` is the text of strings, and `explicit` an example that comes
    /// first.
    pub(super) fn of_schema(
        &self,
        schema: &'a Value,
        name: &str,
        explicit: Option<&Value>,
    ) -> Example {
        let explicit = explicit.map(|value| self.without_read_only(schema, value));
        let mut readings = explicit.iter().flat_map(readings);
        if let Some(value) = readings.find(|value| self.acceptance.accepts(schema, value)) {
            return Example { value, is_valid: true };
        }
        let mut progress = Progress { open: Vec::new(), remaining_values: MAX_VALUES };
        let example = self.make(name, schema, 0, &mut progress);
        let example = example.unwrap_or(Example { value: Value::Null, is_valid: false });
        match explicit {
            Some(value) if !example.is_valid => Example { value, is_valid: false },
            _ => example,
        }
    }

    /// An example value without the properties that only replies have.
    fn without_read_only(&self, schema: &'a Value, value: &Value) -> Value {
        let demands = self.demands(schema);
        match value {
            Value::Object(entries) => {
                let entries =
                    entries.iter().filter_map(|(name, value)| match demands.property(name) {
                        Some(property) if self.acceptance.is_read_only(property) => None,
                        Some(property) => {
                            Some((name.clone(), self.without_read_only(property, value)))
                        }
                        None => Some((name.clone(), value.clone())),
                    });
                Value::Object(entries.collect())
            }
            Value::Array(items) => {
                let of_item = demands.first("items").unwrap_or(&Value::Null);
                items.iter().map(|item| self.without_read_only(of_item, item)).collect()
            }
            value => value.clone(),
        }
    }

    /// Makes an example of a schema. None beyond the limits of depth and size, and if the schema is that of an
    /// object around it. `variant` changes values, so that each number gives another one.
    fn make(
        &self,
        name: &str,
        schema: &'a Value,
        variant: usize,
        progress: &mut Progress<'a>,
    ) -> Option<Example> {
        if progress.open.len() >= MAX_DEPTH || progress.remaining_values == 0 {
            return None;
        }
        let target = self.document.resolve(schema);
        // A schema that refers to itself would have no end.
        if progress.open.iter().any(|open| std::ptr::eq(*open, target)) {
            return None;
        }
        progress.open.push(target);
        let demands = self.demands(schema);
        let mut first = None;
        let value = self.make_alternative(name, schema, &demands, variant, progress, &mut first);
        progress.open.pop();
        match value {
            Some(value) => Some(Example { value, is_valid: true }),
            None => first.map(|value| Example { value, is_valid: false }),
        }
    }

    /// Makes a value that a schema accepts, with one alternative of each of its lists of alternatives. `first`
    /// becomes the first value that was made.
    fn make_alternative(
        &self,
        name: &str,
        schema: &'a Value,
        demands: &Demands<'a>,
        variant: usize,
        progress: &mut Progress<'a>,
        first: &mut Option<Value>,
    ) -> Option<Value> {
        let Some(alternatives) = demands.open_alternatives() else {
            progress.remaining_values = progress.remaining_values.checked_sub(1)?;
            let accepts = |value: &Value| self.acceptance.accepts(schema, value);
            let values = demands.stated_values(variant).into_iter();
            let mut readings =
                values.flat_map(|value| readings(&self.without_read_only(schema, value)));
            if let Some(value) = readings.find(accepts) {
                return Some(value);
            }
            let value = self.make_of_type(name, demands, variant, progress, &accepts)?;
            let is_accepted = accepts(&value);
            first.get_or_insert_with(|| value.clone());
            return is_accepted.then_some(value);
        };
        for option in alternatives.as_array()?.iter().filter(|option| option["type"] != "null") {
            let mut with_option = demands.clone();
            with_option.chosen.push(alternatives);
            with_option.component = component_of(option).or(with_option.component);
            self.add_demands(option, &mut with_option, 0);
            let value = self.make_alternative(name, schema, &with_option, variant, progress, first);
            if value.is_some() {
                return value;
            }
        }
        None
    }

    /// Everything that applies to a value of a schema, except alternatives.
    fn demands(&self, schema: &'a Value) -> Demands<'a> {
        let mut demands = Demands { component: component_of(schema), ..Demands::default() };
        self.add_demands(schema, &mut demands, 0);
        demands
    }

    fn add_demands(&self, schema: &'a Value, demands: &mut Demands<'a>, depth: usize) {
        if depth > MAX_DEPTH || demands.schemas.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        demands.schemas.push(schema);
        let target = schema["$ref"].as_str().and_then(|reference| self.document.target(reference));
        let all = schema["allOf"].as_array();
        for part in target.into_iter().chain(all.into_iter().flatten()) {
            self.add_demands(part, demands, depth + 1);
        }
    }

    fn make_of_type(
        &self,
        name: &str,
        demands: &Demands<'a>,
        variant: usize,
        progress: &mut Progress<'a>,
        accepts: &impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        Some(match demands.kind() {
            "object" => Value::Object(self.object(demands, progress)),
            "array" => Value::Array(self.items(name, demands, variant, progress)),
            "integer" => number(demands, true, variant),
            "number" => number(demands, false, variant),
            "boolean" => json!(variant.is_multiple_of(2)),
            "null" => Value::Null,
            _ => {
                let texts = texts(name, demands, variant);
                let accepted = texts.iter().find(|text| accepts(text));
                accepted.or(texts.first()).cloned()?
            }
        })
    }

    /// Makes as many items as required, and one if there may be one.
    fn items(
        &self,
        name: &str,
        demands: &Demands<'a>,
        variant: usize,
        progress: &mut Progress<'a>,
    ) -> Vec<Value> {
        let is_unique = demands.schemas.iter().any(|schema| schema["uniqueItems"] == true);
        let prefix = demands.first("prefixItems").and_then(Value::as_array);
        let prefix = prefix.map_or(&[][..], Vec::as_slice);
        let required = demands.greatest("minItems").unwrap_or(0);
        let least = required.max(prefix.len()).max(1);
        let most = demands.least("maxItems").unwrap_or(usize::MAX).min(MAX_ITEMS);
        let of_item = demands.first("items").unwrap_or(&Value::Null);
        let mut items: Vec<Value> = Vec::new();
        while items.len() < least.min(most) {
            let number = items.len();
            let schema = prefix.get(number).unwrap_or(of_item);
            let variants = variant + number..variant + number + TRIED_ITEMS;
            let mut variants = if is_unique { variants } else { variant..variant + 1 };
            let item = variants.find_map(|variant| {
                let item = self.make(name, schema, variant, progress)?;
                (!is_unique || !items.contains(&item.value)).then_some(item)
            });
            match item {
                // An item that does not satisfy its schema is left out if the list may be empty.
                Some(item) if item.is_valid || required > 0 => {
                    items.push(item.value);
                }
                _ => break,
            }
        }
        items
    }

    /// Makes all properties of an object that a request may contain; required ones first, because the number
    /// of values is limited.
    fn object(&self, demands: &Demands<'a>, progress: &mut Progress<'a>) -> Map<String, Value> {
        let mut names: IndexSet<&'a str> = IndexSet::new();
        let mut required: IndexSet<&'a str> = IndexSet::new();
        for schema in &demands.schemas {
            let properties = schema["properties"].as_object().into_iter().flatten();
            names.extend(properties.map(|(name, _)| name.as_str()));
            let list = schema["required"].as_array().into_iter().flatten();
            required.extend(list.filter_map(Value::as_str));
        }
        names.extend(&required);
        let mut values: Vec<Option<Value>> = vec![None; names.len()];
        for is_required in [true, false] {
            for (value, name) in values.iter_mut().zip(&names) {
                let is_forbidden = !is_required && demands.forbids(name);
                if required.contains(name) == is_required && !is_forbidden {
                    *value = self.entry(name, demands, is_required, progress);
                }
            }
        }
        let entries = names.iter().zip(values);
        let mut entries: Map<String, Value> =
            entries.filter_map(|(name, value)| Some(((*name).to_owned(), value?))).collect();
        let least = demands.greatest("minProperties").unwrap_or(0).min(MAX_ITEMS);
        let additional = demands.first("additionalProperties").filter(|rule| rule.is_object());
        for number in 1.. {
            if entries.len() >= least {
                break;
            }
            let value = match additional {
                Some(schema) => {
                    self.make("text", schema, number, progress).map(|example| example.value)
                }
                None => Some(json!("text")),
            };
            let Some(value) = value else { break };
            entries.insert(format!("name{number}"), value);
        }
        entries
    }

    /// Value of a property; None if a request does not have it, or need not and no valid one was found.
    fn entry(
        &self,
        name: &'a str,
        demands: &Demands<'a>,
        is_required: bool,
        progress: &mut Progress<'a>,
    ) -> Option<Value> {
        if let Some(value) = demands.discriminator_value(name) {
            return Some(json!(value));
        }
        let schema = demands.property(name);
        if schema.is_some_and(|schema| self.acceptance.is_read_only(schema)) {
            return None;
        }
        let Some(schema) = schema else {
            let additional = demands.first("additionalProperties").filter(|rule| rule.is_object());
            let example = additional.and_then(|schema| self.make(name, schema, 0, progress));
            return Some(example.map_or_else(|| json!(name), |example| example.value));
        };
        let example = self.make(name, schema, 0, progress);
        example.filter(|example| is_required || example.is_valid).map(|example| example.value)
    }
}

/// What a stated value can mean: itself, or the JSON in a text.
fn readings(value: &Value) -> Vec<Value> {
    let json = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    std::iter::once(value.clone()).chain(json).collect()
}

/// A number within its bounds.
fn number(demands: &Demands<'_>, is_integer: bool, variant: usize) -> Value {
    let number = NumberRange::of(demands.schemas.iter().copied()).example(is_integer, variant);
    // A float such as 5.0 is no integer for every server.
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return json!(number as i64);
    }
    Number::from_f64(number).map_or(json!(1), Value::Number)
}

//! What a value has to satisfy: several schemas at once.

use super::acceptance::list;
use serde_json::Value;

/// What a value has to satisfy.
#[derive(Clone, Default)]
pub(super) struct Demands<'a> {
    /// Schemas that apply at once, without references.
    pub(super) schemas: Vec<&'a Value>,
    /// Name of the component that the value is an example of, for a `discriminator`.
    pub(super) component: Option<&'a str>,
    /// Lists of alternatives of which one was chosen.
    pub(super) chosen: Vec<&'a Value>,
}

impl<'a> Demands<'a> {
    /// The first schema's value of a key.
    pub(super) fn first(&self, key: &str) -> Option<&'a Value> {
        self.schemas.iter().find_map(|schema| schema.get(key))
    }

    /// Schema of a property.
    pub(super) fn property(&self, name: &str) -> Option<&'a Value> {
        self.schemas.iter().find_map(|schema| schema["properties"].get(name))
    }

    /// True if a schema without further properties does not list this one, though another schema does.
    pub(super) fn forbids(&self, name: &str) -> bool {
        let mut closed =
            self.schemas.iter().filter(|schema| schema["additionalProperties"] == false);
        closed.any(|schema| {
            schema["properties"].get(name).is_none() && schema.get("patternProperties").is_none()
        })
    }

    fn numbers(&self, key: &str) -> impl Iterator<Item = f64> {
        self.schemas.iter().filter_map(move |schema| schema[key].as_f64())
    }

    /// The greatest value of a key that is a count.
    pub(super) fn greatest(&self, key: &str) -> Option<usize> {
        self.numbers(key).reduce(f64::max).map(|count| count.max(0.0) as usize)
    }

    /// The least value of a key that is a count.
    pub(super) fn least(&self, key: &str) -> Option<usize> {
        self.numbers(key).reduce(f64::min).map(|count| count.max(0.0) as usize)
    }

    /// The next list of alternatives of which none was chosen.
    pub(super) fn open_alternatives(&self) -> Option<&'a Value> {
        self.schemas.iter().find_map(|schema| {
            let lists = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key));
            let mut open = lists.filter(|list| list.as_array().is_some_and(|all| !all.is_empty()));
            open.find(|list| !self.chosen.iter().any(|one| std::ptr::eq(*one, *list)))
        })
    }

    /// Values that the schemas state, without null.
    pub(super) fn stated_values(&self, variant: usize) -> Vec<&'a Value> {
        let mut values: Vec<&'a Value> = Vec::new();
        for schema in self.schemas.iter().copied() {
            let items: Vec<&'a Value> =
                list(schema, "enum").iter().filter(|value| !value.is_null()).collect();
            if variant == 0 {
                values.extend(schema.get("example").or_else(|| list(schema, "examples").first()));
                values.extend(schema.get("const"));
                values.extend(schema.get("default"));
            }
            // The variant's item first.
            let (before, after) = items.split_at(variant % items.len().max(1));
            values.extend(after.iter().chain(before));
        }
        values.retain(|value| !value.is_null());
        values
    }

    /// The type of a value, by `type`, else by the keys of its schemas.
    pub(super) fn kind(&self) -> &'a str {
        let kind = self.schemas.iter().find_map(|schema| match &schema["type"] {
            Value::String(kind) => Some(kind.as_str()),
            Value::Array(kinds) => {
                let mut kinds = kinds.iter().filter_map(Value::as_str);
                Some(kinds.find(|kind| *kind != "null").unwrap_or("null"))
            }
            _ => None,
        });
        // Many descriptions leave the type out.
        let has = |keys: &[&str]| keys.iter().any(|key| self.first(key).is_some());
        match kind {
            // `integer` is the stricter one of two that apply.
            Some("number") if self.schemas.iter().any(|schema| schema["type"] == "integer") => {
                "integer"
            }
            Some(kind) => kind,
            None if has(&["properties", "required", "additionalProperties", "minProperties"]) => {
                "object"
            }
            None if has(&["items", "minItems", "prefixItems"]) => "array",
            None if has(&["minimum", "maximum", "multipleOf"]) => "number",
            None => "string",
        }
    }

    /// Value of the property that names the component; None for other properties.
    pub(super) fn discriminator_value(&self, name: &str) -> Option<&'a str> {
        let component = self.component?;
        self.schemas.iter().find_map(|schema| {
            let discriminator = schema.get("discriminator")?;
            // In Swagger 2.0, it is the name of the property.
            let property = discriminator["propertyName"].as_str().or(discriminator.as_str())?;
            if property != name {
                return None;
            }
            let mapping = discriminator["mapping"].as_object().into_iter().flatten();
            let mut mapped = mapping.filter(|(_, target)| {
                let target = target.as_str().unwrap_or_default();
                target.rsplit('/').next() == Some(component)
            });
            Some(mapped.next().map_or(component, |(value, _)| value.as_str()))
        })
    }
}

/// Name of the component that a schema refers to.
pub(super) fn component_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

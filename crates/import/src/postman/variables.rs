//! Variables of a collection: `{{name}}` → variables of the plan, or of the user where a script sets them.

use super::script;
use crate::json::At;
use crate::plan::{Constant, ImportedPlan, Variable};
use crate::secrets::Names;
use crate::text::variable;
use brunt_model::secret::is_secret_field;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The variables that were asked for so far.
pub(super) struct Variables<'a> {
    /// Those of the collection, by name.
    values: HashMap<&'a str, String>,
    /// Those that scripts set from replies.
    set: HashSet<String>,
    names: Names,
    /// The names in the plan, by those in the collection.
    known: HashMap<String, String>,
    vars: Vec<Variable>,
    user_vars: Vec<(String, String)>,
}

/// Percent-encodes the characters that would end a part of a query.
fn escaped(text: &str) -> String {
    text.replace('&', "%26").replace('#', "%23")
}

impl<'a> Variables<'a> {
    /// The variables of a collection.
    pub(super) fn new(root: &At<'a>) -> Self {
        let value = |variable: &Value| match &variable["value"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let list = root.value["variable"].as_array().map_or(&[][..], Vec::as_slice);
        let values =
            list.iter().filter_map(|one| Some((one["key"].as_str().or(one["id"].as_str())?, value(one)))).collect();
        let mut set = HashSet::new();
        script::set_anywhere(root.value, 0, &mut set);
        Self { values, set, names: Names::default(), known: HashMap::new(), vars: Vec::new(), user_vars: Vec::new() }
    }

    /// A text whose `{{name}}` are variables.
    pub(super) fn filled(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((name, behind)) = behind.split_once("}}").filter(|(name, _)| !name.contains(['{', '\n', '"']))
            else {
                out.extend([before, "{{"]);
                rest = behind;
                continue;
            };
            out.push_str(before);
            out.push_str(&variable(&self.reference(name.trim())));
            rest = behind;
        }
        out + rest
    }

    /// Joins the parameters of a list to a query; None if all are disabled. A null value has no equals sign.
    pub(super) fn query(&mut self, list: &[At<'a>]) -> Option<String> {
        let enabled = list.iter().filter(|parameter| parameter.value["disabled"].as_bool() != Some(true));
        let parameters: Vec<String> = enabled
            .map(|parameter| match &parameter.value["value"] {
                Value::String(value) => format!("{}={}", escaped(parameter.text("key")), escaped(value)),
                Value::Null => escaped(parameter.text("key")),
                value => format!("{}={value}", escaped(parameter.text("key"))),
            })
            .collect();
        (!parameters.is_empty()).then(|| self.filled(&parameters.join("&")))
    }

    /// The name that a variable has in the plan.
    pub(super) fn reference(&mut self, name: &str) -> String {
        match name {
            "$guid" | "$randomUUID" => return "uuid()".to_owned(),
            "$timestamp" => return "time(/1000)".to_owned(),
            "$randomInt" => return "random(0,1000)".to_owned(),
            _ => {}
        }
        if let Some(own) = self.known.get(name) {
            return own.clone();
        }
        let own = self.names.take(name);
        self.known.insert(name.to_owned(), own.clone());
        let value = self.values.get(name).cloned();
        if self.set.contains(name) {
            if let Some(value) = value.filter(|value| !value.is_empty() && !is_secret_field(name)) {
                let value = self.filled(&value);
                self.user_vars.push((own.clone(), value));
            }
            return own;
        }
        let environment = own.to_ascii_uppercase();
        let (value, comment) = match value {
            Some(value) if !value.is_empty() && (!is_secret_field(name) || value.contains("{{")) => {
                (Constant::Text(self.filled(&value)), String::new())
            }
            Some(value) if !value.is_empty() => {
                (Constant::Environment(environment.clone()), format!("a secret was here; export {environment}=…"))
            }
            _ => {
                let comment = format!("the collection does not say its value; export {environment}=… or write it here");
                (Constant::Environment(environment), comment)
            }
        };
        self.vars.push(Variable { name: own.clone(), value, comment });
        own
    }

    /// Hands the variables to the plan; the names that are taken.
    pub(super) fn finish(self, plan: &mut ImportedPlan) -> Names {
        plan.vars = self.vars;
        plan.user_vars = self.user_vars;
        self.names
    }
}

//! Variables of a collection: `{{name}}` becomes a variable of the plan, or of the user
//! if a script sets it.

use super::{dynamic, script};
use brunt_har::json::JsonNode;
use brunt_har::plan::{ImportedPlan, Variable};
use brunt_har::secrets::Names;
use brunt_har::text::variable;
use brunt_model::secret::is_secret_field;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The variables that are in use.
pub(super) struct Variables<'a> {
    /// Values of the collection's variables, by name.
    values: HashMap<&'a str, String>,
    /// Variables of the type `secret`.
    secrets: HashSet<&'a str>,
    /// Variables that scripts set from replies.
    set_by_scripts: HashSet<String>,
    names: Names,
    /// Names in the plan, by names in the collection.
    plan_names: HashMap<String, String>,
    vars: Vec<Variable>,
    user_vars: Vec<(String, String)>,
}

/// Percent-encodes the characters that would end a field of a query.
fn escaped(text: &str) -> String {
    text.replace('&', "%26").replace('#', "%23")
}

impl<'a> Variables<'a> {
    /// Collects the variables of a collection and of an environment, which has priority.
    pub(super) fn new(root: &JsonNode<'a>, environment: &'a Value) -> Self {
        let lists = [&root.value["variable"], &environment["values"]];
        let enabled = lists.into_iter().filter_map(Value::as_array).flatten().filter(|variable| {
            variable["enabled"].as_bool() != Some(false)
                && variable["disabled"].as_bool() != Some(true)
        });
        let values = enabled.filter_map(|variable| {
            let name = variable["key"].as_str().or(variable["id"].as_str())?;
            Some((name, variable_value(variable)))
        });
        let values = values.collect();
        let secrets = lists.into_iter().filter_map(Value::as_array).flatten();
        let secrets = secrets.filter(|variable| variable["type"] == "secret");
        let secrets = secrets.filter_map(|variable| variable["key"].as_str()).collect();
        let mut set_by_scripts = HashSet::new();
        script::set_anywhere(root.value, 0, &mut set_by_scripts);
        Self {
            values,
            secrets,
            set_by_scripts,
            names: Names::default(),
            plan_names: HashMap::new(),
            vars: Vec::new(),
            user_vars: Vec::new(),
        }
    }

    /// Replaces `{{name}}` in a text by variables.
    pub(super) fn fill_in(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, tail)) = rest.split_once("{{") {
            let Some((name, tail)) =
                tail.split_once("}}").filter(|(name, _)| !name.contains(['{', '\n', '"']))
            else {
                out.extend([before, "{{"]);
                rest = tail;
                continue;
            };
            out.push_str(before);
            match dynamic::text(name.trim()) {
                Some(text) => out.push_str(&text),
                None => out.push_str(&variable(&self.reference(name.trim()))),
            }
            rest = tail;
        }
        out + rest
    }

    /// Joins parameters to a query; None if all are disabled. A parameter with a null
    /// value has no equals sign.
    pub(super) fn query(&mut self, list: &[JsonNode<'a>]) -> Option<String> {
        let enabled =
            list.iter().filter(|parameter| parameter.value["disabled"].as_bool() != Some(true));
        let parameters: Vec<String> = enabled
            .map(|parameter| match &parameter.value["value"] {
                Value::String(value) => {
                    format!("{}={}", escaped(parameter.text("key")), escaped(value))
                }
                Value::Null => escaped(parameter.text("key")),
                value => format!("{}={value}", escaped(parameter.text("key"))),
            })
            .collect();
        (!parameters.is_empty()).then(|| self.fill_in(&parameters.join("&")))
    }

    /// Returns the name of a variable in the plan.
    pub(super) fn reference(&mut self, name: &str) -> String {
        if let Some(plan_name) = self.plan_names.get(name) {
            return plan_name.clone();
        }
        let plan_name = self.names.take(name);
        self.plan_names.insert(name.to_owned(), plan_name.clone());
        let value = self.values.get(name).cloned();
        if self.set_by_scripts.contains(name) {
            if let Some(value) = value.filter(|value| !value.is_empty() && !self.is_secret(name)) {
                let value = self.fill_in(&value);
                self.user_vars.push((plan_name.clone(), value));
            }
            return plan_name;
        }
        let variable = match value.filter(|value| !value.is_empty()) {
            Some(value) if !self.is_secret(name) || value.contains("{{") => {
                Variable::constant(plan_name.clone(), self.fill_in(&value))
            }
            Some(_) => Variable::of_environment(&plan_name, Variable::SECRET),
            None => {
                let origin = "the collection has no value for it";
                let mut variable = Variable::of_environment(&plan_name, origin);
                variable.comment.push_str(" or write it here");
                variable
            }
        };
        self.vars.push(variable);
        plan_name
    }

    fn is_secret(&self, name: &str) -> bool {
        is_secret_field(name) || self.secrets.contains(name)
    }

    /// Moves the variables to the plan, and returns the names in use.
    pub(super) fn finish(self, plan: &mut ImportedPlan) -> Names {
        plan.vars = self.vars;
        plan.user_vars = self.user_vars;
        self.names
    }
}

fn variable_value(variable: &Value) -> String {
    match &variable["value"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

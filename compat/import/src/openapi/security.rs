//! Converts security schemes: each becomes a variable that takes its value from the environment.

use brunt_har::plan::{ImportedRequest, Variable};
use brunt_har::secrets::Names;
use brunt_har::text::variable;
use serde_json::Value;
use std::collections::HashMap;

/// The schemes that are in use.
#[derive(Debug, Default)]
pub(super) struct Security {
    pub(super) vars: Vec<Variable>,
    known: HashMap<String, String>,
}

impl Security {
    /// Adds the credentials of the first requirement.
    pub(super) fn add(
        &mut self,
        root: &Value,
        requirements: &Value,
        names: &mut Names,
        request: &mut ImportedRequest,
        comments: &mut Vec<String>,
    ) {
        // Requirements are alternatives: one of them suffices.
        let first = requirements.as_array().and_then(|all| all.first()).and_then(Value::as_object);
        for name in first.into_iter().flatten().map(|(name, _)| name) {
            let schemes =
                root["components"].get("securitySchemes").unwrap_or(&root["securityDefinitions"]);
            let scheme = &schemes[name.as_str()];
            let kind = scheme["type"].as_str().unwrap_or_default();
            let is_http = |name: &str| {
                kind == "http"
                    && scheme["scheme"].as_str().unwrap_or_default().eq_ignore_ascii_case(name)
            };
            let is_basic = kind == "basic" || is_http("basic");
            let is_bearer = ["oauth2", "openIdConnect"].contains(&kind) || is_http("bearer");
            if is_basic {
                let user = self.value(names, &format!("{name}_user"));
                let password = self.value(names, &format!("{name}_password"));
                request.basic = Some(format!("{user}:{password}"));
            } else if is_bearer {
                let token = self.value(names, name);
                request.headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
            } else if kind == "apiKey" {
                let key = scheme["name"].as_str().unwrap_or_default().to_owned();
                let value = self.value(names, name);
                match scheme["in"].as_str().unwrap_or_default() {
                    "query" => request.query.push((key, value)),
                    "cookie" => {
                        request.headers.push(("Cookie".to_owned(), format!("{key}={value}")));
                    }
                    _ => request.headers.push((key, value)),
                }
            } else {
                comments.push(format!(
                    "left out: the security scheme {name}, of a kind that plans do not have"
                ));
            }
        }
    }

    fn value(&mut self, names: &mut Names, scheme: &str) -> String {
        if let Some(name) = self.known.get(scheme) {
            return variable(name);
        }
        let name = names.take(scheme);
        self.known.insert(scheme.to_owned(), name.clone());
        self.vars.push(Variable::of_environment(&name, "of the security scheme"));
        variable(&name)
    }
}

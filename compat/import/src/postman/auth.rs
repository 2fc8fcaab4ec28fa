//! Converts the authentication of requests.

use super::variables::Variables;
use brunt_har::json::JsonNode;
use brunt_har::plan::ImportedRequest;
use serde_json::Value;

/// Adds the credentials of a request.
pub(super) fn add(
    auth: &JsonNode<'_>,
    variables: &mut Variables<'_>,
    request: &mut ImportedRequest,
    comments: &mut Vec<String>,
) {
    let kind = auth.text("type");
    // Version 2.1 has a list of keys and values, 2.0 a map.
    let value = |name: &str| auth_value(&auth.value[kind], name);
    let has_header = request.header("authorization").is_some();
    match kind {
        "noauth" | "" => {}
        // A header field of the request overrides these.
        "bearer" | "basic" | "digest" | "oauth2" if has_header => {}
        "bearer" => {
            let token = variables.fill_in(&value("token"));
            request.headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        "basic" => {
            let name = variables.fill_in(&value("username"));
            let password = variables.fill_in(&value("password"));
            request.basic = Some(format!("{name}:{password}"));
        }
        "digest" => {
            let credentials =
                [value("username"), value("password")].map(|text| variables.fill_in(&text));
            request.digest = Some(credentials.join(":"));
        }
        "oauth2" if !value("accessToken").is_empty() && value("addTokenTo") != "queryParams" => {
            let scheme = Some(value("headerPrefix")).filter(|scheme| !scheme.trim().is_empty());
            let scheme = scheme.unwrap_or_else(|| "Bearer".to_owned());
            let token = variables.fill_in(&value("accessToken"));
            request
                .headers
                .push(("Authorization".to_owned(), format!("{} {token}", scheme.trim())));
        }
        "apikey" => {
            let name = variables.fill_in(&value("key"));
            let key = variables.fill_in(&value("value"));
            let name = if name.is_empty() { "X-Api-Key".to_owned() } else { name };
            if value("in") == "query" {
                request.query.push((name, key));
            } else {
                request.headers.push((name, key));
            }
        }
        other => {
            comments.push(format!(
                "left out: authentication of the kind {other}; basic, bearer, digest, apikey and oauth2 with a token are known"
            ));
        }
    }
}

/// A value of an authentication: in a list of keys and values, or in a map.
fn auth_value(values: &Value, name: &str) -> String {
    let in_list = values
        .as_array()
        .and_then(|list| list.iter().find(|one| one["key"] == name))
        .map(|one| &one["value"]);
    match in_list.unwrap_or(&values[name]) {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

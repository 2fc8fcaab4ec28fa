//! Replaces secrets by variables.

use crate::body::{MULTIPART, with_parts};
use crate::plan::{self, ImportedBody, ImportedRequest, MultipartPart, Variable};
use crate::text::{self, NUMBER, identifier, variable};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::secret::{is_secret_field, is_secret_header, is_secret_parameter};
use brunt_script::body;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Names of variables that are in use.
#[derive(Debug, Default)]
pub struct Names(HashSet<String>);

impl Names {
    /// Reserves a name derived from the requested one.
    pub fn take(&mut self, requested: &str) -> String {
        let requested = identifier(requested);
        // These names have another meaning in a plan file.
        let is_reserved = ["dir", "plan_dir", "contender"].contains(&requested.as_str());
        let mut name = if is_reserved { format!("{requested}_1") } else { requested.clone() };
        let mut number = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{requested}_{number}");
            number += 1;
        }
        name
    }
}

/// The secrets of an input. Equal values share a variable.
#[derive(Debug, Default)]
pub struct Secrets {
    by_value: HashMap<String, String>,
    /// Variables in the order of their first use.
    pub vars: Vec<Variable>,
}

impl Secrets {
    /// Returns a variable for a value. An empty value, or one with
    /// a variable, is returned unchanged.
    pub fn hide(&mut self, names: &mut Names, field: &str, value: &str) -> String {
        if value.is_empty() || text::has_variable(value) {
            return value.to_owned();
        }
        if let Some(name) = self.by_value.get(value) {
            return variable(name);
        }
        let name = names.take(&identifier(field).to_ascii_lowercase());
        self.by_value.insert(value.to_owned(), name.clone());
        self.vars.push(Variable::of_environment(&name, Variable::SECRET));
        variable(&name)
    }

    /// Replaces the secrets of a request.
    pub fn hide_in(&mut self, names: &mut Names, request: &mut ImportedRequest) {
        self.headers(names, request);
        for credentials in [&mut request.basic, &mut request.digest].into_iter().flatten() {
            if let Some((user, password)) = credentials.split_once(':') {
                *credentials = format!("{user}:{}", self.hide(names, "password", password));
            }
        }
        for (name, value) in request.query.iter_mut().filter(|(name, _)| is_secret_parameter(name))
        {
            *value = self.hide(names, name, value);
        }
        let media_type = request.header("content-type").unwrap_or_default().to_owned();
        match &mut request.body {
            ImportedBody::Form(fields, _) => {
                for (name, value) in fields.iter_mut().filter(|(name, _)| is_secret_field(name)) {
                    *value = self.hide(names, name, value);
                }
            }
            ImportedBody::Multipart(parts) => {
                for (name, part) in parts.iter_mut().filter(|(name, _)| is_secret_field(name)) {
                    if let MultipartPart::Text(value)
                    | MultipartPart::TypedText { text: value, .. }
                    | MultipartPart::SentFile { text: value, .. } = part
                    {
                        *value = self.hide(names, name, value);
                    }
                }
            }
            ImportedBody::Json(value, _) => self.json(names, value),
            ImportedBody::Text(text) if body::is_form(&media_type) => {
                *text = self.hide_fields(names, text);
            }
            ImportedBody::Text(text) if media_type.to_ascii_lowercase().starts_with(MULTIPART) => {
                *text = with_parts(&media_type, text, |name, content| {
                    if is_secret_field(name) {
                        self.hide(names, name, content)
                    } else {
                        content.to_owned()
                    }
                });
            }
            ImportedBody::Pieces(pieces) => {
                for piece in pieces {
                    if let plan::BodyPiece::Text(text) = piece {
                        *text = self.hide_fields(names, text);
                    }
                }
            }
            ImportedBody::None | ImportedBody::Text(_) | ImportedBody::File(_) => {}
        }
    }

    /// Replaces secret values of fields `NAME=VALUE` in a text. The values
    /// of these variables are percent-encoded.
    fn hide_fields(&mut self, names: &mut Names, text: &str) -> String {
        text::with_fields(text, |name, value| {
            is_secret_field(name).then(|| self.hide(names, name, value))
        })
    }

    fn headers(&mut self, names: &mut Names, request: &mut ImportedRequest) {
        let mut basic = None;
        for (name, value) in &mut request.headers {
            let (scheme, credentials) = value.split_once(' ').unwrap_or(("", value));
            if name.eq_ignore_ascii_case("authorization") && scheme.eq_ignore_ascii_case("bearer") {
                *value = format!("{scheme} {}", self.hide(names, "token", credentials.trim()));
            // The key `basic` writes exactly this spelling. Some servers compare it byte by byte.
            } else if let Some(pair) =
                decode_basic(credentials).filter(|_| name == "Authorization" && scheme == "Basic")
            {
                basic = Some(pair);
            } else if let Some((page, query)) =
                value.split_once('?').filter(|_| name.eq_ignore_ascii_case("referer"))
            {
                let query = text::with_fields(query, |name, value| {
                    is_secret_parameter(name).then(|| self.hide(names, name, value))
                });
                *value = format!("{page}?{query}");
            } else if is_secret_header(name) {
                *value =
                    self.hide(names, name.trim_start_matches("X-").trim_start_matches("x-"), value);
            }
        }
        if basic.is_some() {
            request.headers.retain(|(name, _)| name != "Authorization");
            request.basic = basic;
        }
    }

    fn json(&mut self, names: &mut Names, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for (name, value) in entries {
                    match value {
                        Value::String(text) if is_secret_field(name) => {
                            *text = self.hide(names, name, text);
                        }
                        Value::Number(number) if is_secret_field(name) => {
                            let hidden = self.hide(names, name, &number.to_string());
                            if let [text::TextPiece::Variable(name)] = text::pieces(&hidden)[..] {
                                // A plain variable would be quoted, which would make the number a
                                // text.
                                *value = Value::String(format!("{NUMBER}{name}{NUMBER}"));
                            }
                        }
                        other => self.json(names, other),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.json(names, item)),
            _ => {}
        }
    }
}

/// Decodes `name:password` of Basic authentication.
fn decode_basic(credentials: &str) -> Option<String> {
    let bytes = STANDARD.decode(credentials.trim()).ok()?;
    String::from_utf8(bytes).ok().filter(|pair| pair.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hides the secrets of a request with this field. Returns its fields, and true if it has the
    /// key `basic`.
    fn hidden_field(name: &str, value: &str) -> (Vec<(String, String)>, bool) {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let mut request = ImportedRequest { headers, ..ImportedRequest::default() };
        Secrets::default().headers(&mut Names::default(), &mut request);
        (request.headers, request.basic.is_some())
    }

    #[test]
    fn other_spellings_of_credentials_are_unchanged() {
        assert_eq!(hidden_field("Authorization", "Basic eDp5"), (Vec::new(), true));
        for (name, value) in [("authorization", "Basic eDp5"), ("Authorization", "basic eDp5")] {
            let (headers, is_basic) = hidden_field(name, value);
            assert!(
                headers[0].0 == name && !headers[0].1.contains("eDp5") && !is_basic,
                "{headers:?}"
            );
        }
        assert!(hidden_field("authorization", "bearer abc").0[0].1.starts_with("bearer "));
    }

    #[test]
    fn equal_secrets_have_one_variable() {
        let (mut secrets, mut names) = (Secrets::default(), Names::default());
        let mut hide = |field: &str, value: &str| secrets.hide(&mut names, field, value);
        assert_eq!(hide("Password", "x"), variable("password"));
        assert_eq!(hide("pwd", "x"), variable("password"));
        assert_eq!(hide("password", "y"), variable("password_2"));
        assert_eq!(hide("password", ""), "");
        assert_eq!(secrets.vars.len(), 2);
    }
}

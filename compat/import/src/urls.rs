//! Reads lists of URLs, one per line, in the format of siege's `urls.txt`.
//!
//! ```text
//! # a comment
//! HOST = http://127.0.0.1:8080
//! $(HOST)/search?q=shoes
//! [3] $(HOST)/                               three times as often as the others
//! $(HOST)/login POST name=ann&password=x
//! $(HOST)/item PUT <item.json
//! ```
//!
//! Variables of the list become variables of the plan. Without weights, each user goes
//! through the list in order.

use crate::ImportOptions;
use brunt_har::body::{self, FORM, JSON};
use brunt_har::error::ImportError;
use brunt_har::plan::{ImportedBody, ImportedPlan, ImportedRequest, ImportedRequests, Variable};
use brunt_har::secrets::Names;
use brunt_har::text::variable;
use brunt_har::{request, server};
use brunt_model::scenario::{Branch, ListOrder, Portion, ScenarioStep};
use brunt_model::secret::is_secret_field;
use std::collections::HashMap;

/// Reads a list of URLs.
pub fn read(text: &str, options: &ImportOptions) -> Result<ImportedPlan, ImportError> {
    let mut reader =
        Reader { options, names: Names::default(), vars: Vec::new(), by_name: HashMap::new() };
    let mut branches = Vec::new();
    let mut requests = ImportedRequests::default();
    let mut comments = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = unquoted(line.trim());
        if let Some(comment) = line.strip_prefix('#') {
            comments.push(comment.trim().to_owned());
            continue;
        }
        // A comment belongs to the entry directly below it.
        if line.is_empty() {
            comments.clear();
            continue;
        }

        if let Some((name, value)) = definition(line) {
            reader.define(name, value).map_err(|(wrong, instead)| {
                ImportError::at_line(&options.file, number, wrong, instead)
            })?;
            comments.clear();
            continue;
        }
        let (weight, request) = reader.entry(line).map_err(|(wrong, instead)| {
            ImportError::at_line(&options.file, number, wrong, instead)
        })?;
        let step = requests.add(std::mem::take(&mut comments), request);
        branches.push(Branch { weight, steps: vec![step] });
    }
    let mut plan = ImportedPlan {
        about: format!("Imported from the URLs of {}.", options.file),
        vars: reader.vars,
        steps: if branches.iter().any(|branch| branch.weight != 1) {
            vec![ScenarioStep::Choose {
                order: ListOrder::Random,
                portion: Portion::Whole,
                branches,
            }]
        } else {
            branches.into_iter().flat_map(|branch| branch.steps).collect()
        },
        requests,
        ..ImportedPlan::default()
    };
    request::finish(&mut plan, &mut reader.names, options.base.as_deref());
    Ok(plan)
}

/// Error message, and advice what to write instead.
type Problem = (String, &'static str);

struct Reader<'a> {
    options: &'a ImportOptions,
    names: Names,
    vars: Vec<Variable>,
    /// Names in the plan, by names in the list.
    by_name: HashMap<String, String>,
}

impl Reader<'_> {
    fn define(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        let value = self.expand(value)?;
        if self.by_name.contains_key(name) {
            return Err((format!("`{name}` is defined twice"), "give each value a separate name"));
        }
        let plan_name = self.names.take(name);
        self.by_name.insert(name.to_owned(), plan_name.clone());
        self.vars.push(if is_secret_field(name) {
            Variable::of_environment(&plan_name, Variable::SECRET)
        } else {
            Variable::constant(plan_name, value)
        });
        Ok(())
    }

    /// Replaces `$(NAME)` and `${NAME}` by variables.
    fn expand(&self, text: &str) -> Result<String, Problem> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, tail)) = rest.split_once('$') {
            rest = tail;
            if let Some(before) = before.strip_suffix('\\') {
                out.extend([before, "$"]);
                continue;
            }
            out.push_str(before);
            let close = if tail.starts_with('(') { ')' } else { '}' };
            match tail.strip_prefix(['(', '{']).and_then(|inner| inner.split_once(close)) {
                Some((name, after)) => {
                    let plan_name = self.by_name.get(name).ok_or_else(|| {
                        (
                            format!("`{name}` has no value here"),
                            r"write NAME = value on a line above, or \$ for a plain dollar",
                        )
                    })?;
                    out.push_str(&variable(plan_name));
                    rest = after;
                }
                None => out.push('$'),
            }
        }
        Ok(out + rest)
    }

    fn entry(&self, line: &str) -> Result<(u32, ImportedRequest), Problem> {
        let (weight, line) = weight(line)?;
        let (url, method_and_data) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let url = self.expand(url)?;
        let address = server::parse(&url)
            .map_err(|wrong| (wrong, "write a URL such as http://127.0.0.1:8080/path"))?;
        let mut request = ImportedRequest {
            method: "GET".to_owned(),
            server: address.server,
            path: address.path,
            query: address.query.as_deref().map(body::pairs).unwrap_or_default(),
            raw_query: address.query,
            basic: address.basic,
            ..ImportedRequest::default()
        };
        if !method_and_data.trim().is_empty() {
            self.method_and_body(&mut request, method_and_data.trim())?;
        }
        Ok((weight, request))
    }

    fn method_and_body(&self, request: &mut ImportedRequest, text: &str) -> Result<(), Problem> {
        let (method, data) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        // Like in siege, only capital letters are a method. Otherwise a space in
        // a URL would end it.
        let is_method = method.len() > 2
            && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
        if !is_method {
            let wrong = format!("`{method}` after the URL is no method");
            return Err((wrong, "write one such as POST, or %20 for a space in the URL"));
        }
        method.clone_into(&mut request.method);
        let data = self.expand(data.trim())?;
        if let Some(file) = data.strip_prefix('<') {
            request.body = ImportedBody::File(in_folder(unquoted(file.trim()), self.options));
            return Ok(());
        }
        if data.is_empty() {
            let has_body = ["POST", "PUT", "PATCH"].contains(&method);
            request.body =
                if has_body { ImportedBody::Form(Vec::new(), None) } else { ImportedBody::None };
            return Ok(());
        }
        // Differs from siege, which sends JSON as a form.
        let is_json = data.starts_with(['{', '[']);
        request.body = if is_json { body::json(&data) } else { body::form(&data) };
        if !matches!(request.body, ImportedBody::Json(..)) || !is_json {
            request.headers.push(("Content-Type".to_owned(), FORM.to_owned()));
        } else {
            request.headers.push(("Content-Type".to_owned(), JSON.to_owned()));
        }
        Ok(())
    }
}

/// Path of a file, relative to the folder of the input.
pub(crate) fn in_folder(file: &str, options: &ImportOptions) -> String {
    let is_absolute = file.starts_with('/') || options.folder.is_empty();
    if is_absolute {
        file.to_owned()
    } else {
        format!("{}/{file}", options.folder.trim_end_matches('/'))
    }
}

/// Parses `NAME = value`; None for other lines.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| (name, unquoted(value.trim())))
}

/// Parses `[3] URL`. An IPv6 address in brackets is not a weight.
fn weight(line: &str) -> Result<(u32, &str), Problem> {
    let weighted = line
        .strip_prefix('[')
        .and_then(|line| line.split_once(']'))
        .filter(|(weight, _)| !weight.contains(':'));
    let Some((weight, rest)) = weighted else { return Ok((1, line)) };
    let number = weight.trim().parse().ok().filter(|weight| *weight > 0);
    let number = number.ok_or_else(|| {
        (format!("`[{weight}]` is no weight"), "write one such as [3] http://127.0.0.1/a")
    })?;
    Ok((number, rest.trim_start()))
}

fn unquoted(text: &str) -> &str {
    within_quotes(text, '"').or_else(|| within_quotes(text, '\'')).map_or(text, str::trim)
}

fn within_quotes(text: &str, quote: char) -> Option<&str> {
    text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote))
}

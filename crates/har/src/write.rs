//! Writes the YAML of a plan.

mod body;

use crate::body::MULTIPART;
use crate::error::ImportError;
use crate::plan::{CommentedRequest, Constant, ImportedPlan, ImportedRequest, ImportedRequests};
use crate::text::{self, Braces, TextPiece, in_plan};
use body::BodyKeys;
use brunt_model::scenario::Script;
use brunt_script::template::form_encoded;
use brunt_spec::plan::scenario::write::{InexpressiblePart, Wording};
use brunt_spec::plan::scenario::{extractors, steps};
pub use brunt_spec::plan::write::plan_time;
use brunt_spec::plan::{MAX_BYTES, Yaml};
use std::collections::HashSet;

/// Keys of a map with their values, in order.
pub type Keys = Vec<(String, Yaml)>;

/// Writes a plan as YAML.
///
/// # Errors
///
/// [`ImportError`] if it has no request, or is longer than a plan file may be.
pub fn yaml(plan: &ImportedPlan, file: &str) -> Result<String, ImportError> {
    if !plan.requests.has_request() {
        let reasons = plan.left_out.join(", ");
        let wrong = if reasons.is_empty() {
            "no request".to_owned()
        } else {
            format!("all requests are left out: {reasons}")
        };
        return Err(ImportError::new(file, wrong, "at least one is expected"));
    }
    let fixed = plan.vars.iter().map(|variable| variable.name.clone()).collect();
    let text = Writer { fixed }.plan(plan).write();
    let instead = "import a part of it, with --only, --tag or --host where `brunt import FORMAT --help` has them";
    checked_size(text, file, instead)
}

/// Refuses a plan that is longer than a plan file may be. `instead` is the advice of the error.
pub fn checked_size(text: String, file: &str, instead: &str) -> Result<String, ImportError> {
    if text.len() <= MAX_BYTES {
        return Ok(text);
    }
    let [size, limit] = [text.len(), MAX_BYTES].map(|bytes| bytes as f64 / 1e6);
    let wrong = format!("the plan has {size:.1} MB, and a plan file has {limit:.1} MB at most");
    Err(ImportError::new(file, wrong, instead))
}

/// Builds the YAML of the parts of a plan.
struct Writer {
    /// Variables of the plan, which are expanded before those of the user.
    fixed: HashSet<String>,
}

/// Writes what the steps refer to.
struct StepWording<'p> {
    writer: &'p Writer,
    requests: &'p ImportedRequests,
}

impl Wording for StepWording<'_> {
    /// The name of a group or transaction, the only texts of the steps that are imported.
    fn text(&mut self, text: &str) -> String {
        self.writer.label(text)
    }

    fn request(&mut self, number: u32) -> Vec<Yaml> {
        let Some(CommentedRequest { comments, request }) = self.requests.get(number) else {
            return Vec::new();
        };
        let comments = comments.iter().map(|text| text::for_display(text)).collect();
        vec![match request {
            Some(request) => Yaml::Map(self.writer.request(request)).with_comments(comments),
            None => Yaml::comments(comments),
        }]
    }

    fn script(&mut self, _: &Script) -> Vec<Yaml> {
        Vec::new()
    }

    fn data_file(&mut self, _: u32) -> Option<String> {
        None
    }

    fn lose(&mut self, _: InexpressiblePart<'_>) {}
}

impl Writer {
    fn plan(&self, plan: &ImportedPlan) -> Yaml {
        let mut head = vec![text::for_display(&plan.about)];
        head.extend(
            plan.left_out.iter().map(|part| text::for_display(&format!("Left out: {part}."))),
        );
        head.extend(plan.notes.iter().map(|note| text::for_display(note)));
        let mut out = Keys::from([(String::new(), Yaml::comments(head))]);
        if !plan.vars.is_empty() {
            let vars = plan.vars.iter().map(|variable| {
                let value = match &variable.value {
                    Constant::Text(value) => self.text(value, Braces::Plain),
                    Constant::Environment(name) => Yaml::text(format!("${{env.{name}}}")),
                };
                (variable.name.clone(), value.with_note(text::for_display(&variable.comment)))
            });
            push(&mut out, "vars", after_blank(Yaml::Block(vars.collect())));
        }
        let users = Yaml::text("1")
            .with_note("--set load.users=50, or load.rate=20 for 20 iterations per second");
        let load = [("users".to_owned(), users), ("duration".to_owned(), Yaml::text("10s"))];
        push(&mut out, "load", after_blank(Yaml::Block(load.into())));
        push(&mut out, "repetitions", Yaml::text("1"));
        if !plan.connection.is_empty() {
            let connection = plan.connection.iter().map(|(name, values)| {
                let mut values: Vec<Yaml> =
                    values.iter().map(|value| self.text(value, Braces::Plain)).collect();
                let value = match values.pop() {
                    Some(value) if values.is_empty() && *name != "resolve" => value,
                    last => {
                        values.extend(last);
                        Yaml::List(values)
                    }
                };
                ((*name).to_owned(), value)
            });
            push(&mut out, "connection", after_blank(Yaml::Block(connection.collect())));
        }
        push(&mut out, "scenario", after_blank(self.scenario(plan)));
        Yaml::Block(out)
    }

    fn scenario(&self, plan: &ImportedPlan) -> Yaml {
        let mut out = Keys::new();
        if !plan.base.is_empty() {
            push(&mut out, "base", self.text(&plan.base, Braces::Plain));
        }
        if let Some(follow) = plan.follow {
            push(&mut out, "follow", Yaml::text(follow.to_string()));
        }
        self.push_map(&mut out, "variables", &plan.user_vars, Braces::Plain);
        self.push_map(&mut out, "headers", &plan.headers, Braces::Placeholders);
        let mut wording = StepWording { writer: self, requests: &plan.requests };
        push(&mut out, "steps", Yaml::List(steps::write(&plan.steps, &mut wording)));
        Yaml::Block(out)
    }

    fn request(&self, request: &ImportedRequest) -> Keys {
        let mut out = Keys::new();
        let mut url = text::encode_url(&format!("{}{}", request.server, request.path));
        let mut in_map = false;
        match &request.raw_query {
            Some(raw) if crate::body::pairs(raw) == request.query => {
                url = format!("{url}?{}", text::encode_url(raw));
                url = self.in_plan(&url, Braces::Plain);
            }
            raw => {
                url = self.in_plan(&url, Braces::Plain);
                out.extend(reencoding_comment("query", raw.as_deref()));
                in_map = is_map(&request.query) && !request.query.is_empty();
                if !in_map && !request.query.is_empty() {
                    url = format!("{url}?{}", self.encoded(&request.query));
                }
            }
        }
        out.extend(steps::method_and_url(&request.method, request.is_websocket, url));
        if let Some(name) = &request.name {
            push(&mut out, "name", Yaml::Text(self.label(name)));
        }
        if in_map {
            self.push_map(&mut out, "query", &request.query, Braces::Plain);
        }
        let body = self.body(&request.body);
        self.push_authentication(&mut out, request, &body);
        out.extend(body.keys);
        if !request.extract.is_empty() {
            let extract = request.extract.iter().filter_map(|extractor| {
                let text = &mut |text: &str| self.in_plan(text, Braces::Plain);
                Some((extractor.variable.clone(), extractors::write(extractor, text)?))
            });
            push(&mut out, "extract", Yaml::Block(extract.collect()));
        }
        if let Some(status) = &request.status {
            push(&mut out, "check", Yaml::map([("status", Yaml::text(status))]));
        }
        if request.awaits_no_message {
            push(&mut out, "reply_events", Yaml::text("messages,0"));
        }
        if let Some(timeout) = request.timeout {
            push(&mut out, "timeout", Yaml::Text(plan_time(timeout)));
        }
        out
    }

    /// Writes header fields and credentials.
    fn push_authentication(&self, out: &mut Keys, request: &ImportedRequest, body: &BodyKeys) {
        let mut headers = request.headers.clone();
        // The key of a body implies its media type.
        headers.retain(|header| {
            !is_content_type(header)
                || body.implied_type.is_empty()
                || header.1 != body.implied_type && !header.1.starts_with(MULTIPART)
        });
        let needs_type = !body.default_type.is_empty() && !request.is_websocket;
        if needs_type && !headers.iter().any(is_content_type) {
            headers.push(("Content-Type".to_owned(), body.default_type.to_owned()));
        }
        for (key, credentials) in [("basic", &request.basic), ("digest", &request.digest)] {
            out.extend(
                credentials
                    .iter()
                    .map(|text| (key.to_owned(), self.text(text, Braces::Placeholders))),
            );
        }
        let bearer = headers
            .iter()
            .position(|(name, value)| name == "Authorization" && value.starts_with("Bearer "));
        if let Some(index) = bearer {
            let (_, value) = headers.remove(index);
            push(
                out,
                "bearer",
                self.text(value.trim_start_matches("Bearer ").trim(), Braces::Placeholders),
            );
        }
        self.push_headers(out, &headers);
    }

    /// Writes header fields. Fields with the same name become a list.
    fn push_headers(&self, out: &mut Keys, headers: &[(String, String)]) {
        let mut fields: Vec<(&str, Vec<Yaml>)> = Vec::new();
        let mut comments = Vec::new();
        for (name, value) in headers {
            let value = self.text(value, Braces::Placeholders);
            match fields.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((known, values)) => {
                    if known != name {
                        comments.push(format!("the name {name} is written again as {known}"));
                    }
                    values.push(value);
                }
                None => fields.push((name, vec![value])),
            }
        }
        if fields.len() == headers.len() {
            return self.push_map(out, "headers", headers, Braces::Placeholders);
        }
        let mut written = Keys::from([(String::new(), Yaml::comments(comments))]);
        written.extend(fields.into_iter().map(|(name, mut values)| {
            (name.to_owned(), if values.len() == 1 { values.remove(0) } else { Yaml::List(values) })
        }));
        push(out, "headers", Yaml::Block(written));
    }

    /// Writes a map of texts, unless it is empty.
    fn push_map(&self, out: &mut Keys, name: &str, entries: &[(String, String)], braces: Braces) {
        if !entries.is_empty() {
            let entries =
                entries.iter().map(|(name, value)| (name.clone(), self.text(value, braces)));
            push(out, name, Yaml::Map(entries.collect()));
        }
    }

    /// Encodes the fields of a form or query as one text.
    fn encoded(&self, pairs: &[(String, String)]) -> String {
        let fields = pairs
            .iter()
            .map(|(name, value)| format!("{}={}", self.form_encode(name), self.form_encode(value)));
        fields.collect::<Vec<_>>().join("&")
    }

    /// Encodes a name or value of a form. Variables are encoded at run time.
    fn form_encode(&self, text: &str) -> String {
        let encoded = text::pieces(text).into_iter().map(|piece| match piece {
            TextPiece::Literal(text) => form_encoded(text),
            TextPiece::Variable(name) if self.fixed.contains(name) => format!("${{{name}}}"),
            TextPiece::Variable(name) => format!("${{urlencode(${{{name}}})}}"),
        });
        encoded.collect()
    }

    /// The name of a request or group. Variables are shown by name, so that the label is
    /// the same for all values.
    fn label(&self, name: &str) -> String {
        let parts = text::pieces(name).into_iter().map(|piece| match piece {
            TextPiece::Literal(text) => text.to_owned(),
            TextPiece::Variable(name) => format!("{{{name}}}"),
        });
        let name: String = parts.collect();
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        self.in_plan(&name.chars().take(120).collect::<String>(), Braces::Plain)
    }

    fn text(&self, text: &str, braces: Braces) -> Yaml {
        Yaml::Text(self.in_plan(text, braces))
    }

    fn in_plan(&self, text: &str, braces: Braces) -> String {
        in_plan(text, braces, &|name| self.fixed.contains(name))
    }
}

/// True if a header field is `Content-Type`.
pub fn is_content_type(header: &(String, String)) -> bool {
    header.0.eq_ignore_ascii_case("content-type")
}

/// Adds a key to a map.
pub fn push(keys: &mut Keys, name: &str, value: Yaml) {
    keys.push((name.to_owned(), value));
}

/// Adds an empty line before a value.
fn after_blank(value: Yaml) -> Yaml {
    value.with_comments(vec![String::new()])
}

/// Returns a comment if `raw` is encoded differently from the plan's encoding.
fn reencoding_comment(part: &str, raw: Option<&str>) -> Option<(String, Yaml)> {
    let is_same = raw.is_none_or(|raw| crate::body::encoded(&crate::body::pairs(raw)) == raw);
    let text = format!(
        "the {part} is encoded again, because it contains a variable: + for a space, %XX in capitals"
    );
    (!is_same).then(|| (String::new(), Yaml::comments(vec![text])))
}

/// True if texts can be a map: names are unique and contain no variables.
pub fn is_map<T>(pairs: &[(String, T)]) -> bool {
    let mut names = HashSet::new();
    pairs
        .iter()
        .all(|(name, _)| names.insert(name) && !name.contains('$') && !text::has_variable(name))
}

#[cfg(test)]
mod tests;
